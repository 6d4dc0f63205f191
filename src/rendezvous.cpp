#include "rendezvous.hpp"

#include <algorithm>
#include <cstring>
#include <thread>

namespace arbench {

void Rendezvous::stop() const {
  while (state_.failed.load(std::memory_order_acquire) == 1) std::this_thread::yield();
  throw Stopped(state_.reason);
}

void Rendezvous::fail(const std::string& reason) {
  std::uint32_t nobody = 0;
  if (!state_.failed.compare_exchange_strong(nobody, 1)) return;
  const std::size_t size = std::min(reason.size(), RendezvousState::kText - 1);
  std::memcpy(state_.reason, reason.data(), size);
  state_.reason[size] = 0;
  state_.failed.store(2, std::memory_order_release);  // whoever sees 2 reads the whole reason
}

void Rendezvous::barrier() {
  if (state_.failed.load(std::memory_order_acquire) != 0) stop();
  const std::uint32_t generation = state_.generation.load(std::memory_order_acquire);
  if (state_.arrived.fetch_add(1, std::memory_order_acq_rel) + 1 ==
      static_cast<std::uint32_t>(drivers_)) {
    state_.arrived.store(0, std::memory_order_relaxed);  // ordered by the release below
    state_.generation.store(generation + 1, std::memory_order_release);
    return;
  }
  const auto end = std::chrono::steady_clock::now() + patience_;
  for (int polls = 0; state_.generation.load(std::memory_order_acquire) == generation; ++polls) {
    if (state_.failed.load(std::memory_order_acquire) != 0) stop();
    if (std::chrono::steady_clock::now() > end)
      fail("driver " + std::to_string(index_) + " waited in vain for the others");
    if (polls < 2000) {
      std::this_thread::yield();
    } else {
      std::this_thread::sleep_for(std::chrono::microseconds(20));
    }
  }
}

std::vector<std::string> Rendezvous::all_gather(const std::string& text) {
  if (text.size() > RendezvousState::kText) throw std::length_error("all_gather: text too long");
  std::memcpy(state_.text[index_], text.data(), text.size());
  state_.size[index_] = static_cast<std::uint32_t>(text.size());
  barrier();
  std::vector<std::string> all;
  for (int i = 0; i < drivers_; ++i) all.emplace_back(state_.text[i], state_.size[i]);
  barrier();  // nobody overwrites before all have read
  return all;
}

}  // namespace arbench

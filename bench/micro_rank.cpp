#include "micro_rank.hpp"

#include <atomic>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <cstring>

#include "driver.hpp"

namespace arbench {
namespace {

using Clock = std::chrono::steady_clock;

constexpr std::chrono::seconds kWaitLimit{10};    // of one wait inside a kernel
constexpr std::chrono::seconds kFinishLimit{40};  // of a stream: above what bounded waits add up to
constexpr std::chrono::seconds kPatience{60};     // of ranks for each other: above both
constexpr int kExitHung = 4;                      // as arbench's own

std::string fault_text(const Fault& fault) {
  const std::string peer = fault.peer < 0 ? "its peers" : "rank " + std::to_string(fault.peer);
  return "rank " + std::to_string(fault.rank) + " waited in vain for " + peer + " (wanted " +
         std::to_string(fault.wanted) + ", saw " + std::to_string(fault.seen) + ")";
}

}  // namespace

MicroRank::MicroRank(Backend backend, const std::vector<int>& devices, int rank,
                     RendezvousState& meeting)
    : kernels_(harness_kernels(backend)),
      rendezvous_(meeting, rank, static_cast<int>(devices.size()), kPatience),
      device_(Device::open(backend, devices[static_cast<std::size_t>(rank)], false)),
      stream_(device_->stream()) {
  peers_.first_rank = rank;
  peers_.ranks = static_cast<int>(devices.size());
  peers_.timeout_ns = std::chrono::nanoseconds(kWaitLimit).count();
  peers_.control = device_->control();
  connect(devices);
}

void MicroRank::Release::operator()(void* memory) const noexcept {
  try {
    device->release(memory);
  } catch (const std::exception&) {  // what led here has been reported
  }
}

void MicroRank::connect(const std::vector<int>& devices) {
  for (const int peer : devices) device_->connect(peer);
  void* signals = allocate(sizeof(Signals));
  queue().fill(signals, 0, sizeof(Signals));
  peers_.progress_of_first = static_cast<Progress*>(allocate(sizeof(Progress)));
  queue().fill(peers_.progress_of_first, 0, sizeof(Progress));
  finish();  // peers write only into what is zeroed
  const MemoryHandle own = device_->export_memory(signals);
  const auto all =
      rendezvous_.all_gather({reinterpret_cast<const char*>(&own), sizeof(MemoryHandle)});
  for (std::size_t rank = 0; rank < all.size(); ++rank) {
    MemoryHandle handle;
    std::memcpy(static_cast<void*>(&handle), all[rank].data(), sizeof handle);
    peers_.memory[rank] = static_cast<std::byte*>(device_->import_memory(handle));
  }
}

void* MicroRank::allocate(std::uint64_t bytes) {
  memory_.emplace_back(device_->allocate(bytes), Release{device_.get()});
  return memory_.back().get();
}

Times MicroRank::time(const std::function<void()>& enqueue) {
  kernels_.start(queue(), peers_, {++gate_}, 1);
  stream_->record(0);
  const auto start = Clock::now();
  enqueue();
  const std::chrono::duration<double, std::micro> host = Clock::now() - start;
  stream_->record(1);
  rendezvous_.barrier();  // everyone's work is enqueued behind its gate
  open_gate();
  finish();
  return {stream_->elapsed_us(0, 1), host.count()};
}

void MicroRank::open_gate() {
  // Release, for a kernel that acts on what the host wrote before; the device polls this word.
  std::atomic_ref(device_->control()->gate).store(gate_, std::memory_order_release);
}

std::unique_ptr<Graph> MicroRank::capture(const std::function<void()>& enqueue) {
  stream_->begin_capture();
  try {
    enqueue();
    return stream_->end_capture();
  } catch (...) {
    stream_->abandon_capture();
    throw;
  }
}

void MicroRank::abandon() noexcept {
  // Release, as for the gate.
  std::atomic_ref(device_->control()->abort).store(1, std::memory_order_release);
  try {
    finish();
  } catch (const std::exception&) {  // a wait gave up, as it should
  }
}

void MicroRank::finish() {
  const bool done = stream_->finish(Clock::now() + kFinishLimit);
  const Fault& fault = device_->control()->fault;
  if (!done) {
    std::fprintf(stderr, "arbench_micro: rank %d: the device did not finish within %d s\n",
                 peers_.first_rank, static_cast<int>(kFinishLimit.count()));
    std::_Exit(kExitHung);
  }
  if (fault.set != 0) throw Hung(fault_text(fault));
}

}  // namespace arbench

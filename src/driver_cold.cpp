// The part of Driver that makes the L2 cold: how many sets of buffers there are, and what evicts them; see driver.hpp.
#include <algorithm>
#include <utility>

#include "driver_parts.hpp"

namespace arbench {

/// What goes through the L2 between two uses of a buffer: on the device with the largest one.
std::uint64_t Driver::cold_bytes() {
  std::uint64_t most = 0;
  for (const std::string& text : rendezvous_.all_gather(std::to_string(device_->l2_bytes())))
    most = std::max<std::uint64_t>(most, std::stoull(text));
  return kColdFactor * most;
}

/// The buffers are evicted before each sample; within it as many sets take turns as there are ops, or
/// as it takes for the others to evict one. The same for all contenders, whatever they do eagerly.
int Driver::wanted_sets(const Case& point) {
  if (point.l2 == L2::hot || point.bytes == 0) return 1;
  const std::uint64_t bytes = point.bytes * (point.placement == Placement::in_place ? 1 : 2);
  return static_cast<int>(
      std::min<std::uint64_t>(cold_bytes() / bytes + 2, static_cast<std::uint64_t>(config_.ops)));
}

/// The rank with the least room decides for all.
int Driver::fitting_sets(std::uint64_t set_bytes, int wanted) {
  if (wanted == 1) return 1;
  const auto sharing =
      std::count(config_.devices.begin(), config_.devices.end(), config_.devices[first_rank_]);
  int least = sets_that_fit(device_->free_bytes(), static_cast<int>(sharing), set_bytes, wanted);
  for (const std::string& text : rendezvous_.all_gather(std::to_string(least)))
    least = std::min(least, std::stoi(text));
  return least;
}

/// Collective. Allocates once what sweeping reads, and measures how long that takes.
void Driver::prepare_sweep(const Case& point) {
  if (point.l2 == L2::hot || swept_ != nullptr) return;
  const std::uint64_t bytes = cold_bytes();
  std::string problem;
  try {
    swept_ = device_->allocate(bytes);
  } catch (const Refused& refused) {
    problem = refused.what();
  }
  try {
    agree(problem);
  } catch (const Refused&) {
    if (swept_ != nullptr) device_->release(std::exchange(swept_, nullptr));
    throw;
  }
  stream_->queue().fill(swept_, 0, bytes);
  stream_->record(0);
  kernels_.sweep(stream_->queue(), swept_, bytes);
  stream_->record(1);
  finish(nullptr, static_cast<double>(bytes) / 500);  // 0.5 GB/s at least
  sweep_us_ = stream_->elapsed_us(0, 1);
  swept_bytes_ = bytes;
}

}  // namespace arbench

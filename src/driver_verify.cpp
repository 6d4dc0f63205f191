// The part of Driver that checks results; see driver.hpp.
#include <algorithm>

#include "driver_parts.hpp"

namespace arbench {

void Driver::enqueue_checks(const Slot& slot, int ops, Pattern pattern, CheckResult* results) {
  const Case& point = slot.point;
  Queue& queue = stream_->queue();
  const bool in_place = point.placement == Placement::in_place;
  for (int set = 0; set < std::min(slot.sets, ops); ++set) {
    float factor = 1;
    for (int op = set + slot.sets; in_place && op < ops; op += slot.sets)
      factor *= static_cast<float>(point.ranks());
    for (int i = 0; i < served_; ++i) {
      const int rank = first_rank_ + i;
      CheckResult* result = results + i * kChecks;
      kernels_.check(queue, point.dtype, own(Which::output, i, set), point.count(), rank,
                     point.ranks(), factor, pattern, result);
      if (!in_place)
        kernels_.check(queue, point.dtype, own(Which::input, i, set), point.count(), rank, 0, 1,
                       pattern, result + 1);
      for (const Which which : {Which::output, Which::input}) {
        CheckResult* guards = result + (which == Which::output ? 2 : 3);
        std::byte* data = own(which, i, set);
        kernels_.check_bytes(queue, data - kGuard, kGuard, kGuardByte, guards);
        kernels_.check_bytes(queue, data + point.bytes, kGuard, kGuardByte, guards);
      }
    }
  }
}

void Driver::make_guards(const Slot& slot) {
  Queue& queue = stream_->queue();
  for (int set = 0; set < slot.sets; ++set)
    for (int i = 0; i < served_; ++i)
      for (const Which which : {Which::output, Which::input}) {
        queue.fill(own(which, i, set) - kGuard, kGuardByte, kGuard);
        queue.fill(own(which, i, set) + slot.point.bytes, kGuardByte, kGuard);
      }
}

/// New inputs and poisoned outputs in the sets that `ops` ops use.
void Driver::make_inputs(const Slot& slot, int ops, Pattern pattern) {
  const Case& point = slot.point;
  const bool in_place = point.placement == Placement::in_place;
  for (int set = 0; set < std::min(slot.sets, ops); ++set)
    for (int i = 0; i < served_; ++i) {
      void* input = own(in_place ? Which::output : Which::input, i, set);
      kernels_.fill(stream_->queue(), point.dtype, input, point.count(), first_rank_ + i, pattern);
      if (!in_place) stream_->queue().fill(own(Which::output, i, set), kPoison, point.bytes);
    }
}

Verified Driver::verify(int index, std::uint32_t salt) {
  Slot& slot = *slots_.at(index);
  const Case& point = slot.point;
  Queue& queue = stream_->queue();
  const bool in_place = point.placement == Placement::in_place;
  const int per_replay = kChecks * served_;
  std::vector<CheckResult> results(static_cast<std::size_t>(per_replay * kVerifyReplays),
                                   {0, ~0ull});
  const std::uint64_t bytes = results.size() * sizeof(CheckResult);
  CheckResult* const on_device = checks_;
  queue.copy(on_device, results.data(), bytes);
  make_guards(slot);
  finish(&slot, 0);
  rendezvous_
      .barrier();  // a rank that writes into a peer's output must not meet its guards half made
  const double expected_us = slot.us_per_op > 0 ? slot.us_per_op * slot.ops * kVerifyReplays
                                                : generous_us(point, slot.ops * kVerifyReplays);
  const auto settle = [&] {  // many sets are more launches than a queue holds, see ops_per_sample()
    if (slot.sets > 1) finish(&slot, expected_us);
  };
  for (int replay = 0; replay < kVerifyReplays; ++replay) {
    const Pattern pattern{salt + static_cast<std::uint32_t>(replay), in_place};
    const int ops = kVerifyOps[replay] == kChain ? slot.chain_ops : kVerifyOps[replay];
    make_inputs(slot, ops, pattern);
    settle();
    replay_ops(slot, ops);
    settle();
    enqueue_checks(slot, ops, pattern, on_device + replay * per_replay);
    settle();
  }
  finish(&slot, expected_us);
  stream_->read(results.data(), on_device, bytes);
  static constexpr const char* kWhat[kChecks] = {"output element", "input element (overwritten)",
                                                 "guard byte around the output",
                                                 "guard byte around the input"};
  Verified verified;
  for (std::size_t i = 0; i < results.size(); ++i) {
    if (results[i].wrong == 0) continue;
    if (verified.wrong == 0)
      verified.text = "rank " + std::to_string(first_rank_ + i / kChecks % served_) + ", replay " +
                      std::to_string(i / per_replay) + ": " + std::to_string(results[i].wrong) +
                      " wrong, first " + kWhat[i % kChecks] + " " +
                      std::to_string(results[i].first);
    verified.wrong += results[i].wrong;
  }
  rendezvous_.barrier();
  return verified;
}

}  // namespace arbench

// The part of Driver that checks results; see driver.hpp.
#include <algorithm>
#include <bit>

#include "driver_parts.hpp"

namespace arbench {
namespace {

float float_of_bits(unsigned long long bits) {
  return std::bit_cast<float>(static_cast<std::uint32_t>(bits));
}

/// Of what the checks of one replay look at.
constexpr const char* kWhat[kChecks] = {"output element", "input element (overwritten)",
                                        "guard byte around the output",
                                        "guard byte around the input"};

std::string data_of(int replay) {
  if (replay >= kVerifySize) return ", inputs overwritten behind each op";
  const Data data = kVerifySteps[replay].data;
  return data == Data::random ? ", random data" : data == Data::special ? ", special values" : "";
}

}  // namespace

Wanted Driver::sum_wanted(const Slot& slot, Pattern pattern, float factor) const {
  return {pattern, 0, slot.point.ranks(), factor, slot.algorithm->rounds_once};
}

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
      kernels_.check(queue, point.dtype, own(Which::output, i, set), point.count(),
                     sum_wanted(slot, pattern, factor), result);
      if (!in_place)
        kernels_.check(queue, point.dtype, own(Which::input, i, set), point.count(),
                       {pattern, rank}, result + 1);
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

/// A rank that still reads its peers' inputs when they believe their op to be done reads the next op's. In place the check
/// comes between, since the inputs are the outputs.
void Driver::enqueue_overwriting(Slot& slot) {
  const Case& point = slot.point;
  const bool in_place = point.placement == Placement::in_place;
  CheckResult* const results = checks_ + kVerifySize * served_ * kChecks;
  const auto pattern = [&](int op) {
    return Pattern{0x51ed270bu + static_cast<std::uint32_t>(op), Data::exact, point.ranks()};
  };
  const auto fill = [&](int op) {
    if (op == kOverwritten) return;
    for (int i = 0; i < served_; ++i)
      kernels_.fill(stream_->queue(), point.dtype, own(in_place ? Which::output : Which::input, i),
                    point.count(), first_rank_ + i, pattern(op));
  };
  const auto check = [&](int op) {
    for (int i = 0; i < served_; ++i)
      kernels_.check(stream_->queue(), point.dtype, own(Which::output, i), point.count(),
                     sum_wanted(slot, pattern(op)), results + i * kChecks);
  };
  fill(0);
  for (int op = 0; op < kOverwritten; ++op) {
    enqueue_op(slot, 0);
    if (!in_place) fill(op + 1);
    check(op);
    if (in_place) fill(op + 1);
  }
}

double Driver::expected_us(const Slot& slot, int ops) const {
  return slot.us_per_op > 0 ? slot.us_per_op * ops : generous_us(slot.point, ops);
}

/// Many sets are more launches than a queue holds, and so are many ops of many launches, see ops_per_sample().
void Driver::settle(Slot& slot, int ops) {
  const bool many = slot.graphs.empty() && slot.algorithm->launches_per_op(slot.point) > 8;
  if (slot.sets > 1 || many) finish(&slot, expected_us(slot, ops));
}

/// The results are added to those of replay `place`.
void Driver::checked_replay(Slot& slot, const VerifyStep& step, std::uint32_t salt, int place) {
  const bool in_place = slot.point.placement == Placement::in_place;
  const Data data = in_place && step.data == Data::exact ? Data::narrow : step.data;
  const Pattern pattern{salt + step.salt, data, slot.point.ranks()};
  const int ops = step.ops == kChain ? slot.chain_ops : step.ops;
  make_inputs(slot, ops, pattern);
  settle(slot, ops);
  replay_ops(slot, ops);
  settle(slot, ops);
  enqueue_checks(slot, ops, pattern, checks_ + place * served_ * kChecks);
  settle(slot, ops);
}

void Driver::clear_results() {
  const std::vector<CheckResult> clear(static_cast<std::size_t>(kReplays * served_ * kChecks),
                                       kNothingWrong);
  stream_->queue().copy(checks_, clear.data(), clear.size() * sizeof(CheckResult));
  finish(nullptr, 0);
}

/// What the checks since clear_results() came to. REQUIRES: the stream is finished.
Verified Driver::found() {
  std::vector<CheckResult> results(static_cast<std::size_t>(kReplays * served_ * kChecks));
  stream_->read(results.data(), checks_, results.size() * sizeof(CheckResult));
  Verified verified;
  const int per_replay = served_ * kChecks;
  for (std::size_t i = 0; i < results.size(); ++i) {
    const int replay = static_cast<int>(i) / per_replay, check = static_cast<int>(i) % kChecks;
    if (results[i].wrong == 0) continue;
    if (verified.wrong == 0)
      verified.text = "rank " + std::to_string(first_rank_ + i / kChecks % served_) + ", replay " +
                      std::to_string(replay) + data_of(replay) + ": " +
                      std::to_string(results[i].wrong) + " wrong, first " + kWhat[check] + " " +
                      std::to_string(results[i].first);
    verified.wrong += results[i].wrong;
  }
  verified.hash = results[static_cast<std::size_t>(kFirstRandom * per_replay)].hash;
  for (int rank = 0; rank < served_; ++rank) {
    const auto first = static_cast<std::size_t>(kFirstRandom * per_replay + rank * kChecks);
    const CheckResult& once = results[first];
    const CheckResult& again = results[first + static_cast<std::size_t>(per_replay)];
    verified.same_ranks &= once.hash == verified.hash;
    verified.same_runs &= once.hash == again.hash;
    for (const CheckResult& one : {once, again}) {
      verified.max_ulp = std::max<double>(verified.max_ulp, float_of_bits(one.max_ulp_bits));
      verified.max_abs_err =
          std::max<double>(verified.max_abs_err, float_of_bits(one.max_error_bits));
    }
  }
  return verified;
}

/// A rank that writes into a peer's output must not meet its guards half made.
void Driver::begin_checks(Slot& slot) {
  clear_results();
  make_guards(slot);
  finish(&slot, 0);
  rendezvous_.barrier();
}

Verified Driver::verify(int index, std::uint32_t salt) {
  Slot& slot = *slots_.at(index);
  begin_checks(slot);
  for (int i = 0; i < kVerifySize; ++i) checked_replay(slot, kVerifySteps[i], salt, i);
  if (slot.overwriting)
    stream_->replay(*slot.overwriting);
  else
    enqueue_overwriting(slot);
  finish(&slot, expected_us(slot, 3 * slot.chain_ops + kVerifySize + kOverwritten));
  const Verified verified = found();
  rendezvous_.barrier();
  return verified;
}

Verified Driver::soak(int index, std::uint32_t salt, int calls) {
  Slot& slot = *slots_.at(index);
  const int at_once =
      std::max(1, kMaxBehindGate / (slot.algorithm->launches_per_op(slot.point) + 8 * served_));
  begin_checks(slot);
  for (int call = 0; call < calls; ++call) {
    checked_replay(slot, {1, Data::exact, static_cast<std::uint32_t>(call)}, salt, 0);
    if ((call + 1) % at_once == 0) finish(&slot, expected_us(slot, at_once));
  }
  finish(&slot, expected_us(slot, at_once));
  const Verified verified = found();
  rendezvous_.barrier();
  return verified;
}

void Driver::prepare_round(int index, std::uint32_t salt) {
  Slot& slot = *slots_.at(index);
  clear_results();
  if (slot.point.placement == Placement::in_place) return;
  make_inputs(slot, slot.ops, {salt, Data::exact, slot.point.ranks()});
  settle(slot, 1);
}

Verified Driver::check_round(int index, std::uint32_t salt) {
  Slot& slot = *slots_.at(index);
  if (slot.point.placement == Placement::in_place)
    checked_replay(slot, {kChain, Data::exact, 0}, salt, 0);
  else
    enqueue_checks(slot, slot.ops, {salt, Data::exact, slot.point.ranks()}, checks_);
  finish(&slot, expected_us(slot, slot.chain_ops));
  return found();
}

}  // namespace arbench

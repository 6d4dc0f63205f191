// The part of Driver that times; see driver.hpp.
#include <algorithm>
#include <atomic>

#include "driver_parts.hpp"
#include "statistics.hpp"

namespace arbench {
namespace {

using Clock = std::chrono::steady_clock;

double us_since(Clock::time_point start) {
  return std::chrono::duration<double, std::micro>(Clock::now() - start).count();
}

}  // namespace

double Driver::warm_up(int index, Sequence sequence) {
  Slot& slot = *slots_.at(index);
  const int replays = sequence == Sequence::ops ? 5 : 2;
  const int steps = slot.steps(sequence);
  rendezvous_.barrier();
  for (int i = 0; i < replays; ++i) {
    if (i == replays - 1) stream_->record(0);
    replay(slot, sequence);
    if (slot.graphs.empty() && i < replays - 1)
      finish(&slot, generous_us(slot.point, steps));  // see ops_per_sample()
  }
  stream_->record(1);
  finish(&slot, generous_us(slot.point, steps * replays));
  const double us = stream_->elapsed_us(0, 1) / steps;
  (with_barriers(sequence) ? slot.us_per_pair[sequence] : slot.us_per_op) = us;
  return us;
}

void Driver::open_gate() {
  rendezvous_.barrier();  // everyone's work is enqueued behind its gate
  std::atomic_ref(device_->control()->gate).store(gate_, std::memory_order_release);
}

void Driver::keep_samples(int steps, int replay, int from, int to, const Samples& samples) {
  const double value = stream_->elapsed_us(from, to) / steps;
  for (int i = 0; i < served_; ++i) samples.us[i * config_.max_replays + replay] = value;
}

void Driver::keep_stamps(int replay, const Samples& samples) {
  if (samples.start_ns == nullptr) return;
  Stamps stamps[kMaxRanks];
  stream_->read(stamps, times_->stamps, sizeof(Stamps) * static_cast<std::size_t>(served_));
  for (int i = 0; i < served_; ++i) {
    const int place = i * config_.max_replays + replay;
    samples.start_ns[place] = static_cast<std::int64_t>(stamps[i].start_ns) - offset_.ns;
    samples.end_ns[place] = static_cast<std::int64_t>(stamps[i].end_ns) - offset_.ns;
  }
}

/// Before every round that needs it: clocks of two devices drift apart by microseconds per second.
void Driver::compare_clocks() {
  if (clocks_.own.empty()) return;
  rendezvous_.barrier();
  kernels_.compare_clocks(stream_->queue(), clock_peers_, comparisons_++, &times_->offset);
  finish(nullptr, 0);
  stream_->read(&offset_, &times_->offset, sizeof offset_);
}

Visit Driver::round(int index, int replays, const Samples& samples, Sequence sequence) {
  Slot& slot = *slots_.at(index);
  Visit visit;
  visit.stamped = slot.graphs.empty() || slot.cold() || sequence == Sequence::together ||
                  (sequence == Sequence::ops && config_.skew_us > 0);
  if (visit.stamped) {
    if (!with_barriers(sequence)) compare_clocks();
    visit.clock_error_us = static_cast<double>(offset_.error_ns) / 1e3;
    visit.cpu_us = round_with_gates(slot, sequence, replays, samples);
  } else {
    visit.cpu_us = round_without_gaps(slot, sequence, replays, samples);
  }
  if (sequence != Sequence::ops) return visit;
  SmClock sm;
  stream_->read(&sm, &times_->sm, sizeof sm);
  if (sm.ns > 0) visit.sm_mhz = static_cast<double>(sm.cycles) * 1e3 / static_cast<double>(sm.ns);
  return visit;
}

/// Graphs follow each other without a gap; the gate is opened when some are enqueued, and the host
/// stays ahead. The clock is measured right behind them.
double Driver::round_without_gaps(Slot& slot, Sequence sequence, int replays,
                                  const Samples& samples) {
  const int steps = slot.steps(sequence);
  const int nodes = (slot.algorithm->launches_per_op(slot.point) + 1) * steps;  // at most
  const int behind_gate = std::clamp(kMaxBehindGate * 8 / nodes, 1, std::min(replays, 8));
  std::vector<double> host_us;
  kernels_.start(stream_->queue(), start_peers_, {++gate_}, served_);
  stream_->record(0);
  for (int i = 0; i < replays; ++i) {
    const auto start = Clock::now();
    replay(slot, sequence);
    host_us.push_back(us_since(start) / steps);
    stream_->record(i + 1);
    if (i + 1 == behind_gate) open_gate();
  }
  if (sequence == Sequence::ops) kernels_.measure_sm_clock(stream_->queue(), &times_->sm);
  finish(&slot, slot.us_per_step(sequence) * steps * replays);
  for (int i = 0; i < replays; ++i) keep_samples(steps, i, i, i + 1, samples);
  return median(host_us);
}

/// Complete rotations need a number of samples that divides by the number of ranks.
Start Driver::start_of(Sequence sequence, int replay) {
  Start start{++gate_, times_->stamps};
  if (sequence != Sequence::ops || config_.skew_us == 0) return start;
  start.late_rank = replay % config_.ranks();
  start.late_ns = static_cast<std::uint64_t>(config_.skew_us * 1e3);
  return start;
}

/// Each sample has a gate of its own: eager, the host is slower than small ops, so it needs the head
/// start every time. In front of the gate the buffers are evicted if the sample is to be cold. A rank's
/// time begins when it starts, be it late or not.
double Driver::round_with_gates(Slot& slot, Sequence sequence, int replays,
                                const Samples& samples) {
  const int steps = slot.steps(sequence);
  std::vector<double> host_us;
  for (int i = 0; i < replays; ++i) {
    if (slot.cold()) kernels_.sweep(stream_->queue(), swept_, swept_bytes_);
    kernels_.start(stream_->queue(), start_peers_, start_of(sequence, i), served_);
    stream_->record(0);
    const auto start = Clock::now();
    replay(slot, sequence);
    host_us.push_back(us_since(start) / steps);
    stream_->record(1);
    kernels_.end(stream_->queue(), start_peers_, times_->stamps, served_);
    if (sequence == Sequence::ops && i == replays - 1)
      kernels_.measure_sm_clock(stream_->queue(), &times_->sm);
    open_gate();
    finish(&slot, slot.us_per_step(sequence) * steps + config_.skew_us + sweep_us_);
    keep_samples(steps, i, 0, 1, samples);
    keep_stamps(i, samples);
  }
  return median(host_us);
}

}  // namespace arbench

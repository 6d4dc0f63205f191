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
  (sequence == Sequence::ops ? slot.us_per_op : slot.us_per_pair[sequence]) = us;
  return us;
}

void Driver::open_gate() {
  rendezvous_.barrier();  // everyone's work is enqueued behind its gate
  std::atomic_ref(device_->control()->gate).store(gate_, std::memory_order_release);
}

void Driver::keep_samples(int steps, int replay, int from, int to, double* us) {
  const double value = stream_->elapsed_us(from, to) / steps;
  for (int i = 0; i < served_; ++i) us[i * config_.max_replays + replay] = value;
}

double Driver::round(int index, int replays, double* us, Sequence sequence) {
  Slot& slot = *slots_.at(index);
  return slot.graphs.empty() ? round_eager(slot, sequence, replays, us)
                             : round_graph(slot, sequence, replays, us);
}

/// Replays follow each other without a gap; the gate is opened when some are enqueued, and the host
/// stays ahead.
double Driver::round_graph(Slot& slot, Sequence sequence, int replays, double* us) {
  const int steps = slot.steps(sequence);
  const int nodes = (slot.algorithm->launches_per_op(slot.point) + 1) * steps;  // at most
  const int behind_gate = std::clamp(kMaxBehindGate * 8 / nodes, 1, std::min(replays, 8));
  std::vector<double> host_us;
  kernels_.start(stream_->queue(), start_peers_, ++gate_, served_);
  stream_->record(0);
  for (int i = 0; i < replays; ++i) {
    const auto start = Clock::now();
    replay(slot, sequence);
    host_us.push_back(us_since(start) / steps);
    stream_->record(i + 1);
    if (i + 1 == behind_gate) open_gate();
  }
  finish(&slot, slot.us_per_step(sequence) * steps * replays);
  for (int i = 0; i < replays; ++i) keep_samples(steps, i, i, i + 1, us);
  return median(host_us);
}

/// Each sample has a gate of its own: the host is slower than small ops, so it needs the head start
/// every time.
double Driver::round_eager(Slot& slot, Sequence sequence, int replays, double* us) {
  const int steps = slot.steps(sequence);
  std::vector<double> host_us;
  for (int i = 0; i < replays; ++i) {
    kernels_.start(stream_->queue(), start_peers_, ++gate_, served_);
    stream_->record(0);
    const auto start = Clock::now();
    replay(slot, sequence);
    host_us.push_back(us_since(start) / steps);
    stream_->record(1);
    open_gate();
    finish(&slot, slot.us_per_step(sequence) * steps);
    keep_samples(steps, i, 0, 1, us);
  }
  return median(host_us);
}

}  // namespace arbench

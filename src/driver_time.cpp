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

double Driver::warm_up(int index) {
  Slot& slot = *slots_.at(index);
  const int replays = 5;
  rendezvous_.barrier();
  for (int replay = 0; replay < replays; ++replay) {
    if (replay == replays - 1) stream_->record(0);
    replay_ops(slot, slot.ops);
    if (slot.graphs.empty() && replay < replays - 1)
      finish(&slot, generous_us(slot.point, slot.ops));  // see ops_per_sample()
  }
  stream_->record(1);
  finish(&slot, generous_us(slot.point, slot.ops * replays));
  slot.us_per_op = stream_->elapsed_us(0, 1) / slot.ops;
  return slot.us_per_op;
}

void Driver::open_gate() {
  rendezvous_.barrier();  // everyone's work is enqueued behind its gate
  std::atomic_ref(device_->control()->gate).store(gate_, std::memory_order_release);
}

void Driver::keep_samples(const Slot& slot, int replay, int from, int to, double* us) {
  const double value = stream_->elapsed_us(from, to) / slot.ops;
  for (int i = 0; i < served_; ++i) us[i * config_.max_replays + replay] = value;
}

double Driver::round(int index, int replays, double* us) {
  Slot& slot = *slots_.at(index);
  return slot.graphs.empty() ? round_eager(slot, replays, us) : round_graph(slot, replays, us);
}

/// Replays follow each other without a gap; the gate is opened when some are enqueued, and the host
/// stays ahead.
double Driver::round_graph(Slot& slot, int replays, double* us) {
  const int nodes = slot.algorithm->launches_per_op(slot.point) * slot.ops;
  const int behind_gate = std::clamp(kMaxBehindGate * 8 / nodes, 1, std::min(replays, 8));
  std::vector<double> host_us;
  kernels_.start(stream_->queue(), start_peers_, ++gate_, served_);
  stream_->record(0);
  for (int replay = 0; replay < replays; ++replay) {
    const auto start = Clock::now();
    replay_ops(slot, slot.ops);
    host_us.push_back(us_since(start) / slot.ops);
    stream_->record(replay + 1);
    if (replay + 1 == behind_gate) open_gate();
  }
  finish(&slot, slot.us_per_op * slot.ops * replays);
  for (int replay = 0; replay < replays; ++replay)
    keep_samples(slot, replay, replay, replay + 1, us);
  return median(host_us);
}

/// Each sample has a gate of its own: the host is slower than small ops, so it needs the head start
/// every time.
double Driver::round_eager(Slot& slot, int replays, double* us) {
  std::vector<double> host_us;
  for (int replay = 0; replay < replays; ++replay) {
    kernels_.start(stream_->queue(), start_peers_, ++gate_, served_);
    stream_->record(0);
    const auto start = Clock::now();
    enqueue_ops(slot, slot.ops);
    host_us.push_back(us_since(start) / slot.ops);
    stream_->record(1);
    open_gate();
    finish(&slot, slot.us_per_op * slot.ops);
    keep_samples(slot, replay, 0, 1, us);
  }
  return median(host_us);
}

}  // namespace arbench

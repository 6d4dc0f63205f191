// What a launch costs: empty kernels, launched one by one and as a graph. The time is the device's
// per kernel; the counter host_us is what the host takes to enqueue one.
#include <memory>

#include "micro.hpp"
#include "micro_kernels.hpp"
#include "micro_rank.hpp"

namespace arbench {
namespace {

/// Times what `enqueue` enqueues, which is `kernels` empty kernels.
void time_kernels(benchmark::State& state, MicroRank& rank, int kernels,
                  const std::function<void()>& enqueue) {
  rank.time(enqueue);  // untimed: the first launch of a kernel takes longer
  double host_us = 0;
  for (auto _ : state) {
    const Times times = rank.time(enqueue);
    state.SetIterationTime(times.device_us * 1e-6 / kernels);
    host_us += times.host_us / kernels;
  }
  state.counters["host_us"] = benchmark::Counter(host_us, benchmark::Counter::kAvgIterations);
}

void eager(benchmark::State& state, const Target& target) {
  const auto meeting = std::make_unique<RendezvousState>();
  MicroRank rank(target.backend, {target.devices[0]}, 0, *meeting);
  time_kernels(state, rank, kMaxBehindGate, [&] {
    for (int i = 0; i < kMaxBehindGate; ++i) micro_kernels(target.backend).empty(rank.queue());
  });
}

/// A chain of `ops` kernels per graph, and as many replays of it as may lie behind the gate.
void graph_replay(benchmark::State& state, const Target& target, int ops) {
  const auto meeting = std::make_unique<RendezvousState>();
  MicroRank rank(target.backend, {target.devices[0]}, 0, *meeting);
  const auto graph = rank.capture([&] {
    for (int i = 0; i < ops; ++i) micro_kernels(target.backend).empty(rank.queue());
  });
  time_kernels(state, rank, ops * kMaxReplaysBehindGate, [&] {
    for (int i = 0; i < kMaxReplaysBehindGate; ++i) rank.stream().replay(*graph);
  });
}

}  // namespace

void register_launch(const Target& target) {
  add_benchmark(target.name("launch"), 50, [target](benchmark::State& state) {
    guarded(state, [&] { eager(state, target); });
  });
  for (const int ops : {1, 20, 200})
    add_benchmark(target.name("graph_replay_per_op/" + std::to_string(ops)), 50,
                  [target, ops](benchmark::State& state) {
                    guarded(state, [&] { graph_replay(state, target, ops); });
                  });
}

}  // namespace arbench

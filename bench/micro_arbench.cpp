// Micro-benchmarks of the pieces that allreduce latency is made of: a signal's round trip, the add,
// a launch, a graph's replay per op. On the host backend always, on the first CUDA device where one
// answers. Device time, by the stream's own stamps, is the manual time; all ranks are on one
// device.
#include <benchmark/benchmark.h>

#include <cstdio>
#include <cstdlib>
#include <memory>
#include <optional>
#include <string>

#include "device.hpp"
#include "machine.hpp"
#include "micro_kernels.hpp"

namespace arbench {
namespace {

constexpr int kTrips = 1000;
constexpr int kLaunches = 100;

struct Tables {
  std::optional<MicroKernels> of[2];
};

Tables& tables() {
  static Tables tables;
  return tables;
}

Deadline in_seconds(int seconds) {
  return std::chrono::steady_clock::now() + std::chrono::seconds(seconds);
}

/// A device, its stream and the kernels of its backend. Made per benchmark, destroyed in reverse
/// order.
struct Bench {
  explicit Bench(Backend backend)
      : device(Device::open(backend, 0, false)),
        stream(device->stream()),
        kernels(micro_kernels(backend)) {}

  /// Device microseconds of what `enqueue` enqueues; nothing when it did not end, and then the
  /// state carries the error.
  template <class Enqueue>
  std::optional<double> time(benchmark::State& state, Enqueue enqueue) {
    stream->record(0);
    enqueue();
    stream->record(1);
    if (stream->finish(in_seconds(20)) && device->control()->fault.set == 0)
      return stream->elapsed_us(0, 1);
    state.SkipWithError("a wait was given up");
    return std::nullopt;
  }

  std::unique_ptr<Device> device;
  std::unique_ptr<Stream> stream;
  const MicroKernels& kernels;
};

/// Runs `enqueue` once untimed, then per iteration; an iteration's time is the device time over
/// `parts`.
template <class Enqueue>
void measure(benchmark::State& state, Bench& bench, int parts, Enqueue enqueue) {
  if (!bench.time(state, enqueue)) return;
  for (auto _ : state) {
    const auto us = bench.time(state, enqueue);
    if (!us) return;
    state.SetIterationTime(*us * 1e-6 / parts);
  }
}

void signal_round_trip(benchmark::State& state, Backend backend) {
  Bench bench(backend);
  Peers peers{};
  peers.ranks = 2;
  peers.timeout_ns = 5'000'000'000;
  peers.control = bench.device->control();
  for (int rank = 0; rank < 2; ++rank) {
    peers.memory[rank] = static_cast<std::byte*>(bench.device->allocate(kScratchOffset));
    bench.stream->queue().fill(peers.memory[rank], 0, kScratchOffset);
  }
  const int trips = backend == Backend::host ? 10 : kTrips;
  measure(state, bench, trips,
          [&] { bench.kernels.ping_pong(bench.stream->queue(), peers, trips); });
}

void pack_add(benchmark::State& state, Backend backend, Dtype dtype, std::uint64_t bytes) {
  Bench bench(backend);
  void* memory[3];
  for (void*& part : memory) {
    part = bench.device->allocate(bytes);
    bench.stream->queue().fill(part, 0x3c, bytes);  // a small normal number in every dtype
  }
  measure(state, bench, 1, [&] {
    bench.kernels.add(bench.stream->queue(), dtype, memory[0], memory[1], memory[2], bytes / 16);
  });
  state.SetBytesProcessed(static_cast<std::int64_t>(state.iterations()) *
                          static_cast<std::int64_t>(3 * bytes));
}

void launch_eager(benchmark::State& state, Backend backend) {
  Bench bench(backend);
  measure(state, bench, kLaunches, [&] {
    for (int i = 0; i < kLaunches; ++i) bench.kernels.empty(bench.stream->queue());
  });
}

void graph_replay(benchmark::State& state, Backend backend, int ops) {
  Bench bench(backend);
  bench.stream->begin_capture();
  for (int i = 0; i < ops; ++i) bench.kernels.empty(bench.stream->queue());
  const auto graph = bench.stream->end_capture();
  measure(state, bench, ops, [&] { bench.stream->replay(*graph); });
}

void register_on(Backend backend) {
  const std::string on = "/" + std::string(word(backend));
  const auto add = [](const std::string& name, auto body) {
    benchmark::RegisterBenchmark(name.c_str(), body)
        ->UseManualTime()
        ->Iterations(50)
        ->Unit(benchmark::kNanosecond);
  };
  add("signal_round_trip" + on, [=](auto& state) { signal_round_trip(state, backend); });
  add("launch" + on, [=](auto& state) { launch_eager(state, backend); });
  for (const int ops : {1, 20, 200})
    add("graph_replay_per_op/" + std::to_string(ops) + on,
        [=](auto& state) { graph_replay(state, backend, ops); });
  for (const Dtype dtype : {Dtype::f16, Dtype::bf16, Dtype::f32})
    for (const std::uint64_t bytes : {4096u, 1u << 20, 64u << 20}) {
      if (backend == Backend::host && bytes > (1u << 20)) continue;  // seconds on one thread
      add("pack_add/" + std::string(word(dtype)) + "/" + std::to_string(bytes) + on,
          [=](auto& state) { pack_add(state, backend, dtype, bytes); });
    }
}

}  // namespace

const MicroKernels& micro_kernels(Backend backend) {
  return tables().of[static_cast<std::size_t>(backend)].value();
}

void register_micro_kernels(Backend backend, const MicroKernels& kernels) {
  tables().of[static_cast<std::size_t>(backend)] = kernels;
}

}  // namespace arbench

int main(int argc, char** argv) {
  using namespace arbench;
  setenv("CUDA_MODULE_LOADING", "EAGER", 0);
  benchmark::Initialize(&argc, argv);
  if (benchmark::ReportUnrecognizedArguments(argc, argv)) return 2;
  const Machine machine = discover("");
  if (machine.gpus.empty()) {
    std::fprintf(stderr, "arbench_micro: no CUDA device answers (%s): host backend alone\n",
                 machine.cuda_error.c_str());
  } else {
    register_on(Backend::cuda);
  }
  register_on(Backend::host);
  benchmark::RunSpecifiedBenchmarks();
}

// Where the micro-benchmarks run, and the functions that register them with Google Benchmark.
//
// All of them report manual time, the device's time per op, with a fixed number of iterations: an
// iteration runs many ops, so Google Benchmark's own choice by --benchmark_min_time would take far
// longer than asked for.
#pragma once

#include <benchmark/benchmark.h>

#include <exception>
#include <string>
#include <vector>

#include "arbench/case.hpp"

namespace arbench {

struct Target {
  Backend backend;
  std::vector<int> devices;  ///< of ranks 0 and 1, equal for virtual ranks; rank 0's for one rank

  /// "signal_round_trip" becomes "signal_round_trip/host".
  std::string name(const std::string& what) const {
    return what + "/" + std::string(word(backend));
  }
  bool host() const { return backend == Backend::host; }
};

void register_signal(const Target& target);
void register_pack_add(const Target& target);
void register_launch(const Target& target);

/// Runs a benchmark's body; what it throws becomes the benchmark's error, and the others go on.
template <class Body>
void guarded(benchmark::State& state, Body body) {
  try {
    body();
  } catch (const std::exception& error) {
    state.SkipWithError(error.what());
  }
}

/// Registers `body` as target.name(name) with manual time in microseconds.
template <class Body>
benchmark::internal::Benchmark* add_benchmark(const std::string& name, int iterations, Body body) {
  return benchmark::RegisterBenchmark(name.c_str(), body)
      ->Iterations(iterations)
      ->UseManualTime()
      ->Unit(benchmark::kMicrosecond);
}

}  // namespace arbench

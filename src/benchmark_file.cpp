#include "benchmark_file.hpp"

#include <exception>
#include <utility>

namespace arbench {

BenchmarkFile::BenchmarkFile(std::ostream* out) : on_(out != nullptr) {
  if (on_) json_.SetOutputStream(out);
}

BenchmarkFile::~BenchmarkFile() {
  if (begun_) json_.Finalize();
}

void BenchmarkFile::run(const ReportedVisit& visit,
                        const std::function<std::vector<double>()>& measure) {
  std::exception_ptr failure;
  visit_ = visit;
  auto* timed = benchmark::RegisterBenchmark(visit.name.c_str(), [&](benchmark::State& state) {
    std::vector<double> us;
    try {
      us = measure();
    } catch (...) {  // may not pass through the library
      failure = std::current_exception();
      state.SkipWithError("failed");
      return;
    }
    std::size_t replay = 0;
    for (auto _ : state) state.SetIterationTime(us[replay++] * 1e-6);
  });
  timed->UseManualTime()->Iterations(visit.replays)->Repetitions(1)->Unit(benchmark::kNanosecond);
  benchmark::RunSpecifiedBenchmarks(this, ".");  // whatever the environment filters
  benchmark::ClearRegisteredBenchmarks();
  if (failure) std::rethrow_exception(failure);
}

bool BenchmarkFile::ReportContext(const Context& context) {
  if (on_ && !std::exchange(begun_, true)) json_.ReportContext(context);
  return true;
}

void BenchmarkFile::ReportRuns(const std::vector<Run>& runs) {
  if (!on_ || !visit_.listed) return;
  std::vector<Run> kept = runs;
  for (Run& run : kept) {
    run.repetition_index = visit_.round;
    run.repetitions = visit_.rounds;
    run.run_name.iterations.clear();  // the name alone joins one file with another
    run.run_name.repetitions.clear();
    run.run_name.time_type.clear();
  }
  json_.ReportRuns(kept);
}

}  // namespace arbench

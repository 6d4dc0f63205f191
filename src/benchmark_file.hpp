// Google Benchmark's part: it runs the timed loop of every visit, and its own JSON reporter writes them, all rounds of all
// contenders as repetitions in one file, so that its compare.py can read them. Rows and tables are ours. For one thread.
#pragma once

#include <benchmark/benchmark.h>

#include <functional>
#include <ostream>
#include <string>
#include <vector>

namespace arbench {

/// One visit to a contender.
struct ReportedVisit {
  std::string name;
  int replays = 0;
  int round = 0, rounds = 0;  ///< which of how many, as far as known
  bool listed = true;         ///< false: leaves nothing in the file
};

class BenchmarkFile : public benchmark::BenchmarkReporter {
 public:
  /// Null for no file.
  explicit BenchmarkFile(std::ostream* out);
  ~BenchmarkFile() override;

  /// Calls `measure` once, which returns the microseconds of each replay. Throws what it throws, and the file then holds
  /// nothing of the visit.
  void run(const ReportedVisit& visit, const std::function<std::vector<double>()>& measure);

  bool ReportContext(const Context& context) override;
  void ReportRuns(const std::vector<Run>& runs) override;

 private:
  benchmark::JSONReporter json_;
  bool on_, begun_ = false;
  ReportedVisit visit_;
};

}  // namespace arbench

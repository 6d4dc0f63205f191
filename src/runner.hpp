// The schedule: which world and which point when, and what becomes of contenders that end their workers.
#pragma once

#include <functional>
#include <ostream>
#include <string>
#include <vector>

#include "machine.hpp"
#include "options.hpp"
#include "result.hpp"
#include "seconds.hpp"
#include "sight.hpp"

namespace arbench {

struct RunHooks {
  /// Called once per row, as soon as it is final; samples are the maxima over ranks. May throw to
  /// end the run.
  std::function<void(const Row&, const std::vector<Sample>&)> row;
  /// Called before each point: its number from 1, how many there are, and its first case.
  std::function<void(int, int, const Case&)> progress;
  /// Where Google Benchmark's JSON goes, one entry per contender and round; may be null.
  std::ostream* google_benchmark = nullptr;
  /// Where the time that things take is added up; may be null.
  Seconds* seconds = nullptr;
  /// How these devices are now; asked while rounds run. May be empty.
  std::function<Sight(const std::vector<int>& devices)> look{};
};

/// Those of the cases that nothing known beforehand keeps from running: what takes time. The rest become rows all the same.
std::vector<Case> runnable(const std::vector<Case>& cases, const Options& options);

/// Runs all cases, in order, one row each. Cases of one point are contenders: they are opened and
/// verified, then timed in rounds whose order is shuffled (options.seed), then verified again; one of
/// them is measured twice for the A/A band, which all rows of the point carry (point.hpp). A
/// contender that hangs or crashes ends its point's workers; the point starts again without it.
/// Throws Interrupted, and what the hooks throw; rows handed out before stay valid.
void run(const std::vector<Case>& cases, const Options& options, const Machine& machine,
         const RunHooks& hooks);

/// Names for the sweep: hand-written algorithms in alphabetical order, then NCCL's, whether built in or not (a row then says
/// why it cannot run). `asked` is what --algo lists: a hidden algorithm is among the names only if it is there by its full
/// name, and NCCL on the host backend only if anything is.
std::vector<std::string> algorithm_names(Backend backend, const std::vector<std::string>& asked);

/// 0 all ok, skipped, unsupported or functional; else, by the worst row: 7 wrong data, 4 hung, 8
/// any other failure.
int exit_code(const std::vector<Row>& rows);

}  // namespace arbench

// What the recorded facts of a machine mean for a run: one finding per cause, each with what to do.
// Pure functions: no driver is asked, so that a machine can be judged from its record.
#pragma once

#include <string>
#include <vector>

#include "machine.hpp"

namespace arbench {

struct Finding {
  /// ok: as it should be. note: good to know. warning: runs, but some rows are missing or may
  /// mislead. problem: some device or all of CUDA cannot run.
  enum class Level { ok, note, warning, problem };
  Level level = Level::ok;
  std::string topic;  ///< "driver", "toolkit", "devices", "code", "nccl", "link", "peers" or "mps"
  std::string text;   ///< one line
  std::string what_to_do;  ///< one line, empty for ok
  bool operator==(const Finding&) const = default;
};

/// All findings, in the order of the topics above. GPUs of which the same is true share one
/// finding.
std::vector<Finding> examine(const Machine& machine);

/// The facts, then one verdict line per finding ("warning  nccl: ...", "         do: ..."). Ends
/// with a newline.
std::string doctor_report(const Machine& machine);

}  // namespace arbench

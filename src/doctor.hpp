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
  std::string
      topic;  ///< "driver", "toolkit", "devices", "code", "nccl", "link", "clocks", "persistence",
              ///< "power", "peers" or "mps"
  std::string text;        ///< one line
  std::string what_to_do;  ///< one line, empty for ok
  bool operator==(const Finding&) const = default;
};

/// Settings that make times drift or not those of the default: SM clocks that look unlocked, persistence mode off, a power cap
/// below the default; one finding for all GPUs of which the same is true, with the nvidia-smi line to type. What is unknown
/// gives none.
std::vector<Finding> examine_settings(const std::vector<Gpu>& gpus);

/// All findings, in the order of the topics above. GPUs of which the same is true share one
/// finding.
std::vector<Finding> examine(const Machine& machine);

/// The facts, then one verdict line per finding ("warning  nccl: ...", "         do: ..."). Ends
/// with a newline.
std::string doctor_report(const Machine& machine);

}  // namespace arbench

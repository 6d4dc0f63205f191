// Does verification catch what is wrong? Runs the negative controls of kernels/broken.cu, each in worker processes of its own
// and through all that `run` does, beside the right algorithms, which must pass.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "machine.hpp"
#include "options.hpp"
#include "result.hpp"

namespace arbench {

/// What one algorithm came to in one case.
struct Verdict {
  Row row;
  bool control = false;
  /// caught, MISSED or "not run" for a control; passed, FAILED or "not run" for a right algorithm.
  std::string word;
};

/// "broken_no_tail  graph  caught: wrong: rank 0, replay 0: 3 wrong, ...".
std::string line(const Verdict& verdict);

/// The hidden algorithms of the backend whose names begin with "broken_".
std::vector<std::string> control_names(Backend backend);

/// Runs the controls and all algorithms that are not hidden, eager and replayed, with --gpus ranks
/// (default: as many as the largest of the sweep's rank counts; on the host 3), and calls `show` for
/// each as soon as it is known. The message is no multiple of 16 bytes. Throws UsageError as expand() does, and Interrupted.
std::vector<Verdict> self_test(const Options& options, const Machine& machine,
                               const std::vector<std::string>& controls,
                               const std::function<void(const Verdict&)>& show);

/// 0 if every control that can run was caught, and every right algorithm that can run passed, and
/// there is at least one of both; else 7.
int exit_code(const std::vector<Verdict>& verdicts);

}  // namespace arbench

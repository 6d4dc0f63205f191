// From what the user asked for and what the machine has to the list of cases: everything that was
// left open is decided here, and remark() says how.
// Thread safety: pure functions.
#pragma once

#include <string>
#include <vector>

#include "arbench/case.hpp"
#include "machine.hpp"
#include "options.hpp"

namespace arbench {

/// The backend of --backend; auto is cuda if the machine has a GPU that answers, else host.
/// Never throws: expand() refuses a cuda backend without a device.
Backend resolved_backend(const Options& options, const Machine& machine);

/// The options with their sizes filled in where neither sizes nor a model's shapes were asked for:
/// 1K to 64M, and fewer on the host backend. What was asked for stays as it is.
Options with_defaults(const Options& options, Backend backend);

/// All cases of a sweep, in the order they run: rank count, dtype, placement, mode, L2, size ascending,
/// and the contenders of one point next to each other in the order of `algorithm_names`. Ranks are
/// the first n of the devices, which are
///   --devices · --virtual N: N times device 0, or the one of --devices · one GPU, or a grid
///   launch: 8 times the first GPU · else all GPUs · host backend: the rank numbers (grid launch:
///   all 0).
/// Rank counts are --gpus, or 2, 4, 8 and all devices. A size is rounded down to a multiple of the
/// dtype's size. `options` need not have gone through with_defaults().
/// `nvrtc` are the names of the toolkits in options.toolkits that are not "build", in their order. Each
/// kernel is a contender for each toolkit; NCCL, which none of them compiles, is one all the same.
/// Throws UsageError for what this machine or `algorithm_names` does not have.
std::vector<Case> expand(const Options& options, const Machine& machine,
                         const std::vector<std::string>& algorithm_names,
                         const std::vector<std::string>& nvrtc = {});

/// One line on what was decided by default and limits what the results mean; empty if nothing was.
std::string remark(const Options& options, const Machine& machine);

/// How many points the cases are: contenders of one point stand next to each other.
int count_points(const std::vector<Case>& cases);

/// Seconds per row beside the timed ones, for estimate_seconds(): opening, verifying twice, warming
/// up, and the start of workers, spread over their rows. An allowance, not a measurement.
inline constexpr double kRowOverheadSeconds = 0.2;

/// Seconds that the cases take: rows x (options.row_seconds + kRowOverheadSeconds), where the
/// contender that is measured twice counts twice. Too low for
/// large messages, of which the least number of replays takes longer than row_seconds; too high for
/// cases that turn out to be skipped.
double estimate_seconds(const std::vector<Case>& cases, const Options& options);

}  // namespace arbench

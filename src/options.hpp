// The command line as a validated value. Parsing is the only place that knows option names.
#pragma once

#include <cstdint>
#include <optional>
#include <stdexcept>
#include <string>
#include <vector>

#include "arbench/case.hpp"

namespace arbench {

/// A command line that cannot be carried out. what() is one line that names the option and what it
/// accepts; exit 2.
class UsageError : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

enum class Command { run, doctor, list, self_test, compare, help, version };

/// Of `arbench compare`.
struct CompareOptions {
  std::string a, b;                          ///< see compare::read_side()
  std::string csv, markdown, html;           ///< files to write; empty: none
  std::optional<double> fail_on_slower_pct;  ///< exit 3 for a slower row beyond this
};

/// Fewest rounds before --precision or --max-seconds end a point: an interval of fewer says little.
inline constexpr int kLeastRounds = 5;

struct Options {
  Command command = Command::run;

  std::vector<std::string>
      algorithms;  ///< names and globs as given; empty: all that are not hidden
  std::vector<Dtype> dtypes{Dtype::bf16};
  /// Bytes per rank, ascending, from -b/-e/-f/-i and --sizes; empty: see with_defaults().
  std::vector<std::uint64_t> sizes;
  std::vector<std::uint64_t>
      shape_elements;     ///< elements per rank from --model x --tokens, ascending
  std::vector<int> gpus;  ///< rank counts; empty: 2, 4, 8 and all devices; see expand()
  std::vector<Mode> modes{Mode::eager, Mode::graph};
  std::vector<L2> l2s{L2::hot};
  std::vector<Placement> placements{Placement::out_of_place};
  std::vector<int> devices;        ///< --devices, ids may repeat; empty: see expand()
  int virtual_ranks = 0;           ///< --virtual N: N ranks on one device; 0: not asked for
  std::optional<Backend> backend;  ///< empty: auto
  Launch launch = Launch::threads;
  Transport transport = Transport::p2p;
  Geometry geometry;
  std::vector<std::string> toolkits{"build"};  ///< "build", "nvrtc:PATH": whose code kernels run

  int rounds = 12;           ///< visits to each contender
  int replays = 100;         ///< samples per round, at most
  int ops = 20;              ///< K, ops per graph
  double row_seconds = 0.3;  ///< timed work per row; large sizes take fewer replays to keep it
  double skew_us = 0;        ///< --skew-us: one rank after the other starts late
  bool aa = true;            ///< measure one contender of each point twice
  int soak = 0;              ///< checked calls of each contender before it is timed
  /// --slow: a known slow-down, to see what finds it. Algorithms that match the glob enqueue so many percent more ops per
  /// sample than are counted; a whole number of ops.
  std::string slow_algorithms;
  double slow_pct = 0;
  double precision_pct = 0;  ///< stop when all intervals are narrower to each side; 0: never
  double max_seconds = 0;    ///< per row, instead of `rounds` as the most; 0: none
  double timeout_seconds = 10;
  std::uint64_t seed = 1;

  bool dry_run = false;
  bool nccl_loopback = false;
  bool allow_busy = false;    ///< also measure on a GPU that somebody else uses
  std::string nccl_lib;       ///< path; empty: environment, loader path, pip wheel
  std::string out;            ///< output folder, also of --resume; empty: none
  bool resume = false;        ///< the output folder is that of a cut run, which goes on
  bool retry_failed = false;  ///< rows that are hung or error there are measured again
  bool verbose = false;

  CompareOptions compare;
};

/// Throws UsageError. `argv[0]` is skipped. REQUIRES: nothing of the machine; no device is touched.
Options parse(int argc, const char* const* argv);
/// The text of --help, made from the same table as parse().
std::string help();

}  // namespace arbench

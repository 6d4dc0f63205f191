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

enum class Command { run, doctor, list, help };

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
  Geometry geometry;

  int rounds = 12;           ///< visits to each contender
  int replays = 100;         ///< samples per round, at most
  int ops = 20;              ///< K, ops per graph
  double row_seconds = 0.3;  ///< timed work per row; large sizes take fewer replays to keep it
  double skew_us = 0;        ///< --skew-us: one rank after the other starts late
  double timeout_seconds = 10;
  std::uint64_t seed = 1;

  bool dry_run = false;
  bool nccl_loopback = false;
  std::string nccl_lib;  ///< path; empty: environment, loader path, pip wheel
  std::string out;       ///< output folder; empty: none
  bool verbose = false;
};

/// Throws UsageError. `argv[0]` is skipped. REQUIRES: nothing of the machine; no device is touched.
Options parse(int argc, const char* const* argv);
/// The text of --help, made from the same table as parse().
std::string help();

}  // namespace arbench

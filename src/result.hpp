// What a case came to: the row that every writer prints. Plain values.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "arbench/case.hpp"

namespace arbench {

/// ok: right and timed. functional: right, but its time means nothing (NCCL over loopback sockets).
/// skipped: cannot run here, for a reason known beforehand. unsupported: a library or capture
/// refused it. wrong: the data were not right. hung: a wait passed its deadline. error: all else.
enum class Status { ok, functional, skipped, unsupported, wrong, hung, error };
template <>
struct Words<Status> {
  static constexpr std::array<std::string_view, 7> list{
      "ok", "functional", "skipped", "unsupported", "wrong", "hung", "error"};
};

/// Microseconds per op over all samples of a row; a sample is already the maximum over ranks.
struct Summary {
  int rounds = 0;
  int samples = 0;
  double median = 0, ci_lo = 0, ci_hi = 0, min = 0, mean = 0, p90 = 0, p95 = 0, p99 = 0, max = 0;
  double mad = 0;
  double cv_pct = 0;
  int outliers_mild = 0;
  int outliers_severe = 0;
};

/// One timed replay. `us` is per op; `rank` -1 is the maximum over ranks.
struct Sample {
  int round = 0;
  int replay = 0;
  int rank = 0;
  double us = 0;
};

struct Row {
  Case point;
  Status status = Status::ok;
  std::string reason;           ///< why the status is not ok; else a remark or empty
  Geometry geometry;            ///< blocks and threads that ran; zeros where the algorithm has none
  std::string ran;              ///< what a library really ran ("ring/ll"), "unverified", or empty
  int ops_per_graph = 0;        ///< K, in both modes; eager mode may need fewer
  int l2_sets = 0;              ///< buffer sets; 0: not opened
  std::optional<Summary> time;  ///< empty unless status is ok
  /// One op behind a barrier over all ranks, us: median over samples, less that of the barriers.
  std::optional<double> iso_us_median;
  /// Latest less earliest rank at the start and at the end of samples that start together, us.
  std::optional<double> start_skew_us_median, skew_us_median;
  std::optional<double> clock_error_us;  ///< how far the ranks' clocks may be off in the two above
  double added_skew_us = 0;              ///< by which one rank after the other started late
  std::optional<double> sm_mhz_min;      ///< lowest multiprocessor clock of all ranks and rounds
  std::optional<double> cpu_us_median;   ///< host enqueue time per op, slowest rank
  std::optional<std::uint64_t>
      wrong;  ///< wrong elements over all ranks; empty when nothing was checked

  /// Of random data: the largest error against fp64, in units in the last place and absolute; whether all ranks, and a
  /// second call, had the same bits. Empty when that was not checked.
  std::optional<double> max_ulp, max_abs_err;
  std::optional<bool> bitwise_ranks, bitwise_runs;

  std::optional<double> floor_us;  ///< physics allows no less (floor.hpp); empty unknown
  std::optional<double>
      aa_pct;           ///< by how much two measurements of one contender of this point differ
  std::string stopped;  ///< why no round followed: rounds, precision or budget; empty: untimed

  std::optional<bool>
      throttled;  ///< a GPU slowed down in a round and its repetitions; empty unknown
  /// Lowest of the GPUs' PCIe links while rounds ran; 0: unknown, or no data cross one.
  int pcie_generation = 0, pcie_width = 0;

  /// Bytes per second over 1e9: bytes / time. Empty without a time or bytes.
  std::optional<double> algbw_gbps() const;
  /// algbw * 2(n-1)/n, nccl-tests' definition (doc/PERFORMANCE.md), whatever the algorithm moves.
  std::optional<double> busbw_gbps() const;
  /// The floor in percent of the median: 100 is as fast as physics allows.
  std::optional<double> pct_floor() const;
};

}  // namespace arbench

// What the parts of Driver share: driver.cpp opens, driver_cold.cpp evicts, driver_verify.cpp checks,
// driver_time.cpp times. Nobody else includes it.
#pragma once

#include <algorithm>
#include <iterator>

#include "driver.hpp"

namespace arbench {

inline constexpr std::uint64_t kGuard =
    4096;  ///< bytes before and after each buffer that nobody may touch
inline constexpr int kGuardByte = 0x5a;
inline constexpr int kPoison = 0xff;  ///< a NaN in every dtype
inline constexpr int kChecks =
    4;  ///< per rank and replay: output, input, guards of output, guards of input
/// Ops of each replay of a verification; kChain: as many as follow each other in the measurement. The calls one and two
/// before the last single op had other inputs than it has, so nothing that they left behind passes for its result.
inline constexpr int kChain = 0;
inline constexpr int kVerifyOps[] = {kChain, 1, 1, kChain};
inline constexpr int kVerifyReplays = static_cast<int>(std::size(kVerifyOps));
inline constexpr int kEagerChain = 3;
inline constexpr int kColdFactor = 5;  ///< L2 sizes between two uses of a buffer
inline constexpr int kMaxBehindGate =
    512;  ///< launches; the launch queue of a stream holds about 1000

/// More than `ops` allreduces of a case take on any link worth measuring, 0.5 GB/s: a bound on waiting while nothing is
/// known of its speed.
inline double generous_us(const Case& point, int ops) {
  return static_cast<double>(point.bytes) * point.ranks() * ops / 500;
}

inline bool with_barriers(Sequence sequence) {
  return sequence == Sequence::isolated || sequence == Sequence::barriers;
}

/// At least one, so that a lack of memory is told by the allocation. Half of what is free is left to the contenders' scratch
/// memory.
inline int sets_that_fit(std::uint64_t free_bytes, int sharing, std::uint64_t set_bytes,
                         int wanted) {
  const std::uint64_t room = free_bytes / 2 / static_cast<std::uint64_t>(sharing) / set_bytes;
  return static_cast<int>(std::clamp<std::uint64_t>(room, 1, static_cast<std::uint64_t>(wanted)));
}

struct Driver::Slot {
  Case point;
  const Algorithm* algorithm = nullptr;
  Geometry geometry;
  Symmetric memory;  ///< Signals, then scratch
  Op op;
  std::map<int, std::unique_ptr<Graph>> graphs;               ///< by their ops; graph mode only
  std::map<Sequence, std::unique_ptr<Graph>> barrier_graphs;  ///< of `pairs` barriers; likewise
  int sets = 1;          ///< of buffers; op i uses set i % sets
  int ops = 0;           ///< per sample, that are counted
  int more_ops = 0;      ///< that are not, of a contender that is slowed down on purpose
  int pairs = 0;         ///< of a barrier and an op, per sample
  int chain_ops = 0;     ///< that follow each other in verify(): in place few keep the data exact
  double us_per_op = 0;  ///< of the warm-up, for deadlines
  std::map<Sequence, double> us_per_pair;  ///< likewise

  bool cold() const { return point.l2 == L2::cold; }
  int steps(Sequence sequence) const { return with_barriers(sequence) ? pairs : ops; }
  double us_per_step(Sequence sequence) const {
    if (!with_barriers(sequence)) return us_per_op;
    const auto known = us_per_pair.find(sequence);
    return known == us_per_pair.end() ? 0 : known->second;
  }
};

}  // namespace arbench

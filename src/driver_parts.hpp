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
/// A replay of a verification. kChain ops are as many as follow each other in the measurement; random data come twice, to
/// see whether the bits are the same.
struct VerifyStep {
  int ops;
  Data data;
  std::uint32_t salt;
};
inline constexpr int kChain = 0;
/// Two graphs take turns in the order A B A B B A, each with inputs of its own, so nothing that calls before left behind
/// passes for a result.
inline constexpr VerifyStep kVerifySteps[] = {
    {kChain, Data::exact, 0}, {1, Data::exact, 1},  {kChain, Data::exact, 2},
    {1, Data::exact, 3},      {1, Data::exact, 4},  {kChain, Data::exact, 5},
    {1, Data::random, 6},     {1, Data::random, 6}, {1, Data::special, 7}};
inline constexpr int kVerifySize = static_cast<int>(std::size(kVerifySteps));
inline constexpr int kFirstRandom = 6;
/// Behind them: ops whose inputs are overwritten as soon as each is done.
inline constexpr int kOverwritten = 4;
inline constexpr int kReplays = kVerifySize + 1;  ///< of a verification, all told
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
  int sets = 1;      ///< of buffers; op i uses set i % sets
  int ops = 0;       ///< per sample, that are counted
  int more_ops = 0;  ///< that are not, of a contender that is slowed down on purpose
  int pairs = 0;     ///< of a barrier and an op, per sample
  std::unique_ptr<Graph> overwriting;  ///< of enqueue_overwriting(); graph mode only
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

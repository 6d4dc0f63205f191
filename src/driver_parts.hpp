// What the parts of Driver share: driver.cpp opens, driver_verify.cpp checks, driver_time.cpp times. Nobody else includes it.
#pragma once

#include "driver.hpp"

namespace arbench {

inline constexpr std::uint64_t kGuard =
    4096;  ///< bytes before and after each buffer that nobody may touch
inline constexpr int kGuardByte = 0x5a;
inline constexpr int kPoison = 0xff;  ///< a NaN in every dtype
inline constexpr int kChecks =
    4;  ///< per rank and replay: output, input, guards of output, guards of input
inline constexpr int kVerifyReplays = 3;
inline constexpr int kMaxBehindGate =
    512;  ///< launches; the launch queue of a stream holds about 1000

/// More than `ops` allreduces of a case take on any link worth measuring, 0.5 GB/s: a bound on waiting while nothing is
/// known of its speed.
inline double generous_us(const Case& point, int ops) {
  return static_cast<double>(point.bytes) * point.ranks() * ops / 500;
}

struct Driver::Slot {
  Case point;
  const Algorithm* algorithm = nullptr;
  Geometry geometry;
  Symmetric memory;  ///< Signals, then scratch
  Op op;
  std::unique_ptr<Graph> timed;  ///< K ops; graph mode only
  std::unique_ptr<Graph> check;  ///< in place only: as many ops as keep the data exact
  int ops = 0;                   ///< per sample
  int check_ops = 0;
  double us_per_op = 0;  ///< of the warm-up, for deadlines
};

}  // namespace arbench

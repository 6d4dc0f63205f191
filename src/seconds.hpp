// Where the time of a run went. Plain values.
#pragma once

#include <chrono>

namespace arbench {

/// Seconds of wall time as the coordinator sees them, by what the ranks were asked to do. What is missing to the total is the
/// program's own: looking at the machine, statistics, the table.
struct Seconds {
  double workers = 0;  ///< starting and ending processes and threads
  double open = 0;     ///< contenders: memory, geometry, capture
  double verify = 0;
  double warm_up = 0;
  double rounds = 0;  ///< visits
  double timed = 0;   ///< of these, in samples: the slowest rank's time of each replay
  double close = 0;
  double rows = 0;  ///< writing rows to disk
  double total = 0;
};

/// Adds the time until it goes out of scope.
class Stopwatch {
 public:
  explicit Stopwatch(double& seconds) : seconds_(seconds) {}
  ~Stopwatch() { seconds_ += std::chrono::duration<double>(Clock::now() - start_).count(); }
  Stopwatch(const Stopwatch&) = delete;
  Stopwatch& operator=(const Stopwatch&) = delete;

 private:
  using Clock = std::chrono::steady_clock;
  double& seconds_;
  Clock::time_point start_ = Clock::now();
};

}  // namespace arbench

// A rank's stream of work, seen by whoever enqueues. In order; captured into a graph or run
// directly, the caller decides.
#pragma once

#include <cstddef>

namespace arbench {

class Queue {
 public:
  virtual ~Queue() = default;
  /// Copies through the copy engine (GPU) or memcpy (host). Addresses of peers are allowed.
  virtual void copy(void* to, const void* from, std::size_t bytes) = 0;
  virtual void fill(void* to, int byte, std::size_t bytes) = 0;
  /// Side queue 0 <= i < kLanes. It starts after all that this queue holds at the first call since
  /// the last join().
  virtual Queue& lane(int i) = 0;
  /// What follows on this queue waits for all lanes used since the last join().
  virtual void join() = 0;
};

inline constexpr int kLanes = 2;

}  // namespace arbench

// Where the drivers of a world meet: threads of one process or several processes, it makes no
// difference, since all state is atomics and bytes in memory that all of them see. Invariant: every
// driver makes the same sequence of calls. Thread safety: one Rendezvous object per driver.
#pragma once

#include <atomic>
#include <chrono>
#include <cstdint>
#include <stdexcept>
#include <string>
#include <vector>

#include "arbench/peers.hpp"

namespace arbench {

/// REQUIRES: zeroed memory, seen by all drivers. Lock-free atomics work across processes.
struct RendezvousState {
  static constexpr std::size_t kText = 1024;
  std::atomic<std::uint32_t> arrived;
  std::atomic<std::uint32_t> generation;
  std::atomic<std::uint32_t> failed;  ///< 0 nobody, 1 reason being written, 2 reason readable
  char reason[kText];
  std::uint32_t size[kMaxRanks];
  char text[kMaxRanks][kText];
};
static_assert(std::atomic<std::uint32_t>::is_always_lock_free);

/// Another driver failed, or did not come in time; what() is the first failure's text.
class Stopped : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

class Rendezvous {
 public:
  /// Driver `index` of `drivers`. A meeting that is not complete after `patience` fails for all.
  Rendezvous(RendezvousState& state, int index, int drivers, std::chrono::nanoseconds patience)
      : state_(state), index_(index), drivers_(drivers), patience_(patience) {}

  /// Returns once all drivers have called it. Throws Stopped.
  void barrier();
  /// Everyone's text in driver order. Throws Stopped, or length_error beyond kText bytes.
  std::vector<std::string> all_gather(const std::string& text);
  /// Makes all present and later meetings throw Stopped. The first reason is the one that is kept.
  void fail(const std::string& reason);

 private:
  [[noreturn]] void stop() const;

  RendezvousState& state_;
  int index_, drivers_;
  std::chrono::nanoseconds patience_;
};

}  // namespace arbench

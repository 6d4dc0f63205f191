// Clocks of the ranks' devices: how far apart they are, and how fast the multiprocessors run. Device code, written once for both
// machines. Every loop here is bounded.
#pragma once

#include <cstdint>

#include "arbench/peers.hpp"
#include "arbench/signal.hpp"

namespace arbench {

/// A rank's own clock when it began and ended a sample.
struct Stamps {
  std::uint64_t start_ns, end_ns;
};

/// A rank's clock less that of rank 0. The truth lies within ns +- error_ns.
struct ClockOffset {
  std::int64_t ns;
  std::uint64_t error_ns;
};

/// Cycles of one multiprocessor in so many nanoseconds. No cycles: the machine does not count them.
struct SmClock {
  std::uint64_t cycles, ns;
};

inline constexpr std::uint32_t kPings = 16;  ///< per rank
inline constexpr std::uint64_t kSmClockSpanNs =
    50'000;                                            ///< clocks of a GPU change over milliseconds
inline constexpr std::uint32_t kMostPolls = 1u << 22;  ///< some tenths of a second

inline namespace ARBENCH_PORT {

/// The clock just when it has moved on, which it does in steps: of 1 us on some GPUs.
template <class Exec>
ARBENCH_DEVICE std::uint64_t next_tick(const Exec& ex) {
  const std::uint64_t before = ex.now_ns();
  std::uint64_t now = before;
  for (std::uint32_t polls = 0; now == before && polls < kMostPolls; ++polls) now = ex.now_ns();
  return now;
}

/// Spins for `ns`.
template <class Exec>
ARBENCH_DEVICE void delay(const Exec& ex, std::uint64_t ns) {
  const std::uint64_t start = ex.now_ns();
  while (ex.now_ns() - start < ns) ex.relax();
}

/// Both clocks are read at ticks, by one thread that stays on one multiprocessor: its cycle counter is its own.
template <class Exec>
ARBENCH_DEVICE SmClock measure_sm_clock(const Exec& ex) {
  const std::uint64_t start = next_tick(ex);
  const std::uint64_t cycles = ex.cycles();
  std::uint64_t now = start;
  for (std::uint32_t polls = 0; now - start < kSmClockSpanNs && polls < kMostPolls; ++polls)
    now = ex.now_ns();
  return {ex.cycles() - cycles, now - start};
}

/// Rank 0's half of compare_clocks(): answers each ping with its own time.
template <class Exec>
ARBENCH_DEVICE void answer_pings(const Exec& ex, const Peers& p, std::uint32_t turn) {
  for (int peer = 1; peer < p.ranks; ++peer)
    for (std::uint32_t ping = 1; ping <= kPings; ++ping) {
      if (!wait(ex, p, peer, turn * kPings + ping)) return;
      *reinterpret_cast<std::uint64_t*>(p.scratch(peer)) = ex.now_ns();
      signal(ex, p, peer, turn * kPings + ping);  // release: the peer sees the time
    }
}

/// Called by one thread of each rank, in calls numbered by `turn` from 0. A ping to rank 0 comes back with rank 0's time, which
/// was read between the ping's start and end; so it belongs to their middle, with half the time between them as the error, and a
/// step of each clock. The quickest ping counts. REQUIRES: zeroed signals that nothing else uses, and 8 bytes of scratch.
template <class Exec>
ARBENCH_DEVICE void compare_clocks(const Exec& ex, const Peers& p, std::uint32_t turn,
                                   ClockOffset* result) {
  *result = {0, 0};
  if (ex.rank() == 0) return answer_pings(ex, p, turn);
  const std::uint64_t tick = next_tick(ex);
  const std::uint64_t step = next_tick(ex) - tick;
  std::uint64_t quickest = ~0ull;
  for (std::uint32_t ping = 1; ping <= kPings; ++ping) {
    const std::uint64_t start = ex.now_ns();
    signal(ex, p, 0, turn * kPings + ping);
    if (!wait(ex, p, 0, turn * kPings + ping)) return;
    const std::uint64_t took = ex.now_ns() - start;
    const std::uint64_t theirs = *reinterpret_cast<const std::uint64_t*>(p.scratch(ex.rank()));
    if (took >= quickest) continue;
    quickest = took;
    *result = {static_cast<std::int64_t>(start + took / 2 - theirs), took / 2 + 1 + 2 * step};
  }
}

}  // namespace ARBENCH_PORT
}  // namespace arbench

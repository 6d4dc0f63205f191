// Clocks that are known to differ are found to differ by that much.
#include "clocks.hpp"

#include <gtest/gtest.h>

#include <array>

#include "exec_threads.hpp"

namespace arbench {
namespace {

/// A host thread whose clock is ahead.
struct ShiftedClock : Exec {
  ShiftedClock(const Exec& exec, std::int64_t ahead) : Exec(exec), ahead(ahead) {}
  std::uint64_t now_ns() const { return Exec::now_ns() + static_cast<std::uint64_t>(ahead); }
  std::int64_t ahead;
};

/// What three ranks find whose clocks are so far ahead.
std::array<ClockOffset, 3> compared(const std::array<std::int64_t, 3>& ahead, std::uint32_t turns) {
  constexpr std::size_t kBytes = kScratchOffset + sizeof(std::uint64_t);
  std::array<std::vector<std::uint64_t>, 3> memory;
  Control control{};
  Peers peers{};
  peers.ranks = 3;
  peers.control = &control;
  peers.timeout_ns = 20'000'000'000;
  for (std::size_t rank = 0; rank < 3; ++rank) {
    memory[rank].assign(kBytes / 8, 0);
    peers.memory[rank] = reinterpret_cast<std::byte*>(memory[rank].data());
  }
  std::array<ClockOffset, 3> offsets{};
  on_all_threads(3, 1, 1, [&](const Exec& ex) {
    const auto rank = static_cast<std::size_t>(ex.rank());
    for (std::uint32_t turn = 0; turn < turns; ++turn)
      compare_clocks(ShiftedClock(ex, ahead[rank]), peers, turn, &offsets[rank]);
  });
  EXPECT_EQ(control.fault.set, 0u);
  return offsets;
}

void expect_within_error(const ClockOffset& found, std::int64_t truth) {
  EXPECT_LE(std::abs(found.ns - truth), static_cast<std::int64_t>(found.error_ns));
  EXPECT_GT(found.error_ns, 0u);
  EXPECT_LT(found.error_ns, 1'000'000'000u);
}

TEST(CompareClocks, FindsTheOffsetsWithinTheirError) {
  for (const std::uint32_t turns : {1u, 3u}) {
    const auto offsets = compared({0, 7'000'000'000, -12'345'678'901}, turns);
    EXPECT_EQ(offsets[0].ns, 0);
    EXPECT_EQ(offsets[0].error_ns, 0u);
    expect_within_error(offsets[1], 7'000'000'000);
    expect_within_error(offsets[2], -12'345'678'901);
  }
}

TEST(CompareClocks, OffsetsAreAgainstRank0) {
  const auto offsets = compared({-40'000'000'000, 0, -40'000'000'000}, 1);
  expect_within_error(offsets[1], 40'000'000'000);
  expect_within_error(offsets[2], 0);
}

TEST(CompareClocks, ARankThatDoesNotComeIsAFault) {
  SignalWorld world(2);
  world.peers.timeout_ns = 1'000'000;
  BlockState state(1);
  ClockOffset offset{};
  compare_clocks(Exec(0, 1, 0, 1, 1, &state), world.peers, 0, &offset);
  EXPECT_EQ(world.control.fault.set, 1u);
  EXPECT_EQ(world.control.fault.rank, 1);
  EXPECT_EQ(world.control.fault.peer, 0);
}

/// A clock that moves on by 1000 ns at every tenth look, at 2000 cycles each time.
struct CoarseClock : Exec {
  CoarseClock(const Exec& exec, std::uint64_t* looks) : Exec(exec), looks(looks) {}
  std::uint64_t now_ns() const { return ++*looks / 10 * 1000; }
  std::uint64_t cycles() const { return *looks / 10 * 2000; }
  std::uint64_t* looks;
};

TEST(SmClock, IsReadAtTheTicksOfACoarseClock) {
  BlockState state(1);
  std::uint64_t looks = 3;
  const SmClock sm = measure_sm_clock(CoarseClock(Exec(0, 1, 0, 1, 0, &state), &looks));
  EXPECT_EQ(sm.ns, 50'000u);
  EXPECT_EQ(sm.cycles, 100'000u);
}

TEST(SmClock, AStandingClockEndsTheWait) {
  struct Standing : Exec {
    explicit Standing(const Exec& exec) : Exec(exec) {}
    std::uint64_t now_ns() const { return 5; }
  };
  BlockState state(1);
  EXPECT_EQ(measure_sm_clock(Standing(Exec(0, 1, 0, 1, 0, &state))).ns, 0u);
}

TEST(Delay, TakesItsTime) {
  BlockState state(1);
  std::uint64_t looks = 0;
  delay(CoarseClock(Exec(0, 1, 0, 1, 0, &state), &looks), 3000);
  EXPECT_EQ(looks, 30u);
}

}  // namespace
}  // namespace arbench

// Call numbers, bounded waits and barriers, first on one thread with a clock of the test's own,
// then on many.
#include "arbench/signal.hpp"

#include <gtest/gtest.h>

#include "exec_threads.hpp"

namespace arbench {
namespace {

TEST(Reached, ComparesBySignedDistance) {
  EXPECT_TRUE(reached(0, 0));
  EXPECT_TRUE(reached(1, 0));
  EXPECT_FALSE(reached(0, 1));
  EXPECT_TRUE(reached(0x7fffffffu, 0));
  EXPECT_FALSE(reached(0x80000000u, 0));
}

TEST(Reached, GoesOnAcrossTheWrap) {
  EXPECT_TRUE(reached(0, 0xffffffffu));
  EXPECT_TRUE(reached(5, 0xfffffffbu));
  EXPECT_FALSE(reached(0xffffffffu, 0));
  EXPECT_FALSE(reached(0xfffffffbu, 5));
}

TEST(Ticket, CountsStepsWithinCalls) {
  EXPECT_EQ(ticket(0, 1), 1u);
  EXPECT_EQ(ticket(1, 0), 4096u);
  EXPECT_EQ(ticket(3, 5), 12293u);
}

TEST(Ticket, WrapsFromCallToCall) {
  EXPECT_EQ(ticket(0xfffffu, 4095), 0xffffffffu);
  EXPECT_EQ(ticket(0x100000u, 1), 1u);
  EXPECT_TRUE(reached(ticket(0x100000u, 1), ticket(0xfffffu, 4095)));
  EXPECT_FALSE(reached(ticket(0xfffffu, 4095), ticket(0x100000u, 1)));
}

/// Each look at the clock takes a microsecond.
struct SteppingClock : Exec {
  SteppingClock(const Exec& exec, std::uint64_t* now) : Exec(exec), now(now) {}
  std::uint64_t now_ns() const { return *now += 1000; }
  std::uint64_t* now;
};

/// One thread of block 4 of rank 1, of three ranks; a wait times out after 5 microseconds.
class Waiting : public testing::Test {
 protected:
  Waiting() { world.peers.timeout_ns = 5000; }
  bool wait_for(int peer, std::uint32_t value) { return wait(exec, world.peers, peer, value); }

  SignalWorld world{3};
  BlockState state{1};
  std::uint64_t now = 0;
  SteppingClock exec{Exec(0, 1, 4, 8, 1, &state), &now};
};

TEST_F(Waiting, EndsAtOnceWhenThePeerHasCome) {
  world.signals(1).flag[4][2].value = 7;
  EXPECT_TRUE(wait_for(2, 7));
  EXPECT_TRUE(wait_for(2, 6));
  EXPECT_EQ(now, 0u);
  EXPECT_EQ(world.control.fault.set, 0u);
}

TEST_F(Waiting, SeesWhatASignalOfTheEqualBlockWrote) {
  const SteppingClock peer(Exec(0, 1, 4, 8, 2, &state), &now);
  signal(peer, world.peers, 1, 7);
  EXPECT_EQ(world.signals(1).flag[4][2].value, 7u);
  EXPECT_TRUE(wait_for(2, 7));
  EXPECT_FALSE(wait_for(0, 7));
}

TEST_F(Waiting, GivesUpWithinTheTimeoutAndRecordsTheFault) {
  world.signals(1).flag[4][2].value = 3;
  EXPECT_FALSE(wait_for(2, 7));
  EXPECT_EQ(now, 6000u);  // one look to start with, five until the time is over
  const Fault& fault = world.control.fault;
  EXPECT_EQ(fault.set, 1u);
  EXPECT_EQ(fault.rank, 1);
  EXPECT_EQ(fault.peer, 2);
  EXPECT_EQ(fault.block, 4);
  EXPECT_EQ(fault.wanted, 7u);
  EXPECT_EQ(fault.seen, 3u);
  EXPECT_EQ(world.control.abort, 1u);
}

TEST_F(Waiting, PollsSixteenTimesBetweenTwoLooksAtTheClock) {
  int polls = 0;
  EXPECT_FALSE(wait_until(exec, world.peers, kAnyPeer, 0, [&](std::uint32_t*) {
    ++polls;
    return false;
  }));
  EXPECT_EQ(polls, 96);
  EXPECT_EQ(world.control.fault.peer, -1);
}

TEST_F(Waiting, TheFirstFaultIsTheOneThatIsKept) {
  EXPECT_FALSE(wait_for(2, 7));
  EXPECT_FALSE(wait_for(0, 9));
  EXPECT_EQ(now, 7000u);  // the second wait saw the abort at its first check
  EXPECT_EQ(world.control.fault.peer, 2);
  EXPECT_EQ(world.control.fault.wanted, 7u);
}

TEST_F(Waiting, GivesUpWhenTheHostAborts) {
  world.control.abort = 1;
  EXPECT_FALSE(wait_for(2, 7));
  EXPECT_EQ(now, 1000u);
}

TEST_F(Waiting, ABarrierFailsWhenOnePeerIsMissing) {
  world.signals(1).flag[4][0].value = 7;
  EXPECT_FALSE(barrier(exec, world.peers, 7));
  EXPECT_EQ(world.control.fault.peer, 2);
  EXPECT_EQ(world.signals(0).flag[4][1].value, 7u);  // it had told both before it waited
  EXPECT_EQ(world.signals(2).flag[4][1].value, 7u);
}

TEST(AdvanceCall, EachBlockCountsForItself) {
  SignalWorld world(2);
  BlockState state(1);
  for (int call = 0; call < 3; ++call)
    for (int block = 0; block < 2; ++block)
      for (int thread = 0; thread < 4; ++thread)
        advance_call(Exec(thread, 4, block, 2, 1, &state), world.peers,
                     static_cast<std::uint32_t>(call));
  EXPECT_EQ(world.peers.progress(1).epoch[0], 3u);
  EXPECT_EQ(world.peers.progress(1).epoch[1], 3u);
  EXPECT_EQ(world.peers.progress(1).epoch[2], 0u);
  EXPECT_EQ(world.peers.progress(0).epoch[0], 0u);  // the peer's calls are its own
}

/// Calls, a launch each, with two barriers: every thread writes a plain word, and behind the
/// barrier reads the words of its block on all ranks. Under ThreadSanitizer a missing order is a
/// report.
void exchange(int ranks, int blocks, int threads, std::uint32_t first_epoch, std::uint32_t calls) {
  SignalWorld world(ranks);
  std::vector<std::uint32_t> words(static_cast<std::size_t>(ranks * blocks * threads));
  const auto word = [&](int rank, int block, int thread) -> std::uint32_t& {
    return words[static_cast<std::size_t>((rank * blocks + block) * threads + thread)];
  };
  for (int rank = 0; rank < ranks; ++rank) {
    std::fill(std::begin(world.peers.progress(rank).epoch),
              std::end(world.peers.progress(rank).epoch), first_epoch);
    for (auto& of_block : world.signals(rank).flag)
      for (Flag& flag : of_block) flag.value = ticket(first_epoch, 0);
  }
  for (std::uint32_t epoch = first_epoch; epoch < first_epoch + calls; ++epoch)
    on_all_threads(ranks, blocks, threads, [&](const Exec& ex) {
      EXPECT_EQ(begin_call(ex, world.peers), epoch);
      word(ex.rank(), ex.block(), ex.thread()) = epoch;
      EXPECT_TRUE(barrier(ex, world.peers, ticket(epoch, 1)));
      for (int rank = 0; rank < ranks; ++rank)
        for (int thread = 0; thread < threads; ++thread)
          EXPECT_EQ(word(rank, ex.block(), thread), epoch);
      EXPECT_TRUE(barrier<Orders::loads>(ex, world.peers, ticket(epoch, 2)));
      word(ex.rank(), ex.block(), ex.thread()) = 0;  // nobody reads it any more
      advance_call(ex, world.peers, epoch);
    });
}

TEST(Barrier, OrdersPlainMemoryOfEqualBlocks) {
  exchange(2, 1, 1, 0, 100);
  exchange(3, 2, 2, 0, 30);
}

TEST(Barrier, GoesOnAcrossTheWrap) { exchange(2, 2, 1, 0xffffeu, 4); }

TEST(Barrier, FailsForTheWholeBlock) {
  SignalWorld world(2);
  world.peers.timeout_ns = 1'000'000;
  std::atomic<int> failed = 0;
  on_all_threads(1, 1, 3, [&](const Exec& ex) {  // rank 1 does not run
    if (!barrier(ex, world.peers, ticket(0, 1))) ++failed;
  });
  EXPECT_EQ(failed, 3);
}

}  // namespace
}  // namespace arbench

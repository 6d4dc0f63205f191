// Contenders that are wrong, silent or deadly get rows that say so, and their neighbours keep
// theirs.
#include <gtest/gtest.h>

#include <csignal>

#include "arbench/signal.hpp"
#include "small_sweep.hpp"
#include "test_algorithms.hpp"

namespace arbench {
namespace {

TEST(Runner, AWrongContenderShowsNoTime) {
  const auto wrong = test_algorithm("test_wrong", [](TestOp& op, Queue& queue) {
    op.allreduce(queue);
    then(queue, [&op] { spoil(op.output(), 5); });
  });
  const Outcome outcome =
      sweep({one_case("one_shot_pull"), one_case(wrong), one_case("two_shot_pull")});
  EXPECT_EQ(lines(outcome),
            (Lines{"one_shot_pull ok",
                   "test_wrong wrong rank 0, replay 0: 1 wrong, first output element 5",
                   "two_shot_pull ok"}));
  EXPECT_EQ(outcome.rows[1].wrong, 26u);
  EXPECT_FALSE(outcome.rows[1].time);
  EXPECT_TRUE(outcome.rows[2].time);
}

TEST(Runner, WhatGoesWrongWhileTimedIsFoundBehindIt) {
  // 19 calls in the first verification, 14 in the warm-up, 12 in the rounds and 12 behind barriers.
  const auto late = test_algorithm("test_late", [](TestOp& op, Queue& queue) {
    op.allreduce(queue);
    if (op.enqueued > 51) then(queue, [&op] { spoil(op.output(), 5); });
  });
  const Outcome outcome = sweep({one_case(late), one_case("one_shot_pull")});
  EXPECT_EQ(lines(outcome),
            (Lines{"test_late wrong rank 0, replay 0: 1 wrong, first output element 5",
                   "one_shot_pull ok"}));
  EXPECT_FALSE(outcome.rows[0].time);
  EXPECT_EQ(outcome.samples[0].size(), 0u);
  EXPECT_EQ(outcome.samples[1].size(), 6u);
}

TEST(Runner, WhatGoesWrongInATimedRoundIsFoundInIt) {
  // The last of the chained calls, and so the one whose outputs are left.
  const auto late = test_algorithm("test_late_in_round", [](TestOp& op, Queue& queue) {
    op.allreduce(queue);
    if (op.enqueued == 51) then(queue, [&op] { spoil(op.output(), 5); });
  });
  const Outcome outcome = sweep({one_case(late), one_case("one_shot_pull")});
  EXPECT_EQ(
      lines(outcome),
      (Lines{"test_late_in_round wrong in a timed round: rank 0, replay 0: 1 wrong, first output "
             "element 5",
             "one_shot_pull ok"}));
  EXPECT_EQ(outcome.rows[0].wrong, 2u);
  EXPECT_FALSE(outcome.rows[0].time);
}

TEST(Runner, InPlaceAFewOpsAreCheckedBehindEachRound) {
  // 16 calls in the first verification, 14 in the warm-up, 6 in the round.
  const auto late = test_algorithm("test_late_in_place", [](TestOp& op, Queue& queue) {
    op.allreduce(queue);
    if (op.enqueued == 38) then(queue, [&op] { spoil(op.output(), 5); });
  });
  Case point = one_case(late);
  point.placement = Placement::in_place;
  EXPECT_EQ(lines(sweep({point})),
            (Lines{"test_late_in_place wrong in a timed round: rank 0, replay 0: 1 wrong, first "
                   "output element 5"}));
}

TEST(Runner, ASoakFindsWhatGoesWrongInFewOfManyCalls) {
  const auto rare = test_algorithm("test_rare", [](TestOp& op, Queue& queue) {
    op.allreduce(queue);
    if (op.enqueued == 70 || op.enqueued == 90) then(queue, [&op] { spoil(op.output(), 5); });
  });
  Options options = quick();
  options.soak = 100;
  EXPECT_EQ(lines(sweep({one_case(rare), one_case("one_shot_pull")}, options)),
            (Lines{"test_rare wrong in 100 checked calls: rank 0, replay 0: 2 wrong, first output "
                   "element 5",
                   "one_shot_pull ok"}));
}

TEST(Runner, RowsSayHowFarSumsAreOff) {
  const Outcome outcome = sweep({one_case("one_shot_pull", 3), one_case("ring_simple", 3)});
  for (const Row& row : outcome.rows) {
    EXPECT_GT(row.max_ulp, 0);
    EXPECT_GT(row.max_abs_err, 0);
    EXPECT_EQ(row.bitwise_ranks, true);
    EXPECT_EQ(row.bitwise_runs, true);
  }
  EXPECT_LE(outcome.rows[0].max_ulp, 0.5);
  EXPECT_GT(outcome.rows[1].max_ulp, 0.5);  // it rounds twice
}

/// Rows of a right contender, `bad` and another right one, at two points.
Lines lines_around(const std::string& bad, Launch launch, Mode mode = Mode::eager) {
  std::vector<Case> cases;
  for (const std::uint64_t count : {24, 25})
    for (const std::string& name :
         {std::string("one_shot_pull"), bad, std::string("two_shot_pull")}) {
      cases.push_back(one_case(name, 2, launch, count));
      cases.back().mode = mode;
      if (launch == Launch::grid) cases.back().devices = {0, 0};
    }
  const Outcome outcome = sweep(cases);
  for (const std::size_t i : {0u, 2u, 3u, 5u}) EXPECT_EQ(outcome.samples[i].size(), 6u);
  EXPECT_EQ(outcome.samples[1].size(), 0u);
  EXPECT_FALSE(outcome.rows[1].time);
  return lines(outcome);
}

Lines around(const std::string& row) {
  return {"one_shot_pull ok", row, "two_shot_pull ok", "one_shot_pull ok", row, "two_shot_pull ok"};
}

/// Rank 1 does `what` at the 25th op that it enqueues: in the first round.
std::string in_round(const std::string& name, void (*what)()) {
  return test_algorithm(name, [what](TestOp& op, Queue& queue) {
    if (op.rank() == 1 && op.enqueued == 25) what();
    op.allreduce(queue);
  });
}

TEST(Runner, AHungContenderLeavesItsNeighboursTheirRows) {
  const auto silent = test_algorithm("test_silent_in_round", [](TestOp& op, Queue& queue) {
    if (op.rank() != 1 || op.enqueued < 25) op.allreduce(queue);
  });
  // Step 1 of call 24; rank 1 last told of step 2 of call 23.
  for (const Launch launch : {Launch::threads, Launch::processes})
    EXPECT_EQ(
        lines_around(silent, launch),
        around("test_silent_in_round hung rank 0 waited in vain for rank 1 in block 0 (wanted "
               "98305, saw 94210)"));
}

/// Rank 1 never comes.
struct Absent {
  static constexpr bool kSpecialised = false;
  template <class T, int N, class E>
  void operator()(const E& ex, const Peers& p) const {
    if (ex.rank() != 1) barrier(ex, p, ticket(begin_call(ex, p), 1));
  }
};

TEST(Runner, AHungGridLaunchLeavesItsNeighboursTheirRows) {
  Algorithm absent;
  absent.name = "test_absent_in_grid";
  absent.geometry = [](const Case&, int) { return Geometry{1, 1}; };
  EXPECT_EQ(
      lines_around(test_algorithm(kernel_algorithm<Absent>(absent)), Launch::grid),
      around("test_absent_in_grid hung rank 0 waited in vain for rank 1 in block 0 (wanted 1, "
             "saw 0)"));
}

TEST(Runner, ADeadlyContenderLeavesItsNeighboursTheirRows) {
  const auto deadly = in_round("test_deadly", [] { raise(SIGKILL); });
  EXPECT_EQ(lines_around(deadly, Launch::processes),
            around("test_deadly error the worker of rank 1 was ended by signal 9 (Killed)"));
  EXPECT_EQ(lines_around(deadly, Launch::threads),
            around("test_deadly error the worker process was ended by signal 9 (Killed)"));
}

/// Rank 0 waits in vain for the rank that failed: the row tells the cause, not the consequence.
TEST(Runner, AnExceptionIsTheRowOfItsContender) {
  const auto throws =
      in_round("test_throws_in_round", [] { throw std::runtime_error("rank 1 is out"); });
  for (const Launch launch : {Launch::threads, Launch::processes})
    EXPECT_EQ(lines_around(throws, launch), around("test_throws_in_round error rank 1 is out"));
}

TEST(Runner, AContenderThatCannotBeCapturedIsUnsupported) {
  const auto refuses = test_algorithm("test_uncapturable", [](TestOp& op, Queue&) {
    if (op.last_rank()) throw std::runtime_error("the last rank cannot be captured");
  });
  for (const Launch launch : {Launch::threads, Launch::processes})
    EXPECT_EQ(lines_around(refuses, launch, Mode::graph),
              around("test_uncapturable unsupported the last rank cannot be captured"));
}

}  // namespace
}  // namespace arbench

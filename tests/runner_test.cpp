// A sweep gives each case one row, in order, with the samples that were asked for.
#include <gtest/gtest.h>

#include <tuple>

#include "small_sweep.hpp"
#include "test_algorithms.hpp"
#include "world.hpp"

namespace arbench {
namespace {

TEST(Runner, GivesOneRowPerCaseInOrder) {
  std::vector<Case> cases;
  for (const int ranks : {2, 3})
    for (const std::uint64_t count : {1, 24})
      for (const char* name : {"two_shot_pull", "one_shot_pull"})
        cases.push_back(one_case(name, ranks, Launch::threads, count));
  const Outcome outcome = sweep(cases);
  ASSERT_EQ(outcome.rows.size(), 8u);
  for (std::size_t i = 0; i < 8; ++i) {
    EXPECT_EQ(outcome.rows[i].point, cases[i]);
    EXPECT_EQ(outcome.rows[i].status, Status::ok) << outcome.rows[i].reason;
    EXPECT_EQ(outcome.rows[i].geometry, (Geometry{1, 1}));
    EXPECT_EQ(outcome.rows[i].wrong, 0u);
    EXPECT_EQ(outcome.rows[i].ops_per_graph, 2);
  }
  EXPECT_EQ(outcome.progress, (Lines{"1/4 allreduce/two_shot_pull/bf16/g2/eager/hot/2",
                                     "2/4 allreduce/two_shot_pull/bf16/g2/eager/hot/48",
                                     "3/4 allreduce/two_shot_pull/bf16/g3/eager/hot/2",
                                     "4/4 allreduce/two_shot_pull/bf16/g3/eager/hot/48"}));
}

TEST(Runner, SamplesAreRoundsTimesReplays) {
  const Outcome outcome = sweep({one_case("one_shot_pull"), one_case("two_shot_pull")});
  for (std::size_t i = 0; i < 2; ++i) {
    ASSERT_TRUE(outcome.rows[i].time);
    EXPECT_EQ(outcome.rows[i].time->rounds, 2);
    EXPECT_EQ(outcome.rows[i].time->samples, 6);
    EXPECT_GT(outcome.rows[i].time->min, 0);
    EXPECT_GT(outcome.rows[i].cpu_us_median.value_or(0), 0);
    EXPECT_TRUE(outcome.rows[i].iso_us_median);
    EXPECT_GT(outcome.rows[i].skew_us_median.value_or(0), 0);
    EXPECT_GT(outcome.rows[i].start_skew_us_median.value_or(0), 0);
    EXPECT_EQ(outcome.rows[i].clock_error_us, 0);
    EXPECT_EQ(outcome.rows[i].added_skew_us, 0);
    EXPECT_FALSE(outcome.rows[i].sm_mhz_min);  // the host counts no cycles
    std::vector<std::tuple<int, int, int>> keys;
    for (const Sample& sample : outcome.samples[i]) {
      keys.emplace_back(sample.round, sample.replay, sample.rank);
      EXPECT_GE(sample.us, outcome.rows[i].time->min);
      EXPECT_LE(sample.us, outcome.rows[i].time->max);
    }
    EXPECT_EQ(keys, (std::vector<std::tuple<int, int, int>>{
                        {0, 0, -1}, {0, 1, -1}, {0, 2, -1}, {1, 0, -1}, {1, 1, -1}, {1, 2, -1}}));
  }
}

TEST(Runner, LittleTimeLeavesThreeReplaysAtLeast) {
  Options options = quick();
  options.replays = 100;
  options.row_seconds = 1e-9;
  EXPECT_EQ(sweep({one_case("one_shot_pull")}, options).samples[0].size(), 6u);
  options.replays = 2;
  EXPECT_EQ(sweep({one_case("one_shot_pull")}, options).samples[0].size(), 4u);
}

TEST(Runner, AddedSkewIsSeenAtTheStartInCompleteRotations) {
  Options options = quick();
  options.replays = 5;
  options.skew_us = 100000;
  for (const Mode mode : {Mode::eager, Mode::graph}) {
    Case point = one_case("one_shot_pull", 3);
    point.mode = mode;
    const Outcome outcome = sweep({point}, options);
    EXPECT_EQ(outcome.rows[0].added_skew_us, 100000);
    EXPECT_GT(outcome.rows[0].start_skew_us_median.value_or(0), 50000);
    EXPECT_EQ(outcome.samples[0].size(), 6u);  // 2 rounds of 3, since 5 is no complete rotation
    options.replays = 1;
    EXPECT_EQ(sweep({point}, options).samples[0].size(), 6u);
    options.replays = 5;
  }
}

TEST(Runner, SkewIsMeasuredInGraphModeToo) {
  Case point = one_case("one_shot_pull", 3);
  point.mode = Mode::graph;
  const Outcome outcome = sweep({point});
  EXPECT_GT(outcome.rows[0].skew_us_median.value_or(0), 0);
  EXPECT_GT(outcome.rows[0].start_skew_us_median.value_or(0), 0);
}

TEST(Runner, ColdContendersShareTheirSets) {
  for (const Mode mode : {Mode::eager, Mode::graph}) {
    std::vector<Case> cases;
    for (const L2 l2 : {L2::hot, L2::cold})
      for (const char* name : {"one_shot_pull", "p2p_copy_ring", "ring_simple"}) {
        cases.push_back(one_case(name, 3));
        cases.back().mode = mode;
        cases.back().l2 = l2;
      }
    const Outcome outcome = sweep(cases);
    for (std::size_t i = 0; i < 6; ++i) {
      EXPECT_EQ(outcome.rows[i].status, Status::ok) << outcome.rows[i].reason;
      EXPECT_EQ(outcome.rows[i].reason, "");
      EXPECT_EQ(outcome.rows[i].l2_sets, i < 3 ? 1 : 2);
      EXPECT_GT(outcome.rows[i].skew_us_median.value_or(0), 0);
      EXPECT_EQ(outcome.samples[i].size(), 6u);
    }
  }
}

TEST(Runner, NoBytesHaveNoTime) {
  const Outcome outcome = sweep({one_case("one_shot_pull", 2, Launch::threads, 0),
                                 one_case("two_shot_pull", 2, Launch::threads, 0)});
  EXPECT_EQ(lines(outcome), (Lines{"one_shot_pull ok 0 bytes: nothing to time",
                                   "two_shot_pull ok 0 bytes: nothing to time"}));
  EXPECT_FALSE(outcome.rows[0].time);
  EXPECT_EQ(outcome.rows[0].wrong, 0u);
  EXPECT_EQ(outcome.samples[0].size(), 0u);
}

TEST(Runner, SkipsWithTheReason) {
  Algorithm picky = pull_record("test_picky", [](TestOp& op, Queue& q) { op.allreduce(q); });
  picky.reject = [](const Case& point) -> std::optional<std::string> {
    if (point.ranks() % 2 == 0) return std::nullopt;
    return "takes even rank counts only";
  };
  const std::string name = test_algorithm(picky);
  Case too_many = one_case("two_shot_pull", 3);
  too_many.geometry.blocks = 9;
  EXPECT_EQ(
      lines(sweep({one_case("nccl_ring", 3), one_case(name, 3), one_case("one_shot_pull", 3),
                   one_case(name, 2), too_many})),
      (Lines{"nccl_ring skipped needs the CUDA backend",
             "test_picky skipped takes even rank counts only", "one_shot_pull ok", "test_picky ok",
             "two_shot_pull skipped 1 ranks of 9 blocks x 1 threads do not fit on one device "
             "together (8 blocks per rank do)"}));
}

TEST(Runner, AGridLaunchTakesSingleKernelsOnOneDevice) {
  Case apart = one_case("one_shot_pull", 2, Launch::grid);
  apart.devices = {0, 1};
  Case together = apart;
  together.devices = {0, 0};
  Case copies = together;
  copies.algorithm = "p2p_copy_ring";
  EXPECT_EQ(lines(sweep({apart, together, copies})),
            (Lines{"one_shot_pull skipped a grid launch needs all ranks on one device",
                   "one_shot_pull ok", "p2p_copy_ring skipped is not one kernel: no grid launch"}));
}

TEST(Runner, HostTransportSkipsWhatReachesIntoPeersBuffers) {
  for (const Launch launch : {Launch::threads, Launch::processes}) {
    Case push = one_case("one_shot_push", 3, launch), pull = one_case("one_shot_pull", 3, launch);
    push.transport = pull.transport = Transport::host;
    EXPECT_EQ(lines(sweep({push, pull})),
              (Lines{"one_shot_push ok",
                     "one_shot_pull skipped reaches into its peers' buffers: no "
                     "host transport"}));
  }
}

TEST(Runner, EachTransportHasItsOwnWorld) {
  Case through = one_case("one_shot_push"), apart = one_case("one_shot_pull");
  through.transport = Transport::host;
  EXPECT_EQ(lines(sweep({through, apart, through})),
            (Lines{"one_shot_push ok", "one_shot_pull ok", "one_shot_push ok"}));
}

TEST(Runner, WhatCannotRunTakesNoTime) {
  const std::vector<Case> cases{one_case("one_shot_pull"), one_case("nccl_auto"),
                                one_case("two_shot_pull")};
  EXPECT_EQ(runnable(cases, quick()), (std::vector<Case>{cases[0], cases[2]}));
}

/// How many ops rank 0 runs in all for a case in graph mode.
int ops_run(const Options& options, Outcome& outcome) {
  const auto name = test_algorithm("test_counted", [](TestOp& op, Queue& queue) {
    op.allreduce(queue);
    if (op.rank() == 0) then(queue, [] { SharedLog::get().add('o'); });
  });
  logged();
  Case point = one_case(name);
  point.mode = Mode::graph;
  outcome = sweep({point}, options);
  return static_cast<int>(logged().size());
}

/// A verify pass of a model with 61 layers: 122 allreduces in one graph.
TEST(Runner, AGraphHoldsAsManyOpsAsAPassHas) {
  Options options = quick();
  options.ops = 122;
  Outcome outcome;
  // Twice 3 chains, 6 single ops and 4 whose inputs are overwritten verified; 5 + 2 replays to warm up; 2 rounds of 3 replays for each of 3 sequences.
  EXPECT_EQ(ops_run(options, outcome), 2 * (3 * 122 + 6 + 4) + 7 * 122 + 2 * 3 * 3 * 122);
  EXPECT_EQ(lines(outcome), (Lines{"test_counted ok"}));
  EXPECT_EQ(outcome.rows[0].ops_per_graph, 122);
}

TEST(Runner, ASlowedContenderRunsOpsThatAreNotCounted) {
  Options options = quick();
  Outcome plain, other, slow;
  const int ops = ops_run(options, plain);
  options.slow_pct = 50;
  options.slow_algorithms = "test_other*";
  EXPECT_EQ(ops_run(options, other), ops);
  EXPECT_EQ(lines(other), (Lines{"test_counted ok"}));
  options.slow_algorithms = "test_c*";
  EXPECT_EQ(ops_run(options, slow),
            ops + 5 + 2 * 3 * 2);  // one more in each replay that is no barrier's
  EXPECT_EQ(lines(slow),
            (Lines{"test_counted ok slowed down on purpose: 3 ops run, 2 are counted"}));
  EXPECT_EQ(slow.rows[0].ops_per_graph, 2);
}

TEST(Runner, AnInterruptEndsTheSweep) {
  std::vector<Row> rows;
  const std::vector<Case> cases{one_case("one_shot_pull", 2), one_case("one_shot_pull", 3)};
  const RunHooks hooks{[&](const Row& row, const std::vector<Sample>&) {
                         rows.push_back(row);
                         interrupted = 1;
                       },
                       {}};
  EXPECT_THROW(run(cases, quick(), Machine{}, hooks), Interrupted);
  interrupted = 0;
  ASSERT_EQ(rows.size(), 1u);
  EXPECT_EQ(rows[0].status, Status::ok);
}

TEST(Runner, WhatAHookThrowsEndsTheSweep) {
  int rows = 0;
  const RunHooks hooks{[&](const Row&, const std::vector<Sample>&) {
                         if (++rows == 2) throw std::runtime_error("disk full");
                       },
                       {}};
  EXPECT_THROW(run({one_case("one_shot_pull", 2), one_case("one_shot_pull", 3),
                    one_case("one_shot_pull", 4)},
                   quick(), Machine{}, hooks),
               std::runtime_error);
  EXPECT_EQ(rows, 2);
}

}  // namespace
}  // namespace arbench

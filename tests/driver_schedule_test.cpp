// How often each step of a measurement enqueues an op ('e') and how often ops run ('r'), seen on
// rank 0 of two. K is 3.
#include <gtest/gtest.h>

#include <atomic>
#include <chrono>
#include <thread>

#include "spmd.hpp"
#include "test_algorithms.hpp"

namespace arbench {
namespace {

/// Logs what happens to it.
Algorithm recording(const std::string& name) {
  return pull_record(name, [](TestOp& op, Queue& queue) {
    op.allreduce(queue);
    if (op.rank() != 0) return;
    SharedLog::get().add('e');
    then(queue, [] { SharedLog::get().add('r'); });
  });
}

using Texts = std::vector<std::string>;

struct Steps {
  std::string open, verify, warm_up, round;
  bool operator==(const Steps&) const = default;
};

void PrintTo(const Steps& steps, std::ostream* out) {
  *out << "open " << steps.open << ", verify " << steps.verify << ", warm_up " << steps.warm_up
       << ", round " << steps.round;
}

/// The log of each step. Two replays in the round.
Steps steps_of(const std::string& algorithm, Mode mode, Placement placement, std::uint64_t count,
               int* ops = nullptr) {
  const WorldConfig config = host_config(2);
  Steps steps;
  on_all_drivers(config, [&](Driver& driver, int index) {
    const bool looks = index == 0;  // after a step's last meeting of the drivers
    Case point = host_case(algorithm, config, Dtype::bf16, count, mode, {1, 1});
    point.placement = placement;
    std::vector<double> us(10);
    if (looks) logged();
    const Opened opened = driver.open(0, point);
    if (looks) steps.open = logged();
    EXPECT_EQ(driver.verify(0, 7).wrong, 0u);
    if (looks) steps.verify = logged();
    driver.warm_up(0);
    if (looks) steps.warm_up = logged();
    driver.round(0, 2, {us.data()});
    if (looks) steps.round = logged();
    if (looks && ops != nullptr) *ops = opened.ops;
    driver.close(0);
  });
  return steps;
}

TEST(Schedule, EagerEnqueuesBeforeEachWait) {
  const auto algorithm = test_algorithm(recording("test_recording"));
  EXPECT_EQ(steps_of(algorithm, Mode::eager, Placement::out_of_place, 24),
            (Steps{"", "eeeeeeeeeeeeeeeeeeerrrrrrrrrrrrrrrrrrr", "eeerrreeerrreeerrreeerrreeerrr",
                   "eeerrreeerrr"}));
}

TEST(Schedule, EagerInPlaceVerifiesTwoOpsAtMost) {
  const auto algorithm = test_algorithm(recording("test_recording"));
  EXPECT_EQ(steps_of(algorithm, Mode::eager, Placement::in_place, 24),
            (Steps{"", "eeeeeeeeeeeeeeeerrrrrrrrrrrrrrrr", "eeerrreeerrreeerrreeerrreeerrr",
                   "eeerrreeerrr"}));
}

TEST(Schedule, GraphCapturesKOpsAndOneAndThoseBehindBarriersThenReplaysThem) {
  const auto algorithm = test_algorithm(recording("test_recording"));
  EXPECT_EQ(steps_of(algorithm, Mode::graph, Placement::out_of_place, 24),
            (Steps{"eeeeeeeeeee", "rrrrrrrrrrrrrrrrrrr", "rrrrrrrrrrrrrrr", "rrrrrr"}));
}

TEST(Schedule, GraphInPlaceCapturesTwoOpsToo) {
  const auto algorithm = test_algorithm(recording("test_recording"));
  EXPECT_EQ(steps_of(algorithm, Mode::graph, Placement::in_place, 24),
            (Steps{"eeeeeeeeeeeee", "rrrrrrrrrrrrrrrr", "rrrrrrrrrrrrrrr", "rrrrrr"}));
}

TEST(Schedule, NoBytesAreNotCaptured) {
  const auto algorithm = test_algorithm(recording("test_recording"));
  EXPECT_EQ(steps_of(algorithm, Mode::graph, Placement::out_of_place, 0),
            (Steps{"", "eeeeeeeeeeeeeeeeeeerrrrrrrrrrrrrrrrrrr", "eeerrreeerrreeerrreeerrreeerrr",
                   "eeerrreeerrr"}));
}

TEST(Schedule, ALibraryRunsOnceBeforeItIsCaptured) {
  Algorithm library = recording("test_recording_library");
  library.library = true;
  EXPECT_EQ(steps_of(test_algorithm(library), Mode::graph, Placement::out_of_place, 24),
            (Steps{"ereeeeeeeeeee", "rrrrrrrrrrrrrrrrrrr", "rrrrrrrrrrrrrrr", "rrrrrr"}));
}

TEST(Schedule, EagerSamplesStayBelowTheLaunchQueue) {
  Algorithm many = recording("test_recording_launches");
  many.launches_per_op = [](const Case&) { return 200; };
  int ops = 0;
  EXPECT_EQ(
      steps_of(test_algorithm(many), Mode::eager, Placement::out_of_place, 24, &ops),
      (Steps{"", "eeerrrereeerrrerereeerrrererereeeerrrr", "eerreerreerreerreerr", "eerreerr"}));
  EXPECT_EQ(ops, 2);
  EXPECT_EQ(steps_of(test_algorithm(many), Mode::graph, Placement::out_of_place, 24, &ops),
            (Steps{"eeeeeeeeeee", "rrrrrrrrrrrrrrrrrrr", "rrrrrrrrrrrrrrr", "rrrrrr"}));
  EXPECT_EQ(ops, 3);
}

/// The logs of warm_up() and of a round of two samples.
Texts isolated_steps(const std::string& algorithm, Mode mode, Sequence sequence) {
  const WorldConfig config = host_config(2);
  Texts steps;
  on_all_drivers(config, [&](Driver& driver, int index) {
    std::vector<double> us(10);
    driver.open(0, host_case(algorithm, config, Dtype::bf16, 24, mode, {1, 1}));
    if (index == 0) logged();
    driver.warm_up(0, sequence);
    if (index == 0) steps.push_back(logged());
    driver.round(0, 2, {us.data()}, sequence);
    if (index == 0) steps.push_back(logged());
    EXPECT_GT(us[1], 0);
  });
  return steps;
}

TEST(Schedule, IsolatedOpsAreAsManyAndBarriersHaveNone) {
  const auto algorithm = test_algorithm(recording("test_recording"));
  EXPECT_EQ(isolated_steps(algorithm, Mode::eager, Sequence::isolated),
            (Texts{"eeerrreeerrr", "eeerrreeerrr"}));
  EXPECT_EQ(isolated_steps(algorithm, Mode::graph, Sequence::isolated),
            (Texts{"rrrrrr", "rrrrrr"}));
  for (const Mode mode : {Mode::eager, Mode::graph})
    EXPECT_EQ(isolated_steps(algorithm, mode, Sequence::barriers), (Texts{"", ""}));
}

TEST(Schedule, BarriersCountAgainstTheLaunchQueue) {
  Algorithm many = recording("test_recording_255_launches");
  many.launches_per_op = [](const Case&) { return 255; };
  const auto name = test_algorithm(many);
  EXPECT_EQ(isolated_steps(name, Mode::eager, Sequence::isolated), (Texts{"eerreerr", "eerreerr"}));
  many.name = "test_recording_256_launches";
  many.launches_per_op = [](const Case&) { return 256; };
  EXPECT_EQ(isolated_steps(test_algorithm(many), Mode::eager, Sequence::isolated),
            (Texts{"erer", "erer"}));
}

/// Rank 0 in even samples, rank 1 in odd ones.
TEST(Schedule, ALateRankRotates) {
  WorldConfig config = host_config(2);
  config.skew_us = 100'000;
  std::vector<double> us(20);
  std::vector<std::int64_t> start(20), end(20);
  for (const Mode mode : {Mode::eager, Mode::graph}) {
    on_all_drivers(config, [&](Driver& driver, int rank) {
      driver.open(0, host_case("one_shot_pull", config, Dtype::bf16, 24, mode, {1, 1}));
      const int row = rank * 10;
      const Visit visit = driver.round(0, 4, {&us[row], &start[row], &end[row]});
      EXPECT_TRUE(visit.stamped);
      EXPECT_EQ(visit.clock_error_us, 0);
    });
    for (const int replay : {0, 2}) EXPECT_GT(start[replay], start[10 + replay]);
    for (const int replay : {1, 3}) EXPECT_GT(start[10 + replay], start[replay]);
    for (const int replay : {0, 1, 2, 3}) {
      EXPECT_GT(end[replay], start[replay]);
      EXPECT_GT(end[10 + replay], start[10 + replay]);
    }
  }
}

TEST(Schedule, ChainedGraphsHaveNoStamps) {
  const WorldConfig config = host_config(2);
  on_all_drivers(config, [&](Driver& driver, int) {
    std::vector<double> us(10);
    std::vector<std::int64_t> start(10, -1), end(10, -1);
    const Samples samples{us.data(), start.data(), end.data()};
    driver.open(0, host_case("one_shot_pull", config, Dtype::bf16, 24, Mode::graph, {1, 1}));
    EXPECT_FALSE(driver.round(0, 2, samples).stamped);
    EXPECT_EQ(end[1], -1);
    EXPECT_TRUE(driver.round(0, 2, samples, Sequence::together).stamped);
    EXPECT_GT(end[1], start[1]);
    EXPECT_EQ(end[2], -1);
  });
}

/// Ops that wait for nobody, of which rank 1's take a millisecond.
TEST(Schedule, AnIsolatedOpStartsWhenAllRanksHaveDoneTheOneBefore) {
  static std::atomic<int> done[2];
  static std::atomic<int> early;
  const auto alone = test_algorithm("test_alone", [](TestOp& op, Queue& queue) {
    then(queue, [rank = op.rank()] {
      if (rank == 1) std::this_thread::sleep_for(std::chrono::milliseconds(1));
      if (done[1 - rank] < done[rank]) ++early;
      ++done[rank];
    });
  });
  const WorldConfig config = host_config(2);
  for (const Mode mode : {Mode::eager, Mode::graph})
    on_all_drivers(config, [&](Driver& driver, int) {
      std::vector<double> us(10);
      driver.open(0, host_case(alone, config, Dtype::bf16, 24, mode, {1, 1}));
      driver.round(0, 5, {us.data()}, Sequence::isolated);
    });
  EXPECT_EQ(done[0], 30);
  EXPECT_EQ(done[1], 30);
  EXPECT_EQ(early, 0);
}

TEST(Schedule, ARoundFillsTheSamplesOfItsRanks) {
  const WorldConfig config = host_config(2);
  on_all_drivers(config, [&](Driver& driver, int) {
    std::vector<double> us(10, -1);
    for (const Mode mode : {Mode::eager, Mode::graph}) {
      driver.open(0, host_case("one_shot_pull", config, Dtype::bf16, 24, mode, {1, 1}));
      driver.round(0, 4, {us.data()});
      EXPECT_GT(us[0], 0);
      EXPECT_GT(us[3], 0);
      EXPECT_EQ(us[4], -1);
      driver.close(0);
    }
  });
  const WorldConfig grid = host_config(2, Launch::grid);
  on_all_drivers(grid, [&](Driver& driver, int) {
    std::vector<double> us(20, -1);
    driver.open(0, host_case("one_shot_pull", grid, Dtype::bf16, 24, Mode::graph, {1, 1}));
    driver.round(0, 4, {us.data()});
    EXPECT_GT(us[3], 0);
    EXPECT_EQ(us[4], -1);
    EXPECT_EQ(us[10], us[0]);  // one row of max_replays per rank; one launch serves both
    EXPECT_EQ(us[13], us[3]);
  });
}

}  // namespace
}  // namespace arbench

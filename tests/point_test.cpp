// What is measured twice, and when a point stops.
#include "point.hpp"

#include <gtest/gtest.h>

#include <functional>
#include <memory>
#include <optional>
#include <sstream>
#include <thread>

#include "small_sweep.hpp"
#include "test_algorithms.hpp"

namespace arbench {
namespace {

Options twice() {
  Options options = quick();
  options.aa = true;
  return options;
}

TEST(Aa, AllRowsOfAPointCarryItsBandAndThereIsNoRowMore) {
  std::vector<Case> cases{one_case("nccl_ring"), one_case("one_shot_pull"),
                          one_case("two_shot_pull"),
                          one_case("one_shot_pull", 2, Launch::threads, 32)};
  const Outcome outcome = sweep(cases, twice());
  ASSERT_EQ(outcome.rows.size(), 4u);
  ASSERT_TRUE(outcome.rows[0].aa_pct);
  EXPECT_EQ(outcome.rows[0].status, Status::skipped);
  EXPECT_EQ(outcome.rows[1].aa_pct, outcome.rows[0].aa_pct);
  EXPECT_EQ(outcome.rows[2].aa_pct, outcome.rows[0].aa_pct);
  EXPECT_TRUE(outcome.rows[3].aa_pct);
  EXPECT_NE(outcome.rows[3].aa_pct, outcome.rows[0].aa_pct);
  for (const std::size_t row : {1u, 2u, 3u}) EXPECT_EQ(outcome.samples[row].size(), 6u);
}

TEST(Aa, IsLeftOutWhenNotWanted) {
  EXPECT_FALSE(sweep({one_case("one_shot_pull")}).rows[0].aa_pct);
}

TEST(Aa, WhatHasNoTimeHasNoBand) {
  const Outcome outcome = sweep({one_case("one_shot_pull", 2, Launch::threads, 0)}, twice());
  EXPECT_EQ(lines(outcome), (Lines{"one_shot_pull ok 0 bytes: nothing to time"}));
  EXPECT_FALSE(outcome.rows[0].aa_pct);
}

/// one_shot_pull, and what rank 0 does behind each op; `what` is told which copy it is, from 0.
std::string numbered(const std::string& name, std::function<void(int copy, Queue&)> what) {
  Algorithm record = *find_algorithm(Backend::host, "one_shot_pull");
  record.name = name;
  record.open = [open = record.open, what,
                 opened = std::make_shared<int>(0)](const OpenContext& context) {
    Op op = open(context);
    if (context.peers.first_rank != 0) return op;
    op.enqueue = [inner = op.enqueue, what, copy = (*opened)++](Queue& queue) {
      inner(queue);
      what(copy, queue);
    };
    return op;
  };
  return test_algorithm(record);
}

TEST(Aa, IsTheDifferenceOfTheTwo) {
  const auto name = numbered("test_slower_twin", [](int copy, Queue& queue) {
    then(queue, [copy] { std::this_thread::sleep_for(std::chrono::milliseconds(5 + 40 * copy)); });
  });
  const Outcome outcome = sweep({one_case(name)}, twice());
  EXPECT_EQ(outcome.rows[0].status, Status::ok) << outcome.rows[0].reason;
  EXPECT_GT(outcome.rows[0].aa_pct.value_or(0), 30);
}

TEST(Aa, GoogleBenchmarksFileHoldsTheContendersAlone) {
  std::ostringstream file;
  run({one_case("one_shot_pull"), one_case("two_shot_pull")}, twice(), Machine{},
      {[](const Row&, const std::vector<Sample>&) {}, {}, &file});
  const std::string text = file.str();
  const auto count = [&](const std::string& what) {
    int found = 0;
    for (std::size_t at = text.find(what); at != std::string::npos; at = text.find(what, at + 1))
      ++found;
    return found;
  };
  EXPECT_EQ(count("\"name\": \"allreduce/one_shot_pull/"), 2);
  EXPECT_EQ(count("\"name\": \"allreduce/two_shot_pull/"), 2);
}

TEST(Aa, WhatTheCopyDoesWrongIsInTheRow) {
  const auto throws = numbered("test_throwing_twin", [](int copy, Queue&) {
    if (copy == 1) throw std::runtime_error("no second one");
  });
  EXPECT_EQ(lines(sweep({one_case(throws), one_case("one_shot_pull")}, twice())),
            (Lines{"test_throwing_twin error when measured a second time: no second one",
                   "one_shot_pull ok"}));
}

/// A library that is held to ring and says that it ran `ran`.
std::string held_to_ring(const std::string& name, const std::string& ran) {
  Algorithm record = *find_algorithm(Backend::host, "one_shot_pull");
  record.name = name;
  record.must_run = "ring";
  record.open = [open = record.open, ran](const OpenContext& context) {
    Op op = open(context);
    op.ran = [ran] { return ran; };
    return op;
  };
  return test_algorithm(record);
}

using Looker = std::function<Sight(const std::vector<int>&)>;

/// One contender in 2 rounds, while `look` says how the devices are; how many ops rank 0 enqueued.
Row watched(Looker look, int* ops, const std::vector<int>& devices = {0, 1},
            const Machine& machine = {}) {
  const auto name = test_algorithm("test_watched", [](TestOp& op, Queue& queue) {
    op.allreduce(queue);
    if (op.rank() == 0) SharedLog::get().add('v');
  });
  logged();
  Row found;
  RunHooks hooks;
  hooks.row = [&](const Row& row, const std::vector<Sample>& samples) {
    EXPECT_EQ(samples.size(), 6u);
    found = row;
  };
  hooks.look = std::move(look);
  Case point = one_case(name);
  point.devices = devices;
  run({point}, quick(), machine, hooks);
  *ops = static_cast<int>(logged().size());
  return found;
}

TEST(Throttled, ARoundIsRepeatedTwiceAtMostAndStays) {
  int never = 0, once = 0, always = 0, unknown = 0;
  EXPECT_EQ(watched([](const auto&) { return Sight{false, {}}; }, &never).throttled, false);
  EXPECT_EQ(watched({}, &unknown).throttled, std::nullopt);
  EXPECT_EQ(watched([](const auto&) { return Sight{}; }, &unknown).throttled, std::nullopt);
  EXPECT_EQ(unknown, never);
  const Row slow = watched([](const auto&) { return Sight{true, {}}; }, &always);
  EXPECT_EQ(slow.throttled, true);
  EXPECT_EQ(slow.status, Status::ok);
  EXPECT_TRUE(slow.time);
  EXPECT_EQ(always - never, 2 * 2 * 6);  // 2 rounds, 2 more visits each, 6 ops per visit
  const Row cured = watched(
      [asked = 0](const std::vector<int>& devices) mutable {
        EXPECT_EQ(devices, (std::vector<int>{0, 1}));
        return Sight{asked++ == 0, {}};
      },
      &once);
  EXPECT_EQ(cured.throttled, false);
  EXPECT_EQ(once - never, 6);
}

Machine two_gen_5_x16() {
  Machine machine;
  machine.gpus.resize(2);
  for (int device = 0; device < 2; ++device) {
    machine.gpus[device].device = device;
    machine.gpus[device].max_link_generation = 5;
    machine.gpus[device].max_link_width = 16;
  }
  return machine;
}

TEST(LinksUnderLoad, TheSlowestStandsInTheRowAndARemarkNamesIt) {
  int ops = 0;
  const Row slow = watched(
      [](const auto&) {
        return Sight{{}, {{0, 5, 16}, {1, 4, 8}}};
      },
      &ops, {0, 1}, two_gen_5_x16());
  EXPECT_EQ(slow.status, Status::ok);
  EXPECT_EQ(slow.pcie_generation, 4);
  EXPECT_EQ(slow.pcie_width, 8);
  EXPECT_EQ(slow.reason, "PCIe link under load: GPU 1 gen 4 x8 of gen 5 x16");
}

/// It sleeps at first, as an idle link may.
TEST(LinksUnderLoad, ALinkThatWakesUpIsNotSlow) {
  int ops = 0;
  const Row row = watched(
      [asked = 0](const auto&) mutable {
        const int generation = asked++ == 0 ? 1 : 5;
        return Sight{{}, {{0, generation, 16}, {1, 5, 16}}};
      },
      &ops, {0, 1}, two_gen_5_x16());
  EXPECT_EQ(row.pcie_generation, 5);
  EXPECT_EQ(row.pcie_width, 16);
  EXPECT_EQ(row.reason, "");
}

TEST(LinksUnderLoad, AreNotReadWhereNoDataCrossThem) {
  int ops = 0;
  const Row row = watched(
      [](const auto&) {
        return Sight{{}, {{0, 1, 4}}};
      },
      &ops, {0, 0}, two_gen_5_x16());
  EXPECT_EQ(row.status, Status::ok);
  EXPECT_EQ(row.pcie_generation, 0);
  EXPECT_EQ(row.reason, "");
}

TEST(MustRun, AnotherAlgorithmThanTheForcedOneIsAnError) {
  EXPECT_EQ(lines(sweep({one_case(held_to_ring("test_held_tree", "tree/ll")),
                         one_case(held_to_ring("test_held_ring", "ring/ll")),
                         one_case(held_to_ring("test_held_unknown", "unverified"))})),
            (Lines{"test_held_tree error ran tree/ll where ring was wanted", "test_held_ring ok",
                   "test_held_unknown ok what NCCL really ran is unverified"}));
}

/// one_shot_pull under this floor, as a point of its own.
Row with_floor(double us) {
  const Case point = one_case("one_shot_pull");
  const WorldConfig config = host_config(2);
  World world(config, {point, point});
  BenchmarkFile file(nullptr);
  Seconds seconds;
  std::uint64_t salt = 0;
  const Options options = quick();
  std::vector<Contender> contenders(1);
  contenders[0].row.point = point;
  contenders[0].floor = Floor{us, "for a test"};
  EXPECT_TRUE(Point(world, {options, Machine{}, file, 1, 7, salt, seconds}).run(contenders));
  EXPECT_EQ(contenders[0].samples.empty(), contenders[0].row.status != Status::ok);
  return contenders[0].row;
}

TEST(Floor, AMedianBelowItFailsTheRowAndShowsNoTime) {
  const Row row = with_floor(1e9);
  EXPECT_EQ(row.status, Status::error);
  EXPECT_FALSE(row.time);
  EXPECT_TRUE(row.reason.starts_with("faster than its floor: ")) << row.reason;
  EXPECT_TRUE(row.reason.ends_with(" us, at least 1000000000.00 us for a test")) << row.reason;
}

TEST(Floor, AMedianAboveItIsFine) { EXPECT_EQ(with_floor(1e-6).status, Status::ok); }

TEST(Stop, AfterAllRounds) {
  EXPECT_EQ(sweep({one_case("one_shot_pull")}).rows[0].stopped, "rounds");
}

TEST(Stop, AtAPrecisionButNotBeforeFiveRounds) {
  Options options = twice();
  options.rounds = 40;
  options.precision_pct = 100;
  options.replays = 20;
  const Outcome outcome = sweep({one_case("one_shot_pull"), one_case("two_shot_pull")}, options);
  for (std::size_t i = 0; i < 2; ++i) {
    EXPECT_EQ(outcome.rows[i].stopped, "precision");
    EXPECT_GE(outcome.rows[i].time->rounds, 5);
    EXPECT_LT(outcome.rows[i].time->rounds, 40);
    EXPECT_EQ(outcome.rows[i].time->rounds, outcome.rows[0].time->rounds);
  }
}

TEST(Stop, AfterAllRoundsWhereThePrecisionIsNotReached) {
  Options options = quick();
  options.rounds = 7;
  options.precision_pct = 1e-9;
  const Outcome outcome = sweep({one_case("one_shot_pull")}, options);
  EXPECT_EQ(outcome.rows[0].stopped, "rounds");
  EXPECT_EQ(outcome.rows[0].time->rounds, 7);
  options.rounds = 3;
  options.precision_pct = 100;
  EXPECT_EQ(sweep({one_case("one_shot_pull")}, options).rows[0].stopped, "rounds");
}

TEST(Stop, WhenTheBudgetIsSpent) {
  Options options = quick();
  options.max_seconds = 1e-9;
  Outcome outcome = sweep({one_case("one_shot_pull")}, options);
  EXPECT_EQ(outcome.rows[0].stopped, "budget");
  EXPECT_EQ(outcome.rows[0].time->rounds, 5);
  options.max_seconds = 0.2;  // far more than 5 rounds
  outcome = sweep({one_case("one_shot_pull")}, options);
  EXPECT_EQ(outcome.rows[0].stopped, "budget");
  EXPECT_GT(outcome.rows[0].time->rounds, 5);
}

}  // namespace
}  // namespace arbench

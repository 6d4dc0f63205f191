// Worker processes on the host backend: right results, and what is left when one ends or hangs.
#include "world.hpp"

#include <gtest/gtest.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cmath>

#include "spmd.hpp"
#include "test_algorithms.hpp"

namespace arbench {
namespace {

/// 24 bf16 elements, for each of the algorithms.
std::vector<Case> cases_of(const WorldConfig& config, const std::vector<std::string>& names,
                           Mode mode = Mode::eager) {
  std::vector<Case> cases;
  for (const std::string& name : names)
    cases.push_back(host_case(name, config, Dtype::bf16, 24, mode, {1, 1}));
  return cases;
}

/// "error fatal: why" of the CaseFailed that `what` throws.
template <class What>
std::string failure(What what) {
  try {
    what();
  } catch (const CaseFailed& failed) {
    return std::string(word(failed.status)) + (failed.fatal ? " fatal: " : ": ") + failed.what();
  }
  return "nothing thrown";
}

bool has_children() { return waitpid(-1, nullptr, WNOHANG) >= 0 || errno != ECHILD; }

void expect_right(World& world, int index) {
  EXPECT_EQ(world.open(index).geometry, (Geometry{1, 1}));
  EXPECT_EQ(world.verify(index, 7).wrong, 0u);
  EXPECT_GT(world.warm_up(index), 0);
  const RoundResult round = world.round(index, 4);
  ASSERT_EQ(round.us.size(), static_cast<std::size_t>(world.config().ranks()));
  ASSERT_EQ(round.worst.size(), 4u);
  for (int replay = 0; replay < 4; ++replay) {
    double worst = 0;
    for (const auto& us : round.us) {
      EXPECT_GT(us.at(replay), 0);
      worst = std::max(worst, us[replay]);
    }
    EXPECT_EQ(round.worst[replay], worst);
  }
  EXPECT_GT(round.cpu_us, 0);
  for (const Sequence sequence : {Sequence::isolated, Sequence::barriers}) {
    EXPECT_GT(world.warm_up(index, sequence), 0);
    EXPECT_GT(world.round(index, 2, sequence).worst.at(1), 0);
  }
  world.close(index);
}

class AnyLaunch : public testing::TestWithParam<Launch> {
 protected:
  const WorldConfig config = host_config(3, GetParam());
};

INSTANTIATE_TEST_SUITE_P(World, AnyLaunch,
                         testing::Values(Launch::threads, Launch::processes, Launch::grid),
                         [](const auto& info) { return std::string(word(info.param)); });

TEST_P(AnyLaunch, OpensVerifiesAndTimes) {
  for (const Mode mode : {Mode::eager, Mode::graph}) {
    World world(config, cases_of(config, {"one_shot_push", "two_shot_pull"}, mode));
    expect_right(world, 0);
    expect_right(world, 1);
    world.restart();
    expect_right(world, 1);
  }
  EXPECT_FALSE(has_children());
}

TEST_P(AnyLaunch, AddsUpWhatIsWrongOnTheRanks) {
  const auto nothing = test_algorithm("test_nothing", [](TestOp&, Queue&) {});
  World world(config, cases_of(config, {nothing}));
  world.open(0);
  const Verified verified = world.verify(0, 7);
  // 24 elements of 3 ranks in 12 replays or ops; and special values, of which 3 are the NaN that outputs are poisoned with.
  EXPECT_EQ(verified.wrong, 927u);
  EXPECT_EQ(verified.text, "rank 0, replay 0: 24 wrong, first output element 0");
}

TEST_P(AnyLaunch, ARefusedCaseLeavesTheWorkersUsable) {
  const auto refuses = test_algorithm(
      "test_no_capture", [](TestOp&, Queue&) { throw std::runtime_error("cannot be captured"); });
  auto cases = cases_of(config, {refuses, "one_shot_pull"}, Mode::graph);
  cases.push_back(cases[1]);
  cases[2].geometry.blocks = 100;
  World world(config, cases);
  EXPECT_EQ(failure([&] { world.open(0); }), "unsupported: cannot be captured");
  world.close(0);
  EXPECT_EQ(failure([&] { world.open(2); }).substr(0, 32), "skipped: 1 ranks of 100 blocks x");
  world.close(2);
  expect_right(world, 1);
}

/// Test algorithms whose rank 1 does `what` at its 23rd enqueue, which is the fourth of the
/// warm-up.
std::string at_warm_up(const std::string& name, void (*what)()) {
  return test_algorithm(name, [what](TestOp& op, Queue& queue) {
    if (op.rank() == 1 && op.enqueued == 23) what();
    op.allreduce(queue);
  });
}

/// What the warm-up says; then fresh workers get a right case right.
std::string failure_of_warm_up(Launch launch, const std::string& algorithm, int ranks = 3) {
  WorldConfig config = host_config(ranks, launch);
  config.timeout_seconds = 2;
  World world(config, cases_of(config, {algorithm, "one_shot_pull"}));
  world.open(0);
  EXPECT_EQ(world.verify(0, 7).wrong, 0u);
  const std::string text = failure([&] { world.warm_up(0); });
  world.restart();
  expect_right(world, 1);
  return text;
}

TEST(World, AKilledWorkerIsAnErrorWithRankAndSignal) {
  const auto killed = at_warm_up("test_killed", [] { raise(SIGKILL); });
  EXPECT_EQ(failure_of_warm_up(Launch::processes, killed),
            "error fatal: the worker of rank 1 was ended by signal 9 (Killed)");
  EXPECT_EQ(failure_of_warm_up(Launch::threads, killed),
            "error fatal: the worker process was ended by signal 9 (Killed)");
  EXPECT_FALSE(has_children());
}

TEST(World, AWorkerThatExitsIsAnErrorWithItsCode) {
  const auto exits = at_warm_up("test_exits", [] { _exit(3); });
  EXPECT_EQ(failure_of_warm_up(Launch::processes, exits),
            "error fatal: the worker of rank 1 ended with code 3");
}

TEST(World, AnExceptionIsAnErrorWithItsText) {
  const auto throws = at_warm_up("test_throws", [] { throw std::runtime_error("rank 1 is out"); });
  EXPECT_EQ(failure_of_warm_up(Launch::processes, throws), "error fatal: rank 1 is out");
  EXPECT_EQ(failure_of_warm_up(Launch::threads, throws), "error fatal: rank 1 is out");
}

TEST(World, ARankThatNeverSignalsIsHung) {
  const auto silent = test_algorithm("test_silent_later", [](TestOp& op, Queue& queue) {
    if (op.rank() != 1 || op.enqueued < 23) op.allreduce(queue);
  });
  // The first step of call 22 (they count from 0); rank 1 last told of the second one of call 21.
  for (const Launch launch : {Launch::processes, Launch::threads})
    EXPECT_EQ(failure_of_warm_up(launch, silent, 2),
              "hung fatal: rank 0 waited in vain for rank 1 in block 0 (wanted 90113, saw 86018)");
}

/// While it lives, SIGALRM sets `interrupted` after 50 ms.
class Alarm {
 public:
  Alarm() {
    std::signal(SIGALRM, [](int) { interrupted = 1; });
    const itimerval once{{0, 0}, {0, 50'000}};
    setitimer(ITIMER_REAL, &once, nullptr);
  }
  ~Alarm() {
    std::signal(SIGALRM, SIG_DFL);
    interrupted = 0;
  }
};

TEST(World, AnInterruptEndsAWait) {
  const auto sleeps = at_warm_up("test_sleeps", [] { sleep(1000); });
  for (const Launch launch : {Launch::processes, Launch::threads}) {
    const WorldConfig config = host_config(3, launch);
    {
      World world(config, cases_of(config, {sleeps}));
      world.open(0);
      world.verify(0, 7);
      const Alarm alarm;
      EXPECT_THROW(world.warm_up(0), Interrupted);
    }
    EXPECT_FALSE(has_children());
  }
}

TEST(MissingSamples, ARankWithFewerThanTheOthersIsNamed) {
  const double none = std::nan("");
  EXPECT_EQ(missing_samples({{1, 2, 3}, {4, 5, 6}}), "");
  EXPECT_EQ(missing_samples({{1, 2, 3}, {4, none, none}}), "rank 1 has 1 samples of 3");
  EXPECT_EQ(missing_samples({{none, 2}, {none, none}}), "rank 0 has 1 samples of 2");
}

}  // namespace
}  // namespace arbench

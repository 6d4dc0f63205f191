// The negative controls on host threads: each is caught, for its own reason.
#include "self_test.hpp"

#include <gtest/gtest.h>

#include "test_algorithms.hpp"

namespace arbench {
namespace {

#if defined(__SANITIZE_THREAD__)
constexpr bool kRacesAreReported = true;
#else
constexpr bool kRacesAreReported = false;
#endif

using Lines = std::vector<std::string>;

struct Outcome {
  Lines lines;
  int code;
};

Outcome outcome(const Lines& controls, Launch launch = Launch::threads) {
  Options options;
  options.backend = Backend::host;
  options.launch = launch;
  Outcome outcome;
  outcome.code = exit_code(self_test(options, Machine{}, controls, [&](const Verdict& verdict) {
    if (verdict.control) outcome.lines.push_back(line(verdict));
  }));
  return outcome;
}

TEST(SelfTest, HasEightControls) {
  EXPECT_EQ(control_names(Backend::host),
            (Lines{"broken_no_end_barrier", "broken_no_launch", "broken_no_release",
                   "broken_no_tail", "broken_one_buffer", "broken_only_rank_0",
                   "broken_returns_at_once", "broken_stale_epoch"}));
}

/// Of 24 cases two cannot go wrong in a grid launch, in both modes, and one only in a graph.
TEST(SelfTest, CatchesEveryControl) {
  if (kRacesAreReported) GTEST_SKIP() << "the controls' races would be reported, rightly";
  for (const Launch launch : {Launch::threads, Launch::processes, Launch::grid}) {
    const Outcome all = outcome(control_names(Backend::host), launch);
    EXPECT_EQ(all.code, 0);
    EXPECT_EQ(all.lines.size(), 16u);
    std::size_t caught = 0;
    for (const std::string& text : all.lines) {
      caught += text.find("  caught: ") != std::string::npos ? 1 : 0;
      EXPECT_EQ(text.find("MISSED"), std::string::npos) << text;
    }
    EXPECT_EQ(caught, launch == Launch::grid ? 11u : 15u);
  }
}

TEST(SelfTest, SaysWhatVerificationSaid) {
  const Outcome tail = outcome({"broken_no_tail"});
  EXPECT_EQ(tail.lines,
            (Lines{"broken_no_tail         g3  eager  caught: wrong: rank 0, replay 0: 3 wrong, "
                   "first output element 4096",
                   "broken_no_tail         g3  graph  caught: wrong: rank 0, replay 0: 3 wrong, "
                   "first output element 4096"}));
}

TEST(SelfTest, ARightAlgorithmThatPosesAsAControlIsMissed) {
  const auto name =
      test_algorithm("test_poses", [](TestOp& op, Queue& queue) { op.allreduce(queue); });
  const Outcome missed = outcome({name, "broken_no_tail"});
  EXPECT_EQ(missed.code, 7);
  EXPECT_EQ(missed.lines[0], "test_poses             g3  eager  MISSED: ok");
}

TEST(SelfTest, FailsByOneMissedControlOrNothingRun) {
  Verdict verdict;
  const auto code = [&](bool control, const char* word) {
    Verdict caught, passed;
    caught.control = true;
    caught.word = "caught";
    passed.word = "passed";
    verdict.control = control;
    verdict.word = word;
    return exit_code(std::vector<Verdict>{caught, passed, verdict});
  };
  EXPECT_EQ(code(true, "MISSED"), 7);
  EXPECT_EQ(code(false, "FAILED"), 7);
  EXPECT_EQ(code(true, "not run"), 0);
  EXPECT_EQ(exit_code(std::vector<Verdict>{}), 7);
}

}  // namespace
}  // namespace arbench

// The order of visits, and what a sweep's rows come to.
#include <gtest/gtest.h>

#include <algorithm>

#include "runner.hpp"
#include "spmd.hpp"
#include "test_algorithms.hpp"

namespace arbench {
namespace {

/// Logs its letter whenever rank 0 enqueues an op.
std::string lettered(char letter) {
  return test_algorithm(std::string("test_letter_") + letter, [letter](TestOp& op, Queue& queue) {
    op.allreduce(queue);
    if (op.rank() == 0) SharedLog::get().add(letter);
  });
}

/// What rank 0 enqueues for 3 contenders in 6 rounds. Each visit enqueues one op, and one behind a barrier.
std::string enqueued(std::uint64_t seed, bool aa) {
  Options options;
  options.aa = aa;
  options.rounds = 6;
  options.replays = 1;
  options.ops = 1;
  options.seed = seed;
  std::vector<Case> cases;
  for (const char letter : {'a', 'b', 'c'})
    cases.push_back(
        host_case(lettered(letter), host_config(2), Dtype::bf16, 24, Mode::eager, {1, 1}));
  logged();
  run(cases, options, Machine{},
      {[](const Row& row, const std::vector<Sample>&) {
         EXPECT_EQ(row.status, Status::ok) << row.reason;
       },
       {}});
  return logged();
}

std::string visits(std::uint64_t seed) {
  const std::string log = enqueued(seed, false);
  EXPECT_EQ(log.size(), 171u);
  // Verified (19 calls) and warmed up (5, and 2 behind barriers) one after the other; verified again
  // after the rounds.
  EXPECT_EQ(log.substr(0, 78), std::string(26, 'a') + std::string(26, 'b') + std::string(26, 'c'));
  EXPECT_EQ(log.substr(114), std::string(19, 'a') + std::string(19, 'b') + std::string(19, 'c'));
  std::string visited;
  for (std::size_t i = 78; i < 114; i += 2) {
    EXPECT_EQ(log[i], log[i + 1]);
    visited += log[i];
  }
  return visited;
}

TEST(Order, EachRoundVisitsEachContenderOnce) {
  const std::string order = visits(1);
  for (std::size_t round = 0; round < 6; ++round) {
    std::string visited = order.substr(round * 3, 3);
    std::sort(visited.begin(), visited.end());
    EXPECT_EQ(visited, "abc");
  }
}

TEST(Order, IsDrawnAnewForEachRound) {
  EXPECT_NE(visits(1).substr(0, 9), visits(1).substr(9));
  EXPECT_NE(visits(1), "abcabcabcabcabcabc");
}

TEST(Order, FollowsTheSeed) {
  EXPECT_EQ(visits(1), visits(1));
  EXPECT_EQ(visits(12), visits(12));
  EXPECT_NE(visits(1), visits(12));
}

TEST(Order, TheFirstContenderIsMeasuredTwiceAmongTheOthers) {
  const std::string log = enqueued(1, true);
  // As above, but the copy's visits enqueue nothing behind a barrier: 7 letters a round.
  ASSERT_EQ(log.size(), 222u);
  EXPECT_EQ(log.substr(0, 104), std::string(26, 'a') + std::string(26, 'b') + std::string(26, 'c') +
                                    std::string(26, 'a'));
  EXPECT_EQ(log.substr(146), std::string(19, 'a') + std::string(19, 'b') + std::string(19, 'c') +
                                 std::string(19, 'a'));
  for (std::size_t round = 0; round < 6; ++round) {
    std::string visited = log.substr(104 + round * 7, 7);
    std::sort(visited.begin(), visited.end());
    EXPECT_EQ(visited, "aaabbcc");
  }
}

std::vector<Row> rows_of(const std::vector<Status>& statuses) {
  std::vector<Row> rows(statuses.size());
  for (std::size_t i = 0; i < rows.size(); ++i) rows[i].status = statuses[i];
  return rows;
}

TEST(ExitCode, IsThatOfTheWorstRow) {
  EXPECT_EQ(exit_code({}), 0);
  EXPECT_EQ(exit_code(rows_of({Status::ok})), 0);
  EXPECT_EQ(exit_code(rows_of({Status::functional, Status::skipped, Status::unsupported})), 0);
  EXPECT_EQ(exit_code(rows_of({Status::ok, Status::error})), 8);
  EXPECT_EQ(exit_code(rows_of({Status::error, Status::hung, Status::ok})), 4);
  EXPECT_EQ(exit_code(rows_of({Status::hung, Status::error, Status::wrong})), 7);
}

TEST(AlgorithmNames, HiddenOnesRunOnlyWhenNamedInFull) {
  lettered('a');
  lettered('b');
  const auto has = [](const std::vector<std::string>& names, const std::string& name) {
    return std::find(names.begin(), names.end(), name) != names.end();
  };
  const auto shown = algorithm_names(Backend::host, {});
  EXPECT_TRUE(has(shown, "ring_simple"));
  EXPECT_FALSE(has(shown, "test_letter_a"));
  EXPECT_FALSE(has(shown, "nccl_ring"));
  const auto named = algorithm_names(Backend::host, {"test_letter_a", "test_*"});
  EXPECT_TRUE(has(named, "ring_simple"));
  EXPECT_TRUE(has(named, "test_letter_a"));
  EXPECT_FALSE(has(named, "test_letter_b"));
  EXPECT_EQ(std::vector<std::string>(named.end() - 3, named.end()),
            (std::vector<std::string>{"nccl_auto", "nccl_ring", "nccl_tree"}));
}

}  // namespace
}  // namespace arbench

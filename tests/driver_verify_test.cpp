// verify() finds what it must: each test runs an algorithm that is wrong in one known way. In these
// cases 24 bf16 elements are summed over three ranks.
#include <gtest/gtest.h>

#include <array>

#include "spmd.hpp"
#include "test_algorithms.hpp"

namespace arbench {
namespace {

using AllVerified = std::array<Verified, 3>;

AllVerified verify(const std::string& algorithm, Mode mode, int ops = 3,
                   Placement placement = Placement::out_of_place) {
  WorldConfig config = host_config(3);
  config.ops = ops;
  AllVerified all;
  on_all_drivers(config, [&](Driver& driver, int index) {
    Case point = host_case(algorithm, config, Dtype::bf16, 24, mode, {1, 1});
    point.placement = placement;
    driver.open(0, point);
    all[index] = driver.verify(0, 7);
  });
  return all;
}

/// Right, then `what` on each rank.
std::string pull_then(const std::string& name, void (*what)(TestOp&)) {
  return test_algorithm(name, [what](TestOp& op, Queue& queue) {
    op.allreduce(queue);
    then(queue, [what, &op] { what(op); });
  });
}

TEST(Verify, FindsNothingInARightAlgorithm) {
  const auto right = pull_then("test_right", [](TestOp&) {});
  for (const Placement placement : {Placement::out_of_place, Placement::in_place})
    for (const Mode mode : {Mode::eager, Mode::graph})
      for (const Verified& verified : verify(right, mode, 3, placement)) {
        EXPECT_EQ(verified.wrong, 0u);
        EXPECT_EQ(verified.text, "");
      }
}

TEST(Verify, FindsAnAlgorithmThatWritesNothing) {
  const auto nothing = test_algorithm("test_nothing", [](TestOp&, Queue&) {});
  for (const Mode mode : {Mode::eager, Mode::graph}) {
    const AllVerified all = verify(nothing, mode);
    EXPECT_EQ(all[0].wrong, 96u);
    EXPECT_EQ(all[2].wrong, 96u);
    EXPECT_EQ(all[0].text, "rank 0, replay 0: 24 wrong, first output element 0");
  }
}

TEST(Verify, FindsOneWrongElementOnTheLastRankOnly) {
  const auto wrong = pull_then("test_last_rank_wrong", [](TestOp& op) {
    if (op.last_rank()) spoil(op.output(), 5);
  });
  for (const Mode mode : {Mode::eager, Mode::graph}) {
    const AllVerified all = verify(wrong, mode);
    EXPECT_EQ(all[0].wrong, 0u);
    EXPECT_EQ(all[1].wrong, 0u);
    EXPECT_EQ(all[2].wrong, 4u);
    EXPECT_EQ(all[2].text, "rank 2, replay 0: 1 wrong, first output element 5");
  }
}

TEST(Verify, FindsAnInputThatIsOverwritten) {
  const auto overwrites =
      pull_then("test_overwrites_input", [](TestOp& op) { spoil(op.input(), 7); });
  const AllVerified all = verify(overwrites, Mode::graph, 1);
  EXPECT_EQ(all[1].wrong, 4u);
  EXPECT_EQ(all[1].text, "rank 1, replay 0: 1 wrong, first input element (overwritten) 7");
}

TEST(Verify, FindsWritesAroundTheOutput) {
  const auto behind = pull_then("test_behind_output", [](TestOp& op) { spoil(op.output(), 24); });
  EXPECT_EQ(verify(behind, Mode::eager)[1].text,
            "rank 1, replay 0: 2 wrong, first guard byte around the output 0");
  const auto before = pull_then("test_before_output", [](TestOp& op) { spoil(op.output(), -1); });
  EXPECT_EQ(verify(before, Mode::eager)[1].text,
            "rank 1, replay 0: 2 wrong, first guard byte around the output 4094");
  EXPECT_EQ(verify(before, Mode::graph, 3, Placement::in_place)[2].text,
            "rank 2, replay 0: 2 wrong, first guard byte around the output 4094");
}

TEST(Verify, FindsWritesAroundTheInput) {
  const auto behind = pull_then("test_behind_input", [](TestOp& op) { spoil(op.input(), 24); });
  EXPECT_EQ(verify(behind, Mode::graph)[0].text,
            "rank 0, replay 0: 2 wrong, first guard byte around the input 0");
}

TEST(Verify, FindsWritesIntoAPeer) {
  // Once, and in front of the call whose barriers order it before the peer's checks.
  const auto into_peer = test_algorithm("test_into_peer", [](TestOp& op, Queue& queue) {
    if (op.rank() == 0 && op.enqueued == 1)
      then(queue, [&op] { spoil(op.peers.buffer[1] + op.peers.output_offset, 24); });
    op.allreduce(queue);
  });
  const AllVerified all = verify(into_peer, Mode::eager);
  EXPECT_EQ(all[0].wrong, 0u);
  EXPECT_EQ(all[1].wrong, 8u);  // the guard is not mended between the replays
  EXPECT_EQ(all[1].text, "rank 1, replay 0: 2 wrong, first guard byte around the output 0");
}

TEST(Verify, FindsAnAlgorithmThatIsRightAtTheFirstCallOnly) {
  const auto once = pull_then("test_right_once", [](TestOp& op) {
    if (op.ran++ > 0) spoil(op.output(), 5);
  });
  const AllVerified all = verify(once, Mode::graph, 1);
  EXPECT_EQ(all[0].wrong, 3u);
  EXPECT_EQ(all[0].text, "rank 0, replay 1: 1 wrong, first output element 5");
}

/// Puts out what it should have put out `age` calls ago; right at the first `age` calls.
void delay(TestOp& op, std::size_t age) {
  const std::size_t bytes = op.point.bytes;
  op.kept.insert(op.kept.end(), op.output(), op.output() + bytes);
  if (op.kept.size() <= age * bytes) return;
  std::memcpy(op.output(), op.kept.data(), bytes);
  op.kept.erase(op.kept.begin(), op.kept.begin() + static_cast<std::ptrdiff_t>(bytes));
}

TEST(Verify, FindsDataOfEarlierCalls) {
  const std::string delayed[] = {pull_then("test_delayed_by_1", [](TestOp& op) { delay(op, 1); }),
                                 pull_then("test_delayed_by_2", [](TestOp& op) { delay(op, 2); })};
  for (const std::string& algorithm : delayed)
    for (const Mode mode : {Mode::eager, Mode::graph})
      for (const Placement placement : {Placement::out_of_place, Placement::in_place})
        for (const Verified& verified : verify(algorithm, mode, 3, placement))
          EXPECT_GT(verified.wrong, 0u) << algorithm << " " << word(mode) << word(placement);
}

TEST(Verify, ChangesTheDataWithTheSalt) {
  const auto replayed = pull_then("test_first_results", [](TestOp& op) {
    // The results of the first eight calls, which a first verification makes, for ever.
    const std::size_t bytes = op.point.bytes, turn = op.ran++ % 8;
    if (op.ran <= 8) op.kept.insert(op.kept.end(), op.output(), op.output() + bytes);
    std::memcpy(op.output(), op.kept.data() + turn * bytes, bytes);
  });
  const WorldConfig config = host_config(2);
  on_all_drivers(config, [&](Driver& driver, int) {
    driver.open(0, host_case(replayed, config, Dtype::bf16, 24, Mode::graph, {1, 1}));
    EXPECT_EQ(driver.verify(0, 7).wrong, 0u);
    EXPECT_EQ(driver.verify(0, 7).wrong, 0u);
    EXPECT_GT(driver.verify(0, 16).wrong, 0u);
  });
}

}  // namespace
}  // namespace arbench

// verify() finds what it must: each test runs an algorithm that is wrong in one known way. In these
// cases 24 bf16 elements are summed over three ranks.
#include <gtest/gtest.h>

#include <array>
#include <chrono>
#include <thread>

#include "arbench/pack.hpp"
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
    // 24 in 12 replays or ops, and special values, of which 3 are the NaN that outputs are poisoned with.
    EXPECT_EQ(all[0].wrong, 309u);
    EXPECT_EQ(all[2].wrong, 309u);
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
    EXPECT_EQ(all[2].wrong, 13u);
    EXPECT_EQ(all[2].text, "rank 2, replay 0: 1 wrong, first output element 5");
  }
}

TEST(Verify, FindsAnInputThatIsOverwritten) {
  const auto overwrites =
      pull_then("test_overwrites_input", [](TestOp& op) { spoil(op.input(), 7); });
  const AllVerified all = verify(overwrites, Mode::graph, 1);
  EXPECT_EQ(all[1].wrong, 9u);
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
  EXPECT_EQ(all[1].wrong, 18u);  // the guard is not mended between the replays
  EXPECT_EQ(all[1].text, "rank 1, replay 0: 2 wrong, first guard byte around the output 0");
}

TEST(Verify, FindsAnAlgorithmThatIsRightAtTheFirstCallOnly) {
  const auto once = pull_then("test_right_once", [](TestOp& op) {
    if (op.ran++ > 0) spoil(op.output(), 5);
  });
  const AllVerified all = verify(once, Mode::graph, 1);
  EXPECT_EQ(all[0].wrong, 12u);
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

/// Right but for what is done to the output of one rank behind its call number `call`. Of the 19 calls of a verification
/// 12 and 13 have random data, 14 special values, and behind 15 to 18 inputs are overwritten.
std::string wrong_at(const std::string& name, int call, void (*what)(TestOp&)) {
  return test_algorithm(name, [call, what](TestOp& op, Queue& queue) {
    op.allreduce(queue);
    if (op.rank() != 1) return;
    then(queue, [call, what, &op] {
      if (op.ran++ == call) what(op);
    });
  });
}

/// The next number away from 0.
void nudge(TestOp& op) { ++reinterpret_cast<std::uint16_t*>(op.output())[5]; }

TEST(Verify, FindsASumOfRandomDataThatIsFurtherOffThanRoundingAllows) {
  const auto off = wrong_at("test_nudged_5", 12, [](TestOp& op) {
    for (int i = 0; i < 5; ++i) nudge(op);
  });
  const AllVerified all = verify(off, Mode::eager);
  EXPECT_EQ(all[0].wrong, 0u);
  EXPECT_EQ(all[1].wrong, 1u);
  EXPECT_EQ(all[1].text, "rank 1, replay 6, random data: 1 wrong, first output element 5");
  EXPECT_GT(all[1].max_ulp, 4);
}

TEST(Verify, TellsWhetherBitsAreTheSame) {
  const auto rounds_otherwise = wrong_at("test_nudged", 13, nudge);
  const AllVerified all = verify(rounds_otherwise, Mode::eager);
  EXPECT_TRUE(all[0].same_runs);
  EXPECT_FALSE(all[1].same_runs);
  EXPECT_EQ(all[0].hash, all[1].hash);  // of the first call
  const auto on_one_rank = wrong_at("test_nudged_first", 12, nudge);
  const AllVerified apart = verify(on_one_rank, Mode::eager);
  EXPECT_EQ(apart[0].hash, apart[2].hash);
  EXPECT_NE(apart[0].hash, apart[1].hash);
}

TEST(Verify, FindsAWrongSpecialValue) {
  const auto wrong = wrong_at("test_special", 14, [](TestOp& op) { spoil(op.output(), 5); });
  EXPECT_EQ(verify(wrong, Mode::eager)[1].text,
            "rank 1, replay 8, special values: 1 wrong, first output element 5");
}

TEST(Verify, FindsARankThatReadsInputsWhenItsPeersAreDone) {
#if defined(__SANITIZE_THREAD__)
  GTEST_SKIP() << "a data race by design";
#endif
  static const auto sum_late = [](TestOp& op) {
    std::this_thread::sleep_for(std::chrono::milliseconds(50));
    auto* output = reinterpret_cast<BF16*>(op.output());
    for (int i = 0; i < 24; ++i) {
      float sum = 0;
      for (int rank = 0; rank < 3; ++rank)
        sum += to_float(
            reinterpret_cast<const BF16*>(op.peers.buffer[rank] + op.peers.input_offset)[i]);
      output[i] = from_float<BF16>(sum);
    }
  };
  const auto late = wrong_at("test_reads_late", 15, [](TestOp& op) { sum_late(op); });
  for (const Mode mode : {Mode::eager, Mode::graph}) {
    const AllVerified all = verify(late, mode);
    EXPECT_EQ(all[0].wrong, 0u);
    EXPECT_GT(all[1].wrong, 0u);
    EXPECT_EQ(all[1].text.substr(0, 50), "rank 1, replay 9, inputs overwritten behind each o");
  }
}

TEST(Soak, ChangesTheDataFromCallToCall) {
  const auto stale = pull_then("test_stale", [](TestOp& op) {
    if (op.kept.empty()) op.kept.assign(op.output(), op.output() + op.point.bytes);
    std::memcpy(op.output(), op.kept.data(), op.kept.size());
  });
  const WorldConfig config = host_config(2);
  for (const Mode mode : {Mode::eager, Mode::graph})
    on_all_drivers(config, [&](Driver& driver, int) {
      driver.open(0, host_case(stale, config, Dtype::bf16, 24, mode, {1, 1}));
      EXPECT_EQ(driver.soak(0, 7, 1).wrong, 0u);
      EXPECT_EQ(driver.soak(0, 7, 1).wrong, 0u);
      EXPECT_GT(driver.soak(0, 7, 1000).wrong, 20000u);
    });
}

TEST(Verify, ChangesTheDataWithTheSalt) {
  const auto replayed = pull_then("test_first_results", [](TestOp& op) {
    // The results of the first 19 calls, which a first verification makes, for ever.
    const std::size_t bytes = op.point.bytes, turn = op.ran++ % 19;
    if (op.ran <= 19) op.kept.insert(op.kept.end(), op.output(), op.output() + bytes);
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

// Cold L2: how many buffer sets there are, that ops take turns on them, and that all are verified. The host's L2 counts as
// 1 MiB, so 5 MiB lie between two uses of a buffer. K is 3.
#include <gtest/gtest.h>

#include "disk.hpp"
#include "driver_parts.hpp"
#include "spmd.hpp"
#include "test_algorithms.hpp"

namespace arbench {
namespace {

Case cold_case(const std::string& algorithm, const WorldConfig& config, Mode mode,
               std::uint64_t count = 24) {
  Case point = host_case(algorithm, config, Dtype::bf16, count, mode, {1, 1});
  point.l2 = L2::cold;
  return point;
}

Opened opened(const WorldConfig& config, const Case& point) {
  Opened opened;
  on_all_drivers(config, [&](Driver& driver, int index) {
    const Opened mine = driver.open(0, point);
    if (index == 0) opened = mine;
  });
  return opened;
}

TEST(ColdL2, HasASetPerOpOrAsManyAsEvictEachOther) {
  WorldConfig config = host_config(2);
  EXPECT_EQ(opened(config, cold_case("one_shot_pull", config, Mode::eager)).sets, 3);
  config.ops = 20;
  Case point = cold_case("one_shot_pull", config, Mode::graph, 512 * 1024);  // 1 MiB
  EXPECT_EQ(opened(config, point).sets, 4);
  point.placement = Placement::in_place;
  EXPECT_EQ(opened(config, point).sets, 7);
  point.l2 = L2::hot;
  EXPECT_EQ(opened(config, point).sets, 1);
}

TEST(ColdL2, EvictingTakesTime) {
  const WorldConfig config = host_config(2);
  Case point = cold_case("one_shot_pull", config, Mode::eager);
  EXPECT_GT(opened(config, point).sweep_us, 0);
  point.l2 = L2::hot;
  EXPECT_EQ(opened(config, point).sweep_us, 0);
}

TEST(ColdL2, SetsThatFitIntoMemory) {
  // Free bytes, ranks that share them, bytes of a set, wanted: half of it is for the sets.
  EXPECT_EQ(sets_that_fit(1000, 1, 100, 3), 3);
  EXPECT_EQ(sets_that_fit(1000, 1, 100, 20), 5);
  EXPECT_EQ(sets_that_fit(1000, 2, 100, 20), 2);
  EXPECT_EQ(sets_that_fit(1000, 8, 100, 20), 1);
}

/// Whatever follows a hot case of another size, and whoever is open beside it.
TEST(ColdL2, IsRightBesideOthers) {
  for (const Launch launch : {Launch::threads, Launch::grid})
    for (const Mode mode : {Mode::eager, Mode::graph})
      for (const Placement placement : {Placement::out_of_place, Placement::in_place}) {
        const WorldConfig config = host_config(2, launch);
        on_all_drivers(config, [&](Driver& driver, int) {
          const auto verified = [&](int slot, Case point) {
            point.placement = placement;
            driver.open(slot, point);
            std::vector<double> us(20);
            for (const Sequence sequence : {Sequence::ops, Sequence::isolated}) {
              driver.warm_up(slot, sequence);
              driver.round(slot, 1, {us.data()}, sequence);
              EXPECT_GT(us[0], 0);
            }
            EXPECT_EQ(driver.verify(slot, 7).wrong, 0u);
          };
          verified(0, host_case("one_shot_pull", config, Dtype::bf16, 5000, mode, {1, 1}));
          driver.close(0);
          verified(1, cold_case("one_shot_push", config, mode));
          verified(2, cold_case("two_shot_pull", config, mode));
          driver.close(1);
          driver.close(2);
          verified(3, host_case("one_shot_pull", config, Dtype::bf16, 24, mode, {1, 1}));
        });
      }
}

/// Of 48-byte messages: four guards of 4 KiB and two padded buffers of 256 bytes.
constexpr std::uint64_t kSetBytes = 16896;

/// one_shot_pull that logs the set of each op on rank 0, and does `what` to that set's output behind it.
std::string on_sets(const std::string& name, std::function<void(std::byte*, std::uint64_t)> what) {
  Algorithm record = *find_algorithm(Backend::host, "one_shot_pull");
  record.name = name;
  record.open = [open = record.open, what](const OpenContext& context) {
    Op op = open(context);
    const int rank = context.peers.first_rank;
    std::byte* output = context.peers.buffer[rank] + context.peers.output_offset;
    op.enqueue_at = [at = op.enqueue_at, what, rank, output](Queue& queue, std::uint64_t shift) {
      at(queue, shift);
      if (rank == 0) SharedLog::get().add(static_cast<char>('0' + shift / kSetBytes));
      if (what) then(queue, [=] { what(output + shift, shift / kSetBytes); });
    };
    op.enqueue = [at = op.enqueue_at](Queue& queue) { at(queue, 0); };
    return op;
  };
  return test_algorithm(record);
}

TEST(ColdL2, OpsTakeTurnsOnTheSets) {
  const auto name = on_sets("test_sets", {});
  const WorldConfig config = host_config(2);
  for (const Mode mode : {Mode::eager, Mode::graph})
    on_all_drivers(config, [&](Driver& driver, int index) {
      std::vector<double> us(10);
      if (index == 0) logged();
      driver.open(0, cold_case(name, config, mode));
      if (index == 0) {
        EXPECT_EQ(logged(), mode == Mode::graph ? "01200120000" : "");
      }
      driver.round(0, 2, {us.data()});
      if (index == 0) {
        EXPECT_EQ(logged(), mode == Mode::graph ? "" : "012012");
      }
      driver.round(0, 1, {us.data()}, Sequence::isolated);
      if (index == 0) {
        EXPECT_EQ(logged(), mode == Mode::graph ? "" : "012");
      }
    });
}

TEST(ColdL2, EverySetIsVerified) {
  for (const std::uint64_t bad : {0u, 1u, 2u}) {
    const auto name = on_sets("test_spoils_set_" + std::to_string(bad),
                              [bad](std::byte* output, std::uint64_t set) {
                                if (set == bad) spoil(output, 5);
                              });
    const WorldConfig config = host_config(2);
    for (const Mode mode : {Mode::eager, Mode::graph})
      on_all_drivers(config, [&](Driver& driver, int) {
        driver.open(0, cold_case(name, config, mode));
        // In all replays of K ops; set 0 in those of one op too, and where inputs are overwritten.
        EXPECT_EQ(driver.verify(0, 7).wrong, bad == 0 ? 13u : 3u);
      });
  }
}

TEST(ColdL2, GuardsOfEverySetAreVerified) {
  const auto name = on_sets("test_behind_set_2", [](std::byte* output, std::uint64_t set) {
    if (set == 2) spoil(output, 24);
  });
  const WorldConfig config = host_config(2);
  on_all_drivers(config, [&](Driver& driver, int) {
    driver.open(0, cold_case(name, config, Mode::graph));
    EXPECT_EQ(driver.verify(0, 7).text.substr(6),
              ", replay 0: 2 wrong, first guard byte around the output 0");
  });
}

TEST(ColdL2, AnAlgorithmThatIsBoundToItsBuffersIsRefused) {
  const auto bound =
      test_algorithm("test_bound", [](TestOp& op, Queue& queue) { op.allreduce(queue); });
  const WorldConfig config = host_config(2);
  on_all_drivers(config, [&](Driver& driver, int) {
    EXPECT_EQ(message<Refused>([&] { driver.open(0, cold_case(bound, config, Mode::eager)); }),
              "is bound to its buffers: no cold L2");
  });
}

}  // namespace
}  // namespace arbench

// What a driver refuses, and that all drivers of a world agree on it and stay usable.
#include "driver.hpp"

#include <gtest/gtest.h>

#include <atomic>

#include "disk.hpp"
#include "spmd.hpp"
#include "test_algorithms.hpp"

namespace arbench {
namespace {

using Texts = std::vector<std::string>;

/// What each driver says when it opens the case; each then runs a right one.
template <class Error>
Texts errors_of(const WorldConfig& config, const Case& point) {
  Texts texts(static_cast<std::size_t>(config.drivers()));
  on_all_drivers(config, [&](Driver& driver, int index) {
    texts[index] = message<Error>([&] { driver.open(0, point); });
    driver.close(0);
    Case right = point;
    right.algorithm = "two_shot_pull";
    right.geometry = {1, 1};
    driver.open(0, right);
    EXPECT_EQ(driver.verify(0, 7).wrong, 0u);
  });
  return texts;
}

Case pull_case(const WorldConfig& config, Geometry geometry) {
  return host_case("one_shot_pull", config, Dtype::bf16, 24, Mode::graph, geometry);
}

TEST(Geometry, MoreBlocksThanFitAreRefused) {
  const WorldConfig config = host_config(2);
  const std::string text =
      "1 ranks of 9 blocks x 1 threads do not fit on one device together (8 blocks per rank do)";
  EXPECT_EQ(errors_of<Refused>(config, pull_case(config, {9, 1})), (Texts{text, text}));
  EXPECT_EQ(errors_of<Refused>(config, pull_case(config, {8, 1})),
            (Texts{"nothing thrown", "nothing thrown"}));
}

/// The device with the least room per rank decides for all; rank 0, which speaks, is alone on its own.
TEST(Geometry, RanksOfOneDeviceShareIt) {
  WorldConfig config = host_config(3);
  config.devices = {0, 1, 1};
  const std::string text =
      "1 ranks of 5 blocks x 2 threads do not fit on one device together (4 blocks per rank do)";
  EXPECT_EQ(errors_of<Refused>(config, pull_case(config, {5, 2})), (Texts{text, text, text}));
}

TEST(Geometry, LaunchesOfOneOpShareTheDeviceToo) {
  const WorldConfig config = host_config(2);
  Case point = pull_case(config, {5, 1});
  point.algorithm = "p2p_copy_ring";
  const std::string text =
      "1 ranks of 5 blocks x 1 threads do not fit on one device together (4 blocks per rank do)";
  EXPECT_EQ(errors_of<Refused>(config, point), (Texts{text, text}));
}

TEST(Geometry, IsTheUsersWhereTheUserGaveIt) {
  Algorithm greedy = pull_record("test_greedy", [](TestOp& op, Queue& q) { op.allreduce(q); });
  greedy.geometry = [](const Case&, int max_blocks) {
    return Geometry{std::min(20, max_blocks), 3};
  };
  const auto name = test_algorithm(greedy);
  const WorldConfig config = host_config(2);
  on_all_drivers(config, [&](Driver& driver, int) {
    const auto opened = [&](Geometry geometry) {
      const Opened opened =
          driver.open(0, host_case(name, config, Dtype::bf16, 24, Mode::eager, geometry));
      driver.close(0);
      return opened;
    };
    EXPECT_EQ(opened({7, 2}).geometry, (Geometry{7, 2}));
    EXPECT_EQ(opened({7, 0}).geometry, (Geometry{7, 3}));
    EXPECT_EQ(opened({7, 0}).remark, "");
    EXPECT_EQ(opened({0, 2}).geometry, (Geometry{8, 2}));
    EXPECT_EQ(opened({0, 0}).geometry, (Geometry{8, 3}));
    EXPECT_EQ(opened({0, 0}).remark,
              "fewer blocks than wanted: 1 ranks of 20 blocks x 3 threads do not fit on one device "
              "together (8 blocks per rank do)");
  });
}

TEST(Geometry, AKernelThatDoesNotFitAtAllIsRefused) {
  Algorithm large = pull_record("test_large", [](TestOp& op, Queue& q) { op.allreduce(q); });
  large.blocks_per_multiprocessor = [](const Case&, int) { return 0; };
  const WorldConfig config = host_config(2);
  Case point = pull_case(config, {});
  point.algorithm = test_algorithm(large);
  const std::string text =
      "1 ranks of 2 blocks x 1 threads do not fit on one device together (0 blocks per rank do)";
  EXPECT_EQ(errors_of<Refused>(config, point), (Texts{text, text}));
}

TEST(Open, ARefusalOfOneRankIsEverybodys) {
  Algorithm refuses = pull_record("test_refuses", [](TestOp& op, Queue& q) { op.allreduce(q); });
  refuses.open = [open = refuses.open](const OpenContext& context) {
    if (context.peers.first_rank == 1) throw Refused("rank 1 does not like it");
    return open(context);
  };
  const WorldConfig config = host_config(3);
  Case point = pull_case(config, {1, 1});
  point.algorithm = test_algorithm(refuses);
  const std::string text = "rank 1 does not like it";
  EXPECT_EQ(errors_of<Refused>(config, point), (Texts{text, text, text}));
}

TEST(Open, MemoryThatIsNotThereIsRefused) {
  Algorithm huge = pull_record("test_huge", [](TestOp& op, Queue& q) { op.allreduce(q); });
  huge.scratch = [](const Case&) { return Scratch{std::uint64_t{1} << 60, 0}; };
  const WorldConfig config = host_config(2);
  Case point = pull_case(config, {1, 1});
  point.algorithm = test_algorithm(huge);
  const Texts texts = errors_of<Refused>(config, point);
  EXPECT_EQ(texts[0].substr(0, 18), "needs 115292150460");
  EXPECT_EQ(texts[1], texts[0]);
}

TEST(Open, HostTransportShowsNobodyItsPeersBuffers) {
  std::atomic<int> seen = 0;
  Algorithm looks = pull_record("test_looks", [](TestOp&, Queue&) {});
  looks.open = [&seen](const OpenContext& context) -> Op {
    const Peers& p = context.peers;
    for (int rank = 0; rank < p.ranks; ++rank) {
      EXPECT_EQ(p.buffer[rank] == nullptr, rank != p.first_rank);
      EXPECT_NE(p.memory[rank], nullptr);
      ++seen;
    }
    throw Refused("has looked");
  };
  WorldConfig config = host_config(3);
  config.transport = Transport::host;
  Case point = pull_case(config, {1, 1});
  point.algorithm = test_algorithm(looks);
  on_all_drivers(config, [&](Driver& driver, int) {
    EXPECT_EQ(message<Refused>([&] { driver.open(0, point); }), "has looked");
  });
  EXPECT_EQ(seen, 9);
}

TEST(Capture, ARefusalOfOneRankIsEverybodysWithItsText) {
  for (const int refusing : {0, 2}) {
    const std::string text = "rank " + std::to_string(refusing) + " cannot be captured";
    const auto name = test_algorithm("test_no_capture_" + std::to_string(refusing),
                                     [=](TestOp& op, Queue& queue) {
                                       op.allreduce(queue);
                                       if (op.rank() == refusing && op.enqueued == 2)
                                         throw std::runtime_error(text);
                                     });
    const WorldConfig config = host_config(3);
    Case point = pull_case(config, {1, 1});
    point.algorithm = name;
    EXPECT_EQ(errors_of<Unsupported>(config, point), (Texts{text, text, text}));
  }
}

/// What the drivers say when an algorithm enqueues nothing from its `last` call on; K is 3.
std::string stopped_at(int last, bool library = false) {
  const auto name = "test_stops_at_" + std::to_string(last) + (library ? "_library" : "");
  Algorithm stops = pull_record(name, [last](TestOp& op, Queue& queue) {
    if (op.enqueued < last) op.allreduce(queue);
  });
  stops.library = library;
  const WorldConfig config = host_config(2);
  Case point = pull_case(config, {1, 1});
  point.algorithm = test_algorithm(stops);
  return message<std::runtime_error>(
      [&] { on_all_drivers(config, [&](Driver& driver, int) { driver.open(0, point); }); });
}

TEST(Capture, AnAlgorithmThatStopsEnqueuingIsAnError) {
  // Captured are 3 ops, 1 op, and 3 ops with a barrier before each.
  EXPECT_EQ(stopped_at(3), "capture: 2 nodes for 3 ops and 0 barriers, though one op has 0");
  EXPECT_EQ(stopped_at(7), "capture: 5 nodes for 3 ops and 3 barriers, though one op has 1");
  EXPECT_EQ(stopped_at(8), "nothing thrown");
}

/// It is called once before the captures.
TEST(Capture, ALibraryAddsANodePerOpAtLeast) {
  EXPECT_EQ(stopped_at(8, true), "capture: 5 nodes for 3 ops and 3 barriers, though one op has 1");
  EXPECT_EQ(stopped_at(9, true), "nothing thrown");
  Algorithm extra = pull_record("test_extra_node", [](TestOp& op, Queue& queue) {
    op.allreduce(queue);
    if (op.enqueued == 2) then(queue, [] {});
  });
  const WorldConfig config = host_config(2);
  Case point = pull_case(config, {1, 1});
  const auto opened = [&](const std::string& name, bool library) {
    extra.name = name;
    extra.library = library;
    point.algorithm = test_algorithm(extra);
    return message<std::runtime_error>(
        [&] { on_all_drivers(config, [&](Driver& driver, int) { driver.open(0, point); }); });
  };
  EXPECT_EQ(opened("test_extra_node_library", true), "nothing thrown");
  EXPECT_EQ(opened("test_extra_node", false),
            "capture: 4 nodes for 3 ops and 0 barriers, though one op has 1");
}

TEST(Hang, NamesWhoWaitedForWhom) {
  const auto silent = test_algorithm("test_silent_rank", [](TestOp& op, Queue& queue) {
    if (op.rank() != 1) op.allreduce(queue);
  });
  WorldConfig config = host_config(2);
  config.timeout_seconds = 0.1;
  Texts texts(2);
  EXPECT_THROW(on_all_drivers(config,
                              [&](Driver& driver, int index) {
                                Case point = pull_case(config, {1, 1});
                                point.algorithm = silent;
                                driver.open(0, point);
                                texts[index] = message<Hung>([&] { driver.verify(0, 7); });
                                throw std::runtime_error(texts[index]);
                              }),
               std::runtime_error);
  EXPECT_EQ(texts[0], "rank 0 waited in vain for rank 1 in block 0 (wanted 1, saw 0)");
}

}  // namespace
}  // namespace arbench

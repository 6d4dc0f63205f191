// Every registered algorithm on host threads: exact sums on every rank, in and out of place, eager
// and replayed, with one and two threads per block (one alone would hide a missing block sync).
// Under ThreadSanitizer this is the race check.
#include <gtest/gtest.h>

#include <tuple>

#include "arbench/algorithm.hpp"
#include "spmd.hpp"

namespace arbench {
namespace {

std::vector<std::string> host_algorithms() {
  std::vector<std::string> names;
  for (const Algorithm& algorithm : algorithms(Backend::host))
    if (!algorithm.hidden) names.push_back(algorithm.name);
  return names;
}

class Algorithms : public testing::TestWithParam<std::tuple<std::string, int>> {};

/// Elements: none, fewer than ranks, one each, no multiple of a pack, one above a block's first
/// turn, 57,344 bytes.
std::vector<std::uint64_t> counts(int ranks, Dtype dtype, Geometry geometry) {
  const auto n = static_cast<std::uint64_t>(ranks);
  const std::uint64_t per_pack = 16 / size_of(dtype);
  const std::uint64_t block =
      static_cast<std::uint64_t>(geometry.blocks) * geometry.threads * per_pack;
  return {0, 1, n - 1, n, 17, block + 1, 57344 / size_of(dtype)};
}

void expect_exact(Driver& driver, const Case& point) {
  SCOPED_TRACE(point.name() + " threads " + std::to_string(point.geometry.threads));
  driver.open(0, point);
  const Verified verified = driver.verify(0, 7);
  EXPECT_EQ(verified.wrong, 0u) << verified.text;
  driver.close(0);
}

TEST_P(Algorithms, SumsExactlyOnEveryRank) {
  const std::string algorithm = std::get<0>(GetParam());
  const int ranks = std::get<1>(GetParam());
  const WorldConfig config = host_config(ranks);
  on_all_drivers(config, [&](Driver& driver, int) {
    for (const Geometry geometry : {Geometry{2, 1}, Geometry{2, 2}})
      for (const Dtype dtype : {Dtype::f16, Dtype::bf16, Dtype::f32})
        for (const std::uint64_t count : counts(ranks, dtype, geometry))
          for (const Placement placement : {Placement::out_of_place, Placement::in_place}) {
            Case point = host_case(algorithm, config, dtype, count, Mode::eager, geometry);
            point.placement = placement;
            expect_exact(driver, point);
          }
  });
}

TEST_P(Algorithms, SumsExactlyWhenReplayed) {
  const std::string algorithm = std::get<0>(GetParam());
  const int ranks = std::get<1>(GetParam());
  const WorldConfig config = host_config(ranks);
  on_all_drivers(config, [&](Driver& driver, int) {
    for (const Placement placement : {Placement::out_of_place, Placement::in_place}) {
      Case point = host_case(algorithm, config, Dtype::bf16, 1027, Mode::graph, {2, 2});
      point.placement = placement;
      expect_exact(driver, point);
    }
  });
}

TEST_P(Algorithms, GridLaunchHoldsAllRanks) {
  const std::string algorithm = std::get<0>(GetParam());
  const int ranks = std::get<1>(GetParam());
  if (!find_algorithm(Backend::host, algorithm)->kernel)
    GTEST_SKIP() << "is not one kernel; the runner makes it a skipped row";
  const WorldConfig config = host_config(ranks, Launch::grid);
  on_all_drivers(config, [&](Driver& driver, int) {
    for (const Mode mode : {Mode::eager, Mode::graph})
      expect_exact(driver, host_case(algorithm, config, Dtype::bf16, 1027, mode, {2, 2}));
  });
}

/// Peers' buffers are null there, so that to touch one is a crash.
TEST_P(Algorithms, HostTransportLeavesPeersBuffersAlone) {
  const std::string algorithm = std::get<0>(GetParam());
  if (!find_algorithm(Backend::host, algorithm)->host_transport)
    GTEST_SKIP() << "reaches into its peers' buffers; the runner makes it a skipped row";
  WorldConfig config = host_config(std::get<1>(GetParam()));
  config.transport = Transport::host;
  on_all_drivers(config, [&](Driver& driver, int) {
    for (const Mode mode : {Mode::eager, Mode::graph})
      for (const std::uint64_t count : counts(config.ranks(), Dtype::bf16, {2, 2}))
        expect_exact(driver, host_case(algorithm, config, Dtype::bf16, count, mode, {2, 2}));
  });
}

INSTANTIATE_TEST_SUITE_P(Host, Algorithms,
                         testing::Combine(testing::ValuesIn(host_algorithms()),
                                          testing::Values(2, 3, 4, 5, 8)),
                         [](const auto& info) {
                           return std::get<0>(info.param) + "_n" +
                                  std::to_string(std::get<1>(info.param));
                         });

TEST(Registry, HoldsEveryHandWrittenAlgorithm) {
  EXPECT_EQ(host_algorithms(),
            (std::vector<std::string>{"one_shot_pull", "one_shot_push", "p2p_copy_ring",
                                      "ring_simple", "two_shot_pull"}));
}

TEST(Registry, ThroughHostMemoryGoesWhatLeavesPeersBuffersAlone) {
  std::vector<std::string> names;
  for (const std::string& name : host_algorithms())
    if (find_algorithm(Backend::host, name)->host_transport) names.push_back(name);
  EXPECT_EQ(names, std::vector<std::string>{"one_shot_push"});
}

TEST(Registry, FindsByName) {
  ASSERT_NE(find_algorithm(Backend::host, "ring_simple"), nullptr);
  EXPECT_EQ(find_algorithm(Backend::host, "ring_simple")->stands_for, "NCCL ring, Simple protocol");
  EXPECT_EQ(find_algorithm(Backend::host, "rings"), nullptr);
}

}  // namespace
}  // namespace arbench

// Every registered kernel algorithm on the GPUs present: real ranks where there are enough devices,
// else virtual ranks on the first one. Exact sums on every rank.
#include <gtest/gtest.h>

#include <tuple>

#include "arbench/algorithm.hpp"
#include "machine.hpp"
#include "spmd.hpp"

namespace arbench {
namespace {

const Machine& machine() {
  static const Machine found = discover("");
  return found;
}

WorldConfig cuda_config(int ranks, Launch launch) {
  WorldConfig config = host_config(ranks, launch);
  config.backend = Backend::cuda;
  const bool real = launch == Launch::threads && static_cast<int>(machine().gpus.size()) >= ranks;
  for (int rank = 0; rank < ranks; ++rank) config.devices[rank] = real ? rank : 0;
  return config;
}

std::vector<std::string> kernel_algorithms() {
  std::vector<std::string> names;
  for (const Algorithm& algorithm : algorithms(Backend::cuda))
    if (!algorithm.library && !algorithm.hidden) names.push_back(algorithm.name);
  return names;
}

class GpuAlgorithms : public testing::TestWithParam<std::tuple<std::string, int>> {
 protected:
  void SetUp() override {
    if (machine().gpus.empty()) GTEST_SKIP() << "no CUDA device: " << machine().cuda_error;
    setenv("CUDA_DEVICE_MAX_CONNECTIONS", "32", 1);
    setenv("CUDA_MODULE_LOADING", "EAGER", 1);
  }
};

void expect_exact(Driver& driver, const Case& point) {
  driver.open(0, point);
  const Verified verified = driver.verify(0, 7);
  EXPECT_EQ(verified.wrong, 0u) << point.name() << ", " << point.geometry.threads
                                << " threads: " << verified.text;
  driver.close(0);
}

TEST_P(GpuAlgorithms, SumsExactlyOnEveryRank) {
  const std::string algorithm = std::get<0>(GetParam());
  const int ranks = std::get<1>(GetParam());
  const WorldConfig config = cuda_config(ranks, Launch::threads);
  if (const auto& reject = find_algorithm(Backend::cuda, algorithm)->reject)
    if (const auto why = reject(host_case(algorithm, config, Dtype::bf16, 8, Mode::eager, {})))
      GTEST_SKIP() << *why;
  on_all_drivers(config, [&](Driver& driver, int) {
    for (const Geometry geometry : {Geometry{2, 64}, Geometry{0, 0}})
      for (const Dtype dtype : {Dtype::f16, Dtype::bf16, Dtype::f32})
        for (const std::uint64_t count : {0u, 1u, 2u, 7u, 8u, 17u, 1025u, 28672u, 1000003u})
          for (const Placement placement : {Placement::out_of_place, Placement::in_place})
            for (const Mode mode : {Mode::eager, Mode::graph}) {
              Case point = host_case(algorithm, config, dtype, count, mode, geometry);
              point.placement = placement;
              expect_exact(driver, point);
            }
  });
}

TEST_P(GpuAlgorithms, GridLaunchHoldsAllRanks) {
  const std::string algorithm = std::get<0>(GetParam());
  const int ranks = std::get<1>(GetParam());
  if (!find_algorithm(Backend::cuda, algorithm)->kernel) GTEST_SKIP() << "not one kernel";
  const WorldConfig config = cuda_config(ranks, Launch::grid);
  on_all_drivers(config, [&](Driver& driver, int) {
    for (const Mode mode : {Mode::eager, Mode::graph})
      for (const std::uint64_t count : {17u, 28672u})
        expect_exact(driver, host_case(algorithm, config, Dtype::bf16, count, mode, {}));
  });
}

TEST_P(GpuAlgorithms, HostTransportLeavesPeersBuffersAlone) {
  const std::string algorithm = std::get<0>(GetParam());
  if (!find_algorithm(Backend::cuda, algorithm)->host_transport)
    GTEST_SKIP() << "reaches into its peers' buffers";
  WorldConfig config = cuda_config(std::get<1>(GetParam()), Launch::threads);
  config.transport = Transport::host;
  on_all_drivers(config, [&](Driver& driver, int) {
    for (const Mode mode : {Mode::eager, Mode::graph})
      for (const std::uint64_t count : {0u, 17u, 28672u, 1000003u})
        expect_exact(driver, host_case(algorithm, config, Dtype::bf16, count, mode, {}));
  });
}

GTEST_ALLOW_UNINSTANTIATED_PARAMETERIZED_TEST(GpuAlgorithms);
INSTANTIATE_TEST_SUITE_P(Gpu, GpuAlgorithms,
                         testing::Combine(testing::ValuesIn(kernel_algorithms()),
                                          testing::Values(2, 3, 4, 5, 8)),
                         [](const auto& info) {
                           return std::get<0>(info.param) + "_n" +
                                  std::to_string(std::get<1>(info.param));
                         });

}  // namespace
}  // namespace arbench

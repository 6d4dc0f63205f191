// Kernels that a toolkit's NVRTC compiled, on the GPUs present: loaded, launched in each way, exact.
#include <gtest/gtest.h>

#include <cstdlib>
#include <tuple>

#include "arbench/algorithm.hpp"
#include "run_time_code.hpp"
#include "spmd.hpp"

namespace arbench {
namespace {

/// An algorithm, virtual ranks of device 0, and how they are launched.
class GpuRunTimeCode : public testing::TestWithParam<std::tuple<std::string, int, Launch>> {};

TEST_P(GpuRunTimeCode, SumsExactly) {
  const auto& [algorithm, ranks, launch] = GetParam();
  const Machine machine = discover("");
  if (machine.gpus.empty()) GTEST_SKIP() << "no CUDA device: " << machine.cuda_error;
  const char* list = std::getenv("ARBENCH_NVRTC");
  if (list == nullptr || *list == 0) GTEST_SKIP() << "ARBENCH_NVRTC names no toolkit with NVRTC";
  const std::string folders = list;
  const auto toolkits = open_toolkits({"nvrtc:" + folders.substr(0, folders.find(':'))});
  setenv("CUDA_DEVICE_MAX_CONNECTIONS", "32", 1);
  setenv("CUDA_MODULE_LOADING", "EAGER", 1);
  WorldConfig config = host_config(ranks, launch);
  config.backend = Backend::cuda;
  config.devices.assign(static_cast<std::size_t>(ranks), 0);
  std::vector<Case> cases;
  for (const Mode mode : {Mode::eager, Mode::graph}) {
    Case point = host_case(algorithm, config, Dtype::bf16, 28673, mode, {});
    point.toolkit = toolkit_name(toolkits[0]);
    cases.push_back(point);
  }
  compile_cases(cases, machine, toolkits, [](int, int, const std::string&) {});
  on_all_drivers(config, [&](Driver& driver, int) {
    for (const Case& point : cases) {
      driver.open(0, point);
      const Verified verified = driver.verify(0, 7);
      EXPECT_EQ(verified.wrong, 0u) << point.name() << ": " << verified.text;
      driver.close(0);
    }
  });
}

INSTANTIATE_TEST_SUITE_P(Gpu, GpuRunTimeCode,
                         testing::Values(std::tuple("one_shot_pull", 2, Launch::threads),
                                         std::tuple("one_shot_push", 8, Launch::threads),
                                         std::tuple("ring_simple", 3, Launch::threads),
                                         std::tuple("p2p_copy_ring", 2, Launch::threads),
                                         std::tuple("two_shot_pull", 4, Launch::grid)));

}  // namespace
}  // namespace arbench

#include "nvml_state.hpp"

#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

namespace arbench {
namespace {

std::vector<Gpu> two_gpus() {
  std::vector<Gpu> gpus(2);
  gpus[0].device = 0;
  gpus[0].pci_bus_id = "0000:01:00.0";
  gpus[1].device = 1;
  gpus[1].pci_bus_id = "0000:02:00.0";
  return gpus;
}

constexpr std::chrono::milliseconds kNoPause{0};

TEST(NvmlState, AForeignProcessMakesAGpuBusyAndAnMpsServerDoesNot) {
  const Nvml nvml(ARBENCH_FAKE_NVML);
  ASSERT_TRUE(nvml);
  EXPECT_EQ(busy_text(nvml, two_gpus(), {1, 0}, kNoPause),
            "GPU 0 is busy: process 4242 (python) computes on it");
  EXPECT_EQ(busy_text(nvml, two_gpus(), {1}, kNoPause), "");
}

/// Its usage reads 90 % at first and 3 % then; the other one's stays at 37 %.
TEST(NvmlState, AUsageThatHasJustEndedIsNotBusy) {
  const Nvml nvml(ARBENCH_FAKE_NVML);
  EXPECT_EQ(nvml.utilisation_pct("0000:01:00.0"), 37);
  EXPECT_EQ(busy_text(nvml, two_gpus(), {1}, kNoPause), "");
  EXPECT_EQ(nvml.utilisation_pct("0000:02:00.0"), 3);
  EXPECT_EQ(nvml.utilisation_pct("0000:03:00.0"), std::nullopt);
}

TEST(NvmlState, HeatAndPowerThrottleButIdlingAndSettingsDoNot) {
  const Nvml nvml(ARBENCH_FAKE_NVML);
  EXPECT_EQ(any_throttled(nvml, two_gpus(), {0, 1}), true);
  EXPECT_EQ(any_throttled(nvml, two_gpus(), {1, 1}), false);
  EXPECT_EQ(any_throttled(nvml, two_gpus(), {5}), std::nullopt);
}

TEST(NvmlState, NvlinksThatAreUpAreCounted) {
  const Nvml nvml(ARBENCH_FAKE_NVML);
  EXPECT_EQ(nvml.nvlinks("0000:01:00.0"), 3);
  EXPECT_EQ(nvml.nvlinks("0000:02:00.0"), 0);
  EXPECT_EQ(nvml.nvlinks("0000:03:00.0"), std::nullopt);
  EXPECT_EQ(Nvml("libno-such-nvml.so.1").nvlinks("0000:01:00.0"), std::nullopt);
  EXPECT_EQ(nvml.link("0000:01:00.0").own_generation, 5);
}

TEST(NvmlState, SettingsAreRecorded) {
  EXPECT_EQ(
      settings_json(Nvml(ARBENCH_FAKE_NVML), two_gpus()).dump(),
      R"([{"device":0,"max_sm_mhz":2600,"persistence":false,"power_limit_w":600.0,"sm_mhz":2400},)"
      R"({"device":1,"max_sm_mhz":2600,"persistence":true,"power_limit_w":600.0,"sm_mhz":2400}])");
}

TEST(NvmlState, WithoutNvmlNothingIsKnown) {
  const Nvml nvml("libno-such-nvml.so.1");
  EXPECT_EQ(busy_text(nvml, two_gpus(), {0, 1}, kNoPause), "");
  EXPECT_EQ(any_throttled(nvml, two_gpus(), {0, 1}), std::nullopt);
  EXPECT_EQ(
      settings_json(nvml, two_gpus())[0].dump(),
      R"({"device":0,"max_sm_mhz":null,"persistence":null,"power_limit_w":null,"sm_mhz":null})");
}

}  // namespace
}  // namespace arbench

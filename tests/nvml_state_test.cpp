#include "nvml_state.hpp"

#include <gtest/gtest.h>

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
  const Nvml nvml(ARBENCH_FAKE_NVML);
  const GpuSettings busy = nvml.settings("0000:01:00.0"), idle = nvml.settings("0000:02:00.0");
  EXPECT_EQ(busy.persistence, false);
  EXPECT_EQ(idle.persistence, true);
  EXPECT_EQ(idle.power_limit_w, 450);
  EXPECT_EQ(idle.default_power_limit_w, 600);
  EXPECT_EQ(idle.sm_mhz, 2400);
  EXPECT_EQ(idle.max_sm_mhz, 2600);
  EXPECT_EQ(nvml.settings("0000:03:00.0").persistence, std::nullopt);
}

/// A clock that falls is not locked, one that a setting holds is; a busy GPU at full clocks tells nothing.
TEST(NvmlState, WhetherClocksAreLockedIsReadFromTheReasonsOfTheirRate) {
  const Nvml nvml(ARBENCH_FAKE_NVML);
  EXPECT_EQ(nvml.settings("0000:01:00.0").sm_locked, true);
  EXPECT_EQ(nvml.settings("0000:02:00.0").sm_locked, false);
  EXPECT_EQ(nvml.settings("0000:04:00.0").sm_locked, std::nullopt);
}

TEST(NvmlState, ALookSeesTheLinkOfEachDeviceOnce) {
  const Nvml nvml(ARBENCH_FAKE_NVML);
  const Sight sight = look(nvml, two_gpus(), {1, 0, 1, 0, 5});
  EXPECT_EQ(sight.throttled, true);
  EXPECT_EQ(sight.links, (std::vector<LinkNow>{{0, 4, 8}, {1, 1, 16}}));
}

TEST(NvmlState, WithoutNvmlNothingIsKnown) {
  const Nvml nvml("libno-such-nvml.so.1");
  EXPECT_EQ(busy_text(nvml, two_gpus(), {0, 1}, kNoPause), "");
  EXPECT_EQ(any_throttled(nvml, two_gpus(), {0, 1}), std::nullopt);
  EXPECT_EQ(nvml.settings("0000:01:00.0").persistence, std::nullopt);
  EXPECT_EQ(nvml.settings("0000:01:00.0").sm_locked, std::nullopt);
  EXPECT_TRUE(look(nvml, two_gpus(), {0, 1}).links.empty());
}

}  // namespace
}  // namespace arbench

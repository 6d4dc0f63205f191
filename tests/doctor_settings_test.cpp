// What the user can set on the GPUs.
#include <gtest/gtest.h>

#include "doctor_machine.hpp"

namespace arbench {
namespace {

using Level = Finding::Level;

/// Clocks locked, persistence on, full power.
Gpu settled(int device) {
  Gpu gpu = rtx_pro_6000(device);
  gpu.sm_locked = gpu.persistence = 1;
  gpu.power_limit_w = gpu.default_power_limit_w = 600;
  gpu.sm_mhz = gpu.max_sm_mhz = 2600;
  return gpu;
}

TEST(DoctorSettings, NothingIsSaidOfWhatIsRightOrUnknown) {
  EXPECT_TRUE(examine_settings({settled(0), settled(1)}).empty());
  EXPECT_TRUE(examine_settings({rtx_pro_6000(0)}).empty());
  EXPECT_TRUE(examine_settings({}).empty());
}

TEST(DoctorSettings, UnlockedClocksComeWithTheLineToType) {
  std::vector<Gpu> gpus{settled(0), settled(1)};
  for (Gpu& gpu : gpus) {
    gpu.sm_locked = 0;
    gpu.sm_mhz = 180;
  }
  const auto findings = examine_settings(gpus);
  ASSERT_EQ(findings.size(), 1U);
  EXPECT_EQ(findings[0].level, Level::warning);
  EXPECT_EQ(findings[0].topic, "clocks");
  EXPECT_EQ(findings[0].text,
            "GPU 0, 1: SM clocks look unlocked (180 MHz idle, 2600 at most): they drift while "
            "rounds run");
  EXPECT_EQ(findings[0].what_to_do,
            "nvidia-smi -i 0000:01:00.0,0000:02:00.0 -lgc 2600,2600, and -rgc afterwards");
}

TEST(DoctorSettings, PersistenceModeOff) {
  std::vector<Gpu> gpus{settled(0), settled(1)};
  gpus[1].persistence = 0;
  const auto findings = examine_settings(gpus);
  ASSERT_EQ(findings.size(), 1U);
  EXPECT_EQ(findings[0].topic, "persistence");
  EXPECT_EQ(findings[0].text,
            "GPU 1: persistence mode is off: the driver may forget settings between runs");
  EXPECT_EQ(findings[0].what_to_do, "nvidia-smi -i 0000:02:00.0 -pm 1");
}

TEST(DoctorSettings, APowerCapBelowTheDefault) {
  std::vector<Gpu> gpus{settled(0), settled(1), settled(2)};
  gpus[0].power_limit_w = 300;
  gpus[1].power_limit_w = 450;
  gpus[2].power_limit_w = 650;
  const auto findings = examine_settings(gpus);
  ASSERT_EQ(findings.size(), 2U);
  EXPECT_EQ(findings[0].topic, "power");
  EXPECT_EQ(findings[0].text, "GPU 0: power is capped at 300 W, below the default 600");
  EXPECT_EQ(findings[1].what_to_do, "nvidia-smi -i 0000:02:00.0 -pl 600");
}

TEST(DoctorSettings, AreAmongAllFindings) {
  Machine m = healthy();
  m.gpus[1].persistence = 0;
  EXPECT_EQ(only(m, "persistence").level, Level::warning);
  EXPECT_NE(doctor_report(m).find("do: nvidia-smi -i 0000:02:00.0 -pm 1"), std::string::npos);
}

}  // namespace
}  // namespace arbench

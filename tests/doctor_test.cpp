// Driver, toolkit, devices and the code in this binary.
#include "doctor.hpp"

#include <gtest/gtest.h>

#include "doctor_machine.hpp"

namespace arbench {
namespace {

using Level = Finding::Level;

TEST(Doctor, DriverAheadOfTheToolkit) {
  const Finding finding = only(healthy(), "toolkit");
  EXPECT_EQ(finding.level, Level::note);
  EXPECT_EQ(
      finding.text,
      "driver 590.48.01 supports CUDA 13.1, this build is CUDA 12.8: it runs, and a 13.x toolkit "
      "needs no driver change");
  EXPECT_NE(doctor_report(healthy()).find("a 13.x toolkit needs no driver change"),
            std::string::npos);
}

TEST(Doctor, HealthyMachineHasNothingAboveANote) {
  for (const auto& finding : examine(healthy()))
    EXPECT_TRUE(finding.level == Level::ok || finding.level == Level::note) << finding.text;
}

TEST(Doctor, NoDriver) {
  Machine m;
  m.built_with_cuda = true;
  m.build_toolkit = 12080;
  m.cuda_error = "no CUDA driver: libcuda.so.1 does not load";
  const Finding finding = only(m, "driver");
  EXPECT_EQ(finding.level, Level::problem);
  EXPECT_EQ(finding.text, "no NVIDIA driver: only --backend host runs");
  EXPECT_EQ(finding.what_to_do, "install driver >= 570.26 for this CUDA 12.8 build");
  EXPECT_TRUE(about(m, "toolkit").empty());
  EXPECT_TRUE(about(m, "devices").empty());
}

TEST(Doctor, KernelDriverWithoutLibcuda) {
  Machine m;
  m.built_with_cuda = true;
  m.build_toolkit = 12080;
  m.driver = "590.48.01";
  EXPECT_EQ(only(m, "driver").text,
            "kernel driver 590.48.01 is loaded, but its libcuda.so.1 is not found");
}

TEST(Doctor, DiscoveryThatHungIsNotAnAbsentDriver) {
  Machine m;
  m.built_with_cuda = true;
  m.build_toolkit = 12080;
  m.cuda_error = "device discovery did not answer within 20 s";
  const Finding finding = only(m, "driver");
  EXPECT_EQ(finding.level, Level::problem);
  EXPECT_EQ(finding.text, "device discovery did not answer within 20 s");
}

TEST(Doctor, BuildWithoutCuda) {
  Machine m;
  m.driver = "590.48.01";
  m.cuda_error = "this build has no CUDA";
  const auto findings = examine(m);
  ASSERT_EQ(findings.size(), 1U);
  EXPECT_EQ(findings[0].level, Level::warning);
  EXPECT_EQ(findings[0].text,
            "this build has no CUDA: only --backend host runs, though driver 590.48.01 is here");
}

TEST(Doctor, DriverThatAnswersWithoutDevices) {
  Machine m = healthy();
  m.gpus.clear();
  m.peer_access.clear();
  m.cuda_error = "cudaErrorNoDevice: no CUDA-capable device is detected";
  const Finding finding = only(m, "devices");
  EXPECT_EQ(finding.level, Level::problem);
  EXPECT_EQ(finding.text,
            "no device answers: cudaErrorNoDevice: no CUDA-capable device is detected");
}

TEST(Doctor, DriverOfAnOlderMajorDoesNotRunTheBuild) {
  Machine m = healthy();
  m.build_toolkit = 13000;
  m.driver_cuda = 12080;
  m.driver = "570.86.15";
  const Finding finding = only(m, "toolkit");
  EXPECT_EQ(finding.level, Level::problem);
  EXPECT_EQ(
      finding.text,
      "driver 570.86.15 supports CUDA 12.8, this build is CUDA 13.0: another major version, it "
      "does not run");
  EXPECT_EQ(finding.what_to_do,
            "install driver >= 580.65.06 (>= 580 runs any 13.x cubin), or build with a CUDA 12.x "
            "toolkit");
}

TEST(Doctor, DriverOlderWithinTheMajorRunsCubinsOnly) {
  Machine m = healthy();
  m.driver_cuda = 12040;
  m.driver = "550.54.14";
  const Finding finding = only(m, "toolkit");
  EXPECT_EQ(finding.level, Level::warning);
  EXPECT_EQ(finding.text,
            "driver 550.54.14 supports CUDA 12.4, this build is CUDA 12.8: its cubins run by minor "
            "version compatibility, its PTX is newer than the driver and does not load");
  EXPECT_EQ(finding.what_to_do, "build cubins for every GPU here, or install driver >= 570.26");
}

TEST(Doctor, DriverOfTheSameMajorIsFine) {
  Machine m = healthy();
  m.driver_cuda = 12080;
  EXPECT_EQ(only(m, "toolkit").level, Level::ok);
  m.driver_cuda = 12090;
  EXPECT_EQ(only(m, "toolkit").level, Level::ok);
}

TEST(Doctor, CubinIsFine) {
  const Finding finding = only(healthy(), "code");
  EXPECT_EQ(finding.level, Level::ok);
  EXPECT_EQ(finding.text, "GPU 0, 1: sm_120 runs the sm_120 cubin");
}

TEST(Doctor, NeitherCubinNorPtx) {
  Machine m = healthy();
  m.architectures = {"sm_90"};
  m.gpus[1].has_code = false;
  m.gpus[1].code = "cudaErrorNoKernelImageForDevice: no kernel image is available";
  const auto findings = about(m, "code");
  ASSERT_EQ(findings.size(), 2U);
  EXPECT_EQ(findings[1].level, Level::problem);
  EXPECT_EQ(findings[1].text,
            "GPU 1: this binary holds no cubin and no PTX for sm_120 "
            "(cudaErrorNoKernelImageForDevice: no kernel image is available)");
  EXPECT_EQ(findings[1].what_to_do, "configure with -DARBENCH_ARCHITECTURES=120");
}

TEST(Doctor, ToolkitTooOldForBlackwell) {
  Machine m = healthy();
  m.build_toolkit = 12060;
  m.architectures = {"sm_90"};
  for (auto& gpu : m.gpus) gpu.has_code = false;
  EXPECT_EQ(only(m, "code").what_to_do,
            "configure with -DARBENCH_ARCHITECTURES=120 and CUDA 12.8 or newer");
}

TEST(Doctor, OnlyPtx) {
  Machine m = healthy();
  m.architectures = {"sm_90", "compute_90"};
  for (auto& gpu : m.gpus) gpu.code = "compute_90 PTX";
  const Finding finding = only(m, "code");
  EXPECT_EQ(finding.level, Level::warning);
  EXPECT_EQ(
      finding.text,
      "GPU 0, 1: sm_120 has no cubin here, only compute_90 PTX: the driver compiles it at the "
      "first launch, which is slow");
}

TEST(Doctor, PtxNewerThanTheDriver) {
  Machine m = healthy();
  m.build_toolkit = 12090;
  m.driver_cuda = 12080;
  m.architectures = {"sm_90", "compute_90"};
  for (auto& gpu : m.gpus) {
    gpu.has_code = false;
    gpu.code =
        "cudaErrorUnsupportedPtxVersion: the provided PTX was compiled with an unsupported "
        "toolchain.";
  }
  const Finding finding = only(m, "code");
  EXPECT_EQ(finding.level, Level::problem);
  EXPECT_NE(finding.text.find("holds only PTX for sm_120, and PTX of CUDA 12.9 is newer than the "
                              "driver's 12.8"),
            std::string::npos)
      << finding.text;
  EXPECT_EQ(finding.what_to_do,
            "configure with -DARBENCH_ARCHITECTURES=120, or install driver >= 575.51.03");
}

TEST(Doctor, CubinThatDidNotRun) {
  Machine m = healthy();
  m.gpus[0].has_code = false;
  m.gpus[0].code = "cudaErrorDevicesUnavailable: CUDA-capable device(s) is/are busy or unavailable";
  const auto findings = about(m, "code");
  ASSERT_EQ(findings.size(), 2U);
  EXPECT_EQ(findings[0].level, Level::problem);
  EXPECT_EQ(findings[0].text,
            "GPU 0: this binary holds a cubin for sm_120, but a 1-thread kernel did not run: "
            "cudaErrorDevicesUnavailable: CUDA-capable device(s) is/are busy or unavailable");
}

}  // namespace
}  // namespace arbench

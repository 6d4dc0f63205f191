#include "versions.hpp"

#include <gtest/gtest.h>

namespace arbench {
namespace {

TEST(Versions, TextOfVersions) {
  EXPECT_EQ(cuda_text(12080), "12.8");
  EXPECT_EQ(cuda_text(13010), "13.1");
  EXPECT_EQ(nccl_text(22809), "2.28.9");
  EXPECT_EQ(nccl_text(22602), "2.26.2");
  EXPECT_EQ(nccl_text(2708), "2.7.8");
  EXPECT_EQ(nccl_major(2708), 2);
  EXPECT_EQ(nccl_major(30000), 3);
}

TEST(Versions, DriverOfAToolkit) {
  EXPECT_EQ(driver_of_toolkit(12080), "570.26");
  EXPECT_EQ(driver_of_toolkit(13000), "580.65.06");
  EXPECT_EQ(driver_of_toolkit(99010), "");
  EXPECT_EQ(oldest_branch_of_major(12), 525);
  EXPECT_EQ(oldest_branch_of_major(13), 580);
  EXPECT_EQ(oldest_branch_of_major(99), 0);
}

TEST(Versions, ToolkitInNccl) {
  using namespace std::string_view_literals;
  EXPECT_EQ(toolkit_in_nccl("\0NCCL version 2.28.9+cuda13.0\0x"sv), 13000);
  EXPECT_EQ(toolkit_in_nccl("NCCL version 2.27.3rc1+cuda12.9"), 12090);
  EXPECT_EQ(toolkit_in_nccl("NCCL version mismatch\0NCCL version 2.7.8+cuda10.2\0"sv), 10020);
  EXPECT_EQ(toolkit_in_nccl("NCCL version 2.28.9\0+cuda13.0"sv), 0);
  EXPECT_EQ(toolkit_in_nccl("NCCL version 2.28.9+cuda99999999999.0"), 0);
  EXPECT_EQ(toolkit_in_nccl("NCCL version "), 0);
  EXPECT_EQ(toolkit_in_nccl(""), 0);
}

TEST(Versions, DriverInProc) {
  EXPECT_EQ(driver_in_proc("NVRM version: NVIDIA UNIX x86_64 Kernel Module  570.86.15  Fri Jan 3\n"
                           "GCC version:  gcc version 12.2.0 (Debian 12.2.0-14)\n"),
            "570.86.15");
  EXPECT_EQ(driver_in_proc("NVRM version: NVIDIA UNIX Open Kernel Module for x86_64  590.48.01  "
                           "Release Build  (dvs-builder@U22)\n"),
            "590.48.01");
  EXPECT_EQ(driver_in_proc(""), "");
}

TEST(Versions, CubinRunsOnItsMajorFromItsMinorOn) {
  EXPECT_TRUE(holds_cubin({"sm_120"}, 12, 0));
  EXPECT_TRUE(holds_cubin({"sm_120"}, 12, 1));
  EXPECT_FALSE(holds_cubin({"sm_121"}, 12, 0));
  EXPECT_FALSE(holds_cubin({"sm_90", "sm_100"}, 12, 0));
  EXPECT_FALSE(holds_cubin({"compute_120"}, 12, 0));
  EXPECT_FALSE(holds_cubin({}, 12, 0));
}

TEST(Versions, PtxRunsOnAllLater) {
  EXPECT_TRUE(holds_ptx({"compute_90"}, 12, 0));
  EXPECT_TRUE(holds_ptx({"sm_90", "compute_120"}, 12, 0));
  EXPECT_FALSE(holds_ptx({"compute_120"}, 9, 0));
  EXPECT_FALSE(holds_ptx({"sm_120"}, 12, 0));
}

TEST(Versions, SuffixesNarrow) {
  EXPECT_TRUE(holds_cubin({"sm_90a"}, 9, 0));
  EXPECT_FALSE(holds_cubin({"sm_120a"}, 12, 1));
  EXPECT_TRUE(holds_cubin({"sm_120f"}, 12, 1));
  EXPECT_FALSE(holds_ptx({"compute_90a"}, 12, 0));
  EXPECT_FALSE(holds_ptx({"compute_100f"}, 12, 0));
  EXPECT_FALSE(holds_cubin({"sm_", "90", "native"}, 9, 0));
}

TEST(Versions, CodeText) {
  EXPECT_EQ(code_text(90, 90, {"sm_90", "compute_90"}), "sm_90 cubin");
  EXPECT_EQ(code_text(120, 120, {"sm_120a"}), "sm_120 cubin");
  // A JIT result has the device's own binary version; that it was not in the binary shows where it
  // came from.
  EXPECT_EQ(code_text(120, 90, {"sm_90", "compute_90"}), "compute_90 PTX");
  EXPECT_EQ(code_text(120, 120, {"compute_120"}), "compute_120 PTX");
  EXPECT_EQ(code_text(90, 90, {}), "sm_90 cubin");
  EXPECT_EQ(code_text(90, 80, {}), "compute_80 PTX");
}

}  // namespace
}  // namespace arbench

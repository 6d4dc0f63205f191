// NCCL, links, peers, MPS and the report.
#include <gtest/gtest.h>

#include "doctor.hpp"
#include "doctor_machine.hpp"

namespace arbench {
namespace {

using Level = Finding::Level;

TEST(Doctor, NcclLibraryMissing) {
  Machine m = healthy();
  m.nccl_library = 0;
  m.nccl_path = "";
  m.nccl_error = "libnccl.so.2: cannot open shared object file";
  const Finding finding = only(m, "nccl");
  EXPECT_EQ(finding.level, Level::warning);
  EXPECT_EQ(
      finding.text,
      "no NCCL library: the rows nccl_auto, nccl_ring and nccl_tree cannot run (libnccl.so.2: "
      "cannot open shared object file)");
  EXPECT_EQ(finding.what_to_do,
            "pip install nvidia-nccl-cu12, or give --nccl-lib PATH or ARBENCH_NCCL_LIB");
}

TEST(Doctor, NcclHeaderMissing) {
  Machine m = healthy();
  m.nccl_header = 0;
  const Finding finding = only(m, "nccl");
  EXPECT_EQ(finding.level, Level::warning);
  EXPECT_EQ(finding.text,
            "built without nccl.h: the rows nccl_auto, nccl_ring and nccl_tree cannot run");
}

TEST(Doctor, NcclOfAnotherMajor) {
  Machine m = healthy();
  m.nccl_library = 30001;
  const Finding finding = only(m, "nccl");
  EXPECT_EQ(finding.level, Level::problem);
  EXPECT_NE(finding.text.find("NCCL 3.0.1 (/opt/libnccl.so.2) is of another major version"),
            std::string::npos)
      << finding.text;
}

TEST(Doctor, NcclTooOldForSm120) {
  Machine m = healthy();
  m.nccl_library = 22501;
  const Finding finding = only(m, "nccl");
  EXPECT_EQ(finding.level, Level::warning);
  EXPECT_EQ(finding.text,
            "NCCL 2.25.1 (/opt/libnccl.so.2) is older than 2.26.2, the first that works on sm_120");
  m.nccl_library = 22602;
  EXPECT_EQ(only(m, "nccl").level, Level::ok);
  m.nccl_library = 22501;
  for (auto& gpu : m.gpus) gpu.major = 9;
  EXPECT_EQ(only(m, "nccl").level, Level::ok);
}

TEST(Doctor, NcclOfANewerCudaMajorThanTheDriver) {
  Machine m = healthy();
  m.driver_cuda = 12080;
  m.driver = "570.86.15";
  m.nccl_toolkit = 13000;
  const Finding finding = only(m, "nccl");
  EXPECT_EQ(finding.level, Level::warning);
  EXPECT_EQ(
      finding.text,
      "NCCL 2.28.9 (/opt/libnccl.so.2) is built with CUDA 13.0, the driver supports CUDA 12.8 "
      "at most: the rows nccl_auto, nccl_ring and nccl_tree cannot run");
  EXPECT_EQ(finding.what_to_do,
            "pip install nvidia-nccl-cu12 and give its libnccl.so.2 with --nccl-lib, or install "
            "driver >= 580.65.06");
}

TEST(Doctor, NcclOfAnotherCudaMajorThanTheBuild) {
  Machine m = healthy();
  m.nccl_toolkit = 13000;
  const Finding finding = only(m, "nccl");
  EXPECT_EQ(finding.level, Level::note);
  EXPECT_EQ(finding.text,
            "NCCL 2.28.9 (/opt/libnccl.so.2) is built with CUDA 13.0, this build with 12.8: it "
            "runs, with a CUDA runtime of its own");
  m.build_toolkit = 13000;
  m.nccl_toolkit = 12090;
  EXPECT_EQ(only(m, "nccl").level, Level::note);
}

TEST(Doctor, NcclOfTheSameCudaMajorOrOfAnUnknownOneIsFine) {
  Machine m = healthy();
  for (int toolkit : {0, 12020, 12090}) {
    m.nccl_toolkit = toolkit;
    EXPECT_EQ(only(m, "nccl").level, Level::ok) << toolkit;
    EXPECT_EQ(only(m, "nccl").text, "NCCL 2.28.9 (/opt/libnccl.so.2), header 2.28.9") << toolkit;
  }
}

TEST(Doctor, LinkBelowItsMaximum) {
  Machine m = healthy();
  m.gpus[1].link_generation = 1;
  const auto findings = about(m, "link");
  ASSERT_EQ(findings.size(), 2U);
  EXPECT_EQ(findings[0].text, "GPU 0: PCIe link is gen 5 x16, its maximum");
  EXPECT_EQ(findings[1].level, Level::note);
  EXPECT_EQ(
      findings[1].text,
      "GPU 1: PCIe link is gen 1 x16 now, gen 5 x16 at most: it may be idle; under load is what "
      "counts");
}

TEST(Doctor, LinkWithFewerLanesIsAWarning) {
  Machine m = healthy();
  m.gpus[0].link_width = 8;
  m.gpus[1].link_width = 8;
  EXPECT_EQ(only(m, "link").level, Level::warning);
}

TEST(Doctor, UnknownLinkIsNotJudged) {
  Machine m = healthy();
  for (auto& gpu : m.gpus) gpu.link_generation = 0;
  EXPECT_TRUE(about(m, "link").empty());
  EXPECT_NE(doctor_report(m).find("PCIe link: unknown (no NVML)"), std::string::npos);
}

TEST(Doctor, PairsWithoutPeerAccess) {
  Machine m = healthy();
  m.gpus.push_back(rtx_pro_6000(2));
  m.peer_access = {{true, false, true}, {false, true, false}, {true, true, true}};
  const Finding finding = only(m, "peers");
  EXPECT_EQ(finding.level, Level::warning);
  EXPECT_EQ(finding.text, "no peer access between GPUs 0-1, 1->2: p2p rows over them cannot run");
}

TEST(Doctor, LongListOfPairsIsCut) {
  Machine m = healthy();
  m.gpus.clear();
  for (int device = 0; device < 8; ++device) m.gpus.push_back(rtx_pro_6000(device));
  m.peer_access.assign(8, std::vector<bool>(8, false));
  EXPECT_NE(only(m, "peers").text.find("1-6 and 16 more:"), std::string::npos)
      << only(m, "peers").text;
}

TEST(Doctor, OneGpuWithoutMps) {
  Machine m = healthy();
  m.gpus.pop_back();
  m.peer_access = {{true}};
  EXPECT_EQ(only(m, "mps").level, Level::note);
  m.mps = true;
  EXPECT_TRUE(about(m, "mps").empty());
}

TEST(Doctor, ReportHoldsFactsThenVerdicts) {
  Machine m = healthy();
  m.peer_access[0][1] = false;
  const std::string report = doctor_report(m);
  for (const char* line :
       {"  driver          590.48.01, supports CUDA 13.1\n",
        "  toolkit         12.8 (of this build)\n", "  runtime         12.8\n",
        "  built for       sm_90 sm_120 compute_120\n", "  NCCL header     2.28.9\n",
        "  NCCL library    2.28.9  /opt/libnccl.so.2\n", "  NCCL toolkit    12.8\n",
        "  GPU 0           NVIDIA RTX PRO 6000 Blackwell Server Edition, 0000:01:00.0\n",
        "compute capability 12.0, 188 SMs, 95.0 GiB (94.1 free), L2 128 MiB\n",
        "PCIe link: gen 5 x16 now, gen 5 x16 at most (an idle link may read lower)\n",
        "code: sm_120 cubin\n", "  MPS             no\n", "from\\to  0  1\n", "  -  N\n",
        "  warning  peers: no peer access between GPUs 0->1"})
    EXPECT_NE(report.find(line), std::string::npos) << line << "\n" << report;
  EXPECT_LT(report.find("facts\n"), report.find("verdict\n"));
}

}  // namespace
}  // namespace arbench

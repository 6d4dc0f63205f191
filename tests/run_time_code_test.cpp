#include "run_time_code.hpp"

#include <gtest/gtest.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>

#include "arbench/algorithm.hpp"
#include "disk.hpp"
#include "doctor_machine.hpp"

namespace arbench {
namespace {

TEST(OpenToolkits, TheBuildIsNone) { EXPECT_TRUE(open_toolkits({"build"}).empty()); }

TEST(CacheFolder, IsThatOfTheUser) {
  setenv("XDG_CACHE_HOME", "/somewhere", 1);
  EXPECT_EQ(cache_folder(), "/somewhere/arbench");
  unsetenv("XDG_CACHE_HOME");
  setenv("HOME", "/home/me", 1);
  EXPECT_EQ(cache_folder(), "/home/me/.cache/arbench");
}

Case small_case(const std::string& algorithm) {
  Case point;
  point.algorithm = algorithm;
  point.backend = Backend::host;  // its record names the same source and instance as that of CUDA
  point.bytes = 1024;
  point.devices = {0, 0};
  return point;
}

TEST(NoCode, TheBuildHasAllOfIts) {
  EXPECT_EQ(no_code(small_case("ring_simple"), healthy()), std::nullopt);
}

TEST(NoCode, SaysSoWhereNothingWasCompiled) {
  Case point = small_case("ring_simple");
  point.toolkit = "nvrtc 99.9.9";
  EXPECT_EQ(no_code(point, healthy()), "was not compiled by nvrtc 99.9.9");
}

/// With the first toolkit that $ARBENCH_NVRTC lists.
class RunTimeCodeTest : public testing::Test {
 protected:
  void SetUp() override {
    const char* list = std::getenv("ARBENCH_NVRTC");
    if (list == nullptr || *list == 0) GTEST_SKIP() << "ARBENCH_NVRTC names no toolkit with NVRTC";
    const std::string folders = list;
    toolkits_ = open_toolkits({"nvrtc:" + folders.substr(0, folders.find(':'))});
    setenv("XDG_CACHE_HOME", folder_.path().c_str(), 1);
  }
  std::vector<std::filesystem::path> cached() const {
    std::filesystem::directory_iterator files(folder_ / "arbench");
    return {begin(files), end(files)};
  }
  TemporaryFolder folder_;
  std::vector<Nvrtc> toolkits_;
};

TEST_F(RunTimeCodeTest, EachInstanceOfTheCasesIsCompiledOnceForTheirDevices) {
  Case point = small_case("ring_simple");
  point.toolkit = toolkit_name(toolkits_[0]);
  Case larger = point;
  larger.bytes = 2048;
  int calls = 0;
  compile_cases({point, larger, small_case("one_shot_pull")}, healthy(), toolkits_,
                [&](int number, int all, const std::string& what) {
                  ++calls;
                  EXPECT_EQ(number, 1);
                  EXPECT_EQ(all, 1);
                  EXPECT_TRUE(what.ends_with("RingSimple, arbench::BF16, 0>")) << what;
                });
  EXPECT_EQ(calls, 1);
  EXPECT_EQ(no_code(point, healthy()), std::nullopt);
  const std::string instance = "arbench::kernel_entry<arbench::RingSimple, arbench::BF16, 0>";
  const RunTimeCode* code = run_time_code(point.toolkit, instance, "sm_120");
  ASSERT_NE(code, nullptr);
  EXPECT_EQ(code->cubin.substr(0, 4), "\177ELF");
  EXPECT_EQ(run_time_code(point.toolkit, instance, "sm_90"), nullptr);
  ASSERT_EQ(cached().size(), 1u);
  EXPECT_TRUE(
      cached()[0].filename().string().starts_with("nvrtc-" + toolkits_[0].version() + "-sm_120-"));
}

TEST_F(RunTimeCodeTest, WhatIsInTheCacheIsTaken) {
  const std::string folder = (folder_ / "arbench").string();
  const CompileRequest request{
      "ring_simple.cu", {"arbench::kernel_entry<arbench::RingSimple, float, 0>"}, "sm_120"};
  const Compiled made = compile_cached(toolkits_[0], request, folder);
  EXPECT_EQ(made.cubin.substr(0, 4), "\177ELF");
  ASSERT_EQ(cached().size(), 1u);
  std::ofstream(cached()[0]) << "\177ELF, put here by hand";
  EXPECT_EQ(compile_cached(toolkits_[0], request, folder).cubin, "\177ELF, put here by hand");
  std::ofstream(cached()[0]) << "cut";
  EXPECT_EQ(compile_cached(toolkits_[0], request, folder).cubin.size(), made.cubin.size());
}

TEST_F(RunTimeCodeTest, AnArchitectureThatTheToolkitDoesNotKnowIsTheReason) {
  Machine machine = healthy();
  machine.gpus[0].major = 99;
  Case point = small_case("ring_simple");
  point.toolkit = toolkit_name(toolkits_[0]);
  compile_cases({point}, machine, toolkits_, [](int, int, const std::string&) {});
  const std::string reason = no_code(point, machine).value_or("");
  EXPECT_TRUE(reason.starts_with(point.toolkit + " does not compile it: ")) << reason;
  EXPECT_EQ(reason.find('\n'), std::string::npos);
  EXPECT_FALSE(std::filesystem::exists(folder_ / "arbench"));
}

}  // namespace
}  // namespace arbench

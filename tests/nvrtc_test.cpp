#include "nvrtc.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdlib>
#include <map>
#include <set>
#include <sstream>

#include "arbench/algorithm.hpp"

namespace arbench {
namespace {

std::string refusal_of(const std::string& path) {
  try {
    Nvrtc nvrtc(path);
  } catch (const std::runtime_error& error) {
    return error.what();
  }
  return "";
}

TEST(NvrtcPath, MustBeThere) { EXPECT_EQ(refusal_of("/nowhere"), "no such folder or file"); }

TEST(NvrtcPath, AFolderMustHoldTheLibrary) {
  EXPECT_EQ(refusal_of("/proc/self"), "no libnvrtc.so in its lib64 or lib");
}

TEST(NvrtcPath, AFileMustBeTheLibrary) {
  EXPECT_TRUE(refusal_of("/proc/self/exe").ends_with("is not an NVRTC"));
}

TEST(Instance, IsNamedByKernelElementAndRanks) {
  Case point;
  point.devices = {0, 1, 2, 3};
  point.dtype = Dtype::bf16;
  const auto name = [&](const char* algorithm) {
    return find_algorithm(Backend::host, algorithm)->instance(point);
  };
  EXPECT_EQ(name("one_shot_pull"), "arbench::kernel_entry<arbench::OneShotPull, arbench::BF16, 4>");
  EXPECT_EQ(name("p2p_copy_ring"), "arbench::kernel_entry<arbench::Step, arbench::BF16, 0>");
  point.dtype = Dtype::f32;
  point.devices = {0, 1, 2};
  EXPECT_EQ(name("two_shot_pull"), "arbench::kernel_entry<arbench::TwoShotPull, float, 0>");
}

TEST(Source, IsTheFileThatRegistered) {
  EXPECT_EQ(find_algorithm(Backend::host, "ring_simple")->source, "ring_simple.cu");
  EXPECT_EQ(find_algorithm(Backend::host, "broken_no_tail")->source, "broken.cu");
}

TEST(Instance, IsTheSameOnBothBackends) {
  if (algorithms(Backend::cuda).empty()) GTEST_SKIP() << "this build has no CUDA";
  Case point;
  point.devices = {0, 1};
  for (const Algorithm& host : algorithms(Backend::host)) {
    const Algorithm* cuda = find_algorithm(Backend::cuda, host.name);
    ASSERT_NE(cuda, nullptr) << host.name;
    EXPECT_EQ(cuda->instance(point), host.instance(point));
    EXPECT_EQ(cuda->source, host.source);
  }
}

/// With the toolkits whose folders $ARBENCH_NVRTC lists, by colons.
class WithNvrtc : public testing::Test {
 protected:
  void SetUp() override {
    const char* list = std::getenv("ARBENCH_NVRTC");
    if (list == nullptr || *list == 0) GTEST_SKIP() << "ARBENCH_NVRTC names no toolkit with NVRTC";
    std::istringstream folders(list);
    for (std::string folder; std::getline(folders, folder, ':');) libraries_.emplace_back(folder);
  }
  std::vector<Nvrtc> libraries_;
};

/// All that the sweep may ask for, by kernel file: each element type, rank counts that are compiled in
/// and one that is not.
std::map<std::string, std::set<std::string>> all_instances() {
  std::map<std::string, std::set<std::string>> instances;
  for (const Algorithm& algorithm : algorithms(Backend::host))
    for (Dtype dtype : {Dtype::f16, Dtype::bf16, Dtype::f32})
      for (int ranks : {2, 3, 4, 8}) {
        Case point;
        point.dtype = dtype;
        point.devices.resize(static_cast<std::size_t>(ranks));
        instances[algorithm.source].insert(algorithm.instance(point));
      }
  return instances;
}

void compile_everything(const Nvrtc& nvrtc, const std::string& architecture) {
  const auto instances = all_instances();
  EXPECT_GE(instances.size(), 6u);
  for (const auto& [source, names] : instances) {
    const Compiled compiled = nvrtc.compile({source, {names.begin(), names.end()}, architecture});
    EXPECT_EQ(compiled.cubin.substr(0, 4), "\177ELF") << source << "\n" << compiled.log;
    EXPECT_EQ(compiled.log, "") << source;
    // Each kernel has a section of that name.
    std::set<std::string> kernels;
    for (std::size_t at = 0; (at = compiled.cubin.find(".nv.info.", at)) != std::string::npos; ++at)
      kernels.insert(compiled.cubin.substr(at, compiled.cubin.find('\0', at) - at));
    EXPECT_EQ(kernels.size(), names.size()) << source;
  }
}

TEST_F(WithNvrtc, EveryKernelCompilesForSm120) {
  for (const Nvrtc& nvrtc : libraries_) compile_everything(nvrtc, "sm_120");
}

TEST_F(WithNvrtc, EveryKernelCompilesForSm90) {
  for (const Nvrtc& nvrtc : libraries_) compile_everything(nvrtc, "sm_90");
}

TEST_F(WithNvrtc, WhatDoesNotCompileHasALog) {
  const Compiled compiled = libraries_[0].compile(
      {"one_shot_pull.cu", {"arbench::kernel_entry<arbench::NoSuchKernel, float, 2>"}, "sm_120"});
  EXPECT_EQ(compiled.cubin, "");
  EXPECT_NE(compiled.log.find("NoSuchKernel"), std::string::npos) << compiled.log;
}

TEST_F(WithNvrtc, TheVersionHasAPatch) {
  for (const Nvrtc& nvrtc : libraries_) {
    const std::string& version = nvrtc.version();
    EXPECT_EQ(std::count(version.begin(), version.end(), '.'), 2) << version;
  }
}

}  // namespace
}  // namespace arbench

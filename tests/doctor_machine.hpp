// A recorded machine for the doctor's tests, and the findings about one topic of it.
#pragma once

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "doctor.hpp"

namespace arbench {

inline Gpu rtx_pro_6000(int device) {
  Gpu gpu;
  gpu.device = device;
  gpu.name = "NVIDIA RTX PRO 6000 Blackwell Server Edition";
  gpu.pci_bus_id = "0000:0" + std::to_string(device + 1) + ":00.0";
  gpu.major = 12;
  gpu.multiprocessors = 188;
  gpu.memory_bytes = 102000000000;
  gpu.free_bytes = 101000000000;
  gpu.l2_bytes = 134217728;
  gpu.has_code = true;
  gpu.code = "sm_120 cubin";
  gpu.link_generation = gpu.max_link_generation = 5;
  gpu.link_width = gpu.max_link_width = 16;
  return gpu;
}

/// Two GPUs under driver 590.48.01 with a CUDA 12.8 build: all is well, and the driver is ahead.
inline Machine healthy() {
  Machine m;
  m.built_with_cuda = true;
  m.build_toolkit = 12080;
  m.runtime = 12080;
  m.driver_cuda = 13010;
  m.driver = "590.48.01";
  m.architectures = {"sm_90", "sm_120", "compute_120"};
  m.nccl_header = 22809;
  m.nccl_library = 22809;
  m.nccl_toolkit = 12080;
  m.nccl_path = "/opt/libnccl.so.2";
  m.gpus = {rtx_pro_6000(0), rtx_pro_6000(1)};
  m.peer_access = {{true, true}, {true, true}};
  return m;
}

inline std::vector<Finding> about(const Machine& machine, const std::string& topic) {
  std::vector<Finding> found;
  for (const auto& finding : examine(machine))
    if (finding.topic == topic) found.push_back(finding);
  return found;
}

inline Finding only(const Machine& machine, const std::string& topic) {
  const auto found = about(machine, topic);
  EXPECT_EQ(found.size(), 1U) << topic;
  return found.empty() ? Finding{} : found.front();
}

}  // namespace arbench

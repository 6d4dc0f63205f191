// The kernels and the headers that they include, as text in the program, so that they can be compiled
// where no checkout is. Made by the build.
#pragma once

#include <string>
#include <vector>

namespace arbench {

struct KernelSource {
  std::string name;  ///< as it is included: "arbench/pack.hpp", "kernels/one_shot_pull.cu"
  std::string text;
};

std::vector<KernelSource> kernel_sources();

}  // namespace arbench

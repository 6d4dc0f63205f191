// The registries that kernel files fill before main() starts. Function-local statics, so that the
// order in which files register does not matter.
#include <algorithm>
#include <cstdio>
#include <cstdlib>

#include "arbench/algorithm.hpp"
#include "harness_kernels.hpp"

namespace arbench {
namespace {

std::vector<Algorithm>& registered(Backend backend) {
  static std::vector<Algorithm> lists[2];
  return lists[static_cast<std::size_t>(backend)];
}

HarnessKernels& harness(Backend backend) {
  static HarnessKernels kernels[2];
  return kernels[static_cast<std::size_t>(backend)];
}

}  // namespace

void register_algorithm(Backend backend, Algorithm algorithm) {
  auto& list = registered(backend);
  const auto place =
      std::lower_bound(list.begin(), list.end(), algorithm,
                       [](const Algorithm& a, const Algorithm& b) { return a.name < b.name; });
  if (place != list.end() && place->name == algorithm.name) {
    std::fprintf(stderr, "algorithm %s is registered twice\n", algorithm.name.c_str());
    std::abort();
  }
  list.insert(place, std::move(algorithm));
}

const std::vector<Algorithm>& algorithms(Backend backend) { return registered(backend); }

const Algorithm* find_algorithm(Backend backend, const std::string& name) {
  for (const Algorithm& algorithm : algorithms(backend))
    if (algorithm.name == name) return &algorithm;
  return nullptr;
}

void register_harness_kernels(Backend backend, const HarnessKernels& kernels) {
  harness(backend) = kernels;
}

const HarnessKernels& harness_kernels(Backend backend) { return harness(backend); }

}  // namespace arbench

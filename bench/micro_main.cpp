// arbench_micro: what the parts of an allreduce cost by themselves, with Google Benchmark's own
// options. Both backends: host always, cuda where a device answers.
#include <cstdio>
#include <cstdlib>
#include <nlohmann/json.hpp>
#include <optional>

#include "environment.hpp"
#include "machine.hpp"
#include "micro.hpp"

namespace arbench {
namespace {

/// The first two GPUs that reach each other's memory, else the first one twice. Nothing without a
/// GPU that runs this binary's code; `why` then says why.
std::optional<Target> cuda_target(const Machine& machine, std::string& why) {
  std::vector<int> devices;
  why = machine.cuda_error;
  for (const Gpu& gpu : machine.gpus) {
    if (gpu.has_code) {
      devices.push_back(gpu.device);
    } else if (devices.empty()) {
      why = gpu.name + ": " + gpu.code;
    }
  }
  if (devices.empty()) return std::nullopt;
  for (const int a : devices)
    for (const int b : devices)
      if (a < b && machine.peer_access[a][b] && machine.peer_access[b][a])
        return Target{Backend::cuda, {a, b}};
  return Target{Backend::cuda, {devices[0], devices[0]}};
}

void register_all(const Target& target) {
  register_signal(target);
  register_pack_add(target);
  register_launch(target);
}

void register_benchmarks(const Machine& machine) {
  benchmark::AddCustomContext("arbench", environment(machine, {}).at("arbench").dump());
  register_all({Backend::host, {0, 1}});
  std::string why;
  if (const auto target = cuda_target(machine, why)) {
    register_all(*target);
    benchmark::AddCustomContext("gpu", machine.gpus[target->devices[0]].name);
    benchmark::AddCustomContext("driver", machine.driver);
  } else {
    std::fprintf(stderr, "arbench_micro: no cuda benchmarks: %s\n", why.c_str());
  }
}

}  // namespace
}  // namespace arbench

int main(int argc, char** argv) {
  benchmark::Initialize(&argc, argv);
  if (benchmark::ReportUnrecognizedArguments(argc, argv)) return 2;
  // Before the first CUDA call: no two streams may share a hardware queue, or one waits behind the
  // other's spinning kernel; and a kernel that is loaded at its first launch may wait for the
  // device, which may wait for that kernel.
  setenv("CUDA_DEVICE_MAX_CONNECTIONS", "32", 1);
  setenv("CUDA_MODULE_LOADING", "EAGER", 1);
  arbench::register_benchmarks(arbench::discover(""));
  benchmark::RunSpecifiedBenchmarks();
  benchmark::Shutdown();
}

#include "nvml_state.hpp"

#include <algorithm>
#include <set>
#include <thread>

namespace arbench {
namespace {

constexpr int kLooks = 3;

std::string bus_id(const std::vector<Gpu>& gpus, int device) {
  for (const Gpu& gpu : gpus)
    if (gpu.device == device) return gpu.pci_bus_id;
  return "";
}

std::string process_text(const Nvml& nvml, const std::string& bus) {
  for (const GpuProcess& process : nvml.processes(bus)) {
    if (process.name.find("nvidia-cuda-mps-server") != std::string::npos) continue;
    return "process " + std::to_string(process.pid) +
           (process.name.empty() ? "" : " (" + process.name + ")") + " computes on it";
  }
  return "";
}

std::string usage_text(const Nvml& nvml, const std::string& bus, std::chrono::milliseconds pause) {
  int least = 100;
  for (int look = 0; look < kLooks; ++look) {
    if (look > 0) std::this_thread::sleep_for(pause);
    least = std::min(least, nvml.utilisation_pct(bus).value_or(0));
    if (least <= kBusyPct) return "";
  }
  return "it is used for " + std::to_string(least) + " % of the time";
}

}  // namespace

std::string busy_text(const Nvml& nvml, const std::vector<Gpu>& gpus,
                      const std::vector<int>& devices, std::chrono::milliseconds pause) {
  for (const int device : devices) {
    const std::string bus = bus_id(gpus, device);
    std::string why = process_text(nvml, bus);
    if (why.empty()) why = usage_text(nvml, bus, pause);
    if (!why.empty()) return "GPU " + std::to_string(device) + " is busy: " + why;
  }
  return "";
}

std::optional<bool> any_throttled(const Nvml& nvml, const std::vector<Gpu>& gpus,
                                  const std::vector<int>& devices) {
  std::optional<bool> any;
  for (const int device : devices)
    if (const auto throttled = nvml.throttled(bus_id(gpus, device)))
      any = any.value_or(false) || *throttled;
  return any;
}

Sight look(const Nvml& nvml, const std::vector<Gpu>& gpus, const std::vector<int>& devices) {
  Sight sight{any_throttled(nvml, gpus, devices), {}};
  for (const int device : std::set(devices.begin(), devices.end())) {
    const PcieLink link = nvml.link(bus_id(gpus, device));
    if (link.generation > 0 && link.width > 0)
      sight.links.push_back({device, link.generation, link.width});
  }
  return sight;
}

}  // namespace arbench

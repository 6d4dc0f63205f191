#include <algorithm>

#include "doctor.hpp"

namespace arbench {
namespace {

/// What is true of some GPUs, and the nvidia-smi options that change it.
struct Remark {
  Finding finding;  ///< what_to_do: the options alone
  std::string gpus, bus_ids;
};

std::string watts(double value) { return std::to_string(static_cast<int>(value)); }

std::vector<Finding> remarks_on(const Gpu& gpu) {
  std::vector<Finding> found;
  const auto warn = [&](const char* topic, const std::string& text, const std::string& options) {
    found.push_back({Finding::Level::warning, topic, text, options});
  };
  if (gpu.sm_locked == 0 && gpu.max_sm_mhz > 0) {
    const std::string most = std::to_string(gpu.max_sm_mhz);
    warn("clocks",
         "SM clocks look unlocked (" + std::to_string(gpu.sm_mhz) + " MHz idle, " + most +
             " at most): they drift while rounds run",
         "-lgc " + most + "," + most + ", and -rgc afterwards");
  }
  if (gpu.persistence == 0)
    warn("persistence", "persistence mode is off: the driver may forget settings between runs",
         "-pm 1");
  if (gpu.power_limit_w > 0 && gpu.power_limit_w < gpu.default_power_limit_w)
    warn("power",
         "power is capped at " + watts(gpu.power_limit_w) + " W, below the default " +
             watts(gpu.default_power_limit_w),
         "-pl " + watts(gpu.default_power_limit_w));
  return found;
}

}  // namespace

std::vector<Finding> examine_settings(const std::vector<Gpu>& gpus) {
  std::vector<Remark> remarks;
  for (const Gpu& gpu : gpus)
    for (const Finding& one : remarks_on(gpu)) {
      const std::string number = std::to_string(gpu.device);
      const auto same = std::find_if(remarks.begin(), remarks.end(),
                                     [&](const Remark& remark) { return remark.finding == one; });
      if (same == remarks.end()) {
        remarks.push_back({one, number, gpu.pci_bus_id});
        continue;
      }
      same->gpus += ", " + number;
      same->bus_ids += "," + gpu.pci_bus_id;
    }
  std::vector<Finding> findings;
  for (const Remark& remark : remarks) {
    const auto& [level, topic, text, options] = remark.finding;
    findings.push_back({level, topic, "GPU " + remark.gpus + ": " + text,
                        "nvidia-smi -i " + remark.bus_ids + " " + options});
  }
  return findings;
}

}  // namespace arbench

// The few facts that only NVML knows, from the driver's libnvidia-ml.so.1 opened at run time. NVML
// makes no CUDA context. Every call answers "unknown" (empty, 0) where the library, the call or the
// device is absent. Thread safety: as NVML, whose calls may come from any thread.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace arbench {

/// Generation 1 to 6, width in lanes; 0 unknown. An idle link may read lower than it runs under
/// load.
struct PcieLink {
  int generation = 0, width = 0;
  int max_generation = 0, max_width = 0;  ///< what this device in this slot can do
  int own_generation = 0;                 ///< what this device can do in any slot
};

struct GpuProcess {
  unsigned pid = 0;
  std::string name;  ///< empty unknown
};

/// What the user can set and a result depends on; 0 and empty: unknown.
struct GpuSettings {
  std::optional<bool> persistence;
  double power_limit_w = 0, default_power_limit_w = 0;  ///< the first is the enforced one
  int sm_mhz = 0, max_sm_mhz = 0;
  /// NVML has no question for it. True where a setting holds the clock, false where the GPU has nothing to do and lets its
  /// clock fall, which a locked one does not (https://github.com/JuliaGPU/CUDA.jl/pull/2194).
  std::optional<bool> sm_locked;
};

class Nvml {
 public:
  explicit Nvml(const char* library = "libnvidia-ml.so.1");
  ~Nvml();
  Nvml(const Nvml&) = delete;
  Nvml& operator=(const Nvml&) = delete;

  explicit operator bool() const { return loaded_ != nullptr; }
  /// "590.48.01", or empty.
  std::string driver_version() const;
  /// `pci_bus_id` as cudaDeviceGetPCIBusId writes it: "0000:c1:00.0".
  PcieLink link(const std::string& pci_bus_id) const;
  /// NVLinks that are up.
  std::optional<int> nvlinks(const std::string& pci_bus_id) const;
  /// Those that compute on the device, of any user; in a container the pids may be the host's.
  std::vector<GpuProcess> processes(const std::string& pci_bus_id) const;
  /// Percent of the last second or less in which a kernel ran.
  std::optional<int> utilisation_pct(const std::string& pci_bus_id) const;
  /// True while its clocks are held down by power or heat, as opposed to idling or a setting of the user.
  std::optional<bool> throttled(const std::string& pci_bus_id) const;
  GpuSettings settings(const std::string& pci_bus_id) const;

 private:
  struct Loaded;
  void* device(const std::string& pci_bus_id) const;
  std::unique_ptr<Loaded> loaded_;
};

}  // namespace arbench

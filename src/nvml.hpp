// The few facts that only NVML knows, from the driver's libnvidia-ml.so.1 opened at run time. NVML
// makes no CUDA context. Every call answers "unknown" (empty, 0) where the library, the call or the
// device is absent. Thread safety: as NVML, whose calls may come from any thread.
#pragma once

#include <memory>
#include <string>

namespace arbench {

/// Generation 1 to 6, width in lanes; 0 unknown. An idle link may read lower than it runs under
/// load.
struct PcieLink {
  int generation = 0, width = 0;
  int max_generation = 0, max_width = 0;  ///< what this device in this slot can do
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

 private:
  struct Loaded;
  std::unique_ptr<Loaded> loaded_;
};

}  // namespace arbench

#include "nvml.hpp"

#include <dlfcn.h>

namespace arbench {
namespace {

// Own declarations, so that no nvml.h is needed: NVML's C interface is kept stable by NVIDIA, and a
// function that changes gets a new suffix (https://docs.nvidia.com/deploy/nvml-api/).
using Status = int;  // nvmlReturn_t; 0 is NVML_SUCCESS
using Device = void*;
constexpr Status kSuccess = 0;
constexpr unsigned kVersionBytes = 80;  // NVML_SYSTEM_DRIVER_VERSION_BUFFER_SIZE

/// nvmlProcessInfo_t as nvmlDeviceGetComputeRunningProcesses_v3 fills it
struct ProcessInfo {
  unsigned pid;
  unsigned long long memory;
  unsigned gpu_instance, compute_instance;
};
struct Utilization {  // nvmlUtilization_t
  unsigned gpu, memory;
};
constexpr unsigned kMostProcesses = 64;
constexpr unsigned kNameBytes = 256;
constexpr unsigned kMostNvlinks = 18;  // NVML_NVLINK_MAX_LINKS
constexpr int kSmClock = 1;            // NVML_CLOCK_SM
/// nvmlClocksThrottleReasonSwPowerCap, HwSlowdown, SwThermalSlowdown, HwThermalSlowdown, HwPowerBrakeSlowdown
constexpr unsigned long long kSlowdown = 0x4 | 0x8 | 0x20 | 0x40 | 0x80;
constexpr unsigned long long kIdle = 0x1,
                             kSetting = 0x2;  // ...ReasonGpuIdle, ...ApplicationsClocksSetting

struct CloseLibrary {
  void operator()(void* library) const { dlclose(library); }
};

template <class Function>
void find(void* library, const char* name, Function*& function) {
  function = reinterpret_cast<Function*>(dlsym(library, name));
}

using LinkQuery = Status(Device, unsigned*);

int ask(LinkQuery* query, Device device) {
  unsigned value = 0;
  return query && query(device, &value) == kSuccess ? static_cast<int>(value) : 0;
}

}  // namespace

/// An initialised NVML. The library is closed last, after nvmlShutdown.
struct Nvml::Loaded {
  std::unique_ptr<void, CloseLibrary> library;
  Status (*init)() = nullptr;
  Status (*shutdown)() = nullptr;
  Status (*driver_version)(char*, unsigned) = nullptr;
  Status (*by_bus_id)(const char*, Device*) = nullptr;
  LinkQuery *generation = nullptr, *width = nullptr;
  LinkQuery *max_generation = nullptr, *max_width = nullptr, *own_generation = nullptr;
  Status (*nvlink)(Device, unsigned, unsigned*) = nullptr;
  Status (*processes)(Device, unsigned*, ProcessInfo*) = nullptr;
  Status (*process_name)(unsigned, char*, unsigned) = nullptr;
  Status (*utilization)(Device, Utilization*) = nullptr;
  Status (*reasons)(Device, unsigned long long*) = nullptr;
  LinkQuery *persistence = nullptr, *power_limit = nullptr, *default_power_limit = nullptr;
  Status (*clock)(Device, int, unsigned*) = nullptr;
  Status (*max_clock)(Device, int, unsigned*) = nullptr;
};

Nvml::Nvml(const char* library) {
  auto loaded = std::make_unique<Loaded>();
  loaded->library.reset(dlopen(library, RTLD_NOW | RTLD_LOCAL));
  void* handle = loaded->library.get();
  if (!handle) return;
  find(handle, "nvmlInit_v2", loaded->init);
  find(handle, "nvmlShutdown", loaded->shutdown);
  find(handle, "nvmlSystemGetDriverVersion", loaded->driver_version);
  find(handle, "nvmlDeviceGetHandleByPciBusId_v2", loaded->by_bus_id);
  find(handle, "nvmlDeviceGetCurrPcieLinkGeneration", loaded->generation);
  find(handle, "nvmlDeviceGetCurrPcieLinkWidth", loaded->width);
  find(handle, "nvmlDeviceGetMaxPcieLinkGeneration", loaded->max_generation);
  find(handle, "nvmlDeviceGetMaxPcieLinkWidth", loaded->max_width);
  find(handle, "nvmlDeviceGetGpuMaxPcieLinkGeneration", loaded->own_generation);
  find(handle, "nvmlDeviceGetNvLinkState", loaded->nvlink);
  find(handle, "nvmlDeviceGetComputeRunningProcesses_v3", loaded->processes);
  find(handle, "nvmlSystemGetProcessName", loaded->process_name);
  find(handle, "nvmlDeviceGetUtilizationRates", loaded->utilization);
  find(handle, "nvmlDeviceGetCurrentClocksThrottleReasons", loaded->reasons);
  find(handle, "nvmlDeviceGetPersistenceMode", loaded->persistence);
  find(handle, "nvmlDeviceGetEnforcedPowerLimit", loaded->power_limit);
  find(handle, "nvmlDeviceGetPowerManagementDefaultLimit", loaded->default_power_limit);
  find(handle, "nvmlDeviceGetClockInfo", loaded->clock);
  find(handle, "nvmlDeviceGetMaxClockInfo", loaded->max_clock);
  if (!loaded->init || !loaded->shutdown || loaded->init() != kSuccess) return;
  loaded_ = std::move(loaded);
}

Nvml::~Nvml() {
  if (loaded_) loaded_->shutdown();
}

std::string Nvml::driver_version() const {
  char text[kVersionBytes] = {};
  if (!loaded_ || !loaded_->driver_version) return "";
  return loaded_->driver_version(text, kVersionBytes) == kSuccess ? text : "";
}

void* Nvml::device(const std::string& pci_bus_id) const {
  Device device = nullptr;
  if (!loaded_ || !loaded_->by_bus_id) return nullptr;
  return loaded_->by_bus_id(pci_bus_id.c_str(), &device) == kSuccess ? device : nullptr;
}

PcieLink Nvml::link(const std::string& pci_bus_id) const {
  const Device device = this->device(pci_bus_id);
  if (!device) return {};
  return {ask(loaded_->generation, device), ask(loaded_->width, device),
          ask(loaded_->max_generation, device), ask(loaded_->max_width, device),
          ask(loaded_->own_generation, device)};
}

/// A device without NVLinks refuses the question, and so does one that has fewer.
std::optional<int> Nvml::nvlinks(const std::string& pci_bus_id) const {
  const Device device = this->device(pci_bus_id);
  if (!device || !loaded_->nvlink) return std::nullopt;
  int up = 0;
  for (unsigned link = 0; link < kMostNvlinks; ++link) {
    unsigned state = 0;
    if (loaded_->nvlink(device, link, &state) == kSuccess && state != 0) ++up;
  }
  return up;
}

std::vector<GpuProcess> Nvml::processes(const std::string& pci_bus_id) const {
  const Device device = this->device(pci_bus_id);
  ProcessInfo infos[kMostProcesses];
  unsigned count = kMostProcesses;
  if (!device || !loaded_->processes || loaded_->processes(device, &count, infos) != kSuccess)
    return {};
  std::vector<GpuProcess> found;
  for (unsigned i = 0; i < count; ++i) {
    char name[kNameBytes] = {};
    const bool known = loaded_->process_name &&
                       loaded_->process_name(infos[i].pid, name, kNameBytes - 1) == kSuccess;
    found.push_back({infos[i].pid, known ? name : ""});
  }
  return found;
}

std::optional<int> Nvml::utilisation_pct(const std::string& pci_bus_id) const {
  const Device device = this->device(pci_bus_id);
  Utilization rates{};
  if (!device || !loaded_->utilization || loaded_->utilization(device, &rates) != kSuccess)
    return std::nullopt;
  return static_cast<int>(rates.gpu);
}

std::optional<bool> Nvml::throttled(const std::string& pci_bus_id) const {
  const Device device = this->device(pci_bus_id);
  unsigned long long reasons = 0;
  if (!device || !loaded_->reasons || loaded_->reasons(device, &reasons) != kSuccess)
    return std::nullopt;
  return (reasons & kSlowdown) != 0;
}

GpuSettings Nvml::settings(const std::string& pci_bus_id) const {
  const Device device = this->device(pci_bus_id);
  GpuSettings settings;
  if (!device) return settings;
  unsigned value = 0;
  if (loaded_->persistence && loaded_->persistence(device, &value) == kSuccess)
    settings.persistence = value != 0;
  settings.power_limit_w = ask(loaded_->power_limit, device) / 1e3;
  settings.default_power_limit_w = ask(loaded_->default_power_limit, device) / 1e3;
  if (loaded_->clock && loaded_->clock(device, kSmClock, &value) == kSuccess)
    settings.sm_mhz = static_cast<int>(value);
  if (loaded_->max_clock && loaded_->max_clock(device, kSmClock, &value) == kSuccess)
    settings.max_sm_mhz = static_cast<int>(value);
  unsigned long long reasons = 0;
  const bool known = loaded_->reasons && loaded_->reasons(device, &reasons) == kSuccess;
  if (known && (reasons & (kSetting | kIdle)) != 0) settings.sm_locked = (reasons & kSetting) != 0;
  return settings;
}

}  // namespace arbench

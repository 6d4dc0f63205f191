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
  LinkQuery *max_generation = nullptr, *max_width = nullptr;
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

PcieLink Nvml::link(const std::string& pci_bus_id) const {
  Device device = nullptr;
  if (!loaded_ || !loaded_->by_bus_id) return {};
  if (loaded_->by_bus_id(pci_bus_id.c_str(), &device) != kSuccess) return {};
  return {ask(loaded_->generation, device), ask(loaded_->width, device),
          ask(loaded_->max_generation, device), ask(loaded_->max_width, device)};
}

}  // namespace arbench

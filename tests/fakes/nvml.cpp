// A library with NVML's interface and three devices: 0000:01:00.0 is busy and hot, 0000:02:00.0 idles, 0000:04:00.0 runs as fast
// as it can.
#include <cstring>

namespace {

struct ProcessInfo {
  unsigned pid;
  unsigned long long memory;
  unsigned gpu_instance, compute_instance;
};
struct Utilization {
  unsigned gpu, memory;
};

char busy, idle, fast;  // devices are their addresses
constexpr int kOk = 0, kNotFound = 6;

bool is_busy(const void* device) { return device == &busy; }

}  // namespace

extern "C" {

int nvmlInit_v2() { return kOk; }
int nvmlShutdown() { return kOk; }
int nvmlDeviceGetHandleByPciBusId_v2(const char* bus_id, void** device) {
  if (std::strcmp(bus_id, "0000:01:00.0") == 0) return *device = &busy, kOk;
  if (std::strcmp(bus_id, "0000:02:00.0") == 0) return *device = &idle, kOk;
  if (std::strcmp(bus_id, "0000:04:00.0") == 0) return *device = &fast, kOk;
  return kNotFound;
}
int nvmlDeviceGetComputeRunningProcesses_v3(void* device, unsigned* count, ProcessInfo* infos) {
  infos[0] = {7, 1 << 20, 0, 0};
  infos[1] = {4242, 1 << 30, 0, 0};
  *count = is_busy(device) ? 2 : 1;
  return kOk;
}
int nvmlSystemGetProcessName(unsigned pid, char* name, unsigned length) {
  std::strncpy(name, pid == 7 ? "/usr/bin/nvidia-cuda-mps-server" : "python", length);
  return kOk;
}
int nvmlDeviceGetUtilizationRates(void* device, Utilization* rates) {
  static unsigned falling = 90;  // of the device that has just become idle
  rates->gpu = is_busy(device) ? 37 : falling;
  falling = 3;
  return kOk;
}
int nvmlDeviceGetCurrentClocksThrottleReasons(void* device, unsigned long long* reasons) {
  *reasons = is_busy(device) ? 0x20 | 0x2 : device == &idle ? 0x1 : 0;  // heat and a setting; idle
  return kOk;
}
int nvmlDeviceGetPersistenceMode(void* device, unsigned* mode) {
  *mode = is_busy(device) ? 0 : 1;
  return kOk;
}
int nvmlDeviceGetEnforcedPowerLimit(void*, unsigned* milliwatts) {
  *milliwatts = 450000;
  return kOk;
}
int nvmlDeviceGetPowerManagementDefaultLimit(void*, unsigned* milliwatts) {
  *milliwatts = 600000;
  return kOk;
}
int nvmlDeviceGetCurrPcieLinkGeneration(void* device, unsigned* generation) {
  *generation = is_busy(device) ? 4 : 1;
  return kOk;
}
int nvmlDeviceGetCurrPcieLinkWidth(void* device, unsigned* width) {
  *width = is_busy(device) ? 8 : 16;
  return kOk;
}
int nvmlDeviceGetClockInfo(void*, int type, unsigned* mhz) {
  *mhz = type == 1 ? 2400 : 9;
  return kOk;
}
/// The busy one has 3 NVLinks up and one down; the other has none, and says so.
int nvmlDeviceGetNvLinkState(void* device, unsigned link, unsigned* state) {
  if (!is_busy(device) || link > 3) return kNotFound;
  *state = link == 2 ? 0 : 1;
  return kOk;
}
int nvmlDeviceGetGpuMaxPcieLinkGeneration(void*, unsigned* generation) {
  *generation = 5;
  return kOk;
}
int nvmlDeviceGetMaxClockInfo(void*, int type, unsigned* mhz) {
  *mhz = type == 1 ? 2600 : 9;
  return kOk;
}

}  // extern "C"

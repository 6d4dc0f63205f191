// What NVML tells of the GPUs that a run uses: whether somebody else uses them, and whether they slow down. For one thread.
#pragma once

#include <chrono>
#include <optional>
#include <string>
#include <vector>

#include "machine.hpp"
#include "nvml.hpp"
#include "sight.hpp"

namespace arbench {

/// Busier than this, a GPU is somebody else's.
inline constexpr int kBusyPct = 10;

/// "GPU 0 is busy: process 4242 (python) computes on it", or that it is used for more than kBusyPct, of the first such one
/// among `devices`; empty if there is none or NVML does not know. REQUIRES: nothing of this program runs there. A usage is
/// asked for three times, `pause` apart, as it is an average over the past: what has just ended is not busy. An MPS server
/// by itself is not, either.
std::string busy_text(const Nvml& nvml, const std::vector<Gpu>& gpus,
                      const std::vector<int>& devices,
                      std::chrono::milliseconds pause = std::chrono::milliseconds(700));

/// Whether power or heat holds down the clocks of one of `devices` now; nothing where NVML knows of none of them.
std::optional<bool> any_throttled(const Nvml& nvml, const std::vector<Gpu>& gpus,
                                  const std::vector<int>& devices);

/// The same, and the PCIe link of each of `devices` as it is now.
Sight look(const Nvml& nvml, const std::vector<Gpu>& gpus, const std::vector<int>& devices);

}  // namespace arbench

#include "floor.hpp"

#include <algorithm>
#include <array>
#include <map>

#include "report/csv.hpp"

namespace arbench {
namespace {

constexpr double kPcieSignalUs = 0.3;
constexpr double kOnChipSignalUs = 0.1;
/// Bytes per second of one lane after encoding, by generation from 1.
constexpr std::array kLane{
    0.25e9, 0.5e9, 8e9 / 8 * 128 / 130, 16e9 / 8 * 128 / 130, 32e9 / 8 * 128 / 130, 64e9 / 8};
constexpr double kMostPayload = 4096.0 / 4116;

const Gpu* find(const Machine& machine, int device) {
  for (const Gpu& gpu : machine.gpus)
    if (gpu.device == device) return &gpu;
  return nullptr;
}

/// In a virtual machine the link's maximum is that of an emulated port, so the GPU's own counts, at full width.
double link_rate(const Gpu& gpu, bool virtual_machine) {
  if (gpu.nvlinks != 0) return 0;
  if (virtual_machine) return pcie_bytes_per_second(gpu.own_link_generation, 16);
  return pcie_bytes_per_second(std::max(gpu.link_generation, gpu.max_link_generation),
                               std::max(gpu.link_width, gpu.max_link_width));
}

std::optional<Floor> link_floor(const Case& point, const Machine& machine,
                                const std::map<int, int>& ranks_of) {
  const auto devices = static_cast<double>(ranks_of.size());
  double all = 0, least = 0;
  for (const auto& [device, ranks] : ranks_of) {
    const Gpu* gpu = find(machine, device);
    const double rate = gpu ? link_rate(*gpu, machine.virtual_machine) : 0;
    if (rate == 0) return std::nullopt;
    all += rate;
    least = least == 0 ? rate : std::min(least, rate);
  }
  const auto bytes = static_cast<double>(point.bytes);
  const double seconds = std::max(2 * (devices - 1) * bytes / all, bytes / least);
  return Floor{seconds * 1e6, "for what the GPUs' PCIe links must carry"};
}

Floor memory_floor(const Case& point, const Machine& machine, const std::map<int, int>& ranks_of) {
  Floor floor{0, "for what must pass a GPU's memory bus"};
  for (const auto& [device, ranks] : ranks_of) {
    const Gpu* gpu = find(machine, device);
    if (!gpu || gpu->memory_bytes_per_second <= 0 || gpu->l2_bytes == 0) continue;
    const double bytes =
        2.0 * ranks * static_cast<double>(point.bytes) - 2.0 * static_cast<double>(gpu->l2_bytes);
    floor.us = std::max(floor.us, bytes / gpu->memory_bytes_per_second * 1e6);
  }
  return floor;
}

}  // namespace

double pcie_bytes_per_second(int generation, int width) {
  if (generation < 1 || generation > static_cast<int>(kLane.size()) || width < 1) return 0;
  return kLane[static_cast<std::size_t>(generation - 1)] * width * kMostPayload;
}

std::optional<Floor> floor_of(const Case& point, const Machine& machine) {
  if (point.backend == Backend::host || point.bytes == 0 || point.ranks() < 2) return std::nullopt;
  std::map<int, int> ranks_of;
  for (const int device : point.devices) ++ranks_of[device];
  const bool linked = ranks_of.size() > 1;
  const auto known = [&](const auto& entry) {
    const Gpu* gpu = find(machine, entry.first);
    return gpu && gpu->nvlinks == 0;
  };
  // A signal over NVLink, or over what is not known, is still one through two GPUs' L2.
  const bool pcie = linked && std::all_of(ranks_of.begin(), ranks_of.end(), known);
  Floor best = pcie ? Floor{kPcieSignalUs, "for one signal over PCIe"}
                    : Floor{kOnChipSignalUs, "for one signal through an L2"};
  if (linked)
    if (const auto links = link_floor(point, machine, ranks_of); links && links->us > best.us)
      best = *links;
  if (const Floor memory = memory_floor(point, machine, ranks_of); memory.us > best.us)
    best = memory;
  return best;
}

std::string impossible_text(double median_us, const std::optional<Floor>& floor) {
  if (!(median_us > 0)) return "no time: " + number_text(median_us) + " us";  // nor is NaN one
  if (!floor || median_us >= floor->us) return "";
  return "faster than its floor: " + fixed_text(median_us, 2) + " us, at least " +
         fixed_text(floor->us, 2) + " us " + floor->why;
}

}  // namespace arbench

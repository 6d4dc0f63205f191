#include "floor.hpp"

#include <gtest/gtest.h>

#include <cmath>

namespace arbench {
namespace {

/// PCIe gen 5 x16, 128 MiB of L2, 1.6e12 B/s of memory.
Gpu gpu(int device, int generation = 5, int width = 16) {
  Gpu gpu;
  gpu.device = device;
  gpu.l2_bytes = 134217728;
  gpu.link_generation = 1;  // idle
  gpu.link_width = width;
  gpu.max_link_generation = generation;
  gpu.max_link_width = width;
  gpu.own_link_generation = 5;
  gpu.nvlinks = 0;
  gpu.memory_bytes_per_second = 1.6e12;
  return gpu;
}

Machine machine_of(std::vector<Gpu> gpus) {
  Machine machine;
  machine.gpus = std::move(gpus);
  return machine;
}

Case on(std::vector<int> devices, std::uint64_t bytes) {
  Case point;
  point.algorithm = "one_shot_pull";
  point.bytes = bytes;
  point.devices = std::move(devices);
  return point;
}

double us(const Case& point, const Machine& machine) {
  const auto floor = floor_of(point, machine);
  return floor ? floor->us : -1;
}

constexpr std::uint64_t kMiB = 1 << 20;

TEST(Floor, PcieRates) {
  EXPECT_NEAR(pcie_bytes_per_second(1, 16), 3.981e9, 1e6);
  EXPECT_NEAR(pcie_bytes_per_second(3, 16), 15.677e9, 1e6);
  EXPECT_NEAR(pcie_bytes_per_second(4, 8), 15.677e9, 1e6);
  EXPECT_NEAR(pcie_bytes_per_second(5, 16), 62.709e9, 1e6);
  EXPECT_NEAR(pcie_bytes_per_second(6, 16), 127.378e9, 1e6);
  EXPECT_EQ(pcie_bytes_per_second(0, 16), 0);
  EXPECT_EQ(pcie_bytes_per_second(7, 16), 0);
  EXPECT_EQ(pcie_bytes_per_second(5, 0), 0);
}

TEST(Floor, LinksCarryTwiceTheShareOfTheOthers) {
  const Machine machine = machine_of({gpu(0), gpu(1), gpu(2), gpu(3)});
  EXPECT_NEAR(us(on({0, 1}, kMiB), machine), 16.721, 0.001);
  EXPECT_NEAR(us(on({0, 1, 2, 3}, kMiB), machine), 25.082, 0.001);
  EXPECT_EQ(floor_of(on({0, 1}, kMiB), machine)->why, "for what the GPUs' PCIe links must carry");
}

/// Two ranks on one device reach each other without the link.
TEST(Floor, DevicesCountAndNotRanks) {
  const Machine machine = machine_of({gpu(0), gpu(1)});
  EXPECT_EQ(us(on({0, 0, 1, 1}, kMiB), machine), us(on({0, 1}, kMiB), machine));
}

TEST(Floor, UnequalLinks) {
  EXPECT_NEAR(us(on({0, 1}, kMiB), machine_of({gpu(0), gpu(1, 5, 4)})), 66.885, 0.001);
  EXPECT_NEAR(us(on({0, 1, 2}, kMiB), machine_of({gpu(0), gpu(1), gpu(2, 5, 8)})), 33.443, 0.001);
}

TEST(Floor, SmallMessagesNeedASignal) {
  const Machine machine = machine_of({gpu(0), gpu(1)});
  EXPECT_EQ(floor_of(on({0, 1}, 1024), machine), (Floor{0.3, "for one signal over PCIe"}));
  EXPECT_EQ(floor_of(on({0, 0}, 1024), machine), (Floor{0.1, "for one signal through an L2"}));
}

TEST(Floor, NoLinkIsClaimedWhereItIsNotKnown) {
  const Machine with = machine_of({gpu(0), gpu(1)});
  for (const int nvlinks : {-1, 4}) {
    Machine machine = with;
    machine.gpus[1].nvlinks = nvlinks;
    EXPECT_EQ(us(on({0, 1}, kMiB), machine), 0.1) << nvlinks;
  }
  Machine unknown = with;
  unknown.gpus[0].link_generation = unknown.gpus[0].max_link_generation = 0;
  EXPECT_EQ(us(on({0, 1}, kMiB), unknown), 0.3);
  EXPECT_EQ(us(on({0, 5}, kMiB), with), 0.1);
}

/// Its port may say gen 1, and the GPU runs at gen 5.
TEST(Floor, AVirtualMachinesPortsAreNotBelieved) {
  Machine machine = machine_of({gpu(0, 1, 1), gpu(1, 1, 1)});
  machine.virtual_machine = true;
  EXPECT_NEAR(us(on({0, 1}, kMiB), machine), 16.721, 0.001);
  machine.gpus[0].own_link_generation = 0;
  EXPECT_EQ(us(on({0, 1}, kMiB), machine), 0.3);
}

TEST(Floor, OneDevicesMemoryCountsOnlyBeyondItsL2) {
  const Machine machine = machine_of({gpu(0)});
  const std::vector<int> eight(8, 0);
  EXPECT_EQ(us(on(eight, 16 * kMiB), machine), 0.1);
  EXPECT_NEAR(us(on(eight, 32 * kMiB), machine), 167.772, 0.001);
  EXPECT_EQ(floor_of(on(eight, 32 * kMiB), machine)->why, "for what must pass a GPU's memory bus");
  Machine unknown = machine;
  unknown.gpus[0].memory_bytes_per_second = 0;
  EXPECT_EQ(us(on(eight, 32 * kMiB), unknown), 0.1);
  unknown = machine;
  unknown.gpus[0].l2_bytes = 0;
  EXPECT_EQ(us(on(eight, 32 * kMiB), unknown), 0.1);
}

TEST(Floor, TheHostBackendAndNothingToSendHaveNone) {
  const Machine machine = machine_of({gpu(0), gpu(1)});
  Case point = on({0, 1}, kMiB);
  point.backend = Backend::host;
  EXPECT_EQ(floor_of(point, machine), std::nullopt);
  EXPECT_EQ(floor_of(on({0, 1}, 0), machine), std::nullopt);
}

TEST(Floor, WhatCannotBe) {
  const Floor floor{5.2, "for a reason"};
  EXPECT_EQ(impossible_text(3.1, floor),
            "faster than its floor: 3.10 us, at least 5.20 us for a reason");
  EXPECT_EQ(impossible_text(5.2, floor), "");
  EXPECT_EQ(impossible_text(3.1, std::nullopt), "");
  EXPECT_EQ(impossible_text(0, std::nullopt), "no time: 0 us");
  EXPECT_EQ(impossible_text(-1, floor), "no time: -1 us");
  EXPECT_EQ(impossible_text(std::nan(""), floor), "no time:  us");
}

}  // namespace
}  // namespace arbench

// The least time that physics allows an allreduce: a row below it was not measured, whatever its samples say. Pure functions.
#pragma once

#include <optional>
#include <string>

#include "arbench/case.hpp"
#include "machine.hpp"

namespace arbench {

/// A bound, and what it comes from: "for one signal over PCIe".
struct Floor {
  double us = 0;
  std::string why;
  bool operator==(const Floor&) const = default;
};

/// Payload bytes per second in one direction of a PCIe link, never less than the truth; 0 when a figure is unknown.
/// Lanes run at 2.5, 5, 8, 16, 32 and 64 GT/s in generations 1 to 6; 8b/10b encoding in 1 and 2, 128b/130b in 3 to 5, and
/// none in 6. Of that 4096/4116 is payload: the largest payload that a packet may have, behind 4 bytes of framing and sequence
/// number, 12 of header and 4 of CRC (PCI Express Base Specification, Physical, Data Link and Transaction Layer). Real packets
/// of 256 bytes carry 93 %.
double pcie_bytes_per_second(int generation, int width);

/// Microseconds that an op cannot be shorter than, chained or alone: the largest of three bounds. Each holds for every
/// algorithm, so a right result never fails; nothing when none is known, as on the host backend.
///
/// Signal: an output depends on every rank's input of that op, and a rank begins an op when it has ended the one before, so
/// each op lasts for one signal from rank to rank at least: 0.3 us where it crosses PCIe (round trips take about 1 us; one
/// way, 0.36 us is the least that any report here has, and 0.63 us what kernels at ping-pong see under one switch), else
/// 0.1 us, less than one access to the L2 of a GPU.
///
/// Links, of m > 1 devices: for each element all of them must come to know of all inputs, which takes 2(m-1) transfers to some
/// device, in whatever pattern. So devices receive 2(m-1)S bytes in all, and each one S at least. For equal links that is
/// 2(m-1)/m S per link and direction, the bound of nccl-tests (doc/PERFORMANCE.md). A one-shot's (m-1)S is its own choice and
/// no bound. Through host memory each transfer still arrives over the receiver's link. Claimed only where all links are known
/// and no device has an NVLink, whose rate is not known here.
///
/// Memory, of a device with k ranks: kS bytes of inputs are read and kS of outputs written. What is not in the L2 when an op
/// begins, or does not stay there when it ends, passes the memory bus: 2kS less 2 L2 in any case, in place too. Small
/// messages may live in the L2 for ever and have no such bound.
std::optional<Floor> floor_of(const Case& point, const Machine& machine);

/// Why this median cannot be: "faster than its floor: 3.1 us, at least 5.2 us (...)"; empty if it can.
std::string impossible_text(double median_us, const std::optional<Floor>& floor);

}  // namespace arbench

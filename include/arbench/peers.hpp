// What a kernel gets: who it is, and where every rank's memory lies as seen from here. PODs, passed
// by value.
#pragma once

#include <cstddef>
#include <cstdint>

#include "arbench/target.hpp"

namespace arbench {

inline constexpr int kMaxRanks = 16;
inline constexpr int kMaxBlocks = 128;
inline constexpr int kMaxThreads = 512;
inline constexpr int kMinGpuThreads = 32;  ///< per block on a GPU: one for every rank, a whole warp
static_assert(kMinGpuThreads >= kMaxRanks);

/// One signal word, alone in 128 bytes so that two writers never share a PCIe write. Exactly one
/// rank writes it.
struct alignas(128) Flag {
  std::uint32_t value;
};

/// Signal words of one rank for one contender: its peers write them, it alone reads them. They lie in its device memory, or in
/// pinned host memory where peers cannot reach that. Zeroed when the contender is opened; from then on the values only grow
/// (modulo 2^32).
struct Signals {
  Flag flag[kMaxBlocks][kMaxRanks];  ///< [block][writer]
};

/// What no peer touches, always in the rank's own device memory. Zeroed with the signals.
struct Progress {
  std::uint32_t epoch[kMaxBlocks];  ///< calls so far, counted by each block for itself
  std::uint32_t fault_claimed;      ///< the first thread that gives up waiting takes it
};

/// The first wait that was given up.
struct Fault {
  std::uint32_t set;
  std::int32_t rank, peer, block;
  std::uint32_t wanted, seen;
};

/// Pinned host memory of one driver, read and written by host and device.
struct Control {
  std::uint32_t gate;   ///< the host opens gate number g by writing g
  std::uint32_t abort;  ///< non-zero: every wait gives up at its next check
  Fault fault;
};

/// Bytes from a rank's Signals to its scratch: one allocation holds both, so one pointer per rank
/// names both.
inline constexpr std::size_t kScratchOffset = (sizeof(Signals) + 255) / 256 * 256;

/// Kept small: it is copied with every launch, and the front end of a GPU takes longer over large
/// arguments.
struct Peers {
  int first_rank;  ///< rank of the launch, or of the first grid row; kernels ask Exec::rank()
  int ranks;
  std::uint64_t count;                        ///< elements per rank
  std::uint64_t timeout_ns;                   ///< a single wait gives up after this
  Control* control;                           ///< of the driver that launches
  Progress* progress_of_first;                ///< of first_rank; a grid launch's other ranks follow
  std::uint64_t input_offset, output_offset;  ///< bytes into buffer[r]; equal when in place
  std::byte* buffer[kMaxRanks];  ///< holds rank r's input and output; null if out of reach
  std::byte* memory[kMaxRanks];  ///< rank r's Signals, then its scratch

  ARBENCH_SHARED_INLINE const void* input(int rank) const { return buffer[rank] + input_offset; }
  ARBENCH_SHARED_INLINE void* output(int rank) const { return buffer[rank] + output_offset; }
  ARBENCH_SHARED_INLINE bool in_place() const { return input_offset == output_offset; }
  ARBENCH_SHARED_INLINE Signals& signals(int rank) const {
    return *reinterpret_cast<Signals*>(memory[rank]);
  }
  ARBENCH_SHARED_INLINE Progress& progress(int rank) const {
    return progress_of_first[rank - first_rank];
  }
  ARBENCH_SHARED_INLINE std::byte* scratch(int rank) const { return memory[rank] + kScratchOffset; }
};

}  // namespace arbench

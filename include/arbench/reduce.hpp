// Pieces that several allreduce kernels share: the block-strided loop, the sum over ranks, and
// geometry by size.
//
// Ownership rule of all strided loops: pack i of a range belongs to block ((i - begin) / threads) %
// blocks, on every rank alike. So what block b wrote, only block b of the peers reads, and a
// barrier between equal blocks is enough.
#pragma once

#include <cstdint>

#ifndef __CUDACC_RTC__
#include <algorithm>

#include "arbench/case.hpp"
#endif
#include "arbench/peers.hpp"
#include "arbench/port.hpp"

namespace arbench {
inline namespace ARBENCH_PORT {

template <class Exec>
ARBENCH_DEVICE std::uint64_t first_pack(const Exec& ex) {
  return static_cast<std::uint64_t>(ex.block()) * ex.threads() + ex.thread();
}

template <class Exec>
ARBENCH_DEVICE std::uint64_t pack_stride(const Exec& ex) {
  return static_cast<std::uint64_t>(ex.blocks()) * ex.threads();
}

/// Pack i summed over all ranks in rank order, so that every rank gets the same bits. `source(r)`
/// is rank r's array of `count` elements. With N known all loads are in flight before the first
/// add.
template <class T, int N, class Source>
ARBENCH_DEVICE Pack sum_over_ranks(const Peers& p, Source source, std::uint64_t i,
                                   std::uint64_t count) {
  if constexpr (N > 0) {
    Pack pack[N];
    ARBENCH_UNROLL
    for (int r = 0; r < N; ++r) pack[r] = load_pack<T>(source(r), i, count);
    Sum<T> sum(pack[0]);
    ARBENCH_UNROLL
    for (int r = 1; r < N; ++r) sum.add(pack[r]);
    return sum.rounded();
  } else {
    Sum<T> sum(load_pack<T>(source(0), i, count));
    for (int r = 1; r < p.ranks; ++r) sum.add(load_pack<T>(source(r), i, count));
    return sum.rounded();
  }
}

/// Calls sink(i, sum) for this thread's packs of [begin, end). Keeps about 8 loads in flight per
/// thread where the range is long enough: the rounds of U packs are whole ones only, the rest goes
/// one by one.
template <class T, int N, class Exec, class Source, class Sink>
ARBENCH_DEVICE void reduce_strided(const Exec& ex, const Peers& p, Source source,
                                   std::uint64_t begin, std::uint64_t end, std::uint64_t count,
                                   Sink sink) {
  std::uint64_t i = begin + first_pack(ex);
  const std::uint64_t stride = pack_stride(ex);
  if constexpr (N > 0 && N < 8) {
    constexpr int U = 8 / N;
    const std::uint64_t whole = count / kPerPack<T> < end ? count / kPerPack<T> : end;
    for (; i + (U - 1) * stride < whole; i += U * stride) {
      Pack pack[U][N];
      ARBENCH_UNROLL
      for (int u = 0; u < U; ++u) {
        ARBENCH_UNROLL
        for (int r = 0; r < N; ++r)
          pack[u][r] = static_cast<const Pack*>(source(r))[i + u * stride];
      }
      ARBENCH_UNROLL
      for (int u = 0; u < U; ++u) {
        Sum<T> sum(pack[u][0]);
        ARBENCH_UNROLL
        for (int r = 1; r < N; ++r) sum.add(pack[u][r]);
        sink(i + u * stride, sum.rounded());
      }
    }
  }
  for (; i < end; i += stride) sink(i, sum_over_ranks<T, N>(p, source, i, count));
}

}  // namespace ARBENCH_PORT

#ifndef __CUDACC_RTC__
/// Blocks and threads for `packs` packs of work per rank: one pack per thread while that takes no
/// more than `few` blocks, since every block is one more set of flags; then `few` blocks, until a
/// thread has more than 8 packs; then more blocks. At most `max_blocks`. Measured with virtual
/// ranks on one H200; --blocks and --threads override it. Host threads are few: two blocks of one
/// thread there, which still is a real protocol between blocks.
inline Geometry spread(const Case& point, std::uint64_t packs, int few, int max_blocks) {
  const auto limit = static_cast<std::uint64_t>(std::min(max_blocks, kMaxBlocks));
  if (point.backend == Backend::host)
    return {static_cast<int>(std::min<std::uint64_t>(limit, 2)), 1};
  if (packs <= 128) return {1, packs <= 64 ? 64 : 128};
  const auto some = static_cast<std::uint64_t>(few);
  const std::uint64_t threads = packs <= some * 256 ? 256 : 512;
  std::uint64_t blocks = (packs + threads - 1) / threads;
  if (blocks > some) blocks = std::max(some, (packs + threads * 8 - 1) / (threads * 8));
  return {static_cast<int>(std::min(blocks, limit)), static_cast<int>(threads)};
}
#endif

}  // namespace arbench

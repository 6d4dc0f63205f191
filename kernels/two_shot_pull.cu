// Two-shot allreduce by peer loads: reduce-scatter, all-gather.
//   1. Barrier: every rank's input is ready.
//   2. Rank r sums slice r over all ranks and writes it to its own scratch.
//   3. Barrier: all slices are ready, and nobody reads an input any more.
//   4. Every rank loads all slices from their owners into its output.
// No end barrier: scratch is written again only behind barrier 1 of the next call, which every rank enters after phase 4.
// Offset o of every slice belongs to the same block on all ranks, so barriers between equal blocks are enough, also when
// the output is the input.
// Per rank on the link: 2(n-1)/n S read.
#include "arbench/algorithm.hpp"
#include "arbench/reduce.hpp"
#include "arbench/signal.hpp"

namespace arbench {
namespace {

struct TwoShotPull {
  static constexpr bool kSpecialised = true;

  template <class T, int N, class Exec>
  ARBENCH_DEVICE void operator()(const Exec& ex, const Peers& p) const {
    const std::uint32_t epoch = begin_call(ex, p);
    const int ranks = N > 0 ? N : p.ranks;
    const std::uint64_t packs = packs_of<T>(p.count);
    const std::uint64_t slice = (packs + ranks - 1) / ranks;
    const std::uint64_t begin = slice * ex.rank() < packs ? slice * ex.rank() : packs;
    const std::uint64_t end = begin + slice < packs ? begin + slice : packs;
    if (!barrier<Orders::nothing>(ex, p, ticket(epoch, 1))) return;
    advance_call(ex, p, epoch);
    Pack* reduced = reinterpret_cast<Pack*>(p.scratch(ex.rank()));
    reduce_strided<T, N>(
        ex, p, [&](int r) { return p.input(r); }, begin, end, p.count,
        [&](std::uint64_t i, const Pack& sum) { reduced[i - begin] = sum; });
    if (!barrier(ex, p, ticket(epoch, 2))) return;
    gather<T, N>(ex, p, slice, packs);
  }

  /// Slices that end early (the last ones, or all behind a tiny message) have no pack at the higher
  /// offsets.
  template <class T, int N, class Exec>
  ARBENCH_DEVICE void gather(const Exec& ex, const Peers& p, std::uint64_t slice,
                             std::uint64_t packs) const {
    constexpr int kBatch = N > 0 ? N : 1;
    const int ranks = N > 0 ? N : p.ranks;
    void* output = p.output(ex.rank());
    for (std::uint64_t o = first_pack(ex); o < slice; o += pack_stride(ex)) {
      for (int owner = 0; owner < ranks; owner += kBatch) {
        Pack pack[kBatch];
        ARBENCH_UNROLL
        for (int b = 0; b < kBatch; ++b)
          if ((owner + b) * slice + o < packs)
            pack[b] = reinterpret_cast<const Pack*>(p.scratch(owner + b))[o];
        ARBENCH_UNROLL
        for (int b = 0; b < kBatch; ++b)
          if ((owner + b) * slice + o < packs)
            store_pack<T>(output, (owner + b) * slice + o, p.count, pack[b]);
      }
    }
  }
};

#ifndef __CUDACC_RTC__
const Register two_shot_pull(kernel_algorithm<TwoShotPull>({
    .name = "two_shot_pull",
    .summary = "reduce-scatter by peer loads, barrier, all-gather by peer loads",
    .stands_for = "vLLM 2-stage custom allreduce",
    .rounds_once = true,
    .scratch =
        [](const Case& point) {
          const auto ranks = static_cast<std::uint64_t>(point.ranks());
          return Scratch{(packs_of(point) + ranks - 1) / ranks * 16, 0};
        },
    .geometry =
        [](const Case& point, int max_blocks) {
          const auto ranks = static_cast<std::uint64_t>(point.ranks());
          return spread(point, (packs_of(point) + ranks - 1) / ranks, 16, max_blocks);
        },
}));
#endif

}  // namespace
}  // namespace arbench

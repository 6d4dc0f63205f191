// One-shot allreduce by peer stores with inline sentinels: the data is its own flag.
//   1. Every thread stores its packs into its slot in each peer's scratch.
//   2. It polls its own scratch until no element of the peers' packs is the sentinel, puts the sentinel back, sums in rank
//      order and writes the output.
// Two slot sets alternate by call parity. No barrier is needed: a rank can start call k+2 only after it got all of call
// k+1, so every peer had ended call k, resets included, before any store of call k+2 can reach the set of call k.
// Per rank on the link: (n-1) S written; one one-way trip.
//
// The sentinel is the all-ones bit pattern, a NaN; a NaN input with exactly these bits counts as another NaN. (Zero is the
// usual sentinel: it costs the sign of zeros.) Only element-wise atomicity of the stores is assumed.
#include "arbench/algorithm.hpp"
#include "arbench/reduce.hpp"
#include "arbench/signal.hpp"

namespace arbench {
namespace {

/// True if some element of T in the word is all ones.
template <class T>
ARBENCH_DEVICE bool has_sentinel(std::uint32_t word) {
  if constexpr (sizeof(T) == 4) {
    return word == 0xffffffffu;
  } else {
    const std::uint32_t inverse = ~word;  // looks for a zero half, as in the classic zero-byte test
    return ((inverse - 0x00010001u) & ~inverse & 0x80008000u) != 0;
  }
}

template <class T>
ARBENCH_DEVICE bool has_sentinel(const Pack& pack) {
  return has_sentinel<T>(pack.word[0]) || has_sentinel<T>(pack.word[1]) ||
         has_sentinel<T>(pack.word[2]) || has_sentinel<T>(pack.word[3]);
}

/// The pack with every sentinel replaced by another NaN. In a half-word pair the borrow may also
/// flip the sign of a neighbouring 0xfffe, a NaN too.
template <class T>
ARBENCH_DEVICE Pack without_sentinel(Pack pack) {
  ARBENCH_UNROLL
  for (int w = 0; w < 4; ++w) {
    std::uint32_t& word = pack.word[w];
    if constexpr (sizeof(T) == 4) {
      if (word == 0xffffffffu) word = 0x7fffffffu;
    } else {
      word ^= (~word - 0x00010001u) & word & 0x80008000u;
    }
  }
  return pack;
}

/// The rank count, a constant where it is compiled in.
template <int N>
ARBENCH_DEVICE int ranks_of(const Peers& p) {
  if constexpr (N > 0) return N;
  return p.ranks;
}

struct OneShotPush {
  static constexpr bool kSpecialised = true;

  /// Slot of `writer` in `owner`'s scratch, in the set of this call's parity.
  static ARBENCH_DEVICE Pack* slot(const Peers& p, int owner, int writer, std::uint32_t parity,
                                   std::uint64_t packs) {
    const std::uint32_t index = parity * static_cast<std::uint32_t>(p.ranks) + writer;
    return reinterpret_cast<Pack*>(p.scratch(owner)) + index * packs;
  }

  template <class T, int N, class Exec>
  ARBENCH_DEVICE void operator()(const Exec& ex, const Peers& p) const {
    // Looking for a tail pack by pack costs 0.1 us a call, counting packs in 64 bits 0.05 us (H200).
    if (p.count % kPerPack<T> == 0 && packs_of<T>(p.count) < 1u << 31) {
      run<T, N, std::uint32_t, true>(ex, p);
    } else {
      run<T, N, std::uint64_t, false>(ex, p);
    }
  }

  template <class T, int N, class Index, bool whole, class Exec>
  ARBENCH_DEVICE void run(const Exec& ex, const Peers& p) const {
    const std::uint32_t epoch = begin_call(ex, p);
    const std::uint64_t packs = packs_of<T>(p.count);
    send<T, N, Index, whole>(ex, p, epoch & 1, packs);
    ex.sync_block();
    advance_call(ex, p, epoch);
    receive<T, N, Index, whole>(ex, p, epoch & 1, packs);
  }

  template <class T, int N, class Index, bool whole, class Exec>
  ARBENCH_DEVICE void send(const Exec& ex, const Peers& p, std::uint32_t parity,
                           std::uint64_t packs) const {
    const int rank = ex.rank(), ranks = ranks_of<N>(p);
    const Index first = static_cast<Index>(first_pack(ex));
    const Index stride = static_cast<Index>(pack_stride(ex));
    for (Index i = first; i < packs; i += stride) {
      const Pack own = without_sentinel<T>(load_pack<T, whole>(p.input(rank), i, p.count));
      ARBENCH_UNROLL
      for (int step = 1; step < ranks; ++step) {  // each rank starts with another peer
        const int peer = rank + step < ranks ? rank + step : rank + step - ranks;
        ex.store_inline(slot(p, peer, rank, parity, packs) + i, own);
      }
    }
  }

  template <class T, int N, class Index, bool whole, class Exec>
  ARBENCH_DEVICE void receive(const Exec& ex, const Peers& p, std::uint32_t parity,
                              std::uint64_t packs) const {
    constexpr int kSlots = N > 0 ? N : kMaxRanks;
    const int rank = ex.rank(), ranks = ranks_of<N>(p);
    const Index first = static_cast<Index>(first_pack(ex));
    const Index stride = static_cast<Index>(pack_stride(ex));
    for (Index i = first; i < packs; i += stride) {
      Pack pack[kSlots]{};
      const Pack own = load_pack<T, whole>(p.input(rank), i, p.count);
      const auto all_here = [&](std::uint32_t*) {
        bool here = true;
        ARBENCH_UNROLL
        for (int r = 0; r < ranks; ++r)
          if (r != rank) pack[r] = ex.load_inline(slot(p, rank, r, parity, packs) + i);
        ARBENCH_UNROLL
        for (int r = 0; r < ranks; ++r) here = here && (r == rank || !has_sentinel<T>(pack[r]));
        return here;
      };
      if (!wait_until(ex, p, kAnyPeer, 0, all_here))
        return;  // on record; what is missing stays missing
      ARBENCH_UNROLL
      for (int r = 0; r < ranks; ++r)  // before the sum, so that the stores overlap with it
        if (r != rank)
          ex.store_inline(slot(p, rank, r, parity, packs) + i, Pack{{~0u, ~0u, ~0u, ~0u}});
      ARBENCH_UNROLL
      for (int r = 0; r < ranks; ++r)
        if (r == rank) pack[r] = own;  // by value: choosing between addresses would cost registers
      Sum<T> sum(pack[0]);
      ARBENCH_UNROLL
      for (int r = 1; r < ranks; ++r) sum.add(pack[r]);
      store_pack<T, whole>(p.output(rank), i, p.count, sum.rounded());
    }
  }
};

#ifndef __CUDACC_RTC__
const Register one_shot_push(kernel_algorithm<OneShotPush>({
    .name = "one_shot_push",
    .summary = "every rank stores its data into all peers, sentinels tell arrival, no barrier",
    .stands_for = "SGLang v2 push, FlashInfer pcie_ipc push_oneshot",
    .host_transport = true,
    .rounds_once = true,
    .scratch =
        [](const Case& point) {
          return Scratch{packs_of(point) * 16 * 2 * static_cast<std::uint64_t>(point.ranks()),
                         0xff};
        },
    .geometry = [](const Case& point,
                   int max_blocks) { return spread(point, packs_of(point), 32, max_blocks); },
}));
#endif

}  // namespace
}  // namespace arbench

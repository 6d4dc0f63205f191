// One-shot allreduce by peer stores with inline sentinels: the data is its own flag.
//   1. Every thread stores its packs into its slot in each peer's scratch.
//   2. It polls its own scratch until no element of the peers' packs is the sentinel, sums in rank order, writes the
//      output and puts the sentinel back.
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

/// The pack with every sentinel replaced by another NaN.
template <class T>
ARBENCH_DEVICE Pack without_sentinel(Pack pack) {
  if (!has_sentinel<T>(pack)) [[likely]]
    return pack;
  for (std::uint32_t& word : pack.word) {
    if constexpr (sizeof(T) == 4) {
      if (word == 0xffffffffu) word = 0x7fffffffu;
    } else {
      if ((word & 0xffffu) == 0xffffu) word &= 0xffff7fffu;
      if (word >> 16 == 0xffffu) word &= 0x7fffffffu;
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
    return reinterpret_cast<Pack*>(p.scratch(owner)) +
           (parity * static_cast<std::uint64_t>(p.ranks) + writer) * packs;
  }

  template <class T, int N, class Exec>
  ARBENCH_DEVICE void operator()(const Exec& ex, const Peers& p) const {
    const std::uint32_t epoch = begin_call(ex, p);
    const std::uint64_t packs = packs_of<T>(p.count);
    send<T, N>(ex, p, epoch & 1, packs);
    ex.sync_block();
    advance_call(ex, p, epoch);
    receive<T, N>(ex, p, epoch & 1, packs);
  }

  template <class T, int N, class Exec>
  ARBENCH_DEVICE void send(const Exec& ex, const Peers& p, std::uint32_t parity,
                           std::uint64_t packs) const {
    const int ranks = ranks_of<N>(p);
    for (std::uint64_t i = first_pack(ex); i < packs; i += pack_stride(ex)) {
      const Pack own = without_sentinel<T>(load_pack<T>(p.input(ex.rank()), i, p.count));
      ARBENCH_UNROLL
      for (int step = 1; step < ranks; ++step) {  // each rank starts with another peer
        const int peer = ex.rank() + step < ranks ? ex.rank() + step : ex.rank() + step - ranks;
        ex.store_inline(slot(p, peer, ex.rank(), parity, packs) + i, own);
      }
    }
  }

  template <class T, int N, class Exec>
  ARBENCH_DEVICE void receive(const Exec& ex, const Peers& p, std::uint32_t parity,
                              std::uint64_t packs) const {
    constexpr int kSlots = N > 0 ? N : kMaxRanks;
    const int rank = ex.rank();
    for (std::uint64_t i = first_pack(ex); i < packs; i += pack_stride(ex)) {
      Pack pack[kSlots];
      const Pack own = without_sentinel<T>(load_pack<T>(p.input(rank), i, p.count));
      if (!wait_until(ex, p, kAnyPeer, 0, [&](std::uint32_t*) {
            bool here = true;
            ARBENCH_UNROLL
            for (int r = 0; r < ranks_of<N>(p); ++r)
              if (r != rank) pack[r] = ex.load_inline(slot(p, rank, r, parity, packs) + i);
            ARBENCH_UNROLL
            for (int r = 0; r < ranks_of<N>(p); ++r)
              here = here && (r == rank || !has_sentinel<T>(pack[r]));
            return here;
          }))
        return;  // on record; what is missing stays missing
      ARBENCH_UNROLL
      for (int r = 0; r < ranks_of<N>(p); ++r)
        if (r == rank) pack[r] = own;  // by value: choosing between addresses would cost registers
      Sum<T> sum(pack[0]);
      ARBENCH_UNROLL
      for (int r = 1; r < ranks_of<N>(p); ++r) sum.add(pack[r]);
      store_pack<T>(p.output(rank), i, p.count, sum.rounded());
      ARBENCH_UNROLL
      for (int r = 0; r < ranks_of<N>(p); ++r)
        if (r != rank)
          ex.store_inline(slot(p, rank, r, parity, packs) + i, Pack{{~0u, ~0u, ~0u, ~0u}});
    }
  }
};

const Register one_shot_push(kernel_algorithm<OneShotPush>({
    .name = "one_shot_push",
    .summary = "every rank stores its data into all peers, sentinels tell arrival, no barrier",
    .stands_for = "SGLang v2 push, FlashInfer pcie_ipc push_oneshot",
    .scratch =
        [](const Case& point) {
          return Scratch{packs_of(point) * 16 * 2 * static_cast<std::uint64_t>(point.ranks()),
                         0xff};
        },
    .geometry = [](const Case& point,
                   int max_blocks) { return spread(point, packs_of(point), 32, max_blocks); },
}));

}  // namespace
}  // namespace arbench

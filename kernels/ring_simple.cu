// Chunked, pipelined ring with one channel per block; data, then a flag ("Simple").
// The message is n chunks; block b moves its part of each chunk in pieces, and rank r writes only to rank r+1:
//   step 0            sends its input chunk r into the next rank's scratch slot 0
//   step 1 .. n-2     receives chunk r-s from slot s-1, adds its own input, sends it into slot s
//   step n-1          receives chunk r+1, adds its own input: reduced. Writes it to its output and to the next rank's
//   step n .. 2n-3    forwards the reduced chunk that has come into its output to the next rank's output
//   step 2n-2         waits for the last chunk
// Each piece is followed by the flag word of (block, writer), whose value counts the pieces of this call.
// No credits are needed. A slot is written once per call, and a rank ends call k only after it got the chunk that the next
// rank reduced last, which that rank did after reading all its slots. An output chunk is written only with a reduced chunk,
// which holds the next rank's own contribution of this call: so that rank has entered the call and read that input.
// Per rank on the link: 2(n-1)/n S written; 2(n-1) one-way trips. Partial sums travel in T: n-1 roundings.
#include "arbench/algorithm.hpp"
#include "arbench/reduce.hpp"
#include "arbench/signal.hpp"

namespace arbench {
namespace {

/// 2(n-1) steps of at most so many pieces stay below kStepsPerCall for n = 16.
constexpr std::uint64_t kMaxPieces = 64;
constexpr int kPacksPerThread = 4;

struct RingSimple {
  static constexpr bool kSpecialised = false;

  /// How this block cuts its part of a chunk; the same on all ranks.
  struct Plan {
    std::uint64_t packs, chunk, part, piece, pieces;
  };

  template <class T, class Exec>
  static ARBENCH_DEVICE Plan plan(const Exec& ex, const Peers& p) {
    Plan plan;
    plan.packs = packs_of<T>(p.count);
    plan.chunk = (plan.packs + p.ranks - 1) / p.ranks;
    plan.part = (plan.chunk + ex.blocks() - 1) / ex.blocks();
    const std::uint64_t least = static_cast<std::uint64_t>(ex.threads()) * kPacksPerThread;
    const std::uint64_t even = (plan.part + kMaxPieces - 1) / kMaxPieces;
    plan.piece = even > least ? even : least;
    plan.pieces = (plan.part + plan.piece - 1) / plan.piece;
    return plan;
  }

  template <class T, int N, class Exec>
  ARBENCH_DEVICE void operator()(const Exec& ex, const Peers& p) const {
    const std::uint32_t epoch = begin_call(ex, p);
    const Plan cut = plan<T>(ex, p);
    ex.sync_block();
    advance_call(ex, p, epoch);
    const int last = 2 * p.ranks - 2;
    for (int step = 0; step <= last; ++step)
      for (std::uint64_t piece = 0; piece < cut.pieces; ++piece) {
        if (step > 0 && !await_piece(ex, p, ticket(epoch, sequence(cut, step - 1, piece)))) return;
        if (step == last) continue;
        move<T>(ex, p, cut, step, piece);
        ex.sync_block();  // thread 0 speaks for the block
        if (ex.thread() == 0)
          signal(ex, p, (ex.rank() + 1) % p.ranks, ticket(epoch, sequence(cut, step, piece)));
      }
  }

  static ARBENCH_DEVICE std::uint32_t sequence(const Plan& cut, int step, std::uint64_t piece) {
    return static_cast<std::uint32_t>(step * cut.pieces + piece + 1);
  }

  /// Waits, as a block, for a piece of the previous rank.
  template <class Exec>
  static ARBENCH_DEVICE bool await_piece(const Exec& ex, const Peers& p, std::uint32_t value) {
    const int previous = (ex.rank() + p.ranks - 1) % p.ranks;
    const bool late = ex.thread() == 0 && !wait(ex, p, previous, value);
    return !ex.sync_block_any(late);
  }

  template <class T, class Exec>
  static ARBENCH_DEVICE void move(const Exec& ex, const Peers& p, const Plan& cut, int step,
                                  std::uint64_t piece) {
    const int rank = ex.rank(), next = (rank + 1) % p.ranks;
    const std::uint64_t chunk = static_cast<std::uint64_t>((rank + 2 * p.ranks - step) % p.ranks);
    // Offsets within the chunk; a chunk at the message's end is shorter than the others.
    const std::uint64_t base = chunk * cut.chunk;
    const std::uint64_t room = base < cut.packs ? cut.packs - base : 0;
    const std::uint64_t begin = ex.block() * cut.part + piece * cut.piece;
    std::uint64_t end = begin + cut.piece;
    if (end > (ex.block() + 1) * cut.part) end = (ex.block() + 1) * cut.part;
    if (end > cut.chunk) end = cut.chunk;
    if (end > room) end = room;
    const auto slot = [&](int owner, int s) {
      return reinterpret_cast<Pack*>(p.scratch(owner)) + s * cut.chunk;
    };
    for (std::uint64_t first = begin + ex.thread(); first < end;
         first += static_cast<std::uint64_t>(ex.threads()) * kPacksPerThread) {
      Pack pack[kPacksPerThread];
      ARBENCH_UNROLL
      for (int u = 0; u < kPacksPerThread; ++u) {
        const std::uint64_t o = first + static_cast<std::uint64_t>(u) * ex.threads();
        if (o >= end) continue;
        if (step >= p.ranks) {
          pack[u] = load_pack<T>(p.output(rank), base + o, p.count);
        } else {
          pack[u] = load_pack<T>(p.input(rank), base + o, p.count);
        }
        if (step == 0 || step >= p.ranks) continue;
        Sum<T> sum(slot(rank, step - 1)[o]);
        sum.add(pack[u]);
        pack[u] = sum.rounded();
      }
      ARBENCH_UNROLL
      for (int u = 0; u < kPacksPerThread; ++u) {
        const std::uint64_t o = first + static_cast<std::uint64_t>(u) * ex.threads();
        if (o >= end) continue;
        if (step < p.ranks - 1) {
          slot(next, step)[o] = pack[u];
        } else {
          store_pack<T>(p.output(next), base + o, p.count, pack[u]);
          if (step == p.ranks - 1) store_pack<T>(p.output(rank), base + o, p.count, pack[u]);
        }
      }
    }
  }
};

#ifndef __CUDACC_RTC__
const Register ring_simple(kernel_algorithm<RingSimple>({
    .name = "ring_simple",
    .summary = "pipelined ring by peer stores, a flag behind each piece, a channel per block",
    .stands_for = "NCCL ring, Simple protocol",
    .scratch =
        [](const Case& point) {
          const auto ranks = static_cast<std::uint64_t>(point.ranks());
          return Scratch{(packs_of(point) + ranks - 1) / ranks * 16 * (ranks - 1), 0};
        },
    .geometry =
        [](const Case& point, int max_blocks) {
          const auto ranks = static_cast<std::uint64_t>(point.ranks());
          return spread(point, packs_of(point) / (ranks * kPacksPerThread), 16, max_blocks);
        },
}));
#endif

}  // namespace
}  // namespace arbench

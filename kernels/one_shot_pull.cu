// One-shot allreduce by peer loads.
//   1. In place only: block b copies its packs into this rank's scratch, so that nobody reads what it overwrites.
//   2. Barrier: every rank's data is ready.
//   3. Block b sums its packs over all ranks by loads from peer memory and writes them to its own output.
//   4. Barrier: nobody overwrites its data while a peer still reads it.
// Per rank on the link: (n-1) S read; two barriers, so about one flag trip, one read round trip and one flag trip.
#include "arbench/algorithm.hpp"
#include "arbench/reduce.hpp"
#include "arbench/signal.hpp"

namespace arbench {
namespace {

struct OneShotPull {
  static constexpr bool kSpecialised = true;

  template <class T, int N, class Exec>
  ARBENCH_DEVICE void operator()(const Exec& ex, const Peers& p) const {
    const std::uint32_t epoch = begin_call(ex, p);
    const std::uint64_t packs = packs_of<T>(p.count);
    const int rank = ex.rank();
    const bool staged = p.in_place();
    if (staged) {
      for (std::uint64_t i = first_pack(ex); i < packs; i += pack_stride(ex))
        store_pack<T>(p.scratch(rank), i, p.count, load_pack<T>(p.input(rank), i, p.count));
      if (!barrier(ex, p, ticket(epoch, 1))) return;
    } else {
      if (!barrier<Orders::nothing>(ex, p, ticket(epoch, 1))) return;
    }
    const auto source = [&](int r) -> const void* { return staged ? p.scratch(r) : p.input(r); };
    reduce_strided<T, N>(ex, p, source, 0, packs, p.count, [&](std::uint64_t i, const Pack& sum) {
      store_pack<T>(p.output(rank), i, p.count, sum);
    });
    arrive<Orders::loads>(ex, p, ticket(epoch, 2));
    advance_call(ex, p, epoch);  // while the signals travel
    await_mine(ex, p, ticket(epoch, 2));
  }
};

#ifndef __CUDACC_RTC__
const Register one_shot_pull(kernel_algorithm<OneShotPull>({
    .name = "one_shot_pull",
    .summary = "barrier, every rank loads and sums all peers' data, barrier",
    .stands_for = "vLLM and SGLang 1-stage custom allreduce",
    .rounds_once = true,
    .scratch =
        [](const Case& point) {
          const bool staged = point.placement == Placement::in_place;
          return Scratch{staged ? packs_of(point) * 16 : 0, 0};
        },
    .geometry = [](const Case& point,
                   int max_blocks) { return spread(point, packs_of(point), 32, max_blocks); },
}));
#endif

}  // namespace
}  // namespace arbench

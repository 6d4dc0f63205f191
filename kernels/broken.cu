// Negative controls: allreduces that are wrong in one way each. `arbench self-test` runs them, and verification must catch
// every one; hidden, so that no sweep shows them unless they are named.
//
// What a missing order makes wrong only now and then is made wrong always: the last rank holds a store or a load back until
// rank 0 has done what nothing keeps it from any more. That is a schedule the broken protocol allows and the right one does
// not, on host threads, virtual ranks and several GPUs alike. A hold is bounded, by a sixteenth of the timeout of a wait.
#include "arbench/algorithm.hpp"
#include "arbench/reduce.hpp"
#include "arbench/signal.hpp"

namespace arbench {
namespace {

/// Flags of a block that does not run: for the holds, apart from those of the protocol.
constexpr int kHoldRow = 1;

/// Rank 0 tells the last rank that it has come to `value`, which grows.
template <class Exec>
ARBENCH_DEVICE void note(const Exec& ex, const Peers& p, std::uint32_t value) {
  ex.sync_block();
  if (ex.rank() == 0 && ex.thread() == 0)
    ex.store_release(&p.signals(p.ranks - 1).flag[kHoldRow][0].value, value);
}

/// Holds the last rank back until rank 0 has noted `value`, or for as long as a hold may take.
template <class Exec>
ARBENCH_DEVICE void hold(const Exec& ex, const Peers& p, std::uint32_t value) {
  if (ex.rank() != p.ranks - 1) return;
  if (ex.thread() == 0) {
    const std::uint32_t* word = &p.signals(ex.rank()).flag[kHoldRow][0].value;
    const std::uint64_t start = ex.now_ns();
    while (!reached(ex.load_acquire(word), value) && ex.now_ns() - start < p.timeout_ns / 16)
      ex.relax();
  }
  ex.sync_block();
}

/// Packs [0, packs) of the sum over source(r), into the rank's own output.
template <class T, class Exec, class Source>
ARBENCH_DEVICE void sum_packs(const Exec& ex, const Peers& p, Source source, std::uint64_t packs) {
  reduce_strided<T, 0>(ex, p, source, 0, packs, p.count, [&](std::uint64_t i, const Pack& sum) {
    store_pack<T>(p.output(ex.rank()), i, p.count, sum);
  });
}

/// The rank's input, into array number `slot` of `owner`'s scratch.
template <class T, class Exec>
ARBENCH_DEVICE void stage(const Exec& ex, const Peers& p, int owner, int slot) {
  const std::uint64_t packs = packs_of<T>(p.count);
  Pack* to = reinterpret_cast<Pack*>(p.scratch(owner)) + static_cast<std::uint64_t>(slot) * packs;
  for (std::uint64_t i = first_pack(ex); i < packs; i += pack_stride(ex))
    to[i] = load_pack<T>(p.input(ex.rank()), i, p.count);
}

template <class T>
ARBENCH_DEVICE const void* staged(const Peers& p, int owner, int slot) {
  return reinterpret_cast<const Pack*>(p.scratch(owner)) +
         static_cast<std::uint64_t>(slot) * packs_of<T>(p.count);
}

/// The last rank's flag is not ordered behind its data: the data arrive when rank 0 has read.
struct NoRelease {
  static constexpr bool kSpecialised = false;
  template <class T, int N, class Exec>
  ARBENCH_DEVICE void operator()(const Exec& ex, const Peers& p) const {
    const std::uint32_t epoch = begin_call(ex, p);
    const bool late = ex.rank() == p.ranks - 1;
    if (!late) stage<T>(ex, p, ex.rank(), 0);
    arrive(ex, p, ticket(epoch, 1));
    hold(ex, p, ticket(epoch, 1));
    if (late) stage<T>(ex, p, ex.rank(), 0);
    if (!await(ex, p, ticket(epoch, 1))) return;
    sum_packs<T>(
        ex, p, [&](int r) { return staged<T>(p, r, 0); }, packs_of<T>(p.count));
    note(ex, p, ticket(epoch, 1));
    if (!barrier(ex, p, ticket(epoch, 2))) return;
    advance_call(ex, p, epoch);
  }
};

/// No barrier at the end: the last rank reads rank 0's input when rank 0 is in its next call.
struct NoEndBarrier {
  static constexpr bool kSpecialised = false;
  template <class T, int N, class Exec>
  ARBENCH_DEVICE void operator()(const Exec& ex, const Peers& p) const {
    const std::uint32_t epoch = begin_call(ex, p);
    note(ex, p, ticket(epoch, 1));
    if (!barrier<Orders::nothing>(ex, p, ticket(epoch, 1))) return;
    hold(ex, p, ticket(epoch + 1, 1));
    sum_packs<T>(
        ex, p, [&](int r) { return p.input(r); }, packs_of<T>(p.count));
    ex.sync_block();
    advance_call(ex, p, epoch);
  }
};

/// A push without end barrier needs two sets of slots in turn; here is one, and rank 0's next data are in it when the last
/// rank reads.
struct OneBuffer {
  static constexpr bool kSpecialised = false;
  template <class T, int N, class Exec>
  ARBENCH_DEVICE void operator()(const Exec& ex, const Peers& p) const {
    const std::uint32_t epoch = begin_call(ex, p);
    for (int peer = 0; peer < p.ranks; ++peer) stage<T>(ex, p, peer, ex.rank());
    arrive(ex, p, ticket(epoch, 1));
    note(ex, p, ticket(epoch, 1));
    if (!await(ex, p, ticket(epoch, 1))) return;
    hold(ex, p, ticket(epoch + 1, 1));
    sum_packs<T>(
        ex, p, [&](int r) { return staged<T>(p, ex.rank(), r); }, packs_of<T>(p.count));
    ex.sync_block();
    advance_call(ex, p, epoch);
  }
};

/// The number of the call to wait for is an argument, so a graph that is replayed finds flags that are set already. The last
/// rank's data arrive when rank 0 has read. Flags are set to the true number: they would go back else, and a rank might hang.
struct StaleEpoch {
  static constexpr bool kSpecialised = false;
  std::uint32_t enqueued;  ///< the call's number, if each is enqueued anew
  template <class T, int N, class Exec>
  ARBENCH_DEVICE void operator()(const Exec& ex, const Peers& p) const {
    const std::uint32_t epoch = begin_call(ex, p);
    hold(ex, p, ticket(epoch, 1));
    stage<T>(ex, p, ex.rank(), 0);
    arrive(ex, p, ticket(epoch, 1));
    if (!await(ex, p, ticket(enqueued, 1))) return;
    sum_packs<T>(
        ex, p, [&](int r) { return staged<T>(p, r, 0); }, packs_of<T>(p.count));
    note(ex, p, ticket(epoch, 1));
    arrive(ex, p, ticket(epoch, 2));
    if (!await(ex, p, ticket(enqueued, 2))) return;
    advance_call(ex, p, epoch);
  }
};

/// A right allreduce as far as `packs` packs go, on the ranks below `right_ranks`; the others put out their own input.
template <class T, class Exec>
ARBENCH_DEVICE void pull(const Exec& ex, const Peers& p, int right_ranks, std::uint64_t packs) {
  const std::uint32_t epoch = begin_call(ex, p);
  if (!barrier<Orders::nothing>(ex, p, ticket(epoch, 1))) return;
  if (ex.rank() < right_ranks) {
    sum_packs<T>(
        ex, p, [&](int r) { return p.input(r); }, packs);
  } else {
    for (std::uint64_t i = first_pack(ex); i < packs; i += pack_stride(ex))
      store_pack<T>(p.output(ex.rank()), i, p.count, load_pack<T>(p.input(ex.rank()), i, p.count));
  }
  if (!barrier<Orders::loads>(ex, p, ticket(epoch, 2))) return;
  advance_call(ex, p, epoch);
}

struct OnlyRank0 {
  static constexpr bool kSpecialised = false;
  template <class T, int N, class Exec>
  ARBENCH_DEVICE void operator()(const Exec& ex, const Peers& p) const {
    pull<T>(ex, p, 1, packs_of<T>(p.count));
  }
};

struct NoTail {
  static constexpr bool kSpecialised = false;
  template <class T, int N, class Exec>
  ARBENCH_DEVICE void operator()(const Exec& ex, const Peers& p) const {
    pull<T>(ex, p, p.ranks, p.count / kPerPack<T>);
  }
};

struct ReturnsAtOnce {
  static constexpr bool kSpecialised = false;
  template <class T, int N, class Exec>
  ARBENCH_DEVICE void operator()(const Exec&, const Peers&) const {}
};

/// Right whenever it is launched.
struct Right {
  static constexpr bool kSpecialised = false;
  template <class T, int N, class Exec>
  ARBENCH_DEVICE void operator()(const Exec& ex, const Peers& p) const {
    pull<T>(ex, p, p.ranks, packs_of<T>(p.count));
  }
};

#ifndef __CUDACC_RTC__
using Reject = std::optional<std::string> (*)(const Case&);

std::optional<std::string> unless_out_of_place(const Case& point) {
  if (point.placement == Placement::in_place) return "is a control for out of place alone";
  return std::nullopt;
}

std::optional<std::string> unless_ops_overlap(const Case& point) {
  if (point.launch == Launch::grid)
    return "is right in a grid launch, which ends on all ranks together";
  return unless_out_of_place(point);
}

std::optional<std::string> unless_replayed(const Case& point) {
  if (point.mode == Mode::eager) return "is right when each op is enqueued anew";
  return unless_out_of_place(point);
}

template <class Kernel>
Algorithm control(const char* name, const char* summary, Reject reject = unless_out_of_place) {
  Algorithm record;
  record.name = name;
  record.summary = summary;
  record.stands_for = "a mistake that verification must catch";
  record.hidden = true;
  record.reject = reject;
  record.scratch = [](const Case& point) {  // an array per rank, of which most use one
    return Scratch{packs_of(point) * 16 * static_cast<std::uint64_t>(point.ranks()), 0};
  };
  // One block: the holds use the flags of the second.
  record.geometry = [](const Case& point, int) {
    return Geometry{1, point.backend == Backend::host ? 1 : 256};
  };
  return kernel_algorithm<Kernel>(std::move(record));
}

Algorithm stale_epoch() {
  Algorithm record = control<StaleEpoch>(
      "broken_stale_epoch", "the call number is fixed when a graph is captured", unless_replayed);
  record.open = [](const OpenContext& context) {
    return Op{[peers = context.peers, dtype = context.point.dtype, shape = context.geometry,
               ranks = context.grid_ranks, code = code_of<StaleEpoch>(context.point),
               calls = std::uint32_t{0}](Queue& queue) mutable {
                launch(queue, StaleEpoch{calls++}, peers, dtype, shape, ranks, code);
              },
              {},
              {}};
  };
  return record;
}

Algorithm no_launch() {
  Algorithm record = control<Right>("broken_no_launch", "every second op is not launched");
  record.open = [open = record.open](const OpenContext& context) {
    return Op{[enqueue = open(context).enqueue, calls = 0](Queue& queue) mutable {
                if (calls++ % 2 == 0) enqueue(queue);
              },
              {},
              {}};
  };
  return record;
}

const Register controls[] = {
    Register(control<NoRelease>("broken_no_release", "a flag overtakes the data it speaks for")),
    Register(control<NoEndBarrier>("broken_no_end_barrier",
                                   "inputs may be overwritten while a peer still reads them",
                                   unless_ops_overlap)),
    Register(control<OneBuffer>("broken_one_buffer", "one set of slots where two must take turns",
                                unless_ops_overlap)),
    Register(stale_epoch()),
    Register(control<OnlyRank0>("broken_only_rank_0", "only rank 0 has the sum")),
    Register(control<NoTail>("broken_no_tail", "writes whole packs only")),
    Register(control<ReturnsAtOnce>("broken_returns_at_once", "the kernel does nothing")),
    Register(no_launch()),
};
#endif

}  // namespace
}  // namespace arbench

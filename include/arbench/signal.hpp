// Bounded waiting, call numbers and the barrier between equal blocks of all ranks: written once for
// both machines.
//
// Protocol rules: one writer per flag word; write remote, poll local; release on the flag store and
// acquire on the flag load carry the data; signal all peers first, then wait for all; values only
// grow and compare by signed distance. Every wait is bounded: when it gives up it records the fault
// in pinned host memory and returns false, and the kernel returns. The world is then set up anew,
// so nothing has to be repaired here.
#pragma once

#include "arbench/peers.hpp"
#include "arbench/port.hpp"

namespace arbench {
inline namespace ARBENCH_PORT {

/// Steps that one call may signal. A ticket is epoch * kStepsPerCall + step; it wraps modulo 2^32
/// harmlessly as long as two ranks are less than 2^31 apart, and no protocol lets them drift by
/// more than two calls.
inline constexpr std::uint32_t kStepsPerCall = 4096;

/// The peer of a fault whose wait was for several.
inline constexpr int kAnyPeer = -1;

ARBENCH_DEVICE std::uint32_t ticket(std::uint32_t epoch, std::uint32_t step) {
  return epoch * kStepsPerCall + step;
}

/// True once `seen` is `wanted` or later.
ARBENCH_DEVICE bool reached(std::uint32_t seen, std::uint32_t wanted) {
  return static_cast<std::int32_t>(seen - wanted) >= 0;
}

template <class Exec>
ARBENCH_DEVICE void record_fault(const Exec& ex, const Peers& p, int peer, std::uint32_t wanted,
                                 std::uint32_t seen) {
  if (!ex.claim_local(&p.progress(ex.rank()).fault_claimed)) return;
  Fault& fault = p.control->fault;
  ex.set_host_word(reinterpret_cast<std::uint32_t*>(&fault.rank), ex.rank());
  ex.set_host_word(reinterpret_cast<std::uint32_t*>(&fault.peer), peer);
  ex.set_host_word(reinterpret_cast<std::uint32_t*>(&fault.block), ex.block());
  ex.set_host_word(&fault.wanted, wanted);
  ex.set_host_word(&fault.seen, seen);
  ex.set_host_word(&fault.set, 1);
  ex.set_host_word(&p.control->abort, 1);
}

/// Polls `ready` until it is true. Gives up, false, after p.timeout_ns or when the host or another
/// wait has aborted; the clock is read every kPollsPerCheck polls only, so a healthy wait pays
/// nothing for the bound.
template <class Exec, class Ready>
ARBENCH_DEVICE bool wait_until(const Exec& ex, const Peers& p, int peer, std::uint32_t wanted,
                               Ready ready) {
  std::uint64_t start = 0;
  for (std::uint32_t polls = 1;; ++polls) {
    std::uint32_t seen = 0;
    if (ready(&seen)) return true;
    ex.relax();
    if (polls % Exec::kPollsPerCheck != 0) continue;
    const std::uint64_t now = ex.now_ns();
    if (start == 0) start = now;
    if (ex.host_word(&p.control->abort) != 0) return false;  // another wait's fault is on record
    if (now - start < p.timeout_ns) continue;
    record_fault(ex, p, peer, wanted, seen);
    return false;
  }
}

/// The number of this call, the same on all ranks. Kept in device memory, so graph replays count
/// on.
template <class Exec>
ARBENCH_DEVICE std::uint32_t begin_call(const Exec& ex, const Peers& p) {
  return ex.load_word(&p.progress(ex.rank()).epoch[ex.block()]);
}

/// Counts call `epoch` as made, for this block's next one. A contender keeps its geometry, so the
/// block that counts is the block that reads.
/// REQUIRES: a sync_block() since begin_call(), so that every thread of the block has read the
/// epoch.
template <class Exec>
ARBENCH_DEVICE void advance_call(const Exec& ex, const Peers& p, std::uint32_t epoch) {
  if (ex.thread() == 0) ex.store_word(&p.progress(ex.rank()).epoch[ex.block()], epoch + 1);
}

/// Tells `peer`'s equal block that this rank has come to `value`. Release: all that this thread did
/// before, and all that the block did before its last sync_block(), is visible to whoever acquires
/// the value.
template <class Exec>
ARBENCH_DEVICE void signal(const Exec& ex, const Peers& p, int peer, std::uint32_t value) {
  ex.store_release(&p.signals(peer).flag[ex.block()][ex.rank()].value, value);
}

/// Waits, in local memory, until `peer`'s equal block has come to `value`. Acquire, see signal().
template <class Exec>
ARBENCH_DEVICE bool wait(const Exec& ex, const Peers& p, int peer, std::uint32_t value) {
  const std::uint32_t* word = &p.signals(ex.rank()).flag[ex.block()][peer].value;
  return wait_until(ex, p, peer, value, [&](std::uint32_t* seen) {
    *seen = ex.load_acquire(word);
    return reached(*seen, value);
  });
}

/// What a barrier orders of what the block did before it in this launch; what earlier launches of
/// the stream did is complete in any case.
enum class Orders {
  everything,  ///< its stores become visible behind the barrier; costs a system-wide fence
  loads,    ///< its loads are done: enough when no peer reads, behind the barrier, what this launch
            ///< stored
  nothing,  ///< for a barrier that comes first in a launch
};

/// Calls f(rank) for the ranks, its own among them, that this thread signals or awaits for its
/// block. Where a block has a thread for every rank there is no loop: it cost 0.1 to 0.3 us a call
/// on an H200.
template <class Exec, class F>
ARBENCH_DEVICE void for_my_ranks(const Exec& ex, const Peers& p, F f) {
  if constexpr (Exec::kThreadPerRank) {
    if (ex.thread() < p.ranks) f(ex.thread());
  } else {
    for (int rank = ex.thread(); rank < p.ranks; rank += ex.threads()) f(rank);
  }
}

/// First half of a barrier: tells all ranks' equal blocks that this one has come to `value`.
template <Orders orders = Orders::everything, class Exec>
ARBENCH_DEVICE void arrive(const Exec& ex, const Peers& p, std::uint32_t value) {
  if constexpr (orders != Orders::nothing)
    ex.sync_block();  // the signalling threads speak for the whole block
  for_my_ranks(ex, p, [&](int peer) {
    if constexpr (orders == Orders::everything) {
      signal(ex, p, peer, value);
    } else {
      ex.store_after_loads(&p.signals(peer).flag[ex.block()][ex.rank()].value, value);
    }
  });
}

/// This thread's share of await(). Enough at the end of a kernel, where nobody acts on the answer.
template <class Exec>
ARBENCH_DEVICE bool await_mine(const Exec& ex, const Peers& p, std::uint32_t value) {
  bool here = true;
  for_my_ranks(ex, p, [&](int peer) { here = wait(ex, p, peer, value) && here; });
  return here;
}

/// Second half: waits until all ranks' equal blocks have come to `value`. False, for the whole
/// block, when one did not come in time. What stands between the halves is done while the signals
/// travel.
template <class Exec>
ARBENCH_DEVICE bool await(const Exec& ex, const Peers& p, std::uint32_t value) {
  return !ex.sync_block_any(!await_mine(ex, p, value));
}

/// Barrier over the equal blocks of all ranks: what any thread of block b did before it on any rank
/// (or loaded, see Orders) happens before what any thread of block b on any rank does after it.
/// False, for the whole block, when a rank did not come in time. `value` must grow from barrier to
/// barrier: use ticket(epoch, step).
template <Orders orders = Orders::everything, class Exec>
ARBENCH_DEVICE bool barrier(const Exec& ex, const Peers& p, std::uint32_t value) {
  arrive<orders>(ex, p, value);
  return await(ex, p, value);
}

}  // namespace ARBENCH_PORT
}  // namespace arbench

#include "arbench/algorithm.hpp"
#include "arbench/reduce.hpp"
#include "arbench/signal.hpp"
#include "micro_kernels.hpp"

namespace arbench {
namespace {

static_assert(kMaxTrips < kStepsPerCall);

/// One thread per rank plays; the others only share the counting of the call.
struct PingPong {
  static constexpr bool kSpecialised = false;
  std::uint32_t trips;

  template <class T, int N, class Exec>
  ARBENCH_DEVICE void operator()(const Exec& ex, const Peers& p) const {
    const std::uint32_t epoch = begin_call(ex, p);
    const bool late = ex.thread() == 0 && !play(ex, p, epoch);
    if (ex.sync_block_any(late)) return;
    advance_call(ex, p, epoch);
  }

  template <class Exec>
  ARBENCH_DEVICE bool play(const Exec& ex, const Peers& p, std::uint32_t epoch) const {
    const bool serves = ex.rank() == 0;
    const int peer = serves ? 1 : 0;
    for (std::uint32_t trip = 1; trip <= trips; ++trip) {
      const std::uint32_t value = ticket(epoch, trip);
      if (serves) signal(ex, p, peer, value);
      if (!wait(ex, p, peer, value)) return false;
      if (!serves) signal(ex, p, peer, value);
    }
    return true;
  }
};

struct PackAdd {
  static constexpr bool kSpecialised = false;
  PackArrays arrays;

  template <class T, int N, class Exec>
  ARBENCH_DEVICE void operator()(const Exec& ex, const Peers&) const {
    const auto* left = static_cast<const Pack*>(arrays.left);
    const auto* right = static_cast<const Pack*>(arrays.right);
    for (std::uint64_t i = first_pack(ex); i < arrays.packs; i += pack_stride(ex)) {
      Sum<T> sum(left[i]);
      sum.add(right[i]);
      static_cast<Pack*>(arrays.sum)[i] = sum.rounded();
    }
  }
};

struct Empty {
  static constexpr bool kSpecialised = false;

  template <class T, int N, class Exec>
  ARBENCH_DEVICE void operator()(const Exec&, const Peers&) const {}
};

constexpr Geometry kOneWarp{1, kBackend == Backend::host ? 1 : 32};

struct RegisterMicro {
  RegisterMicro() {
    register_micro_kernels(
        kBackend,
        {.ping_pong =
             [](Queue& queue, const Peers& peers, std::uint32_t trips) {
               launch(queue, PingPong{trips}, peers, Dtype::f32, kOneWarp);
             },
         .pack_add =
             [](Queue& queue, Dtype dtype, Geometry shape, const PackArrays& arrays) {
               launch(queue, PackAdd{arrays}, Peers{}, dtype, shape);
             },
         .empty = [](Queue& queue) { launch(queue, Empty{}, Peers{}, Dtype::f32, kOneWarp); }});
  }
};

const RegisterMicro micro;

}  // namespace
}  // namespace arbench

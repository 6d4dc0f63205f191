#include "arbench/algorithm.hpp"
#include "arbench/reduce.hpp"
#include "arbench/signal.hpp"
#include "micro_kernels.hpp"

namespace arbench {
namespace {

struct Empty {
  static constexpr bool kSpecialised = false;

  template <class T, int N, class Exec>
  ARBENCH_DEVICE void operator()(const Exec&, const Peers&) const {}
};

struct PingPong {
  static constexpr bool kSpecialised = false;
  int trips;

  template <class T, int N, class Exec>
  ARBENCH_DEVICE void operator()(const Exec& ex, const Peers& p) const {
    const std::uint32_t epoch = begin_call(ex, p);
    const int peer = 1 - ex.rank();
    bool late = false;
    for (int trip = 1; trip <= trips && ex.thread() == 0 && !late; ++trip) {
      const std::uint32_t value = ticket(epoch, static_cast<std::uint32_t>(trip));
      if (ex.rank() == 0) signal(ex, p, peer, value);
      late = !wait(ex, p, peer, value);
      if (ex.rank() == 1) signal(ex, p, peer, value);
    }
    ex.sync_block();
    advance_call(ex, p, epoch);
  }
};

struct Add {
  static constexpr bool kSpecialised = false;
  const Pack* a;
  const Pack* b;
  Pack* to;
  std::uint64_t packs;

  template <class T, int N, class Exec>
  ARBENCH_DEVICE void operator()(const Exec& ex, const Peers&) const {
    for (std::uint64_t i = first_pack(ex); i < packs; i += pack_stride(ex)) {
      Sum<T> sum(a[i]);
      sum.add(b[i]);
      to[i] = sum.rounded();
    }
  }
};

struct RegisterMicro {
  RegisterMicro() {
    register_micro_kernels(
        kBackend, {.empty =
                       [](Queue& queue) {
                         launch(queue, Empty{}, Peers{}, Dtype::f32, {1, 1});
                       },
                   .ping_pong =
                       [](Queue& queue, const Peers& peers, int trips) {
                         launch(queue, PingPong{trips}, peers, Dtype::f32, {1, 1}, 2);
                       },
                   .add =
                       [](Queue& queue, Dtype dtype, const void* a, const void* b, void* to,
                          std::uint64_t packs) {
                         const Geometry shape =
                             kBackend == Backend::host ? Geometry{1, 1} : Geometry{kMaxBlocks, 512};
                         launch(queue,
                                Add{static_cast<const Pack*>(a), static_cast<const Pack*>(b),
                                    static_cast<Pack*>(to), packs},
                                Peers{}, dtype, shape);
                       }});
  }
};

const RegisterMicro micro;

}  // namespace
}  // namespace arbench

// Deliberately broken protocols. `mutants NAME` runs one through the same driver and the same
// verification as the real algorithms; exit code 0 means that nothing was noticed. A guard exists
// only if its mutant is caught: by wrong data (exit 1), by a rank that waits in vain (exit 1) or,
// in a ThreadSanitizer build, by its report (its own exit code). `mutants control` runs the
// unbroken algorithms the same way and must pass.
//
// This program includes the kernel files instead of linking them, so that it can run their kernels
// on a broken Exec.
#include <cstdio>
#include <cstring>
#include <mutex>

#include "../../kernels/one_shot_pull.cu"
#include "../../kernels/one_shot_push.cu"
#include "../../kernels/ring_simple.cu"
#include "../../kernels/two_shot_pull.cu"
#include "../spmd.hpp"

namespace arbench {
namespace {

/// Flags without release: values arrive on x86 all the same, only the race report tells.
struct RelaxedFlag : Exec {
  void store_release(std::uint32_t* word, std::uint32_t value) const {
    std::atomic_ref(*word).store(value, std::memory_order_relaxed);
  }
  void store_after_loads(std::uint32_t* word, std::uint32_t value) const {
    store_release(word, value);
  }
};

/// The signalling thread does not wait for the rest of its block.
struct NoBlockSync : Exec {
  void sync_block() const {}
};

template <class Kernel, class BrokenExec>
struct OnBrokenExec {
  static constexpr bool kSpecialised = false;
  template <class T, int N, class E>
  void operator()(const E& ex, const Peers& p) const {
    Kernel{}.template operator()<T, N>(BrokenExec{ex}, p);
  }
};

/// one_shot_pull without its end barrier: a rank may overwrite what a peer still reads.
struct NoEndBarrier {
  static constexpr bool kSpecialised = false;
  template <class T, int N, class E>
  void operator()(const E& ex, const Peers& p) const {
    const std::uint32_t epoch = begin_call(ex, p);
    if (!barrier(ex, p, ticket(epoch, 1))) return;
    const auto source = [&](int r) { return p.input(r); };
    reduce_strided<T, N>(ex, p, source, 0, packs_of<T>(p.count), p.count,
                         [&](std::uint64_t i, const Pack& sum) {
                           store_pack<T>(p.output(ex.rank()), i, p.count, sum);
                         });
    ex.sync_block();
    advance_call(ex, p, epoch);
  }
};

/// one_shot_pull without its start barrier: reads what peers have not written yet.
struct NoStartBarrier {
  static constexpr bool kSpecialised = false;
  template <class T, int N, class E>
  void operator()(const E& ex, const Peers& p) const {
    const std::uint32_t epoch = begin_call(ex, p);
    const auto source = [&](int r) { return p.input(r); };
    reduce_strided<T, N>(ex, p, source, 0, packs_of<T>(p.count), p.count,
                         [&](std::uint64_t i, const Pack& sum) {
                           store_pack<T>(p.output(ex.rank()), i, p.count, sum);
                         });
    if (!barrier(ex, p, ticket(epoch, 1))) return;
    advance_call(ex, p, epoch);
  }
};

/// one_shot_push with one set of slots where two are needed.
struct SingleBuffer {
  static constexpr bool kSpecialised = false;
  template <class T, int N, class E>
  void operator()(const E& ex, const Peers& p) const {
    const std::uint32_t epoch = begin_call(ex, p);
    const std::uint64_t packs = packs_of<T>(p.count);
    OneShotPush{}.send<T, N, std::uint64_t, false>(ex, p, 0, packs);
    ex.sync_block();
    advance_call(ex, p, epoch);
    OneShotPush{}.receive<T, N, std::uint64_t, false>(ex, p, 0, packs);
  }
};

/// one_shot_push whose receiver does not put the sentinel back: the call after next sums old data.
struct NoReset {
  static constexpr bool kSpecialised = false;
  struct Keeps : Exec {
    void store_inline(Pack* pack, const Pack& v) const {
      if (v.word[0] != ~0u || v.word[1] != ~0u) Exec::store_inline(pack, v);
    }
  };
  template <class T, int N, class E>
  void operator()(const E& ex, const Peers& p) const {
    OneShotPush{}.template operator()<T, N>(Keeps{ex}, p);
  }
};

/// Rank 1 tells nobody that it has come: everyone must give up within the timeout.
struct NeverSignals {
  static constexpr bool kSpecialised = false;
  template <class T, int N, class E>
  void operator()(const E& ex, const Peers& p) const {
    if (ex.rank() == 1) return;
    OneShotPull{}.template operator()<T, N>(ex, p);
  }
};

template <class Kernel>
Register mutant(const char* name) {
  Algorithm record;
  record.name = name;
  record.scratch =
      [](const Case& point) {  // enough for any of them, sentinels for those that use them
        return Scratch{packs_of(point) * 16 * 2 * static_cast<std::uint64_t>(point.ranks()), 0xff};
      };
  record.geometry = [](const Case&, int) { return Geometry{1, 2}; };
  return Register(kernel_algorithm<Kernel>(std::move(record)));
}

const Register mutants[] = {
    mutant<OnBrokenExec<OneShotPull, RelaxedFlag>>("pull_relaxed_flag"),
    mutant<OnBrokenExec<TwoShotPull, RelaxedFlag>>("two_shot_relaxed_flag"),
    mutant<OnBrokenExec<RingSimple, RelaxedFlag>>("ring_relaxed_flag"),
    mutant<OnBrokenExec<TwoShotPull, NoBlockSync>>("two_shot_no_block_sync"),
    mutant<OnBrokenExec<RingSimple, NoBlockSync>>("ring_no_block_sync"),
    mutant<NoEndBarrier>("pull_no_end_barrier"),
    mutant<NoStartBarrier>("pull_no_start_barrier"),
    mutant<SingleBuffer>("push_single_buffer"),
    mutant<NoReset>("push_no_reset"),
    mutant<NeverSignals>("never_signals"),
};

/// Wrong elements over all ranks in some eager replays with changing inputs.
std::uint64_t count_wrong(const std::string& algorithm) {
  WorldConfig config = host_config(3);
  config.timeout_seconds = 5;
  std::mutex mutex;
  std::uint64_t wrong = 0;
  on_all_drivers(config, [&](Driver& driver, int) {
    const Case point = host_case(algorithm, config, Dtype::f32, 1027, Mode::graph, {1, 2});
    driver.open(0, point);
    for (std::uint32_t turn = 0; turn < 40; ++turn) {
      const Verified verified = driver.verify(0, turn * 8);
      std::lock_guard lock(mutex);
      wrong += verified.wrong;
    }
  });
  return wrong;
}

int run_one(const std::string& name) {
  try {
    const std::uint64_t wrong = count_wrong(name);
    std::printf("%s: %llu wrong\n", name.c_str(), static_cast<unsigned long long>(wrong));
    return wrong == 0 ? 0 : 1;
  } catch (const std::exception& error) {
    std::printf("%s: %s\n", name.c_str(), error.what());
    return 1;
  }
}

}  // namespace
}  // namespace arbench

int main(int argc, char** argv) {
  using namespace arbench;
  if (argc != 2) return 2;
  if (std::strcmp(argv[1], "list") == 0) {
    for (const Algorithm& algorithm : algorithms(Backend::host)) std::puts(algorithm.name.c_str());
    return 0;
  }
  if (std::strcmp(argv[1], "control") != 0) return run_one(argv[1]);
  for (const char* name : {"one_shot_pull", "one_shot_push", "ring_simple", "two_shot_pull"})
    if (run_one(name) != 0) return 1;
  return 0;
}

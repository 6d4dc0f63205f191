// NCCL's tuner plugin, exported by the program itself: it holds single communicators to ring or
// tree and reads back what NCCL takes, and leaves NCCL_ALGO and NCCL_PROTO to the user.
//
// How NCCL finds it: NCCL_TUNER_PLUGIN=STATIC_PLUGIN makes it look up ncclTunerPlugin_vN, its
// newest N first, in the running program itself, which has to export them (CMake: ENABLE_EXPORTS).
//   NCCL 2.22, 2.23    ask for v3, v2: v3 is taken (src/misc/tuner.cc)
//   NCCL 2.24 .. 2.27  ask for v4, v3, v2: v4
//   NCCL 2.28 .. 2.32  ask for v5, from 2.30 on for v6, and then for v4 (src/plugin/tuner.cc): v4
//   NCCL 2.21, older   do not know STATIC_PLUGIN: nothing is forced, text() is "unverified"
// v5 and v6 add only what is not needed here (tuning constants, chunk sizes), v2 has no cost table.
// A plugin that the user named, or "none", stays in charge, and text() is "unverified" as well. One
// that NCCL would find by itself (libnccl-tuner.so) is displaced.
// Not seen: NCCL's symmetric kernels, which are outside of the table. Without registered windows
// they run only if NCCL_SYM_* asks for them.
//
// Which communicator gets which wish: NCCL tells a plugin neither the communicator nor the rank, so
// the wish is process-wide while a NcclTunerScope stands. Invariant: all rank threads of a process
// open the same case at the same time; each enters its scope before they all meet, makes its
// communicator, and leaves the scope after they have all met again. So no communicator of another
// case can be made in between. Ranks of one process share an observation; that is exact, since an
// allreduce needs the same choice on every rank.
// Thread safety: everything here may be called from any thread.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <string>

namespace arbench {

/// The values are NCCL's numbers of these algorithms (NCCL_ALGO_TREE, NCCL_ALGO_RING).
enum class NcclWish { tree = 0, ring = 1, none = -1 };

/// What NCCL takes for the allreduces of the communicators made in one scope.
class NcclObservation {
 public:
  explicit NcclObservation(NcclWish wish) : wish_(wish) {}

  /// Called by NCCL at each enqueue with its cost table (microseconds, [algorithm][protocol], below
  /// zero where not available): makes the wish come true, and notes the entry that NCCL will take.
  /// Protocols are NCCL's choice. Changes nothing if the wish is not available or is `none`.
  void decide(float* costs, int algorithms, int protocols) noexcept;
  /// "ring/ll", "tree/simple", ... at the latest enqueue; "unverified" if NCCL never asked.
  std::string text() const;
  /// The wish was not available at the latest enqueue; text() says what NCCL took instead.
  bool wish_missed() const { return taken_.load(std::memory_order_relaxed).wish_missed; }
  NcclWish wish() const { return wish_; }

 private:
  struct alignas(std::uint32_t) Taken {  // aligned, so that it is one word for every compiler
    std::int16_t algorithm = -1;
    std::int8_t protocol = -1;
    bool wish_missed = false;
  };
  static_assert(sizeof(Taken) == 4 && std::atomic<Taken>::is_always_lock_free);

  const NcclWish wish_;
  // Relaxed everywhere: the whole value is one word, and who reads it made the NCCL call that wrote
  // it, or one that writes the same.
  std::atomic<Taken> taken_{Taken{}};
};

/// While it stands, communicators made in this process get its wish. See the invariant above.
class NcclTunerScope {
 public:
  /// Joins the scope of the other rank threads. Throws logic_error if theirs has another wish.
  explicit NcclTunerScope(NcclWish wish);
  ~NcclTunerScope();
  NcclTunerScope(const NcclTunerScope&) = delete;

  /// Stays valid until the process ends, since NCCL may hold its address that long.
  const NcclObservation& observation() const { return observation_; }

 private:
  NcclObservation& observation_;
};

/// Tells NCCL, by the environment of this process, where the plugin is, unless the user named one.
/// REQUIRES: no communicator was made yet. Best called before the process has other threads.
void offer_nccl_tuner();

// The plugin interface ---------------------------------------------------------------------------
// Own declarations of NCCL's structs ncclTuner_v3_t and ncclTuner_v4_t, after its headers src/include/nccl_tuner.h
// (2.22.3, 2.24.3) and src/include/plugin/tuner/tuner_v3.h, tuner_v4.h (2.28.3); the layout was
// checked against the debug information of libnccl 2.28.9 and 2.30.7. ncclResult_t and ncclFunc_t
// are enums of int size; 0 is ncclSuccess. NCCL passes the cost table, a
// float[algorithms][protocols], as float**.

using NcclLogger = void (*)(int level, unsigned long flags, const char* file, int line,
                            const char* format, ...);
using NcclTunerInit = int (*)(std::size_t ranks, std::size_t nodes, NcclLogger, void** context);
using NcclTunerDestroy = int (*)(void* context);

struct NcclTunerV3 {
  const char* name;
  NcclTunerInit init;
  int (*get_coll_info)(void* context, int function, std::size_t bytes, int pipelined_ops,
                       float** costs, int algorithms, int protocols, int* channels);
  NcclTunerDestroy destroy;
};

struct NcclTunerV4 {
  const char* name;
  NcclTunerInit init;
  int (*get_coll_info)(void* context, int function, std::size_t bytes, int pipelined_ops,
                       float** costs, int algorithms, int protocols, int registered_buffers,
                       int* channels);
  NcclTunerDestroy destroy;
};

}  // namespace arbench

extern "C" {
extern const arbench::NcclTunerV3 ncclTunerPlugin_v3;
extern const arbench::NcclTunerV4 ncclTunerPlugin_v4;
}

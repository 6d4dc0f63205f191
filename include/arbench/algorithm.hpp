// The record that makes an algorithm known. Adding one is one new file in kernels/: a kernel struct
// and a static Register; --list, the sweep and the tests of both machines pick it up. NVRTC compiles
// the same file at run time, and sees of it and of this header what runs on the device alone.
#pragma once

#include "arbench/peers.hpp"
#include "arbench/port.hpp"
#ifndef __CUDACC_RTC__

#include <cstdint>
#include <functional>
#include <optional>
#include <stdexcept>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "arbench/case.hpp"
#include "arbench/launch.hpp"
#include "arbench/queue.hpp"

namespace arbench {

/// Symmetric device memory an algorithm needs beside input and output, the same on every rank.
struct Scratch {
  std::uint64_t bytes = 0;
  int fill = 0;  ///< each byte holds this before the first call
};

/// What open() gets: one rank's view of the case (grid launch: the view of all ranks).
struct OpenContext {
  const Case& point;
  Peers peers;
  Geometry geometry;   ///< decided: never zero for an algorithm that has a geometry
  int grid_ranks = 1;  ///< ranks per launch
  /// Collective over the drivers: everyone's text, in rank order.
  std::function<std::vector<std::string>(const std::string&)> all_gather;
};

/// An opened algorithm. Destroying it releases what it holds.
struct Op {
  /// Enqueues one allreduce. May be called while the queue captures.
  std::function<void(Queue&)> enqueue;
  /// What a library really ran at the last enqueue ("ring/ll", "unverified"); may be empty.
  std::function<std::string()> ran;
  /// Unblocks what hangs inside a library; may be empty.
  std::function<void()> abort;
  /// The same as enqueue, on inputs and outputs that lie `shift` bytes behind those of the context on
  /// all ranks. Empty: the algorithm is bound to its buffers, and there is no cold L2 for it.
  std::function<void(Queue&, std::uint64_t shift)> enqueue_at{};
};

inline Peers shifted(Peers peers, std::uint64_t shift) {
  peers.input_offset += shift;
  peers.output_offset += shift;
  return peers;
}

/// A case that this algorithm cannot run, found at open(): it becomes a row with this text, on all
/// ranks alike.
class Refused : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

struct Algorithm {
  std::string name;
  std::string summary;     ///< one line for --list
  std::string stands_for;  ///< whose well-known kernel it corresponds to
  bool hidden = false;     ///< runs only when named
  bool kernel = true;      ///< one kernel launch per op, so --launch grid can run it
  int launches_at_once =
      1;  ///< of one rank: all of them, on all ranks of a device, must be resident together
  bool library =
      false;  ///< a library drives it (NCCL): the incumbent of "vs nccl", no duplicate devices
  bool host_transport =
      false;  ///< of its peers it touches signals and scratch memory alone, and these may lie in host memory
  /// Adds in fp32 and rounds the sum once, where others may round after each addition: how far a sum may be off.
  bool rounds_once = false;
  /// What Op::ran has to say before its "/", if it knows; else the row is an error. Empty: anything.
  std::string must_run{};
  /// Why it cannot run this case, or nothing. The same answer on all ranks; empty function: it runs
  /// all.
  std::function<std::optional<std::string>(const Case&)> reject{};
  std::function<Scratch(const Case&)> scratch{};
  /// The geometry it wants when `max_blocks` blocks per rank fit; both fields
  /// within 1..kMaxBlocks/kMaxThreads.
  std::function<Geometry(const Case&, int max_blocks)> geometry{};
  std::function<int(const Case&, int threads)> blocks_per_multiprocessor{};
  /// Things enqueued per op, so that work behind the gate stays below the launch queue's depth.
  std::function<int(const Case&)> launches_per_op{};
  std::function<Op(const OpenContext&)> open{};
  /// The template instance of kernel_entry() that it launches, see instance_name(); empty function: none.
  std::function<std::string(const Case&)> instance{};
  std::string source{};  ///< "one_shot_pull.cu", the file in kernels/; Register fills it in
};

/// All algorithms of a backend, sorted by name. A name that is registered twice ends the program at
/// start.
const std::vector<Algorithm>& algorithms(Backend backend);
/// The one of that name, or null.
const Algorithm* find_algorithm(Backend backend, const std::string& name);
void register_algorithm(Backend backend, Algorithm algorithm);

inline namespace ARBENCH_PORT {

#ifdef __CUDACC__
inline constexpr Backend kBackend = Backend::cuda;
#else
inline constexpr Backend kBackend = Backend::host;
#endif

/// Puts a record into algorithms() of the backend this file is compiled for. Only for
/// namespace-scope objects.
struct Register {
  explicit Register(Algorithm algorithm, std::string_view file = __builtin_FILE()) {
    algorithm.source = file.substr(file.rfind('/') + 1);
    register_algorithm(kBackend, std::move(algorithm));
  }
};

/// Fills in what all algorithms of one kernel struct share: open() launches K once per op.
template <class K>
Algorithm kernel_algorithm(Algorithm record, K kernel = {}) {
  record.open = [kernel](const OpenContext& context) {
    const auto at = [kernel, peers = context.peers, dtype = context.point.dtype,
                     shape = context.geometry, ranks = context.grid_ranks,
                     code = code_of<K>(context.point)](Queue& queue, std::uint64_t shift) {
      if (peers.count > 0) launch(queue, kernel, shifted(peers, shift), dtype, shape, ranks, code);
    };
    return Op{[at](Queue& queue) { at(queue, 0); }, {}, {}, at};
  };
  record.blocks_per_multiprocessor = blocks_per_multiprocessor<K>;
  record.instance = instance_of<K>;
  if (!record.launches_per_op) record.launches_per_op = [](const Case&) { return 1; };
  if (!record.scratch) record.scratch = [](const Case&) { return Scratch{}; };
  return record;
}

}  // namespace ARBENCH_PORT

/// 16-byte packs of a case's message, the last one perhaps in part.
inline std::uint64_t packs_of(const Case& point) { return (point.bytes + 15) / 16; }

}  // namespace arbench
#endif

// One point of the sweep, as a value. No CUDA, no state: everything here can be copied, compared
// and printed. Thread safety: plain values and pure functions.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace arbench {

enum class Dtype { f16, bf16, f32 };
/// eager: K launches behind each other. graph: the same K launches captured once and replayed.
enum class Mode { eager, graph };
/// hot: the same buffers in every op. cold: nothing of an op's buffers is in the L2 when it starts.
enum class L2 { hot, cold };
enum class Placement { out_of_place, in_place };
/// threads: one process, a host thread per rank. processes: a worker process per rank, peer memory
/// by IPC. grid: all (virtual) ranks of an op in one cooperative launch; shows the protocol's own
/// time.
enum class Launch { threads, processes, grid };
/// p2p: peers reach each other's device memory. host: signals and scratch memory lie in pinned host memory,
/// which every GPU reaches over its own PCIe link; nobody touches a peer's device memory.
enum class Transport { p2p, host };
enum class Backend { cuda, host };

/// Each enum's words, in the order of its values. Option parsing, names and CSV all read these
/// tables.
template <class E>
struct Words;
template <>
struct Words<Dtype> {
  static constexpr std::array<std::string_view, 3> list{"f16", "bf16", "f32"};
};
template <>
struct Words<Mode> {
  static constexpr std::array<std::string_view, 2> list{"eager", "graph"};
};
template <>
struct Words<L2> {
  static constexpr std::array<std::string_view, 2> list{"hot", "cold"};
};
template <>
struct Words<Placement> {
  static constexpr std::array<std::string_view, 2> list{"out_of_place", "in_place"};
};
template <>
struct Words<Launch> {
  static constexpr std::array<std::string_view, 3> list{"threads", "processes", "grid"};
};
template <>
struct Words<Transport> {
  static constexpr std::array<std::string_view, 2> list{"p2p", "host"};
};
template <>
struct Words<Backend> {
  static constexpr std::array<std::string_view, 2> list{"cuda", "host"};
};

template <class E>
constexpr std::string_view word(E value) {
  return Words<E>::list[static_cast<std::size_t>(value)];
}

/// The value `text` names, or nothing.
template <class E>
constexpr std::optional<E> from_word(std::string_view text) {
  for (std::size_t i = 0; i < Words<E>::list.size(); ++i)
    if (Words<E>::list[i] == text) return static_cast<E>(i);
  return std::nullopt;
}

/// Bytes of one element.
constexpr std::size_t size_of(Dtype dtype) { return dtype == Dtype::f32 ? 4 : 2; }

/// Blocks and threads of one rank's launch; 0 lets the algorithm choose by size.
struct Geometry {
  int blocks = 0;
  int threads = 0;
  bool operator==(const Geometry&) const = default;
};

struct Case {
  std::string algorithm;
  Dtype dtype = Dtype::bf16;
  std::uint64_t bytes = 0;  ///< message bytes per rank, a multiple of size_of(dtype)
  Mode mode = Mode::graph;
  L2 l2 = L2::hot;
  Placement placement = Placement::out_of_place;
  Launch launch = Launch::threads;
  Transport transport = Transport::p2p;
  Backend backend = Backend::cuda;
  std::vector<int> devices;  ///< the device of each rank; a repeated id makes the ranks virtual
  Geometry geometry;         ///< what the user fixed; zeros are chosen by the algorithm
  std::string toolkit;       ///< that compiled the kernel: empty this build's, or "nvrtc 12.8.93"

  bool operator==(const Case&) const = default;

  int ranks() const { return static_cast<int>(devices.size()); }
  std::uint64_t count() const { return bytes / size_of(dtype); }
  /// True when two ranks share a device. Such rows are never mixed with real multi-GPU ones.
  bool is_virtual() const;
  /// "allreduce/one_shot_pull/bf16/g8/graph/hot/57344", "/in_place" appended for in place, then
  /// "/nvrtc-12.8.93" for another toolkit than the build's.
  /// Holds no device and nothing of the build, so that two builds join by name.
  std::string name() const;
  /// "one_shot_pull", or "one_shot_pull nvrtc 12.8.93": what is its own among the contenders of a point.
  std::string contender() const;
  /// True when `other` is a contender of the same point: all is equal but algorithm and toolkit.
  bool same_point(const Case& other) const;
};

}  // namespace arbench

// One rank of a micro-benchmark: device, stream, signals and gate, set up as the driver of a sweep
// sets up its own. Timed work is enqueued behind a closed gate, so the device never waits for the
// host.
// Thread safety: a MicroRank belongs to the thread that made it, except that any thread may destroy
// it once all ranks have stopped working. Every wait is bounded.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "arbench/peers.hpp"
#include "device.hpp"
#include "harness_kernels.hpp"
#include "rendezvous.hpp"

namespace arbench {

/// Launches that may lie behind a closed gate: a stream's launch queue holds about 1000, and a host
/// thread that fills it would wait for the gate that it alone opens.
inline constexpr int kMaxBehindGate = 512;
/// Graph replays that may lie behind a closed gate.
inline constexpr int kMaxReplaysBehindGate = 8;

/// What one timed piece of work took, in microseconds.
struct Times {
  double device_us = 0;  ///< between time stamps on the stream
  double host_us = 0;    ///< for enqueueing it
};

class MicroRank {
 public:
  /// Rank `rank` of devices.size(). Collective: returns when all ranks are connected and ready.
  /// Throws Refused, Stopped, or runtime_error for what the device says.
  MicroRank(Backend backend, const std::vector<int>& devices, int rank, RendezvousState& meeting);
  MicroRank(const MicroRank&) = delete;

  /// Runs what `enqueue` enqueues, all ranks together. Collective. Throws what `enqueue` throws,
  /// Stopped, and Hung when a wait inside a kernel gave up. A device that does not even finish its
  /// bounded waits ends the program, since neither its memory nor its streams can be freed then.
  Times time(const std::function<void()>& enqueue);
  /// Captures what `enqueue` enqueues.
  std::unique_ptr<Graph> capture(const std::function<void()>& enqueue);
  /// Waits for all that was enqueued; throws as time() does.
  void finish();
  /// Makes what is still enqueued give up, and waits for it. After a failure all ranks call it
  /// before one of them is destroyed, since their kernels write into each other's memory.
  void abandon() noexcept;
  /// Freed with the rank.
  void* allocate(std::uint64_t bytes);

  Device& device() { return *device_; }
  Stream& stream() { return *stream_; }
  Queue& queue() { return stream_->queue(); }
  const Peers& peers() const { return peers_; }

 private:
  struct Release {
    Device* device;
    void operator()(void* memory) const noexcept;
  };

  void connect(const std::vector<int>& devices);
  void open_gate();

  const HarnessKernels& kernels_;
  Rendezvous rendezvous_;
  std::unique_ptr<Device> device_;
  std::unique_ptr<Stream> stream_;
  std::vector<std::unique_ptr<void, Release>> memory_;
  Peers peers_{};
  std::uint32_t gate_ = 0;
};

}  // namespace arbench

// One rank's device behind the two backends: memory that peers can reach, and a stream with events
// and graphs. Thread safety: a Device and its Streams belong to the driver thread that made them.
#pragma once

#include <array>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>

#include "arbench/case.hpp"
#include "arbench/peers.hpp"
#include "arbench/queue.hpp"

namespace arbench {

using Deadline = std::chrono::steady_clock::time_point;

/// A captured sequence; replayed on the stream that captured it.
class Graph {
 public:
  virtual ~Graph() = default;
  /// Launches, copies and fills in it. Waiting of one lane for another is none.
  virtual std::size_t nodes() const = 0;
};

class Stream {
 public:
  virtual ~Stream() = default;
  virtual Queue& queue() = 0;

  virtual void begin_capture() = 0;
  /// Throws Refused with the backend's error text when something captured was not capturable; the
  /// stream stays usable.
  virtual std::unique_ptr<Graph> end_capture() = 0;
  /// Ends a capture that failed half way; never throws.
  virtual void abandon_capture() noexcept = 0;
  virtual void replay(Graph& graph) = 0;

  /// Enqueues time stamp `index`.
  virtual void record(int index) = 0;
  /// Microseconds between two stamps. REQUIRES: finish() since.
  virtual double elapsed_us(int from, int to) = 0;
  /// Waits until all that was enqueued has run. False when the deadline came first.
  virtual bool finish(Deadline deadline) = 0;
  /// Copies to host memory, after all that was enqueued. REQUIRES: bytes small.
  virtual void read(void* host, const void* device, std::size_t bytes) = 0;
};

/// Names an allocation so that another driver, in this process or another, can reach it. POD:
/// travels as bytes.
struct MemoryHandle {
  std::array<char, 64> ipc{};  ///< CUDA IPC handle of device memory
  std::int64_t process = 0;
  void* address = nullptr;  ///< valid within `process`
  std::uint64_t bytes = 0;  ///< of a Mapping; 0: device memory
  int fd = -1;              ///< likewise
};

class Device {
 public:
  virtual ~Device() = default;
  /// `share`: memory will be exported to other processes.
  static std::unique_ptr<Device> open(Backend backend, int id, bool share);

  /// Throws Refused ("needs ... bytes, ... free") when the memory is not there. Freed by release(),
  /// or when the process ends.
  virtual void* allocate(std::uint64_t bytes) = 0;
  /// The same in pinned host memory, which every device and the host reach.
  virtual void* allocate_pinned(std::uint64_t bytes) = 0;
  virtual void release(void* memory) = 0;
  virtual std::uint64_t free_bytes() = 0;
  virtual MemoryHandle export_memory(void* memory) = 0;
  /// The address of another driver's memory as seen from here. Within one process that is the
  /// address itself.
  virtual void* import_memory(const MemoryHandle& handle) = 0;
  virtual void forget(void* imported) = 0;  ///< unmaps it; nothing to do within one process

  /// Makes `peer`'s memory accessible to kernels here. Throws Refused when the hardware or driver
  /// does not.
  virtual void connect(int peer) = 0;
  virtual int multiprocessors() = 0;
  /// Of the cache that all multiprocessors share.
  virtual std::uint64_t l2_bytes() = 0;
  virtual Control* control() = 0;
  virtual std::unique_ptr<Stream> stream() = 0;
};

std::unique_ptr<Device> open_host_device(int id, bool share);
/// Only in builds with CUDA.
std::unique_ptr<Device> open_cuda_device(int id, bool share);

}  // namespace arbench

// The CUDA backend's device, stream and graph.
#include <cuda_runtime.h>
#include <unistd.h>

#include <cstring>
#include <stdexcept>
#include <thread>
#include <unordered_map>
#include <unordered_set>
#include <vector>

#include "arbench/algorithm.hpp"
#include "arbench/cuda_queue.hpp"
#include "device.hpp"
#include "mapping.hpp"

namespace arbench {
namespace {

/// Throws with the call's name; clears the error so that it is not reported again by the next call.
void check(cudaError_t error, const char* what) {
  if (error == cudaSuccess) return;
  cudaGetLastError();
  throw std::runtime_error(std::string(what) + ": " + cudaGetErrorString(error));
}

class CudaEvent {
 public:
  explicit CudaEvent(unsigned flags = cudaEventDefault) {
    check(cudaEventCreateWithFlags(&event_, flags), "cudaEventCreate");
  }
  CudaEvent(CudaEvent&& other) noexcept : event_(std::exchange(other.event_, nullptr)) {}
  CudaEvent& operator=(CudaEvent&&) = delete;
  ~CudaEvent() {
    if (event_ != nullptr) cudaEventDestroy(event_);
  }
  cudaEvent_t get() const { return event_; }

 private:
  cudaEvent_t event_ = nullptr;
};

class OwnedStream {
 public:
  OwnedStream() {
    check(cudaStreamCreateWithFlags(&stream_, cudaStreamNonBlocking), "cudaStreamCreate");
  }
  OwnedStream(const OwnedStream&) = delete;
  ~OwnedStream() { cudaStreamDestroy(stream_); }
  cudaStream_t get() const { return stream_; }

 private:
  cudaStream_t stream_ = nullptr;
};

void copy_on(cudaStream_t stream, void* to, const void* from, std::size_t bytes) {
  check(cudaMemcpyAsync(to, from, bytes, cudaMemcpyDefault, stream), "cudaMemcpyAsync");
}

void fill_on(cudaStream_t stream, void* to, int byte, std::size_t bytes) {
  if (bytes > 0) check(cudaMemsetAsync(to, byte, bytes, stream), "cudaMemsetAsync");
}

/// A side stream, forked from and joined to the main one by events, so that a capture takes it
/// along.
class Lane : public CudaQueue {
 public:
  cudaStream_t stream() override { return stream_.get(); }
  void copy(void* to, const void* from, std::size_t bytes) override {
    copy_on(stream_.get(), to, from, bytes);
  }
  void fill(void* to, int byte, std::size_t bytes) override {
    fill_on(stream_.get(), to, byte, bytes);
  }
  Queue& lane(int) override { throw std::logic_error("a lane has no lanes"); }
  void join() override {}

  void fork(cudaStream_t from) {
    if (std::exchange(used_, true)) return;
    check(cudaEventRecord(event_.get(), from), "cudaEventRecord");
    check(cudaStreamWaitEvent(stream_.get(), event_.get(), 0), "cudaStreamWaitEvent");
  }
  void join_into(cudaStream_t main) {
    if (!std::exchange(used_, false)) return;
    check(cudaEventRecord(event_.get(), stream_.get()), "cudaEventRecord");
    check(cudaStreamWaitEvent(main, event_.get(), 0), "cudaStreamWaitEvent");
  }
  void forget() { used_ = false; }

 private:
  OwnedStream stream_;
  CudaEvent event_{cudaEventDisableTiming};
  bool used_ = false;
};

class CudaGraph : public Graph {
 public:
  CudaGraph(cudaGraph_t graph, std::size_t nodes) : nodes_(nodes) {
    const cudaError_t error = cudaGraphInstantiate(&exec_, graph, 0);
    cudaGraphDestroy(graph);
    check(error, "cudaGraphInstantiate");
  }
  ~CudaGraph() override { cudaGraphExecDestroy(exec_); }
  CudaGraph(const CudaGraph&) = delete;
  cudaGraphExec_t get() const { return exec_; }
  std::size_t nodes() const override { return nodes_; }

 private:
  std::size_t nodes_;
  cudaGraphExec_t exec_ = nullptr;
};

class CudaStream : public Stream, public CudaQueue {
 public:
  Queue& queue() override { return *this; }
  cudaStream_t stream() override { return stream_.get(); }

  void copy(void* to, const void* from, std::size_t bytes) override {
    copy_on(stream_.get(), to, from, bytes);
  }
  void fill(void* to, int byte, std::size_t bytes) override {
    fill_on(stream_.get(), to, byte, bytes);
  }
  Queue& lane(int i) override {
    lanes_[i].fork(stream_.get());
    return lanes_[i];
  }
  void join() override {
    for (Lane& lane : lanes_) lane.join_into(stream_.get());
  }

  void begin_capture() override {
    check(cudaStreamBeginCapture(stream_.get(), cudaStreamCaptureModeThreadLocal),
          "cudaStreamBeginCapture");
  }
  std::unique_ptr<Graph> end_capture() override {
    cudaGraph_t graph = nullptr;
    const cudaError_t error = cudaStreamEndCapture(stream_.get(), &graph);
    if (error != cudaSuccess || graph == nullptr) {
      cudaGetLastError();
      throw Refused(std::string("capture: ") + cudaGetErrorString(error));
    }
    std::size_t nodes = 0;
    check(cudaGraphGetNodes(graph, nullptr, &nodes), "cudaGraphGetNodes");
    if (nodes == 0) {
      cudaGraphDestroy(graph);
      throw Refused("capture: the graph is empty");  // replaying it would time nothing
    }
    auto result = std::make_unique<CudaGraph>(graph, nodes);
    check(cudaGraphUpload(result->get(), stream_.get()), "cudaGraphUpload");
    return result;
  }
  void abandon_capture() noexcept override {
    cudaGraph_t graph = nullptr;
    if (cudaStreamEndCapture(stream_.get(), &graph) == cudaSuccess && graph != nullptr)
      cudaGraphDestroy(graph);
    cudaGetLastError();
    for (Lane& lane : lanes_) lane.forget();
  }
  void replay(Graph& graph) override {
    check(cudaGraphLaunch(static_cast<CudaGraph&>(graph).get(), stream_.get()), "cudaGraphLaunch");
  }

  void record(int index) override {
    while (static_cast<int>(stamps_.size()) <= index) stamps_.emplace_back();
    check(cudaEventRecord(stamps_[index].get(), stream_.get()), "cudaEventRecord");
  }
  double elapsed_us(int from, int to) override {
    float ms = 0;
    check(cudaEventElapsedTime(&ms, stamps_.at(from).get(), stamps_.at(to).get()),
          "cudaEventElapsedTime");
    return ms * 1e3;
  }
  bool finish(Deadline deadline) override {
    check(cudaEventRecord(done_.get(), stream_.get()), "cudaEventRecord");
    for (int polls = 0;; ++polls) {
      const cudaError_t state = cudaEventQuery(done_.get());
      if (state == cudaSuccess) return true;
      if (state != cudaErrorNotReady) check(state, "waiting for the device");
      if (std::chrono::steady_clock::now() > deadline) return false;
      if (polls > 2000) std::this_thread::sleep_for(std::chrono::microseconds(20));
    }
  }
  void read(void* host, const void* device, std::size_t bytes) override {
    copy_on(stream_.get(), host, device, bytes);
    check(cudaStreamSynchronize(stream_.get()), "cudaStreamSynchronize");
  }

 private:
  OwnedStream stream_;
  std::array<Lane, kLanes> lanes_;
  std::vector<CudaEvent> stamps_;
  CudaEvent done_{cudaEventDisableTiming};
};

/// Host memory that all devices reach, over their own links.
class PinnedMapping {
 public:
  explicit PinnedMapping(Mapping mapping) : mapping_(std::move(mapping)) {
    check(cudaHostRegister(address(), mapping_.bytes(),
                           cudaHostRegisterPortable | cudaHostRegisterMapped),
          "cudaHostRegister");
    registered_ = true;
    void* seen = nullptr;
    check(cudaHostGetDevicePointer(&seen, address(), 0), "cudaHostGetDevicePointer");
    if (seen != address())
      throw Refused("devices see host memory at other addresses than the host");
  }
  PinnedMapping(PinnedMapping&& other) noexcept
      : mapping_(std::move(other.mapping_)), registered_(std::exchange(other.registered_, false)) {}
  PinnedMapping& operator=(PinnedMapping&&) = delete;
  ~PinnedMapping() {
    if (registered_) cudaHostUnregister(address());
  }
  void* address() const { return mapping_.address(); }
  const Mapping& mapping() const { return mapping_; }

 private:
  Mapping mapping_;
  bool registered_ = false;
};

class CudaDevice : public Device {
 public:
  CudaDevice(int id, bool share) : id_(id), share_(share) {
    check(cudaSetDevice(id), "cudaSetDevice");  // of this thread, which drives the rank for good
    check(cudaHostAlloc(&control_, sizeof(Control), cudaHostAllocPortable | cudaHostAllocMapped),
          "cudaHostAlloc");
    std::memset(control_, 0, sizeof(Control));
  }
  ~CudaDevice() override { cudaFreeHost(control_); }
  CudaDevice(const CudaDevice&) = delete;

  void* allocate(std::uint64_t bytes) override {
    // Whole 2 MiB: smaller allocations may share a block, and an IPC handle opens the block.
    const std::uint64_t block = 2ull << 20;
    void* memory = nullptr;
    const cudaError_t error = cudaMalloc(&memory, (bytes + block - 1) / block * block);
    if (error == cudaErrorMemoryAllocation) {
      cudaGetLastError();
      throw Refused("needs " + std::to_string(bytes) + " bytes of device memory, " +
                    std::to_string(free_bytes()) + " are free");
    }
    check(error, "cudaMalloc");
    return memory;
  }
  void* allocate_pinned(std::uint64_t bytes) override {
    const std::uint64_t page = 4096;
    return keep(pinned_, Mapping::create((bytes + page - 1) / page * page));
  }
  void release(void* memory) override {
    if (pinned_.erase(memory) == 0) check(cudaFree(memory), "cudaFree");
  }
  std::uint64_t free_bytes() override {
    std::size_t free = 0, total = 0;
    check(cudaMemGetInfo(&free, &total), "cudaMemGetInfo");
    return free;
  }
  MemoryHandle export_memory(void* memory) override {
    if (const auto found = pinned_.find(memory); found != pinned_.end()) {
      const Mapping& mapping = found->second.mapping();
      return {{}, getpid(), memory, mapping.bytes(), mapping.fd()};
    }
    MemoryHandle handle{{}, getpid(), memory};
    if (!share_) return handle;
    cudaIpcMemHandle_t ipc;
    check(cudaIpcGetMemHandle(&ipc, memory), "cudaIpcGetMemHandle");
    static_assert(sizeof ipc == sizeof handle.ipc);
    std::memcpy(handle.ipc.data(), &ipc, sizeof ipc);
    return handle;
  }
  void* import_memory(const MemoryHandle& handle) override {
    if (handle.process == getpid()) return handle.address;
    if (handle.bytes > 0)
      return keep(pinned_imports_, Mapping::open(handle.process, handle.fd, handle.bytes));
    cudaIpcMemHandle_t ipc;
    std::memcpy(&ipc, handle.ipc.data(), sizeof ipc);
    void* address = nullptr;
    check(cudaIpcOpenMemHandle(&address, ipc, cudaIpcMemLazyEnablePeerAccess),
          "cudaIpcOpenMemHandle");
    imports_.insert(address);
    return address;
  }
  void forget(void* imported) override {
    if (pinned_imports_.erase(imported) > 0) return;
    if (imports_.erase(imported) > 0)
      check(cudaIpcCloseMemHandle(imported), "cudaIpcCloseMemHandle");
  }

  void connect(int peer) override {
    if (peer == id_) return;
    int can = 0;
    check(cudaDeviceCanAccessPeer(&can, id_, peer), "cudaDeviceCanAccessPeer");
    const auto pair = "device " + std::to_string(id_) + " to " + std::to_string(peer);
    if (can == 0) throw Refused("no peer access from " + pair + "; --transport host runs without");
    const cudaError_t error = cudaDeviceEnablePeerAccess(peer, 0);
    if (error == cudaErrorPeerAccessAlreadyEnabled) {
      cudaGetLastError();
      return;
    }
    if (error == cudaErrorTooManyPeers) {
      cudaGetLastError();
      throw Refused("the driver maps no more peers: " + pair + "; use fewer devices per process");
    }
    check(error, "cudaDeviceEnablePeerAccess");
  }
  int multiprocessors() override {
    int value = 0;
    check(cudaDeviceGetAttribute(&value, cudaDevAttrMultiProcessorCount, id_),
          "cudaDeviceGetAttribute");
    return value;
  }
  std::uint64_t l2_bytes() override {
    int value = 0;
    check(cudaDeviceGetAttribute(&value, cudaDevAttrL2CacheSize, id_), "cudaDeviceGetAttribute");
    return static_cast<std::uint64_t>(value);
  }
  Control* control() override { return control_; }
  std::unique_ptr<Stream> stream() override { return std::make_unique<CudaStream>(); }

 private:
  using Pinned = std::unordered_map<void*, PinnedMapping>;

  static void* keep(Pinned& all, Mapping mapping) {
    PinnedMapping pinned(std::move(mapping));
    void* address = pinned.address();
    all.emplace(address, std::move(pinned));
    return address;
  }

  int id_;
  bool share_;
  Control* control_ = nullptr;
  std::unordered_set<void*> imports_;
  Pinned pinned_, pinned_imports_;
};

}  // namespace

std::unique_ptr<Device> open_cuda_device(int id, bool share) {
  return std::make_unique<CudaDevice>(id, share);
}

}  // namespace arbench

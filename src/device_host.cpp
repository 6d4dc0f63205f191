// The host backend: device memory is host memory, a stream is a list of operations that finish()
// runs in order on a team of threads. Nothing runs before finish(), so a gate can be opened after
// all is enqueued, as on a GPU.
#include <unistd.h>

#include <cstring>
#include <fstream>
#include <map>
#include <memory>
#include <thread>
#include <unordered_map>
#include <vector>

#include "arbench/algorithm.hpp"
#include "device.hpp"
#include "mapping.hpp"

namespace arbench {
namespace {

using Clock = std::chrono::steady_clock;

/// Either a launch, or something that one thread does.
struct HostOp {
  HostLaunch launch;
  std::function<void()> single;

  int workers() const {
    return single ? 1 : launch.ranks * launch.shape.blocks * launch.shape.threads;
  }
};

class HostGraph : public Graph {
 public:
  explicit HostGraph(std::vector<HostOp> ops) : ops(std::move(ops)) {}
  std::size_t nodes() const override { return ops.size(); }
  std::vector<HostOp> ops;
};

/// Runs operations in order: all threads of an operation at once, a barrier between two operations.
class Team {
 public:
  explicit Team(const std::vector<HostOp>& ops) : ops_(ops) {
    for (const HostOp& op : ops) {
      size_ = std::max(size_, op.workers());
      if (!op.single) blocks_of(op);
    }
  }

  void run() {
    HostBarrier between(size_);
    std::vector<std::jthread> others;
    for (int i = 1; i < size_; ++i) others.emplace_back([&, i] { work(i, between); });
    work(0, between);
  }

 private:
  using Blocks = std::vector<std::unique_ptr<BlockState>>;

  /// Operations of one shape share their blocks: the barrier between operations keeps them apart.
  Blocks& blocks_of(const HostOp& op) {
    const int blocks = op.launch.ranks * op.launch.shape.blocks;
    Blocks& states = states_[{blocks, op.launch.shape.threads}];
    while (static_cast<int>(states.size()) < blocks)
      states.push_back(std::make_unique<BlockState>(op.launch.shape.threads));
    return states;
  }

  void work(int index, HostBarrier& between) {
    for (const HostOp& op : ops_) {
      if (index < op.workers()) {
        if (op.single) {
          op.single();
        } else {
          const auto [blocks, threads] = op.launch.shape;
          const int row = index / threads;  // blocks of all ranks, one after the other
          op.launch.body(Exec(index % threads, threads, row % blocks, blocks,
                              op.launch.first_rank + row / blocks,
                              states_.at({op.launch.ranks * blocks, threads})[row].get()));
        }
      }
      if (size_ > 1) between.arrive_and_wait();
    }
  }

  const std::vector<HostOp>& ops_;
  int size_ = 1;
  std::map<std::pair<int, int>, Blocks> states_;
};

class HostStream : public Stream, public HostQueue {
 public:
  Queue& queue() override { return *this; }

  void enqueue(HostLaunch launch) override { target().push_back({std::move(launch), {}}); }
  void copy(void* to, const void* from, std::size_t bytes) override {
    single([=] { std::memcpy(to, from, bytes); });
  }
  void fill(void* to, int byte, std::size_t bytes) override {
    single([=] { std::memset(to, byte, bytes); });
  }
  Queue& lane(int) override { return *this; }  // lanes need not overlap to be right
  void join() override {}

  void begin_capture() override { capturing_ = true; }
  std::unique_ptr<Graph> end_capture() override {
    capturing_ = false;
    return std::make_unique<HostGraph>(std::exchange(captured_, {}));
  }
  void abandon_capture() noexcept override {
    capturing_ = false;
    captured_.clear();
  }
  void replay(Graph& graph) override {
    const auto& ops = static_cast<HostGraph&>(graph).ops;
    pending_.insert(pending_.end(), ops.begin(), ops.end());
  }

  void record(int index) override {
    single([this, index] {
      if (index >= static_cast<int>(stamps_.size())) stamps_.resize(index + 1);
      stamps_[index] = Clock::now();
    });
  }
  double elapsed_us(int from, int to) override {
    return std::chrono::duration<double, std::micro>(stamps_.at(to) - stamps_.at(from)).count();
  }
  bool finish(Deadline) override {  // every operation is bounded by its own waits
    const auto ops = std::exchange(pending_, {});
    Team(ops).run();
    return true;
  }
  void read(void* host, const void* device, std::size_t bytes) override {
    finish({});
    std::memcpy(host, device, bytes);
  }

 private:
  std::vector<HostOp>& target() { return capturing_ ? captured_ : pending_; }
  void single(std::function<void()> what) { target().push_back({{}, std::move(what)}); }

  std::vector<HostOp> pending_, captured_;
  bool capturing_ = false;
  std::vector<Clock::time_point> stamps_;
};

class HostDevice : public Device {
 public:
  void* allocate(std::uint64_t bytes) override {
    // The kernel hands out more than there is and kills later: ask first.
    if (bytes > free_bytes())
      throw Refused("needs " + std::to_string(bytes) + " bytes of host memory, " +
                    std::to_string(free_bytes()) + " are free");
    Mapping mapping = Mapping::create(bytes);
    void* address = mapping.address();
    own_.emplace(address, std::move(mapping));
    return address;
  }
  void* allocate_pinned(std::uint64_t bytes) override { return allocate(bytes); }
  void release(void* memory) override { own_.erase(memory); }
  std::uint64_t free_bytes() override {
    std::ifstream file("/proc/meminfo");
    std::string key, unit;
    std::uint64_t kib = 0;
    while (file >> key >> kib && std::getline(file, unit))
      if (key == "MemAvailable:") return kib * 1024;
    return ~0ull;
  }
  MemoryHandle export_memory(void* memory) override {
    const Mapping& mapping = own_.at(memory);
    return {{}, getpid(), memory, mapping.bytes(), mapping.fd()};
  }
  void* import_memory(const MemoryHandle& handle) override {
    if (handle.process == getpid()) return handle.address;
    Mapping mapping = Mapping::open(handle.process, handle.fd, handle.bytes);
    void* address = mapping.address();
    imports_.emplace(address, std::move(mapping));
    return address;
  }
  void forget(void* imported) override { imports_.erase(imported); }

  void connect(int) override {}
  int multiprocessors() override { return 1; }
  /// Fixed, so that runs on different hosts do the same: that of one core of a common server.
  std::uint64_t l2_bytes() override { return 1 << 20; }
  Control* control() override { return &control_; }
  std::unique_ptr<Stream> stream() override { return std::make_unique<HostStream>(); }

 private:
  std::unordered_map<void*, Mapping> own_, imports_;
  Control control_{};
};

}  // namespace

std::unique_ptr<Device> open_host_device(int, bool) { return std::make_unique<HostDevice>(); }

}  // namespace arbench

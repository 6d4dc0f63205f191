// A second opinion on arbench's times: the same kernels in the plainest loop that can time them. One host thread; one
// stream and one graph of K ops per rank; an event before R replays and one behind them. No gate, no start barrier, no
// rounds, no Google Benchmark. R is so large that what the ranks start apart does not count.
//   arbench_plain_loop ALGORITHM RANKS BYTES
// bf16, out of place, a rank per device where there are enough, else all on device 0.
#include <cuda_runtime.h>

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <exception>
#include <stdexcept>
#include <string>
#include <vector>

#include "arbench/algorithm.hpp"
#include "arbench/cuda_queue.hpp"
#include "option_values.hpp"
#include "options.hpp"
#include "statistics.hpp"

namespace arbench {
namespace {

constexpr int kOps = 20;
constexpr int kRepeats = 21;
constexpr double kRepeatUs = 20'000;  ///< of device time, about
constexpr std::uint64_t kTimeoutNs = 5'000'000'000;

void check(cudaError_t error, const char* what) {
  if (error != cudaSuccess)
    throw std::runtime_error(std::string(what) + ": " + cudaGetErrorString(error));
}

/// Kernel algorithms ask for nothing but the stream.
class PlainQueue : public CudaQueue {
 public:
  explicit PlainQueue(cudaStream_t stream) : stream_(stream) {}
  cudaStream_t stream() override { return stream_; }
  void copy(void*, const void*, std::size_t) override { refuse(); }
  void fill(void*, int, std::size_t) override { refuse(); }
  Queue& lane(int) override { return refuse(), *this; }
  void join() override { refuse(); }

 private:
  static void refuse() { throw std::logic_error("not a kernel algorithm"); }
  cudaStream_t stream_;
};

struct Rank {
  int device;
  cudaStream_t stream;
  cudaEvent_t start, stop;
  cudaGraphExec_t graph;
};

Case point_of(const std::string& algorithm, int ranks, std::uint64_t bytes) {
  int devices = 0;
  check(cudaGetDeviceCount(&devices), "cudaGetDeviceCount");
  Case point;
  point.algorithm = algorithm;
  point.bytes = bytes / size_of(point.dtype) * size_of(point.dtype);
  for (int rank = 0; rank < ranks; ++rank) point.devices.push_back(devices >= ranks ? rank : 0);
  return point;
}

/// As many blocks as are resident together with those of the other ranks on the device.
Geometry geometry_of(const Algorithm& algorithm, const Case& point) {
  const int sharing = point.is_virtual() ? point.ranks() : 1;
  int multiprocessors = 0;
  check(cudaDeviceGetAttribute(&multiprocessors, cudaDevAttrMultiProcessorCount, 0), "attribute");
  const Geometry wanted = algorithm.geometry(point, kMaxBlocks);
  const int fit =
      algorithm.blocks_per_multiprocessor(point, wanted.threads) * multiprocessors / sharing;
  if (wanted.blocks <= fit) return wanted;
  return {std::min(algorithm.geometry(point, fit).blocks, fit), wanted.threads};
}

std::byte* filled(std::size_t bytes, int byte) {
  void* memory = nullptr;
  check(cudaMalloc(&memory, bytes), "cudaMalloc");
  check(cudaMemset(memory, byte, bytes), "cudaMemset");
  return static_cast<std::byte*>(memory);
}

void reach_peers(const Case& point, int device) {
  check(cudaSetDevice(device), "cudaSetDevice");
  for (const int peer : point.devices) {
    if (peer == device) continue;
    const cudaError_t error = cudaDeviceEnablePeerAccess(peer, 0);
    if (error != cudaErrorPeerAccessAlreadyEnabled) check(error, "cudaDeviceEnablePeerAccess");
    cudaGetLastError();
  }
}

/// Every rank's view; the message is zeros, whose sums stay zeros.
Peers peers_of(const Algorithm& algorithm, const Case& point, Control* control) {
  const Scratch scratch = algorithm.scratch(point);
  Peers peers{};
  peers.ranks = point.ranks();
  peers.count = point.count();
  peers.timeout_ns = kTimeoutNs;
  peers.control = control;
  peers.output_offset = (point.bytes + 255) / 256 * 256;
  for (int rank = 0; rank < point.ranks(); ++rank) {
    reach_peers(point, point.devices[static_cast<std::size_t>(rank)]);
    peers.buffer[rank] = filled(2 * peers.output_offset, 0);
    peers.memory[rank] = filled(kScratchOffset + scratch.bytes, scratch.fill);
    check(cudaMemset(peers.memory[rank], 0, sizeof(Signals)), "cudaMemset");
    check(cudaDeviceSynchronize(), "set-up");
  }
  return peers;
}

Rank open_rank(const Algorithm& algorithm, const Case& point, Peers peers, int number) {
  Rank rank{point.devices[static_cast<std::size_t>(number)], {}, {}, {}, {}};
  check(cudaSetDevice(rank.device), "cudaSetDevice");
  check(cudaStreamCreateWithFlags(&rank.stream, cudaStreamNonBlocking), "cudaStreamCreate");
  check(cudaEventCreate(&rank.start), "cudaEventCreate");
  check(cudaEventCreate(&rank.stop), "cudaEventCreate");
  peers.first_rank = number;
  peers.progress_of_first = reinterpret_cast<Progress*>(filled(sizeof(Progress), 0));
  const Op op = algorithm.open({point, peers, geometry_of(algorithm, point), 1, {}});
  PlainQueue queue(rank.stream);
  check(cudaStreamBeginCapture(rank.stream, cudaStreamCaptureModeThreadLocal), "capture");
  for (int i = 0; i < kOps; ++i) op.enqueue(queue);
  cudaGraph_t graph = nullptr;
  check(cudaStreamEndCapture(rank.stream, &graph), "capture");
  check(cudaGraphInstantiate(&rank.graph, graph, 0), "cudaGraphInstantiate");
  check(cudaGraphUpload(rank.graph, rank.stream), "cudaGraphUpload");
  check(cudaStreamSynchronize(rank.stream), "set-up");
  return rank;
}

/// us per op of the slowest rank.
double time(const std::vector<Rank>& ranks, const Control& control, int replays) {
  const auto each = [&](auto act) {
    for (const Rank& rank : ranks) {
      check(cudaSetDevice(rank.device), "cudaSetDevice");
      act(rank);
    }
  };
  each([](const Rank& rank) { check(cudaEventRecord(rank.start, rank.stream), "event"); });
  for (int replay = 0; replay < replays; ++replay)
    each([](const Rank& rank) { check(cudaGraphLaunch(rank.graph, rank.stream), "launch"); });
  each([](const Rank& rank) { check(cudaEventRecord(rank.stop, rank.stream), "event"); });
  double worst = 0;
  each([&](const Rank& rank) {
    check(cudaEventSynchronize(rank.stop), "wait");
    float ms = 0;
    check(cudaEventElapsedTime(&ms, rank.start, rank.stop), "cudaEventElapsedTime");
    worst = std::max(worst, ms * 1e3 / (replays * kOps));
  });
  if (control.fault.set != 0) throw std::runtime_error("a rank waited in vain");
  return worst;
}

void run(const std::string& name, int ranks, std::uint64_t bytes) {
  const Algorithm* algorithm = find_algorithm(Backend::cuda, name);
  if (algorithm == nullptr || !algorithm->kernel)
    throw UsageError("ALGORITHM " + name + ": is not an algorithm of one kernel, see arbench list");
  setenv("CUDA_DEVICE_MAX_CONNECTIONS", "32", 1);  // no two ranks in one hardware queue
  setenv("CUDA_MODULE_LOADING", "EAGER", 1);
  const Case point = point_of(name, ranks, bytes);
  if (point.bytes == 0) throw UsageError("BYTES 1: less than one bf16 element");
  Control* control = nullptr;
  check(cudaHostAlloc(&control, sizeof(Control), cudaHostAllocPortable | cudaHostAllocMapped),
        "cudaHostAlloc");
  *control = {};
  const Peers peers = peers_of(*algorithm, point, control);
  std::vector<Rank> opened;
  for (int rank = 0; rank < ranks; ++rank)
    opened.push_back(open_rank(*algorithm, point, peers, rank));
  const double about = time(opened, *control, 5);  // also the warm-up
  const int replays = std::clamp(static_cast<int>(kRepeatUs / (about * kOps)), 5, 200);
  std::vector<double> us;
  for (int repeat = 0; repeat < kRepeats; ++repeat) us.push_back(time(opened, *control, replays));
  std::printf("%s n=%d%s %llu bytes: %.3f us/op (%.3f to %.3f), %d repeats of %d replays of %d\n",
              name.c_str(), ranks, point.is_virtual() ? " virtual" : "",
              static_cast<unsigned long long>(point.bytes), median(us), percentile(us, 0),
              percentile(us, 100), kRepeats, replays, kOps);
}

}  // namespace
}  // namespace arbench

int main(int argc, char** argv) {
  if (argc != 4) {
    std::fputs("usage: arbench_plain_loop ALGORITHM RANKS BYTES\n", stderr);
    return 2;
  }
  try {
    arbench::run(argv[1],
                 static_cast<int>(arbench::to_integer({"RANKS", argv[2]}, 2, arbench::kMaxRanks)),
                 arbench::to_size({"BYTES", argv[3]}, false));
  } catch (const arbench::UsageError& error) {
    std::fprintf(stderr, "plain_loop: %s\n", error.what());
    return 2;
  } catch (const std::exception& error) {
    std::fprintf(stderr, "plain_loop: %s\n", error.what());
    return 1;
  }
}

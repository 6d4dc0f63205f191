// What summing costs: sum = left + right over arrays of packs in the memory of one device, in the
// way that every reducing kernel adds. bytes_per_second counts two reads and one write. Passes
// follow each other over the same arrays, so the small sizes come from the cache.
#include <algorithm>
#include <memory>
#include <stdexcept>

#include "arbench/pack.hpp"
#include "micro.hpp"
#include "micro_kernels.hpp"
#include "micro_rank.hpp"

namespace arbench {
namespace {

constexpr std::uint64_t kKiB = 1024, kMiB = 1024 * kKiB;
constexpr Pattern kPattern{.salt = 7};

/// The passes of one iteration: about as many bytes for each size, and less on the host.
int passes_of(const Target& target, std::uint64_t bytes) {
  const std::uint64_t wanted = (target.host() ? kMiB : 256 * kMiB) / bytes;
  return static_cast<int>(std::clamp<std::uint64_t>(wanted, target.host() ? 1 : 4, 200));
}

/// On the GPU as many threads as it holds, or one per pack; on the host one.
Geometry shape_of(const Target& target, Device& device, std::uint64_t packs) {
  if (target.host()) return {1, 1};
  const std::uint64_t threads = 512;
  const auto blocks =
      std::min<std::uint64_t>((packs + threads - 1) / threads, 4ull * device.multiprocessors());
  return {static_cast<int>(blocks), static_cast<int>(threads)};
}

/// Inputs whose sum is exact: `left` is rank 0's and `right` rank 1's.
PackArrays prepare(MicroRank& rank, const HarnessKernels& harness, Dtype dtype,
                   std::uint64_t bytes) {
  void* left = rank.allocate(bytes);
  void* right = rank.allocate(bytes);
  harness.fill(rank.queue(), dtype, left, bytes / size_of(dtype), 0, kPattern);
  harness.fill(rank.queue(), dtype, right, bytes / size_of(dtype), 1, kPattern);
  return {left, right, rank.allocate(bytes), bytes / sizeof(Pack)};
}

/// Throws when a sum is wrong: its time would mean nothing.
void verify(MicroRank& rank, const HarnessKernels& harness, Dtype dtype, const PackArrays& arrays) {
  CheckResult result = kNothingWrong;
  auto* on_device = static_cast<CheckResult*>(rank.allocate(sizeof result));
  rank.queue().copy(on_device, &result, sizeof result);
  harness.check(rank.queue(), dtype, arrays.sum, arrays.packs * sizeof(Pack) / size_of(dtype),
                {.pattern = kPattern, .ranks = 2}, on_device);
  rank.finish();
  rank.stream().read(&result, on_device, sizeof result);
  if (result.wrong != 0) throw std::runtime_error(std::to_string(result.wrong) + " wrong sums");
}

void pack_add(benchmark::State& state, const Target& target, Dtype dtype) {
  const auto bytes = static_cast<std::uint64_t>(state.range(0));
  const auto meeting = std::make_unique<RendezvousState>();
  MicroRank rank(target.backend, {target.devices[0]}, 0, *meeting);
  const HarnessKernels& harness = harness_kernels(target.backend);
  const PackArrays arrays = prepare(rank, harness, dtype, bytes);
  const Geometry shape = shape_of(target, rank.device(), arrays.packs);
  const int passes = passes_of(target, bytes);
  const auto add = [&] {
    for (int pass = 0; pass < passes; ++pass)
      micro_kernels(target.backend).pack_add(rank.queue(), dtype, shape, arrays);
  };
  rank.time(add);  // untimed: the first launch of a kernel takes longer
  for (auto _ : state) state.SetIterationTime(rank.time(add).device_us * 1e-6 / passes);
  state.SetBytesProcessed(state.iterations() * 3 * state.range(0));
  verify(rank, harness, dtype, arrays);
}

}  // namespace

void register_pack_add(const Target& target) {
  for (const Dtype dtype : {Dtype::f16, Dtype::bf16, Dtype::f32})
    add_benchmark(target.name("pack_add/" + std::string(word(dtype))), target.host() ? 3 : 20,
                  [target, dtype](benchmark::State& state) {
                    guarded(state, [&] { pack_add(state, target, dtype); });
                  })
        ->Arg(4 * kKiB)
        ->Arg(kMiB)
        ->Arg(64 * kMiB);
}

}  // namespace arbench

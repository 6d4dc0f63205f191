// What a signal costs: a flag word from rank 0 to rank 1 and back, per round trip. Twice the time
// after which a peer can know of a store, so the least that a barrier takes is half of it.
#include <array>
#include <memory>
#include <thread>

#include "micro.hpp"
#include "micro_kernels.hpp"
#include "micro_rank.hpp"

namespace arbench {
namespace {

struct SignalBench {
  Target target;
  std::uint32_t trips;  ///< per launch: enough that the ranks' unequal start does not show

  void operator()(benchmark::State& state) const;
};

void SignalBench::operator()(benchmark::State& state) const {
  const auto meeting = std::make_unique<RendezvousState>();
  // Destroyed when both threads are done: a rank may still write into the other one's memory.
  std::array<std::unique_ptr<MicroRank>, 2> ranks;
  const auto drive = [&](int index, const auto& repeat) {
    try {
      auto& rank = ranks[index] =
          std::make_unique<MicroRank>(target.backend, target.devices, index, *meeting);
      const auto play = [&] {
        const MicroKernels& kernels = micro_kernels(target.backend);
        return rank->time([&] { kernels.ping_pong(rank->queue(), rank->peers(), trips); });
      };
      play();  // untimed: the first launch of a kernel takes longer
      repeat(play);
    } catch (const std::exception& error) {
      Rendezvous(*meeting, index, 2, {}).fail(error.what());  // the other one stops waiting
      if (ranks[index]) ranks[index]->abandon();
    }
  };
  {
    const std::jthread other(drive, 1, [rounds = state.max_iterations](const auto& play) {
      for (benchmark::IterationCount i = 0; i < rounds; ++i) play();
    });
    drive(0, [&](const auto& play) {
      for (auto _ : state) state.SetIterationTime(play().device_us * 1e-6 / trips);
    });
  }
  if (meeting->failed.load() != 0) state.SkipWithError(meeting->reason);
}

std::string where(const Target& target) {
  if (target.host()) return "host threads";
  const std::string first = std::to_string(target.devices[0]);
  if (target.devices[0] == target.devices[1]) return "virtual ranks on device " + first;
  return "devices " + first + " and " + std::to_string(target.devices[1]);
}

}  // namespace

void register_signal(const Target& target) {
  const SignalBench bench{target, target.host() ? 100u : 1000u};
  add_benchmark(target.name("signal_round_trip"), target.host() ? 20 : 100,
                [bench, label = where(target)](benchmark::State& state) {
                  state.SetLabel(label);
                  bench(state);
                });
}

}  // namespace arbench

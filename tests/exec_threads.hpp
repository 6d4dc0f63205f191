// Runs a body on host threads as a launch does, without a device: for tests of what kernels call.
#pragma once

#include <array>
#include <memory>
#include <thread>
#include <vector>

#include "arbench/peers.hpp"
#include "arbench/port.hpp"

namespace arbench {

/// The ranks' signals, zeroed, and what kernels get to see of them.
class SignalWorld {
 public:
  explicit SignalWorld(int ranks) {
    peers.ranks = ranks;
    peers.control = &control;
    peers.timeout_ns = 20'000'000'000;
    peers.progress_of_first = progress_.data();
    for (int rank = 0; rank < ranks; ++rank) {
      signals_.push_back(std::make_unique<Signals>());
      peers.memory[rank] = reinterpret_cast<std::byte*>(signals_.back().get());
    }
  }
  Signals& signals(int rank) { return *signals_[static_cast<std::size_t>(rank)]; }

  Control control{};
  Peers peers{};

 private:
  std::array<Progress, kMaxRanks> progress_{};
  std::vector<std::unique_ptr<Signals>> signals_;
};

/// Calls body(exec) on all threads of all ranks at once.
template <class Body>
void on_all_threads(int ranks, int blocks, int threads, Body body) {
  std::vector<std::unique_ptr<BlockState>> states;
  std::vector<std::jthread> running;
  for (int rank = 0; rank < ranks; ++rank)
    for (int block = 0; block < blocks; ++block) {
      BlockState* state = states.emplace_back(std::make_unique<BlockState>(threads)).get();
      for (int thread = 0; thread < threads; ++thread)
        running.emplace_back(
            [&body, exec = Exec(thread, threads, block, blocks, rank, state)] { body(exec); });
    }
}

}  // namespace arbench

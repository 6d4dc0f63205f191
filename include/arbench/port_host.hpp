// The host's Exec: a block is a team of host threads, a signal is a std::atomic_ref. Include
// port.hpp, not this. ThreadSanitizer understands all of it: no fences, no inline assembly, no
// undeclared races.
#pragma once

#include <atomic>
#include <chrono>
#include <cstdint>
#include <thread>

namespace arbench {
inline namespace port_host {

/// A barrier that synchronises its own threads and no others. libstdc++'s std::barrier parks
/// waiters in a pool that all barriers of the process share, and that pool's counters would hide
/// missing releases between ranks from ThreadSanitizer.
class HostBarrier {
 public:
  explicit HostBarrier(int threads) : threads_(static_cast<std::uint32_t>(threads)) {}

  void arrive_and_wait() {
    const std::uint32_t turn = turn_.load(std::memory_order_relaxed);  // ours: it waits for us
    if (arrived_.fetch_add(1, std::memory_order_acq_rel) + 1 == threads_) {
      arrived_.store(0, std::memory_order_relaxed);      // ordered by the release below
      turn_.store(turn + 1, std::memory_order_release);  // all that came before, for all
      return;
    }
    while (turn_.load(std::memory_order_acquire) == turn) std::this_thread::yield();
  }

 private:
  std::uint32_t threads_;
  std::atomic<std::uint32_t> arrived_{0}, turn_{0};
};

/// What the threads of one block share.
struct BlockState {
  explicit BlockState(int threads) : barrier(threads) {}
  HostBarrier barrier;
  std::atomic<std::uint32_t> any{0};
};

class Exec {
 public:
  static constexpr std::uint32_t kPollsPerCheck = 16;
  static constexpr bool kThreadPerRank = false;

  Exec(int thread, int threads, int block, int blocks, int rank, BlockState* state)
      : thread_(thread),
        threads_(threads),
        block_(block),
        blocks_(blocks),
        rank_(rank),
        state_(state) {}

  int thread() const { return thread_; }
  int threads() const { return threads_; }
  int block() const { return block_; }
  int blocks() const { return blocks_; }
  int rank() const { return rank_; }

  void sync_block() const { state_->barrier.arrive_and_wait(); }
  bool sync_block_any(bool flag) const {
    if (flag) state_->any.store(1, std::memory_order_relaxed);  // ordered by the barrier
    state_->barrier.arrive_and_wait();
    const bool any = state_->any.load(std::memory_order_relaxed) != 0;
    state_->barrier.arrive_and_wait();  // nobody clears before all have read
    if (thread_ == 0) state_->any.store(0, std::memory_order_relaxed);
    state_->barrier.arrive_and_wait();
    return any;
  }

  void store_release(std::uint32_t* word, std::uint32_t value) const {
    std::atomic_ref(*word).store(value, std::memory_order_release);
  }
  void store_after_loads(std::uint32_t* word, std::uint32_t value) const {
    store_release(word, value);  // C++ has nothing weaker that orders loads before a store
  }
  std::uint32_t load_acquire(const std::uint32_t* word) const {
    return std::atomic_ref(*const_cast<std::uint32_t*>(word)).load(std::memory_order_acquire);
  }
  Pack load_inline(const Pack* pack) const {
    Pack v;
    for (int i = 0; i < 4; ++i)
      v.word[i] = std::atomic_ref(const_cast<std::uint32_t&>(pack->word[i]))
                      .load(std::memory_order_relaxed);
    return v;
  }
  void store_inline(Pack* pack, const Pack& v) const {
    for (int i = 0; i < 4; ++i)
      std::atomic_ref(pack->word[i]).store(v.word[i], std::memory_order_relaxed);
  }
  std::uint32_t load_word(const std::uint32_t* word) const { return *word; }
  void store_word(std::uint32_t* word, std::uint32_t value) const { *word = value; }
  void add_local(unsigned long long* word, unsigned long long value) const {
    std::atomic_ref(*word).fetch_add(value, std::memory_order_relaxed);
  }
  void min_local(unsigned long long* word, unsigned long long value) const {
    std::atomic_ref ref(*word);
    auto seen = ref.load(std::memory_order_relaxed);
    while (value < seen && !ref.compare_exchange_weak(seen, value, std::memory_order_relaxed)) {
    }
  }
  void max_local(unsigned long long* word, unsigned long long value) const {
    std::atomic_ref ref(*word);
    auto seen = ref.load(std::memory_order_relaxed);
    while (value > seen && !ref.compare_exchange_weak(seen, value, std::memory_order_relaxed)) {
    }
  }
  bool claim_local(std::uint32_t* word) const {
    return std::atomic_ref(*word).exchange(1, std::memory_order_relaxed) == 0;
  }
  std::uint32_t host_word(const std::uint32_t* word) const { return load_acquire(word); }
  void set_host_word(std::uint32_t* word, std::uint32_t value) const { store_release(word, value); }
  std::uint64_t cycles() const { return 0; }
  void relax() const { std::this_thread::yield(); }
  std::uint64_t now_ns() const {
    return static_cast<std::uint64_t>(std::chrono::duration_cast<std::chrono::nanoseconds>(
                                          std::chrono::steady_clock::now().time_since_epoch())
                                          .count());
  }

 private:
  int thread_, threads_, block_, blocks_, rank_;
  BlockState* state_;
};

}  // namespace port_host
}  // namespace arbench

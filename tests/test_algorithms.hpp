// Algorithms for tests alone: one_shot_pull, and whatever a test does around it. Registered hidden,
// with names that begin with "test_", when a test asks for them; they stay for the rest of the
// process. REQUIRES: no driver is open when one is registered, and no worker process runs.
#pragma once

#include <sys/mman.h>

#include <atomic>
#include <cstring>
#include <functional>
#include <string>
#include <utility>
#include <vector>

#include "arbench/algorithm.hpp"

namespace arbench {

/// One rank's opened test algorithm. It does not move while it is open, so what is enqueued may
/// refer to it.
struct TestOp {
  Case point;
  Peers peers;
  std::function<void(Queue&)> allreduce;  ///< enqueues a right one
  int enqueued = 0;                       ///< calls of Op::enqueue, the present one included
  int ran = 0;                            ///< for the test's use
  std::vector<std::byte> kept;            ///< likewise

  int rank() const { return peers.first_rank; }
  bool last_rank() const { return rank() == peers.ranks - 1; }
  std::byte* input() const { return peers.buffer[rank()] + peers.input_offset; }
  std::byte* output() const { return peers.buffer[rank()] + peers.output_offset; }
};

/// What one Op::enqueue does.
using Behaviour = std::function<void(TestOp&, Queue&)>;

/// Registers it, unless that is done already, and returns its name.
inline std::string test_algorithm(Algorithm record) {
  record.hidden = true;
  if (find_algorithm(Backend::host, record.name) == nullptr)
    register_algorithm(Backend::host, record);
  return record.name;
}

/// A record like one_shot_pull's that behaves as the test says.
inline Algorithm pull_record(const std::string& name, Behaviour behave) {
  Algorithm record = *find_algorithm(Backend::host, "one_shot_pull");
  record.name = name;
  record.open = [open = record.open, behave](const OpenContext& context) {
    TestOp op{context.point, context.peers, open(context).enqueue, 0, 0, {}};
    const auto enqueue = [op = std::move(op), behave](Queue& queue) mutable {
      ++op.enqueued;
      behave(op, queue);
    };
    return Op{enqueue, {}, {}};
  };
  return record;
}

inline std::string test_algorithm(const std::string& name, Behaviour behave) {
  return test_algorithm(pull_record(name, std::move(behave)));
}

/// Enqueues something that one host thread does.
inline void then(Queue& queue, std::function<void()> what) {
  static_cast<HostQueue&>(queue).enqueue({{1, 1}, 0, 1, [what](const Exec&) { what(); }});
}

/// Writes a bf16 100, which no input and no sum is, to element `i` behind `data`.
inline void spoil(std::byte* data, std::ptrdiff_t i) {
  const std::uint16_t hundred = 0x42c8;
  std::memcpy(data + i * 2, &hundred, sizeof hundred);
}

/// A text that grows letter by letter, also from worker processes that are started later.
class SharedLog {
 public:
  void clear() { state_->size = 0; }
  void add(char letter) { state_->text[state_->size++ % kRoom] = letter; }
  std::string text() const { return {state_->text, state_->size}; }

  static SharedLog& get() {
    static SharedLog log;
    return log;
  }

 private:
  static constexpr std::size_t kRoom = 1 << 16;
  struct State {
    std::atomic<std::size_t> size;
    char text[kRoom];
  };
  SharedLog()
      : state_(static_cast<State*>(mmap(nullptr, sizeof(State), PROT_READ | PROT_WRITE,
                                        MAP_SHARED | MAP_ANONYMOUS, -1, 0))) {}

  State* state_;  ///< mapped for as long as the process runs
};

/// The log's new text since the last look.
inline std::string logged() {
  const std::string text = SharedLog::get().text();
  SharedLog::get().clear();
  return text;
}

}  // namespace arbench

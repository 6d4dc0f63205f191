// The ranks of one measurement, seen by the coordinator. All device work happens in worker
// processes: one that holds all rank threads, or one per rank. The coordinator itself never touches
// a device, so a crash, a sticky error or a hang ends workers only, and restart() gives fresh ones.
// Thread safety: one thread uses a World. REQUIRES: no other thread runs and no CUDA call was made
// when workers start.
#pragma once

#include <sys/types.h>

#include <csignal>
#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "arbench/case.hpp"
#include "driver.hpp"
#include "result.hpp"
#include "seconds.hpp"
#include "sight.hpp"

namespace arbench {

/// A case failed; its row gets this status and text. `fatal`: the workers are gone or unusable,
/// restart() first.
class CaseFailed : public std::runtime_error {
 public:
  CaseFailed(Status status, const std::string& reason, bool fatal)
      : std::runtime_error(reason), status(status), fatal(fatal) {}
  Status status;
  bool fatal;
};

/// The user asked to stop (Ctrl-C, SIGTERM).
class Interrupted : public std::runtime_error {
 public:
  Interrupted() : std::runtime_error("interrupted") {}
};

/// Set by a signal handler; a World that waits notices it.
extern volatile std::sig_atomic_t interrupted;

struct RoundResult {
  std::vector<std::vector<double>> us;  ///< [rank][replay] per op
  std::vector<double> worst;            ///< [replay] maximum over ranks
  double cpu_us = 0;                    ///< host enqueue time per op, slowest driver
  /// [replay] latest less earliest rank; empty where samples have no stamps, see Driver::round().
  std::vector<double> start_skew_us, end_skew_us;
  double clock_error_us = 0;  ///< of the largest of the ranks' clock offsets
  double sm_mhz = 0;          ///< lowest of all ranks; 0: unknown
  Sight sight;                ///< what the watch saw
  Verified checked;           ///< of a round that is checked
};

/// "rank 2 has 3 samples of 5", of the first rank without all of its own; a sample that was not taken is NaN.
std::string missing_samples(const std::vector<std::vector<double>>& us);

class World {
 public:
  /// Starts workers. `cases` are what open() can name; workers get them by inheritance. Throws
  /// CaseFailed when they do not come up.
  /// What the workers do is added to `seconds`, if given.
  World(WorldConfig config, std::vector<Case> cases, Seconds* seconds = nullptr);
  ~World();
  World(const World&) = delete;

  // Each throws CaseFailed or Interrupted.
  Opened open(int index);
  Verified verify(int index, std::uint32_t salt);
  Verified soak(int index, std::uint32_t salt, int calls);
  double warm_up(int index, Sequence sequence = Sequence::ops);
  /// With a salt, a round of Sequence::ops is checked.
  RoundResult round(int index, int replays, Sequence sequence = Sequence::ops,
                    std::uint32_t salt = 0);
  void close(int index);
  /// Ends the workers, whatever they do, and starts fresh ones; nothing is open then.
  void restart();

  /// Asked now and then while a round runs, here and not in the workers: how the devices are.
  void watch(std::function<Sight()> look) { watch_ = std::move(look); }

  const WorldConfig& config() const { return config_; }

 private:
  struct Shared;
  enum class Verb : std::uint32_t { start, open, verify, soak, warm_up, round, close, quit };
  struct Command {
    Verb verb;
    int index;
    int replays;  ///< or calls
    std::uint32_t salt;
    Sequence sequence;
  };
  struct Reply;

  void start_workers();
  void end_workers() noexcept;
  void call(Command command, double expected_seconds = 0);
  void wait_for_replies(double expected_seconds);
  double generous_seconds(int index) const;
  Verified verified() const;
  void look_after_workers();
  void look_at_devices();
  [[noreturn]] void worker_main(int worker);
  void driver_loop(int driver);
  void carry_out(Driver& driver, const Command& command, Reply& reply, const Samples& samples);
  Samples samples_of(int rank) const;
  std::vector<double> spread(const std::int64_t* first_rank, int replays) const;
  double& seconds_of(Verb verb);

  WorldConfig config_;
  std::vector<Case> cases_;
  Seconds unwanted_;  ///< what nobody wants to know
  Seconds* seconds_;
  Shared* shared_ = nullptr;  ///< mapped, inherited by all workers
  std::size_t shared_bytes_ = 0;
  std::map<std::pair<int, Sequence>, double> us_per_op_;  ///< of warm_up(), by case
  std::vector<pid_t> workers_;
  std::function<Sight()> watch_;
  Sight sight_;           ///< what it saw in this round
  bool healthy_ = false;  ///< all workers are idle and can be asked to end
};

}  // namespace arbench

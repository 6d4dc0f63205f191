// What one host thread does for its rank (grid launch: for all ranks): memory, opening, verifying,
// timing. All drivers of a world make the same calls in the same order; they meet in a Rendezvous.
// Nothing here knows whether the other drivers are threads or processes. Errors: Refused (this case
// cannot run, agreed on by all drivers), Unsupported, Hung, Stopped, std::exception.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "arbench/algorithm.hpp"
#include "device.hpp"
#include "harness_kernels.hpp"
#include "rendezvous.hpp"

namespace arbench {

/// The same for all drivers of a world.
struct WorldConfig {
  Backend backend = Backend::host;
  Launch launch = Launch::threads;
  Transport transport = Transport::p2p;
  std::vector<int> devices;  ///< of each rank
  double timeout_seconds = 10;
  int ops = 20;                 ///< K
  int max_replays = 100;        ///< per round
  double skew_us = 0;           ///< one rank after the other starts a chained sample so much later
  std::string slow_algorithms;  ///< a glob; these enqueue slow_ops more per sample than are counted
  int slow_ops = 0;
  bool nccl_loopback = false;

  int ranks() const { return static_cast<int>(devices.size()); }
  /// Host threads that drive ranks: one per rank, or one for all in a grid launch.
  int drivers() const { return launch == Launch::grid ? 1 : ranks(); }
};

/// Capture, or a library call, was refused; what() is its error text.
class Unsupported : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

/// A wait passed its deadline; what() says who waited for whom.
class Hung : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

/// What a timed sample is made of.
enum class Sequence : std::uint32_t {
  ops,       ///< K ops behind each other: the chained latency
  together,  ///< the same, but all ranks start each sample together: for the skew at its end
  isolated,  ///< a barrier over all ranks and one op, as often
  barriers   ///< the same without the ops: what `isolated` is too large by
};

struct Opened {
  Geometry geometry;
  int ops = 0;    ///< per sample: K, or fewer where K eager ops are more than a launch queue holds
  int pairs = 0;  ///< the same for barriers with an op behind each
  std::string ran;      ///< Op::ran after the first op
  std::string remark;   ///< e.g. that fewer blocks run than the algorithm wants
  int sets = 1;         ///< of buffers
  double sweep_us = 0;  ///< what evicting the buffers takes before each sample
};

/// Where a round's samples go: `max_replays` places for each served rank, one rank after the other.
struct Samples {
  double* us;                        ///< per op (or barrier)
  std::int64_t* start_ns = nullptr;  ///< on rank 0's clock; may be null
  std::int64_t* end_ns = nullptr;
};

/// What is known of a round beside its samples, by one driver.
struct Visit {
  double cpu_us = 0;          ///< host's median enqueue time per op
  bool stamped = false;       ///< the samples have start_ns and end_ns
  double clock_error_us = 0;  ///< of the stamps
  double sm_mhz = 0;          ///< multiprocessor clock at the end of a chained round; 0: unknown
};

/// What checks found on a driver's ranks; the errors and bits are those of random data.
struct Findings {
  std::uint64_t wrong = 0;
  double max_ulp = 0;      ///< largest error against fp64, units in the last place
  double max_abs_err = 0;  ///< likewise
  std::uint64_t hash = 0;  ///< of the output
  bool same_ranks = true;  ///< all ranks have the same bits
  bool same_runs = true;   ///< a second call had the same bits
};
struct Verified : Findings {
  std::string text;  ///< the first wrong thing
};

struct VerifyStep;

class Driver {
 public:
  Driver(const WorldConfig& config, int index, RendezvousState& meeting);
  ~Driver();
  Driver(const Driver&) = delete;

  /// Opens contender `slot`. Buffers are shared by the contenders of a point: REQUIRES equal bytes
  /// and placement of all that are open together.
  Opened open(int slot, const Case& point);
  void close(int slot);
  /// Replays of many ops and of one in turn, with inputs that change from one to the next, poisoned
  /// outputs, guard bands; random and special data; a chain of ops whose inputs are overwritten as soon
  /// as each is done. All on the device. Uses salts from `salt` to `salt` + 15.
  Verified verify(int slot, std::uint32_t salt);
  /// So many single calls, each with inputs of its own and each checked.
  Verified soak(int slot, std::uint32_t salt, int calls);
  /// Runs the sequence untimed in the contender's own mode; returns its time, us per op (or barrier) on
  /// the slowest rank of this driver.
  double warm_up(int slot, Sequence sequence = Sequence::ops);
  /// Checks the last timed replay of the round before, out of place; in place, where each op multiplies, one replay of few
  /// ops more. REQUIRES: verify() came before, and the round was one of Sequence::ops behind prepare_round().
  Verified check_round(int slot, std::uint32_t salt);
  void prepare_round(int slot, std::uint32_t salt);
  /// One visit. The samples have stamps if each of them starts behind a gate: eager ones, those of
  /// Sequence::together, and chained ones if ranks are to be late.
  Visit round(int slot, int replays, const Samples& samples, Sequence sequence = Sequence::ops);

 private:
  /// An allocation of equal size on every rank, and its addresses by rank as seen from here; null for those of peers that
  /// are out of reach.
  struct Symmetric {
    std::vector<void*> own;  ///< of the served ranks
    std::vector<void*> all;
    Progress* progress = nullptr;  ///< of the served ranks, with signals only
  };
  struct Slot;
  enum class Which { input, output };

  /// Reached by peers: signals and scratch memory, which no transport does without, or the buffers.
  enum class Kind { signals, buffers };
  Symmetric allocate(Kind kind, std::uint64_t bytes);
  void* allocate_own(Kind kind, std::uint64_t bytes);
  void free_own(const Symmetric& memory);
  void release(Symmetric& memory);
  void agree(const std::string& problem);
  void load_code(const Algorithm& algorithm, const Case& point);
  void open_clocks();
  void ensure_buffers(std::uint64_t bytes, int sets);
  int wanted_sets(const Case& point);
  int fitting_sets(std::uint64_t set_bytes, int wanted);
  void prepare_sweep(const Case& point);
  std::uint64_t cold_bytes();
  Geometry decide_geometry(const Algorithm& algorithm, const Case& point, std::string* remark);
  int ops_per_sample(const Case& point, int launches_per_op) const;
  Peers peers_of(const Case& point, const Symmetric& memory);
  std::uint64_t offset(Which which) const;  ///< of the data within a rank's buffers
  std::uint64_t set_bytes() const;          ///< from one set of buffers to the next
  std::byte* own(Which which, int served, int set = 0) const;
  void use_all_queues();
  std::unique_ptr<Graph> capture(const std::function<void()>& enqueue);
  void capture_all(Slot& slot);
  static void check_nodes(const Slot& slot);
  void enqueue_op(Slot& slot, int i);
  void enqueue_ops(Slot& slot, int ops);
  void replay_ops(Slot& slot, int ops);
  void enqueue_barriers(Slot& slot, Sequence sequence);
  void replay(Slot& slot, Sequence sequence);
  void finish(Slot* slot, double expected_us);
  void make_guards(const Slot& slot);
  void make_inputs(const Slot& slot, int ops, Pattern pattern);
  Wanted sum_wanted(const Slot& slot, Pattern pattern, float factor = 1) const;
  void enqueue_checks(const Slot& slot, int ops, Pattern pattern, CheckResult* results);
  void enqueue_overwriting(Slot& slot);
  void checked_replay(Slot& slot, const VerifyStep& step, std::uint32_t salt, int place);
  void clear_results();
  void begin_checks(Slot& slot);
  Verified found();
  double expected_us(const Slot& slot, int ops) const;
  void settle(Slot& slot, int ops);
  void open_gate();
  double round_without_gaps(Slot& slot, Sequence sequence, int replays, const Samples& samples);
  double round_with_gates(Slot& slot, Sequence sequence, int replays, const Samples& samples);
  Start start_of(Sequence sequence, int replay);
  void keep_samples(int steps, int replay, int from, int to, const Samples& samples);
  void keep_stamps(int replay, const Samples& samples);
  void compare_clocks();

  WorldConfig config_;
  int first_rank_, served_;
  Rendezvous rendezvous_;
  const HarnessKernels& kernels_;
  std::unique_ptr<Device> device_;
  std::unique_ptr<Stream> stream_;
  std::uint64_t capacity_ = 0;  ///< message bytes the buffers hold
  int sets_ = 0;                ///< of them
  Symmetric buffers_;           ///< per rank and set: guard, input, guard, guard, output, guard
  void* swept_ = nullptr;       ///< cold_bytes() of zeros, there from the first cold case on
  std::uint64_t swept_bytes_ = 0;
  double sweep_us_ = 0;
  Symmetric harness_;  ///< Signals of the start barrier
  Peers start_peers_{};
  CheckResult* checks_ = nullptr;  ///< of a verification, in device memory
  /// Results of the harness's kernels in the memory of the first served rank.
  struct Times {
    Stamps stamps[kMaxRanks];
    ClockOffset offset;
    SmClock sm;
  };
  Times* times_ = nullptr;
  Symmetric clocks_;  ///< Signals of compare_clocks(); empty where all ranks have one clock
  Peers clock_peers_{};
  std::uint32_t comparisons_ = 0;
  ClockOffset offset_{};
  std::uint32_t gate_ = 0;
  std::map<int, std::unique_ptr<Slot>> slots_;
};

}  // namespace arbench

// One point of the sweep: its contenders are opened and verified, then timed in rounds, then verified again. One of them is
// measured twice, as two contenders, to see by how much equals differ (A/A). For one thread.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "benchmark_file.hpp"
#include "floor.hpp"
#include "machine.hpp"
#include "options.hpp"
#include "result.hpp"
#include "seconds.hpp"
#include "sight.hpp"
#include "world.hpp"

namespace arbench {

struct Contender {
  int index = 0;  ///< of its case in the world
  Row row;
  int replays = 0;
  std::vector<std::vector<double>> rounds;
  std::vector<double> cpu_us;
  int isolated_replays = 0;
  std::vector<double> isolated_us, barrier_us;  ///< samples of all rounds, maxima over ranks
  std::vector<double> start_skew_us, end_skew_us;
  std::vector<double> clock_error_us, sm_mhz;  ///< by round
  bool stamped = false;                        ///< its chained samples show the skew
  std::vector<Sample> samples;
  Sight sight;                 ///< of its rounds
  std::optional<Floor> floor;  ///< a median below it fails the row
  bool done = false;           ///< its row is final: it could not run, or it failed
};

/// Makes this the contender's final row, without a time.
void settle(Contender& contender, Status status, const std::string& reason);

class Point {
 public:
  /// The world knows a second copy of each case, at its index + `copies`. `order_seed` draws the order of each round; `salt`
  /// grows with each verification of a run, so that no two have the same inputs.
  struct Setting {
    const Options& options;
    const Machine& machine;
    BenchmarkFile& file;
    int copies;
    std::uint64_t order_seed;
    std::uint64_t& salt;
    Seconds& seconds;  ///< `timed` grows
  };
  Point(World& world, const Setting& setting) : world_(world), set_(setting) {}

  /// Measures all that are not done; they are done then. False when one of them took the workers with it: it is done, and
  /// the point has to start again without it, in fresh workers.
  bool run(std::vector<Contender>& contenders);

 private:
  template <class What>
  bool each(const std::vector<Contender*>& live, What what);
  bool drop(Contender& contender, const CaseFailed& failed);
  void prepare(Contender& contender);
  void decide_replays(Contender& contender, const Opened& opened);
  void finish_untimed(Contender& contender, Status status, const std::string& reason);
  std::uint32_t next_salt();
  void judge(Contender& contender, const Verified& verified, const std::string& when);
  void verify(Contender& contender);
  void soak(Contender& contender);
  RoundResult checked_round(Contender& contender);
  bool add_copy(const std::vector<Contender*>& live);
  void blame_original();
  bool measure_all(std::vector<Contender*> live);
  bool measure(const std::vector<Contender*>& live);
  std::string stop_after(int rounds, double seconds, const std::vector<Contender*>& live) const;
  void visit(Contender& contender, int round);
  void measure_beside(Contender& contender);
  void keep(Contender& contender, int round, const RoundResult& result);
  void conclude(Contender& contender);
  std::optional<double> aa_pct() const;

  World& world_;
  Setting set_;
  Contender* original_ = nullptr;  ///< of the copy
  std::optional<Contender> copy_;
};

}  // namespace arbench

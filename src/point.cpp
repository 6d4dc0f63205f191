#include "point.hpp"

#include <algorithm>
#include <chrono>
#include <cmath>
#include <random>

#include "arbench/algorithm.hpp"
#include "statistics.hpp"

namespace arbench {
namespace {

using Clock = std::chrono::steady_clock;

constexpr int kLeastReplays = 3;
constexpr int kMostRepetitions = 2;  ///< of a visit in which a device slowed down

double seconds_since(Clock::time_point start) {
  return std::chrono::duration<double>(Clock::now() - start).count();
}

void remark(Contender& contender, const std::string& text) {
  std::string& reason = contender.row.reason;
  reason += (reason.empty() ? "" : "; ") + text;
}

/// What a measurement begins with, also where one was cut before.
void reset(Contender& contender) {
  contender.row.wrong.reset();
  contender.row.max_ulp.reset();
  contender.row.max_abs_err.reset();
  contender.row.bitwise_ranks.reset();
  contender.row.bitwise_runs.reset();
  contender.row.aa_pct.reset();
  contender.row.throttled.reset();
  contender.row.pcie_generation = contender.row.pcie_width = 0;
  contender.sight = {};
  contender.rounds.clear();
  for (auto* us :
       {&contender.cpu_us, &contender.isolated_us, &contender.barrier_us, &contender.start_skew_us,
        &contender.end_skew_us, &contender.clock_error_us, &contender.sm_mhz})
    us->clear();
  contender.samples.clear();
}

void append(std::vector<double>& all, const std::vector<double>& us) {
  all.insert(all.end(), us.begin(), us.end());
}

void keep_skew(Contender& contender, const RoundResult& result) {
  append(contender.start_skew_us, result.start_skew_us);
  append(contender.end_skew_us, result.end_skew_us);
  contender.clock_error_us.push_back(result.clock_error_us);
}

/// The row's figures beside the chained latency.
void keep_what_is_beside(Contender& contender) {
  Row& row = contender.row;
  row.iso_us_median = median(contender.isolated_us) - median(contender.barrier_us);
  row.start_skew_us_median = median(contender.start_skew_us);
  row.skew_us_median = median(contender.end_skew_us);
  row.clock_error_us =
      *std::max_element(contender.clock_error_us.begin(), contender.clock_error_us.end());
  if (!contender.sm_mhz.empty())
    row.sm_mhz_min = *std::min_element(contender.sm_mhz.begin(), contender.sm_mhz.end());
}

/// The slowest of the links that the data took.
void keep_links(Contender& contender, const std::vector<Gpu>& gpus) {
  Row& row = contender.row;
  for (const LinkNow& link : contender.sight.links) {
    const bool first = row.pcie_width == 0;
    row.pcie_generation = first ? link.generation : std::min(row.pcie_generation, link.generation);
    row.pcie_width = first ? link.width : std::min(row.pcie_width, link.width);
  }
  if (const auto slow = slow_links(contender.sight.links, gpus); !slow.empty())
    remark(contender, slow);
}

/// "ring/ll" is not what a tree should run. What is unverified may be anything.
bool ran_another(const std::string& ran, const std::string& wanted) {
  return !wanted.empty() && !ran.empty() && ran != "unverified" && !ran.starts_with(wanted + "/");
}

bool precise(const Contender& contender, double percent) {
  const Summary summary = summarize(contender.rounds);
  return 50 * (summary.ci_hi - summary.ci_lo) <= percent * summary.median;
}

}  // namespace

void settle(Contender& contender, Status status, const std::string& reason) {
  contender.row.status = status;
  contender.row.reason = reason;
  contender.row.time.reset();
  contender.samples.clear();
  contender.done = true;
}

bool Point::run(std::vector<Contender>& contenders) {
  std::vector<Contender*> live;
  for (Contender& contender : contenders)
    if (!contender.done) live.push_back(&contender);
  for (Contender* contender : live) reset(*contender);
  const bool whole = measure_all(live);
  if (copy_ && copy_->done) blame_original();
  if (!whole) return false;
  for (Contender& contender : contenders) {
    contender.row.aa_pct = aa_pct();
    contender.done = true;
  }
  return true;
}

bool Point::measure_all(std::vector<Contender*> live) {
  if (!each(live, [&](Contender& c) { prepare(c); }) || !add_copy(live)) return false;
  if (copy_) live.push_back(&*copy_);
  return measure(live) && each(live, [&](Contender& c) { conclude(c); });
}

/// Does `what` for every contender that is still in the race. False when the workers are lost.
template <class What>
bool Point::each(const std::vector<Contender*>& live, What what) {
  for (Contender* contender : live) {
    if (contender->done) continue;
    try {
      what(*contender);
    } catch (const CaseFailed& failed) {
      if (!drop(*contender, failed)) return false;
    }
  }
  return true;
}

/// Makes the failure the contender's row. False when the workers are lost with it.
bool Point::drop(Contender& contender, const CaseFailed& failed) {
  // What was found out first stays: closing a wrong contender may fail as well.
  if (!contender.done) settle(contender, failed.status, failed.what());
  if (failed.fatal) return false;
  try {
    world_.close(contender.index);
  } catch (const CaseFailed&) {
    return false;
  }
  return true;
}

void Point::prepare(Contender& contender) {
  const Options& options = set_.options;
  const Opened opened = world_.open(contender.index);
  contender.row.geometry = opened.geometry;
  contender.row.ops_per_graph = opened.ops;
  contender.row.ran = opened.ran;
  contender.row.reason = opened.remark;
  contender.row.l2_sets = opened.sets;
  const Case& point = contender.row.point;
  const Algorithm* algorithm = find_algorithm(point.backend, point.algorithm);
  if (opened.ran == "unverified") remark(contender, "what NCCL really ran is unverified");
  if (ran_another(opened.ran, algorithm->must_run))
    return finish_untimed(contender, Status::error,
                          "ran " + opened.ran + " where " + algorithm->must_run + " was wanted");
  verify(contender);
  if (!contender.done) soak(contender);
  if (contender.done) return;
  if (point.bytes == 0) return finish_untimed(contender, Status::ok, "0 bytes: nothing to time");
  if (algorithm->library && options.nccl_loopback)
    return finish_untimed(contender, Status::functional, "ranks met over loopback sockets");
  decide_replays(contender, opened);
}

/// Shares the round's time out: a third is for what is measured beside the chained samples, see
/// measure_beside().
void Point::decide_replays(Contender& contender, const Opened& opened) {
  const Options& options = set_.options;
  const auto us = [&](Sequence sequence) { return world_.warm_up(contender.index, sequence); };
  const auto replays = [&](double budget_us, double us_per_replay, int least) {
    return static_cast<int>(std::clamp<double>(budget_us / us_per_replay,
                                               std::min(least, options.replays), options.replays));
  };
  const double budget_us = options.row_seconds * 1e6 / options.rounds;
  const double chained_us = us(Sequence::ops) * opened.ops + options.skew_us + opened.sweep_us;
  const double beside_us = (us(Sequence::isolated) + us(Sequence::barriers)) * opened.pairs +
                           chained_us + 2 * opened.sweep_us;
  contender.replays = replays(budget_us * 2 / 3, chained_us, kLeastReplays);
  contender.isolated_replays = replays(budget_us / 3, beside_us, 1);
  if (options.skew_us == 0) return;
  const int ranks = contender.row.point.ranks();  // complete rotations
  contender.replays = std::max(contender.replays / ranks, 1) * ranks;
}

void Point::finish_untimed(Contender& contender, Status status, const std::string& reason) {
  settle(contender, status, reason);
  world_.close(contender.index);
}

/// Never 0, and 16 from any other.
std::uint32_t Point::next_salt() {
  return static_cast<std::uint32_t>(set_.options.seed * 1000003 + ++set_.salt * 16) | 1u;
}

/// A row whose data were wrong once is wrong.
void Point::judge(Contender& contender, const Verified& verified, const std::string& when) {
  contender.row.wrong = contender.row.wrong.value_or(0) + verified.wrong;
  if (verified.wrong == 0) return;
  settle(contender, Status::wrong, when + verified.text);
  world_.close(contender.index);
}

void Point::verify(Contender& contender) {
  const Verified verified = world_.verify(contender.index, next_salt());
  Row& row = contender.row;
  row.max_ulp = std::max(row.max_ulp.value_or(0), verified.max_ulp);
  row.max_abs_err = std::max(row.max_abs_err.value_or(0), verified.max_abs_err);
  row.bitwise_ranks = row.bitwise_ranks.value_or(true) && verified.same_ranks;
  row.bitwise_runs = row.bitwise_runs.value_or(true) && verified.same_runs;
  judge(contender, verified, "");
}

void Point::soak(Contender& contender) {
  const int calls = set_.options.soak;
  if (calls > 0)
    judge(contender, world_.soak(contender.index, next_salt(), calls),
          "in " + std::to_string(calls) + " checked calls: ");
}

/// The first contender that can be timed is measured twice. It is the same one at almost all points, so that their bands can
/// be compared, and as NCCL comes last it is NCCL only where there is nothing else: a communicator more costs most.
/// False when the workers are lost.
bool Point::add_copy(const std::vector<Contender*>& live) {
  const auto first =
      std::find_if(live.begin(), live.end(), [](const Contender* c) { return !c->done; });
  if (!set_.options.aa || first == live.end()) return true;
  original_ = *first;
  copy_.emplace();
  copy_->row.point = original_->row.point;
  copy_->index = original_->index + set_.copies;
  copy_->floor = original_->floor;
  const bool whole = each({&*copy_}, [&](Contender& c) { prepare(c); });
  copy_->replays = original_->replays;
  return whole;
}

/// The copy is the same algorithm: what it does wrong is in the original's row. A machine that has no room for two of them
/// has room for one.
void Point::blame_original() {
  const Row& copy = copy_->row;
  if (copy.status == Status::skipped || copy.status == Status::unsupported)
    return remark(*original_, "no A/A band: " + copy.reason);
  if (!original_->done)
    settle(*original_, copy.status, "when measured a second time: " + copy.reason);
}

/// All rounds: in each, every contender once, in an order drawn anew. The order is ours and not Google Benchmark's, whose own
/// interleaving has no seed and is not balanced per round.
bool Point::measure(const std::vector<Contender*>& live) {
  std::mt19937_64 random(set_.order_seed);
  const auto start = Clock::now();
  std::string stopped;
  for (int round = 0; stopped.empty(); ++round) {
    std::vector<Contender*> order = live;
    std::shuffle(order.begin(), order.end(), random);
    if (!each(order, [&](Contender& contender) { visit(contender, round); })) return false;
    stopped = stop_after(round + 1, seconds_since(start), live);
  }
  for (Contender* contender : live) contender->row.stopped = contender->done ? "" : stopped;
  return true;
}

/// Why no round follows, in the word of the column `stopped`, or nothing. Decided here for all ranks and contenders, whose
/// counts stay equal.
std::string Point::stop_after(int rounds, double seconds,
                              const std::vector<Contender*>& live) const {
  const Options& options = set_.options;
  const auto finished = [](const Contender* c) { return c->done; };
  if (std::all_of(live.begin(), live.end(), finished)) return "rounds";
  const auto sure = [&](const Contender* c) {
    return c->done || precise(*c, options.precision_pct);
  };
  if (options.precision_pct > 0 && rounds >= kLeastRounds &&
      std::all_of(live.begin(), live.end(), sure))
    return "precision";
  if (options.max_seconds > 0 && rounds >= kLeastRounds &&
      seconds >= options.max_seconds * static_cast<double>(live.size()))
    return "budget";
  return options.max_seconds == 0 && rounds >= options.rounds ? "rounds" : "";
}

RoundResult Point::checked_round(Contender& contender) {
  RoundResult result = world_.round(contender.index, contender.replays, Sequence::ops, next_salt());
  if (!contender.done) judge(contender, result.checked, "in a timed round: ");
  return result;
}

/// A visit's samples are taken together, without a gap between replays. One in which a device slowed down is repeated; when
/// the last repetition is no better it stays, and the row says so.
void Point::visit(Contender& contender, int round) {
  const bool listed = !copy_ || &contender != &*copy_;
  RoundResult result;
  set_.file.run(
      {contender.row.point.name(), contender.replays, round, set_.options.rounds, listed}, [&] {
        result = checked_round(contender);
        for (int i = 0;
             !contender.done && i < kMostRepetitions && result.sight.throttled.value_or(false); ++i)
          result = checked_round(contender);
        return result.worst;
      });
  if (contender.done) return;
  keep(contender, round, result);
  if (listed) measure_beside(contender);
}

/// Isolated ops, the barriers to subtract, and the ranks' skew where the chained samples do not
/// show it.
void Point::measure_beside(Contender& contender) {
  const auto measure = [&](Sequence sequence, std::vector<double>& us) {
    append(us, world_.round(contender.index, contender.isolated_replays, sequence).worst);
  };
  measure(Sequence::isolated, contender.isolated_us);
  measure(Sequence::barriers, contender.barrier_us);
  if (!contender.stamped)
    keep_skew(contender,
              world_.round(contender.index, contender.isolated_replays, Sequence::together));
}

void Point::keep(Contender& contender, int round, const RoundResult& result) {
  for (int replay = 0; replay < contender.replays; ++replay) {
    contender.samples.push_back({round, replay, -1, result.worst[replay]});
    set_.seconds.timed += result.worst[replay] * contender.row.ops_per_graph * 1e-6;
  }
  contender.sight.add(result.sight);
  contender.row.throttled = contender.sight.throttled;
  contender.rounds.push_back(result.worst);
  contender.cpu_us.push_back(result.cpu_us);
  if (result.sm_mhz > 0) contender.sm_mhz.push_back(result.sm_mhz);
  contender.stamped = !result.end_skew_us.empty();
  if (contender.stamped) keep_skew(contender, result);
}

void Point::conclude(Contender& contender) {
  verify(contender);
  if (contender.done) return;
  contender.row.time = summarize(contender.rounds);
  const auto impossible = impossible_text(contender.row.time->median, contender.floor);
  if (!impossible.empty()) return finish_untimed(contender, Status::error, impossible);
  contender.row.cpu_us_median = median(contender.cpu_us);
  const bool copy = copy_ && &contender == &*copy_;
  if (!copy) keep_what_is_beside(contender);
  keep_links(contender, set_.machine.gpus);
  const Case& point = contender.row.point;
  if (point.launch == Launch::processes && point.is_virtual() && point.backend == Backend::cuda &&
      !set_.machine.mps)
    remark(contender,
           "no MPS: the ranks' processes take turns, so this is the time of time slicing");
  world_.close(contender.index);
}

std::optional<double> Point::aa_pct() const {
  if (!copy_ || !copy_->row.time || !original_->row.time) return std::nullopt;
  const double a = original_->row.time->median, b = copy_->row.time->median;
  return 100 * std::abs(a - b) / std::min(a, b);
}

}  // namespace arbench

#include "runner.hpp"

#include <benchmark/benchmark.h>

#include <algorithm>
#include <exception>
#include <numeric>
#include <optional>
#include <random>

#include "arbench/algorithm.hpp"
#include "statistics.hpp"
#include "world.hpp"

namespace arbench {
namespace {

constexpr int kLeastReplays = 3;

/// One contender of a point.
struct Contender {
  int index = 0;  ///< of its case in the world
  Row row;
  int replays = 0;
  std::vector<std::vector<double>> rounds;
  std::vector<double> cpu_us;
  std::vector<Sample> samples;
  bool done = false;  ///< its row is final: it could not run, or it failed
};

/// Hands Google Benchmark's runs to its own JSON reporter, all rounds of all contenders as repetitions in one file, so that
/// its compare.py can read them. Rows and tables are ours.
class BenchmarkFile : public benchmark::BenchmarkReporter {
 public:
  explicit BenchmarkFile(std::ostream* out) : on_(out != nullptr) {
    if (on_) json_.SetOutputStream(out);
  }
  ~BenchmarkFile() override {
    if (begun_) json_.Finalize();
  }
  void visit(int round, int rounds) { round_ = round, rounds_ = rounds; }

  bool ReportContext(const Context& context) override {
    if (on_ && !std::exchange(begun_, true)) json_.ReportContext(context);
    return true;
  }
  void ReportRuns(const std::vector<Run>& runs) override {
    std::vector<Run> kept = runs;
    for (Run& run : kept) {
      run.repetition_index = round_;
      run.repetitions = rounds_;
      run.run_name.iterations.clear();  // the name alone joins one file with another
      run.run_name.repetitions.clear();
      run.run_name.time_type.clear();
    }
    if (on_) json_.ReportRuns(kept);
  }

 private:
  benchmark::JSONReporter json_;
  bool on_, begun_ = false;
  int round_ = 0, rounds_ = 0;
};

/// Why this case cannot run, as far as can be told without a device.
std::optional<std::pair<Status, std::string>> refusal(const Case& point, const Options& options) {
  const Algorithm* algorithm = find_algorithm(point.backend, point.algorithm);
  const auto skip = [](const std::string& why) { return std::pair(Status::skipped, why); };
  if (algorithm == nullptr) {
    if (point.backend == Backend::host) return skip("needs the CUDA backend");
    return skip("this build has no NCCL header");
  }
  if (algorithm->library && point.is_virtual() && !options.nccl_loopback)
    return skip(
        "NCCL takes no two ranks on one device (--launch processes --nccl-loopback checks it over "
        "sockets)");
  if (point.launch == Launch::grid && !algorithm->kernel)
    return skip("is not one kernel: no grid launch");
  if (point.launch == Launch::grid &&
      std::count(point.devices.begin(), point.devices.end(), point.devices[0]) != point.ranks())
    return skip("a grid launch needs all ranks on one device");
  if (algorithm->reject)
    if (const auto why = algorithm->reject(point)) return skip(*why);
  return std::nullopt;
}

/// One world: all cases on the same devices with the same launch style.
class Group {
 public:
  Group(std::vector<Case> cases, const Options& options, const Machine& machine,
        const RunHooks& hooks, BenchmarkFile& file, int* points_done, int points)
      : cases_(std::move(cases)),
        options_(options),
        machine_(machine),
        hooks_(hooks),
        benchmark_file_(file),
        points_done_(points_done),
        points_(points) {}

  void run() {
    for (std::size_t first = 0; first < cases_.size();) {
      std::size_t end = first + 1;
      while (end < cases_.size() && cases_[end].same_point(cases_[first])) ++end;
      if (hooks_.progress) hooks_.progress(++*points_done_, points_, cases_[first]);
      run_point(static_cast<int>(first), static_cast<int>(end));
      first = end;
    }
  }

 private:
  void run_point(int first, int end) {
    std::vector<Contender> contenders;
    for (int index = first; index < end; ++index) {
      Contender contender;
      contender.index = index;
      contender.row.point = cases_[index];
      contender.row.ops_per_graph = options_.ops;
      if (const auto why = refusal(cases_[index], options_))
        settle(contender, why->first, why->second);
      contenders.push_back(std::move(contender));
    }
    try {
      while (!attempt(contenders)) {
      }
    } catch (const Interrupted&) {  // what is known of this point is not lost
      for (const Contender& contender : contenders)
        if (contender.done) hooks_.row(contender.row, contender.samples);
      throw;
    }
    for (const Contender& contender : contenders) hooks_.row(contender.row, contender.samples);
  }

  /// False when a contender took the workers with it: the point has to start again without it.
  bool attempt(std::vector<Contender>& contenders) {
    std::vector<Contender*> live;
    for (Contender& contender : contenders)
      if (!contender.done) live.push_back(&contender);
    if (live.empty() || !have_world(live)) return true;
    for (Contender* contender : live) {
      contender->row.wrong.reset();
      contender->rounds.clear();
      contender->cpu_us.clear();
      contender->samples.clear();
    }
    const bool whole = each(live, [&](Contender& c) { prepare(c); }) && measure(live) &&
                       each(live, [&](Contender& c) { conclude(c); });
    if (!whole) return false;
    for (Contender& contender : contenders) contender.done = true;
    return true;
  }

  /// A world that cannot come up fails everything that needs it.
  bool have_world(const std::vector<Contender*>& live) {
    try {
      if (!world_) {
        world_.emplace(config(), cases_);
      } else if (world_lost_) {
        world_->restart();
      }
      world_lost_ = false;
      return true;
    } catch (const CaseFailed& failed) {
      world_lost_ = world_.has_value();
      for (Contender* contender : live) settle(*contender, failed.status, failed.what());
      return false;
    }
  }

  WorldConfig config() const {
    WorldConfig config;
    config.backend = cases_[0].backend;
    config.launch = cases_[0].launch;
    config.devices = cases_[0].devices;
    config.timeout_seconds = options_.timeout_seconds;
    config.ops = options_.ops;
    config.max_replays = options_.replays;
    config.nccl_loopback = options_.nccl_loopback;
    return config;
  }

  /// Does `what` for every contender that is still in the race. False when the workers are lost.
  template <class What>
  bool each(const std::vector<Contender*>& live, What what) {
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
  bool drop(Contender& contender, const CaseFailed& failed) {
    // What was found out first stays: closing a wrong contender may fail as well.
    if (!contender.done) settle(contender, failed.status, failed.what());
    world_lost_ = failed.fatal;
    if (failed.fatal) return false;
    try {
      world_->close(contender.index);
    } catch (const CaseFailed&) {
      world_lost_ = true;
    }
    return !world_lost_;
  }

  void settle(Contender& contender, Status status, const std::string& reason) {
    contender.row.status = status;
    contender.row.reason = reason;
    contender.row.time.reset();
    contender.samples.clear();
    contender.done = true;
  }

  void prepare(Contender& contender) {
    const Opened opened = world_->open(contender.index);
    contender.row.geometry = opened.geometry;
    contender.row.ops_per_graph = opened.ops;
    contender.row.ran = opened.ran;
    contender.row.reason = opened.remark;
    if (opened.ran == "unverified") remark(contender, "what NCCL really ran is unverified");
    verify(contender);
    if (contender.done) return;
    const Case& point = contender.row.point;
    if (point.bytes == 0) return finish_untimed(contender, Status::ok, "0 bytes: nothing to time");
    const Algorithm* algorithm = find_algorithm(point.backend, point.algorithm);
    if (algorithm->library && options_.nccl_loopback)
      return finish_untimed(contender, Status::functional, "ranks met over loopback sockets");
    const double us_per_replay = world_->warm_up(contender.index) * opened.ops;
    const double budget_us = options_.row_seconds * 1e6 / options_.rounds;
    contender.replays = static_cast<int>(std::clamp<double>(
        budget_us / us_per_replay, std::min(kLeastReplays, options_.replays), options_.replays));
  }

  static void remark(Contender& contender, const std::string& text) {
    std::string& reason = contender.row.reason;
    reason += (reason.empty() ? "" : "; ") + text;
  }

  void finish_untimed(Contender& contender, Status status, const std::string& reason) {
    settle(contender, status, reason);
    world_->close(contender.index);
  }

  void verify(Contender& contender) {
    const auto salt = static_cast<std::uint32_t>(options_.seed * 1000003 + ++salt_ * 16);
    const Verified verified = world_->verify(contender.index, salt);
    contender.row.wrong = contender.row.wrong.value_or(0) + verified.wrong;
    if (verified.wrong == 0) return;
    settle(contender, Status::wrong, verified.text);
    world_->close(contender.index);
  }

  /// All rounds: in each, every contender once, in an order drawn anew. Google Benchmark runs each
  /// visit with manual time and a fixed iteration count; a visit's samples are taken together,
  /// without a gap between replays. The order is ours and not the library's, whose own interleaving
  /// has no seed and is not balanced per round.
  bool measure(const std::vector<Contender*>& live) {
    std::mt19937_64 random(options_.seed + static_cast<std::uint64_t>(*points_done_));
    for (int round = 0; round < options_.rounds; ++round) {
      std::vector<Contender*> order = live;
      std::shuffle(order.begin(), order.end(), random);
      const bool whole = each(order, [&](Contender& contender) { visit(contender, round); });
      if (!whole) return false;
    }
    return true;
  }

  void visit(Contender& contender, int round) {
    std::exception_ptr failure;
    const std::string name = contender.row.point.name();
    auto* timed = benchmark::RegisterBenchmark(name.c_str(), [&](benchmark::State& state) {
      RoundResult result;
      try {
        result = world_->round(contender.index, contender.replays);
      } catch (...) {  // may not pass through the library
        failure = std::current_exception();
        state.SkipWithError("failed");
        return;
      }
      std::size_t replay = 0;
      for (auto _ : state) state.SetIterationTime(result.worst[replay++] * 1e-6);
      keep(contender, round, result);
    });
    timed->UseManualTime()
        ->Iterations(contender.replays)
        ->Repetitions(1)
        ->Unit(benchmark::kNanosecond);
    benchmark_file_.visit(round, options_.rounds);
    benchmark::RunSpecifiedBenchmarks(&benchmark_file_, ".");  // whatever the environment filters
    benchmark::ClearRegisteredBenchmarks();
    if (failure) std::rethrow_exception(failure);
  }

  void keep(Contender& contender, int round, const RoundResult& result) {
    for (int replay = 0; replay < contender.replays; ++replay)
      contender.samples.push_back({round, replay, -1, result.worst[replay]});
    contender.rounds.push_back(result.worst);
    contender.cpu_us.push_back(result.cpu_us);
  }

  void conclude(Contender& contender) {
    verify(contender);
    if (contender.done) return;
    contender.row.time = summarize(contender.rounds);
    contender.row.cpu_us_median = median(contender.cpu_us);
    if (contender.row.point.launch == Launch::processes && contender.row.point.is_virtual() &&
        contender.row.point.backend == Backend::cuda && !machine_.mps)
      remark(contender,
             "no MPS: the ranks' processes take turns, so this is the time of time slicing");
    world_->close(contender.index);
  }

  std::vector<Case> cases_;
  const Options& options_;
  const Machine& machine_;
  const RunHooks& hooks_;
  BenchmarkFile& benchmark_file_;
  int* points_done_;
  int points_;
  std::optional<World> world_;
  bool world_lost_ = false;
  std::uint64_t salt_ = 0;
};

bool same_world(const Case& a, const Case& b) {
  return a.devices == b.devices && a.launch == b.launch && a.backend == b.backend;
}

int count_points(const std::vector<Case>& cases) {
  int points = 0;
  for (std::size_t i = 0; i < cases.size(); ++i)
    if (i == 0 || !cases[i].same_point(cases[i - 1])) ++points;
  return points;
}

}  // namespace

void run(const std::vector<Case>& cases, const Options& options, const Machine& machine,
         const RunHooks& hooks) {
  const int points = count_points(cases);
  int points_done = 0;
  BenchmarkFile file(hooks.google_benchmark);
  for (std::size_t first = 0; first < cases.size();) {
    std::size_t end = first + 1;
    while (end < cases.size() && same_world(cases[end], cases[first])) ++end;
    Group({cases.begin() + static_cast<std::ptrdiff_t>(first),
           cases.begin() + static_cast<std::ptrdiff_t>(end)},
          options, machine, hooks, file, &points_done, points)
        .run();
    first = end;
  }
}

std::vector<std::string> algorithm_names(Backend backend, const std::vector<std::string>& asked) {
  const auto named = [&](const std::string& name) {
    return std::find(asked.begin(), asked.end(), name) != asked.end();
  };
  std::vector<std::string> names;
  for (const Algorithm& algorithm : algorithms(backend))
    if (!algorithm.library && (!algorithm.hidden || named(algorithm.name)))
      names.push_back(algorithm.name);
  if (backend == Backend::cuda || !asked.empty())
    for (const char* name : {"nccl_auto", "nccl_ring", "nccl_tree"}) names.emplace_back(name);
  return names;
}

int exit_code(const std::vector<Row>& rows) {
  const auto any = [&](Status status) {
    return std::any_of(rows.begin(), rows.end(),
                       [&](const Row& row) { return row.status == status; });
  };
  if (any(Status::wrong)) return 7;
  if (any(Status::hung)) return 4;
  return any(Status::error) ? 8 : 0;
}

}  // namespace arbench

#include "runner.hpp"

#include <algorithm>
#include <cmath>
#include <optional>

#include "arbench/algorithm.hpp"
#include "benchmark_file.hpp"
#include "floor.hpp"
#include "point.hpp"
#include "run_time_code.hpp"
#include "sweep.hpp"
#include "world.hpp"

namespace arbench {
namespace {

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
  if (point.transport == Transport::host && !algorithm->library && !algorithm->host_transport)
    return skip("reaches into its peers' buffers: no host transport");
  if (algorithm->reject)
    if (const auto why = algorithm->reject(point)) return skip(*why);
  return std::nullopt;
}

/// Likewise, with what is known when all run-time code is compiled.
std::optional<std::pair<Status, std::string>> refusal(const Case& point, const Options& options,
                                                      const Machine& machine) {
  if (auto refused = refusal(point, options)) return refused;
  if (const auto why = no_code(point, machine)) return std::pair(Status::unsupported, *why);
  return std::nullopt;
}

/// One world: all cases on the same devices with the same launch style and transport.
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
        points_(points),
        seconds_(hooks.seconds == nullptr ? unwanted_ : *hooks.seconds) {}

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
      contender.row.added_skew_us = options_.skew_us;
      contender.floor = floor_of(cases_[index], machine_);
      if (contender.floor) contender.row.floor_us = contender.floor->us;
      if (const auto why = refusal(cases_[index], options_, machine_))
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
    Point point(*world_,
                {options_, machine_, benchmark_file_, static_cast<int>(cases_.size()),
                 options_.seed + static_cast<std::uint64_t>(*points_done_), salt_, seconds_});
    world_lost_ = !point.run(contenders);
    return !world_lost_;
  }

  /// A world that cannot come up fails everything that needs it.
  bool have_world(const std::vector<Contender*>& live) {
    try {
      if (!world_) {
        world_.emplace(config(), cases_and_copies(), &seconds_);
        if (hooks_.look) world_->watch([this] { return look(); });
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

  Sight look() const {
    Sight sight = hooks_.look(cases_[0].devices);
    if (!crosses_links(cases_[0])) sight.links.clear();
    return sight;
  }

  WorldConfig config() const {
    WorldConfig config;
    config.backend = cases_[0].backend;
    config.launch = cases_[0].launch;
    config.transport = cases_[0].transport;
    config.devices = cases_[0].devices;
    config.timeout_seconds = options_.timeout_seconds;
    config.ops = options_.ops;
    config.max_replays = std::max(options_.replays, options_.skew_us > 0 ? config.ranks() : 1);
    config.skew_us = options_.skew_us;
    config.slow_algorithms = options_.slow_algorithms;
    config.slow_ops = static_cast<int>(std::lround(options_.slow_pct * options_.ops / 100));
    config.nccl_loopback = options_.nccl_loopback;
    return config;
  }

  /// Point measures a case a second time as case index + cases_.size().
  std::vector<Case> cases_and_copies() const {
    std::vector<Case> all = cases_;
    all.insert(all.end(), cases_.begin(), cases_.end());
    return all;
  }

  std::vector<Case> cases_;
  const Options& options_;
  const Machine& machine_;
  const RunHooks& hooks_;
  BenchmarkFile& benchmark_file_;
  int* points_done_;
  int points_;
  Seconds unwanted_;
  Seconds& seconds_;
  std::optional<World> world_;
  bool world_lost_ = false;
  std::uint64_t salt_ = 0;
};

bool same_world(const Case& a, const Case& b) {
  return a.devices == b.devices && a.launch == b.launch && a.transport == b.transport &&
         a.backend == b.backend;
}

}  // namespace

std::vector<Case> runnable(const std::vector<Case>& cases, const Options& options) {
  std::vector<Case> found = cases;
  std::erase_if(found, [&](const Case& point) { return refusal(point, options).has_value(); });
  return found;
}

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

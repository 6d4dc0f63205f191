#include "self_test.hpp"

#include <algorithm>
#include <cstdio>

#include "arbench/algorithm.hpp"
#include "runner.hpp"
#include "sweep.hpp"

namespace arbench {
namespace {

constexpr std::uint64_t kElements = 4099;  ///< 3 more than whole packs hold, in every dtype
constexpr int kHostRanks = 3;

/// Little is timed: right algorithms are verified before and after.
Options settled(const Options& asked, Backend backend) {
  Options options = asked;
  options.rounds = 1;
  options.replays = 1;
  options.ops = 2;
  options.row_seconds = 1e-3;
  options.aa = false;
  options.sizes.clear();
  options.shape_elements = {kElements};
  if (backend == Backend::host && options.gpus.empty()) options.gpus = {kHostRanks};
  return options;
}

/// Unless rank counts were asked for, those with the most ranks alone.
std::vector<Case> cases_of(const Options& options, const Machine& machine,
                           const std::vector<std::string>& names) {
  std::vector<Case> cases = expand(options, machine, names);
  int most = 0;
  for (const Case& point : cases) most = std::max(most, point.ranks());
  if (options.gpus.empty())
    std::erase_if(cases, [&](const Case& point) { return point.ranks() < most; });
  return cases;
}

/// A control that ends as an error by chance, or hangs, was not caught for what is wrong with it.
/// What a graph lacks is noticed when it is captured.
bool caught(const Row& row) {
  return row.status == Status::wrong ||
         (row.status == Status::error && row.reason.starts_with("capture: "));
}

Verdict verdict_on(const Row& row, bool control) {
  if (row.status == Status::skipped) return {row, control, "not run"};
  if (control) return {row, true, caught(row) ? "caught" : "MISSED"};
  return {row, false, row.status == Status::ok ? "passed" : "FAILED"};
}

}  // namespace

std::string line(const Verdict& verdict) {
  const Row& row = verdict.row;
  char head[80];
  std::snprintf(head, sizeof head, "%-22s g%-2d %-5s  ", row.point.algorithm.c_str(),
                row.point.ranks(), std::string(word(row.point.mode)).c_str());
  std::string text = head + verdict.word;
  if (verdict.word == "passed") return text;
  if (verdict.word != "not run") text += ": " + std::string(word(row.status));
  return text + (row.reason.empty() ? "" : ": " + row.reason);
}

std::vector<std::string> control_names(Backend backend) {
  std::vector<std::string> names;
  for (const Algorithm& algorithm : algorithms(backend))
    if (algorithm.hidden && algorithm.name.starts_with("broken_")) names.push_back(algorithm.name);
  return names;
}

std::vector<Verdict> self_test(const Options& asked, const Machine& machine,
                               const std::vector<std::string>& controls,
                               const std::function<void(const Verdict&)>& show) {
  const Backend backend = resolved_backend(asked, machine);
  const Options options = settled(asked, backend);
  std::vector<Verdict> verdicts;
  const auto run_all = [&](const std::vector<Case>& cases, bool control) {
    const auto keep = [&](const Row& row, const std::vector<Sample>&) {
      verdicts.push_back(verdict_on(row, control));
      show(verdicts.back());
    };
    run(cases, options, machine, {keep, {}});
  };
  std::vector<std::string> right;
  for (const Algorithm& algorithm : algorithms(backend))
    if (!algorithm.hidden && !algorithm.library) right.push_back(algorithm.name);
  run_all(cases_of(options, machine, right), false);
  if (controls.empty()) return verdicts;
  for (const Case& point : cases_of(options, machine, controls)) run_all({point}, true);
  return verdicts;
}

int exit_code(const std::vector<Verdict>& verdicts) {
  const auto count = [&](bool control, const std::string& word) {
    return std::count_if(verdicts.begin(), verdicts.end(), [&](const Verdict& verdict) {
      return verdict.control == control && verdict.word == word;
    });
  };
  const bool all = count(true, "MISSED") == 0 && count(false, "FAILED") == 0;
  return all && count(true, "caught") > 0 && count(false, "passed") > 0 ? 0 : 7;
}

}  // namespace arbench

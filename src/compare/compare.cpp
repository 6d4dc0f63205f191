#include "compare/compare.hpp"

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <set>
#include <utility>

namespace arbench::compare {
namespace {

/// The same key's entries by launch; null where a launch has no such row.
using Launches = std::vector<const Entry*>;
struct Pair {
  Launches a, b;
};
struct Joined {
  std::vector<const Entry*> order;  ///< the first entry of each key
  std::map<Key, Pair> pairs;
};

void put(Joined& joined, const Side& side, Launches Pair::*member) {
  for (std::size_t launch = 0; launch < side.size(); ++launch)
    for (const Entry& entry : side[launch].entries) {
      const auto [at, is_new] = joined.pairs.try_emplace(entry.key);
      if (is_new) joined.order.push_back(&entry);
      (at->second.*member).resize(side.size());
      (at->second.*member)[launch] = &entry;
    }
}

bool usable(const Entry* entry) {
  return entry && entry->status == "ok" && (entry->median_us || !entry->samples.empty());
}

/// "A: 1 of 3 launches hung (reason)"; empty when all are in the comparison.
std::string missing(const char* side, const Launches& launches) {
  const auto bad = std::find_if_not(launches.begin(), launches.end(), usable);
  if (launches.empty()) return std::string("not in ") + side;
  if (bad == launches.end()) return "";
  const auto count = std::count_if(launches.begin(), launches.end(),
                                   [](const Entry* entry) { return !usable(entry); });
  std::string why = "have no such row";
  if (*bad) why = (*bad)->status == "ok" ? "have no time" : "are " + (*bad)->status;
  if (*bad && !(*bad)->reason.empty()) why += " (" + (*bad)->reason + ")";
  return std::string(side) + ": " + std::to_string(count) + " of " +
         std::to_string(launches.size()) + " launches " + why;
}

Timing timing_of(const Launches& launches) {
  Timing timing;
  bool all_stated = true;
  for (const Entry* entry : launches) {
    if (!usable(entry)) continue;
    auto& rounds = timing.rounds.emplace_back();
    for (const auto& samples : entry->samples) rounds.push_back(median(samples));
    if (rounds.empty()) rounds.push_back(*entry->median_us);
    if (!entry->interval) all_stated = false;
    if (!all_stated) continue;
    if (!timing.stated) timing.stated = entry->interval;
    timing.stated->lo = std::min(timing.stated->lo, entry->interval->lo);
    timing.stated->hi = std::max(timing.stated->hi, entry->interval->hi);
  }
  if (!all_stated) timing.stated.reset();
  return timing;
}

double largest_aa(const Pair& pair) {
  double largest = 0;
  for (const Launches* side : {&pair.a, &pair.b})
    for (const Entry* entry : *side)
      if (entry && entry->aa_pct) largest = std::max(largest, *entry->aa_pct);
  return largest;
}

/// Nothing where there is no such key.
std::string of(const Key& key, const char* name) {
  const auto at = key.find(name);
  return at == key.end() ? "" : at->second;
}

/// Of a Google Benchmark, what its name begins with.
std::string algorithm_of(const Key& key) {
  const std::string benchmark = of(key, "benchmark");
  return benchmark.empty() ? of(key, "algo") : benchmark.substr(0, benchmark.find('/'));
}

std::string size_class(const std::string& bytes) {
  if (bytes.empty()) return "-";
  const double value = std::strtod(bytes.c_str(), nullptr);
  if (value <= 64 << 10) return "up to 64 KiB";
  return value <= 4 << 20 ? "up to 4 MiB" : "above 4 MiB";
}

/// The algorithm, and the toolkit if another than the build's compiled it.
std::string contender(const Key& key) {
  const std::string toolkit = of(key, "toolkit");
  return algorithm_of(key) + (toolkit.empty() ? "" : " " + toolkit);
}

/// A group in the making: logs of its rows added up, draw by draw.
struct Sum {
  Group group;
  std::vector<double> logs;
  double log = 0, cut = 50;
};

void add(std::vector<Sum>& sums, const Compared& row, const std::vector<double>& logs, double cut) {
  const std::string algorithm = contender(row.key), sizes = size_class(of(row.key, "bytes"));
  auto at = std::find_if(sums.begin(), sums.end(), [&](const Sum& sum) {
    return sum.group.algorithm == algorithm && sum.group.sizes == sizes;
  });
  if (at == sums.end())
    at = sums.insert(sums.end(), {{algorithm, sizes, 0, 1, {}}, std::vector<double>(logs.size())});
  ++at->group.rows;
  at->log += std::log(*row.ratio);
  at->cut = std::min(at->cut, cut);
  for (std::size_t i = 0; i < logs.size(); ++i) at->logs[i] += logs[i];
}

Group finished(Sum sum) {
  for (double& log : sum.logs) log /= sum.group.rows;
  sum.group.ratio = std::exp(sum.log / sum.group.rows);
  sum.group.interval = interval_of(std::move(sum.logs), sum.cut);
  return sum.group;
}

Compared row_of(const Entry& first, const Pair& pair) {
  Compared row;
  row.key = first.key;
  row.name = first.name;
  const std::string a = missing("A", pair.a), b = missing("B", pair.b);
  row.note = a + (a.empty() || b.empty() ? "" : "; ") + b;
  return row;
}

std::vector<std::string> warnings_of(const Side& a, const Side& b,
                                     const std::vector<Difference>& environment) {
  std::vector<std::string> warnings;
  if (!std::all_of(environment.begin(), environment.end(), is_expected))
    warnings.emplace_back("more than the toolkit differs: what is found may have other causes");
  bool shared = false;
  for (const Side* side : {&a, &b})
    for (const ResultSet& set : *side)
      for (const Entry& entry : set.entries)
        shared |= of(entry.key, "virtual") == "1" || of(entry.key, "backend") == "host";
  if (shared) warnings.emplace_back("virtual ranks or host backend: not a multi-GPU result");
  for (const auto& [name, side] : {std::pair("A", &a), {"B", &b}})
    if (side->size() == 1)
      warnings.push_back(std::string(name) +
                         " is a single launch: the spread between launches is unknown, so only a "
                         "factor of two counts");
  return warnings;
}

std::string values(const Side& side, const std::string& name) {
  std::set<std::string> found;
  for (const ResultSet& set : side) {
    const auto at = set.facts.find(name);
    found.insert(at == set.facts.end() || at->second.empty() ? "-" : at->second);
  }
  std::string text;
  for (const std::string& value : found) text += (text.empty() ? "" : " | ") + value;
  return text;
}

}  // namespace

std::vector<Difference> differences(const Side& a, const Side& b) {
  std::set<std::string> names;
  for (const Side* side : {&a, &b})
    for (const ResultSet& set : *side)
      for (const auto& [name, value] : set.facts) names.insert(name);
  const bool one_format = values(a, "format") == values(b, "format");
  std::vector<Difference> found;
  for (const std::string& name : names) {
    Difference difference{name, values(a, name), values(b, name)};
    const bool stated = difference.a != "-" && difference.b != "-";
    if (difference.a != difference.b && (one_format || stated))
      found.push_back(std::move(difference));
  }
  return found;
}

bool is_expected(const Difference& difference) {
  return difference.name == "toolkit" || difference.name == "cuda_runtime" ||
         difference.name == "option seed";
}

Comparison compare(const Side& a, const Side& b) {
  Comparison result;
  result.environment = differences(a, b);
  result.warnings = warnings_of(a, b, result.environment);
  Joined joined;
  put(joined, a, &Pair::a);
  put(joined, b, &Pair::b);
  std::vector<double> spreads;
  for (const Entry* first : joined.order) {
    const Pair& pair = joined.pairs.at(first->key);
    const Timing from = timing_of(pair.a), to = timing_of(pair.b);
    if (!from.rounds.empty() && !to.rounds.empty())
      spreads.push_back(std::max(spread_pct(from), spread_pct(to)));
  }
  const double usual = spreads.empty() ? 0 : median(spreads);
  std::vector<Sum> sums;
  for (const Entry* first : joined.order) {
    const Pair& pair = joined.pairs.at(first->key);
    Compared row = row_of(*first, pair);
    const Timing from = timing_of(pair.a), to = timing_of(pair.b);
    if (!from.rounds.empty()) row.a_us = value(from);
    if (!to.rounds.empty()) row.b_us = value(to);
    if (row.a_us && row.b_us) {
      row.ratio = *row.b_us / *row.a_us;
      row.band_pct = std::max(band_pct(from, to, usual), largest_aa(pair));
      const auto logs = resampled_log_ratios(from, to);
      row.interval = logs.empty() ? stated_ratio(from, to) : interval_of(logs, cut_of(from, to));
      row.verdict = verdict(row.interval, row.band_pct);
      if (!logs.empty()) add(sums, row, logs, cut_of(from, to));
    }
    result.rows.push_back(std::move(row));
  }
  for (Sum& sum : sums) result.groups.push_back(finished(std::move(sum)));
  return result;
}

bool has_slower(const Comparison& comparison, double pct) {
  return std::any_of(comparison.rows.begin(), comparison.rows.end(), [&](const Compared& row) {
    return row.verdict == Verdict::slower && *row.ratio > 1 + pct / 100;
  });
}

}  // namespace arbench::compare

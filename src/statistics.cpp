#include "statistics.hpp"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <iterator>
#include <limits>
#include <numeric>
#include <random>

namespace arbench {
namespace {

constexpr double kNan = std::numeric_limits<double>::quiet_NaN();
constexpr int kFewestResamples = 500;
/// Samples that a bootstrap may step over in all, at about 1 ns each.
constexpr std::size_t kStepBudget = 8'000'000;

std::vector<double> sorted(std::span<const double> values) {
  std::vector<double> copy(values.begin(), values.end());
  std::sort(copy.begin(), copy.end());
  return copy;
}

double median_of_sorted(std::span<const double> values) {
  if (values.empty()) return kNan;
  const std::size_t half = values.size() / 2;
  return values.size() % 2 ? values[half] : (values[half - 1] + values[half]) / 2;
}

double percentile_of_sorted(std::span<const double> values, double percent) {
  if (values.empty()) return kNan;
  // percent * n first: 95 * 20 / 100 is exactly 19, 0.95 * 20 is not.
  const double rank = std::ceil(percent * static_cast<double>(values.size()) / 100);
  return values[rank < 1 ? 0 : static_cast<std::size_t>(rank) - 1];
}

/// The value of rank 1..n, which may lie between two.
double at_rank(std::span<const double> values, double rank) {
  const double place = std::clamp(rank, 1.0, static_cast<double>(values.size())) - 1;
  const auto below = static_cast<std::size_t>(place);
  const std::size_t above = std::min(below + 1, values.size() - 1);
  return std::lerp(values[below], values[above], place - static_cast<double>(below));
}

Quartiles quartiles_of_sorted(std::span<const double> values) {
  if (values.empty()) return {kNan, kNan};
  const auto ranks = static_cast<double>(values.size() + 1);
  return {at_rank(values, 0.25 * ranks), at_rank(values, 0.75 * ranks)};
}

Outliers outliers_of_sorted(std::span<const double> values) {
  const Quartiles ends = quartiles_of_sorted(values);
  const double range = ends.upper - ends.lower;
  const auto beyond = [&](double ranges) {
    return static_cast<int>(std::count_if(values.begin(), values.end(), [&](double value) {
      return value < ends.lower - ranges * range || value > ends.upper + ranges * range;
    }));
  };
  const int severe = beyond(3);
  return {beyond(1.5) - severe, severe};
}

struct Tagged {
  double value;
  std::uint32_t round;
};

/// All samples in ascending order, each with the number of its round among those that are not
/// empty.
std::vector<Tagged> merged(const std::vector<std::vector<double>>& rounds,
                           std::vector<std::size_t>& sizes) {
  std::vector<Tagged> all;
  for (const auto& round : rounds) {
    if (round.empty()) continue;
    for (const double value : round)
      all.push_back({value, static_cast<std::uint32_t>(sizes.size())});
    sizes.push_back(round.size());
  }
  std::sort(all.begin(), all.end(),
            [](const Tagged& a, const Tagged& b) { return a.value < b.value; });
  return all;
}

/// Student's t, two-sided 95 %. Source: NIST/SEMATECH e-Handbook, 1.3.6.7.2; above 10 degrees of freedom the expansion
/// around the normal quantile of Abramowitz and Stegun, 26.7.5, which is off by 0.0002 at most there.
double t_95(std::size_t freedom) {
  constexpr double kTable[] = {12.706, 4.303, 3.182, 2.776, 2.571,
                               2.447,  2.365, 2.306, 2.262, 2.228};
  if (freedom <= std::size(kTable)) return kTable[freedom - 1];
  const auto v = static_cast<double>(freedom);
  return 1.959964 + 2.372271 / v + 2.822599 / (v * v) + 2.555852 / (v * v * v);
}

/// The median when each sample counts `times[round]` times. One walk up the sorted samples replaces
/// copying and sorting a resample. REQUIRES: total is the sum of all counts, and not 0.
double weighted_median(const std::vector<Tagged>& all, const std::vector<std::uint32_t>& times,
                       std::size_t total) {
  const std::size_t lower_rank = (total + 1) / 2;
  std::size_t place = 0;
  std::size_t seen = times[all[0].round];
  while (seen < lower_rank) seen += times[all[++place].round];
  const double lower = all[place].value;
  if (total % 2 || seen > lower_rank) return lower;
  do ++place;
  while (times[all[place].round] == 0);
  return (lower + all[place].value) / 2;
}

/// Uniform in [0, bound). std::uniform_int_distribution may differ between standard libraries; this
/// may not.
std::uint32_t draw(std::mt19937& random, std::size_t bound) {
  return static_cast<std::uint32_t>((std::uint64_t{random()} * bound) >> 32);
}

}  // namespace

// The percent that the expanded percentile bootstrap cuts off at each end of a 95 % interval. Resampling n of n rounds
// spreads as if the variance were divided by n and not by n - 1, and as if the spread were known: the nominal 2.5 % is
// moved out by the factor sqrt(n / (n - 1)) and from the normal distribution to Student's t. Source: T. Hesterberg, "What
// teachers should know about the bootstrap", The American Statistician 69 (2015) 371, section 3.4.
double expanded_percent(std::size_t units, std::size_t freedom) {
  const auto n = static_cast<double>(units);
  const double cut = t_95(freedom) * std::sqrt(n / (n - 1));
  return 100 * std::erfc(cut / std::sqrt(2.0)) / 2;
}

double median(std::span<const double> values) { return median_of_sorted(sorted(values)); }

double percentile(std::span<const double> values, double percent) {
  return percentile_of_sorted(sorted(values), percent);
}

double mean(std::span<const double> values) {
  if (values.empty()) return kNan;
  return std::accumulate(values.begin(), values.end(), 0.0) / static_cast<double>(values.size());
}

double mad(std::span<const double> values) {
  const double middle = median(values);
  std::vector<double> deviations(values.begin(), values.end());
  for (double& value : deviations) value = std::abs(value - middle);
  return median(deviations);
}

double cv_pct(std::span<const double> values) {
  const double centre = mean(values);
  if (values.empty()) return kNan;
  if (values.size() == 1 || centre == 0) return 0;
  double squares = 0;
  for (const double value : values) squares += (value - centre) * (value - centre);
  return 100 * std::sqrt(squares / static_cast<double>(values.size() - 1)) / centre;
}

Quartiles quartiles(std::span<const double> values) { return quartiles_of_sorted(sorted(values)); }

Outliers outliers(std::span<const double> values) { return outliers_of_sorted(sorted(values)); }

Interval median_interval(const std::vector<std::vector<double>>& rounds, int resamples) {
  std::vector<std::size_t> sizes;
  const std::vector<Tagged> all = merged(rounds, sizes);
  if (all.empty()) return {kNan, kNan};
  if (sizes.size() == 1) return {all.front().value, all.back().value};
  const auto affordable =
      static_cast<int>(std::min<std::size_t>(2 * kStepBudget / all.size(), resamples));
  std::vector<double> medians(std::max(affordable, std::min(kFewestResamples, resamples)));
  std::mt19937 random;  // the same numbers everywhere and always
  std::vector<std::uint32_t> times(sizes.size());
  for (double& resampled : medians) {
    std::fill(times.begin(), times.end(), 0);
    std::size_t total = 0;
    for (std::size_t i = 0; i < sizes.size(); ++i) {
      const std::uint32_t round = draw(random, sizes.size());
      ++times[round];
      total += sizes[round];
    }
    resampled = weighted_median(all, times, total);
  }
  std::sort(medians.begin(), medians.end());
  const double cut = expanded_percent(sizes.size(), sizes.size() - 1);
  return {percentile_of_sorted(medians, cut), percentile_of_sorted(medians, 100 - cut)};
}

Summary summarize(const std::vector<std::vector<double>>& rounds) {
  Summary summary;
  std::vector<double> all;
  for (const auto& round : rounds) {
    summary.rounds += round.empty() ? 0 : 1;
    all.insert(all.end(), round.begin(), round.end());
  }
  if (all.empty()) return summary;
  std::sort(all.begin(), all.end());
  summary.samples = static_cast<int>(all.size());
  summary.median = median_of_sorted(all);
  const Interval interval = median_interval(rounds);
  summary.ci_lo = interval.lo;
  summary.ci_hi = interval.hi;
  summary.min = all.front();
  summary.mean = mean(all);
  summary.p90 = percentile_of_sorted(all, 90);
  summary.p95 = percentile_of_sorted(all, 95);
  summary.p99 = percentile_of_sorted(all, 99);
  summary.max = all.back();
  summary.mad = mad(all);
  summary.cv_pct = cv_pct(all);
  const Outliers classed = outliers_of_sorted(all);
  summary.outliers_mild = classed.mild;
  summary.outliers_severe = classed.severe;
  return summary;
}

}  // namespace arbench

#include "statistics.hpp"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <iterator>
#include <limits>
#include <numeric>

namespace arbench {
namespace {

constexpr double kNan = std::numeric_limits<double>::quiet_NaN();

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

/// The share of samples counted so far over all rounds, and its standard error from the differences between rounds.
class Share {
 public:
  explicit Share(const std::vector<std::size_t>& sizes) : sizes_(sizes), counts_(sizes.size()) {
    for (const std::size_t size : sizes) {
      samples_ += static_cast<double>(size);
      sizes_squared_ += static_cast<double>(size) * static_cast<double>(size);
    }
  }

  void count(std::uint32_t round) {
    counted_ += 1;
    counts_squared_ += 2 * counts_[round] + 1;
    products_ += static_cast<double>(sizes_[round]);
    counts_[round] += 1;
  }

  double value() const { return counted_ / samples_; }

  /// Of the ratio of two sums over rounds (Cochran, "Sampling techniques", 2.11). Sums of whole numbers: exact.
  double error() const {
    const double share = value();
    const double squares = counts_squared_ - 2 * share * products_ + share * share * sizes_squared_;
    const auto rounds = static_cast<double>(sizes_.size());
    return std::sqrt(std::max(squares, 0.0) * rounds / (rounds - 1)) / samples_;
  }

 private:
  const std::vector<std::size_t>& sizes_;
  std::vector<double> counts_;  ///< of each round
  double samples_ = 0, counted_ = 0;
  double sizes_squared_ = 0, counts_squared_ = 0, products_ = 0;  ///< sums over rounds
};

}  // namespace

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

Interval median_interval(const std::vector<std::vector<double>>& rounds) {
  std::vector<std::size_t> sizes;
  const std::vector<Tagged> all = merged(rounds, sizes);
  if (all.empty()) return {kNan, kNan};
  Interval interval{all.back().value, all.back().value};
  if (sizes.size() == 1) return {all.front().value, all.back().value};
  const double t = t_95(sizes.size() - 1);
  Share share(sizes);
  bool inside = false;
  for (std::size_t i = 0; i < all.size();) {
    const double value = all[i].value;
    if (share.value() - t * share.error() <= 0.5) interval.hi = value;  // of those below the value
    for (; i < all.size() && all[i].value == value; ++i) share.count(all[i].round);
    if (!inside && share.value() + t * share.error() >= 0.5) {
      inside = true;
      interval.lo = value;
    }
  }
  return interval;
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

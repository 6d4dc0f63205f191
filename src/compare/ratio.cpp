#include "compare/ratio.hpp"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <random>

namespace arbench::compare {
namespace {

/// Puts the middle in place instead of sorting: this is where a comparison's time goes.
double median_in_place(std::vector<double>& values) {
  const auto middle = values.begin() + static_cast<std::ptrdiff_t>(values.size() / 2);
  std::nth_element(values.begin(), middle, values.end());
  if (values.size() % 2) return *middle;
  return (*middle + *std::max_element(values.begin(), middle)) / 2;
}

/// Uniform in [0, bound), the same with every standard library.
std::size_t draw(std::mt19937& random, std::size_t bound) {
  return (std::uint64_t{random()} * bound) >> 32;
}

double resampled_value(const Timing& timing, std::mt19937& random, std::vector<double>& launches,
                       std::vector<double>& drawn) {
  launches.clear();
  for (const auto& rounds : timing.rounds) {
    drawn.clear();
    for (std::size_t k = 0; k < rounds.size(); ++k)
      drawn.push_back(rounds[draw(random, rounds.size())]);
    launches.push_back(median_in_place(drawn));
  }
  return median_in_place(launches);
}

std::size_t fewest_rounds(const Timing& timing) {
  std::size_t fewest = timing.rounds.front().size();
  for (const auto& rounds : timing.rounds) fewest = std::min(fewest, rounds.size());
  return fewest;
}

/// Degrees of freedom within the launches.
std::size_t freedom(const Timing& timing) {
  std::size_t sum = 0;
  for (const auto& rounds : timing.rounds) sum += rounds.size() - 1;
  return sum;
}

}  // namespace

std::string_view word(Verdict verdict) {
  constexpr std::string_view kWords[] = {"-", "FASTER", "SLOWER", "SAME", "UNCLEAR"};
  return kWords[static_cast<int>(verdict)];
}

double value(const Timing& timing) {
  std::vector<double> launches;
  for (const auto& rounds : timing.rounds) launches.push_back(median(rounds));
  return median(launches);
}

std::vector<double> resampled_log_ratios(const Timing& a, const Timing& b) {
  if (fewest_rounds(a) < 2 || fewest_rounds(b) < 2) return {};
  std::mt19937 random_a(1), random_b(2);
  std::vector<double> logs, launches, drawn;
  logs.reserve(kResamples);
  for (int i = 0; i < kResamples; ++i) {
    const double from = resampled_value(a, random_a, launches, drawn);
    logs.push_back(std::log(resampled_value(b, random_b, launches, drawn) / from));
  }
  return logs;
}

double cut_of(const Timing& a, const Timing& b) {
  return expanded_percent(std::min(fewest_rounds(a), fewest_rounds(b)), freedom(a) + freedom(b));
}

Interval interval_of(std::vector<double> logs, double cut) {
  std::sort(logs.begin(), logs.end());
  return {std::exp(percentile(logs, cut)), std::exp(percentile(logs, 100 - cut))};
}

std::optional<Interval> stated_ratio(const Timing& a, const Timing& b) {
  if (!a.stated || !b.stated) return std::nullopt;
  return Interval{b.stated->lo / a.stated->hi, b.stated->hi / a.stated->lo};
}

double spread_pct(const Timing& timing) {
  std::vector<double> launches;
  for (const auto& rounds : timing.rounds) launches.push_back(median(rounds));
  const auto [least, most] = std::minmax_element(launches.begin(), launches.end());
  return 100 * (*most / *least - 1);
}

double band_pct(const Timing& a, const Timing& b, double usual) {
  const bool single = std::min(a.rounds.size(), b.rounds.size()) < 2;
  return std::max(
      {single ? kUnknownBandPct : kLeastBandPct, spread_pct(a), spread_pct(b), 1.5 * usual});
}

Verdict verdict(const std::optional<Interval>& ratio, double band_pct) {
  const double upper = 1 + std::max(band_pct, kLeastBandPct) / 100;
  const double lower = 1 / upper;
  if (!ratio) return Verdict::unclear;
  if (ratio->lo > upper) return Verdict::slower;
  if (ratio->hi < lower) return Verdict::faster;
  const bool inside = ratio->lo >= lower && ratio->hi <= upper;
  return inside && band_pct < kUnknownBandPct ? Verdict::same : Verdict::unclear;
}

}  // namespace arbench::compare

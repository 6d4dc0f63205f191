// Is B faster than A? The rule behind every verdict. Pure functions; the same input gives the same answer everywhere.
//
// A launch's value is the median over its rounds of the round's median; a side's value is the median over its launches, and
// the ratio is B's value over A's: above 1, B is slower. The 95 % interval of the ratio is a bootstrap that draws rounds within
// each launch, expanded as median_interval() does by sqrt(n / (n - 1)) and Student's t. It keeps the launches as they are: three
// launches are too few to be drawn from, their bootstrap is as wide as their whole range. How much launches differ (a process
// has its own address layout and NCCL rings) enters by the band instead. The band is the largest of
//   1 %,
//   the A/A bands of the row: what two measurements of one thing in one launch differ by,
//   the row's spread: how far the slowest launch of a side is above its fastest,
//   1.5 times the median spread of all rows, since the spread of a few launches may be small by chance.
// Two sides of three launches with deviation s per launch and no difference have ratios within 1.9 s, 95 times in 100, and a
// median spread of about 2.2 s. With a single launch on a side its spread is not known: launches of one program have been
// seen 1.5 times apart on a loaded machine, so the band is 100 % and only a factor of two counts. Then
//   SLOWER  the whole interval lies above 1 + band
//   FASTER  the whole interval lies below 1 / (1 + band)
//   SAME    the whole interval lies inside of the band, and the band is below 100 %
//   UNCLEAR all else, also when there is no interval
#pragma once

#include <optional>
#include <string_view>
#include <vector>

#include "statistics.hpp"

namespace arbench::compare {

inline constexpr int kResamples = 2000;
inline constexpr double kLeastBandPct = 1;
/// Where a side is a single launch. Within this much nothing is the SAME.
inline constexpr double kUnknownBandPct = 100;

enum class Verdict { none, faster, slower, same, unclear };
/// "FASTER" ...; "-" where nothing was compared.
std::string_view word(Verdict verdict);

/// One side of one row: the median of each round, us, by launch. No launch is empty.
struct Timing {
  std::vector<std::vector<double>> rounds;
  /// Of a file that states a median and its interval, without samples.
  std::optional<Interval> stated;
};

/// The side's value, us.
double value(const Timing& timing);

/// kResamples values of log(B / A). The draws depend only on how many launches and rounds there are, so that rows of one
/// pair of runs draw the same ones and their logs may be averaged: what rows of one round have in common is kept. Empty when
/// a launch has a single round.
std::vector<double> resampled_log_ratios(const Timing& a, const Timing& b);

/// The percent to cut off at each end of the logs. REQUIRES: resampled_log_ratios() is not empty.
double cut_of(const Timing& a, const Timing& b);
/// Of exp(logs), less `cut` percent at each end. REQUIRES: not empty.
Interval interval_of(std::vector<double> logs, double cut);

/// Where there are no rounds: stated intervals divided crosswise, which is wider than 95 %.
std::optional<Interval> stated_ratio(const Timing& a, const Timing& b);

/// How far the slowest launch is above the fastest, percent; 0 for one launch.
double spread_pct(const Timing& timing);
/// The band without A/A; `usual` is the median spread of all rows. At least kUnknownBandPct where a side is a single launch.
double band_pct(const Timing& a, const Timing& b, double usual);

/// See above. `band_pct` as it is, at least 1.
Verdict verdict(const std::optional<Interval>& ratio, double band_pct);

}  // namespace arbench::compare

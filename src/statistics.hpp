// What samples say: medians, spread, outliers and how sure the median is. Pure functions over plain
// numbers, safe from any thread. Units are those of the input. REQUIRES of all: finite values.
// Order never matters and nothing is dropped.
#pragma once

#include <cstddef>
#include <span>
#include <vector>

#include "result.hpp"

namespace arbench {

/// The middle value, or the mean of the two middle ones. NaN for no values.
double median(std::span<const double> values);

/// Nearest rank: the ceil(percent / 100 * n)-th smallest value (the smallest for 0), always one
/// that was measured. NaN for no values. REQUIRES: 0 <= percent <= 100. Source: Wikipedia,
/// "Percentile", the nearest-rank method.
double percentile(std::span<const double> values, double percent);

/// NaN for no values.
double mean(std::span<const double> values);

/// Median absolute deviation from the median, as it is: not scaled to a normal distribution's
/// sigma. NaN for no values.
double mad(std::span<const double> values);

/// 100 * standard deviation (n - 1) / mean. 0 for one value or a mean of 0, NaN for none.
double cv_pct(std::span<const double> values);

struct Quartiles {
  double lower = 0, upper = 0;
};
/// The values of rank 0.25 (n + 1) and 0.75 (n + 1), interpolated between neighbours; the ends
/// where that is outside. NaN for no values. Source: NIST/SEMATECH e-Handbook, 7.2.6.2 and the box
/// plot of 7.1.6; it is R's type 6.
Quartiles quartiles(std::span<const double> values);

struct Outliers {
  int mild = 0;    ///< beyond 1.5 interquartile ranges from the quartiles, not severe
  int severe = 0;  ///< beyond 3
};
/// Tukey's fences, NIST/SEMATECH e-Handbook 7.1.6. Outliers are counted here and stay in every
/// other figure.
Outliers outliers(std::span<const double> values);

struct Interval {
  double lo = 0, hi = 0;
};
/// 95 % interval of the median over all samples, by bootstrap. Samples of one round are correlated, so whole rounds are drawn
/// with replacement, as many as there are. The plain percentile method covers 91 to 94 % with 12 rounds; its expanded form
/// (Hesterberg 2015, see statistics.cpp) covers 93 to 97 %, but 91 % where rounds and samples both have a long tail to one side, see the test. `resamples` become fewer, but at least 500, above
/// about 1,600 samples in all, to stay at some milliseconds. The same samples give the same interval on every machine. With
/// one round nothing is known about the spread between rounds: the interval is that round's whole range. Empty rounds are
/// ignored; NaN without samples.
Interval median_interval(const std::vector<std::vector<double>>& rounds, int resamples = 10'000);

/// The percent that the expanded percentile bootstrap cuts off at each end of a 95 % interval, when the fewest units drawn
/// are `units` and their spread has `freedom` degrees of freedom. REQUIRES: units >= 2, freedom >= 1.
double expanded_percent(std::size_t units, std::size_t freedom);

/// All of the above for one row. `rounds`: per visit to the contender its samples, in us per op,
/// already the maximum over ranks; rounds may differ in length and empty ones do not count. Without
/// samples all is 0: `samples` == 0 says so, and the writers then print no time.
Summary summarize(const std::vector<std::vector<double>>& rounds);

}  // namespace arbench

#include "statistics.hpp"

#include <gtest/gtest.h>

#include <chrono>
#include <cmath>
#include <random>

namespace arbench {
namespace {

using Values = std::vector<double>;
using Rounds = std::vector<Values>;

TEST(Median, OfOddAndEvenCountsInAnyOrder) {
  EXPECT_EQ(median(Values{3}), 3);
  EXPECT_EQ(median(Values{4, 1, 3, 2}), 2.5);
  // Wikipedia, "Median"
  EXPECT_EQ(median(Values{1, 3, 3, 6, 7, 8, 9}), 6);
  EXPECT_EQ(median(Values{1, 2, 3, 4, 5, 6, 8, 9}), 4.5);
}

// Wikipedia, "Percentile", worked examples of the nearest-rank method
TEST(Percentile, IsTheNearestRank) {
  const Values five{15, 20, 35, 40, 50};
  EXPECT_EQ(percentile(five, 5), 15);
  EXPECT_EQ(percentile(five, 30), 20);
  EXPECT_EQ(percentile(five, 40), 20);
  EXPECT_EQ(percentile(five, 50), 35);
  EXPECT_EQ(percentile(five, 100), 50);
  const Values ten{3, 6, 7, 8, 8, 10, 13, 15, 16, 20};
  EXPECT_EQ(percentile(ten, 25), 7);
  EXPECT_EQ(percentile(ten, 50), 8);
  EXPECT_EQ(percentile(ten, 75), 15);
  EXPECT_EQ(percentile(ten, 100), 20);
  const Values eleven{3, 6, 7, 8, 8, 9, 10, 13, 15, 16, 20};
  EXPECT_EQ(percentile(eleven, 25), 7);
  EXPECT_EQ(percentile(eleven, 50), 9);
  EXPECT_EQ(percentile(eleven, 75), 15);
}

TEST(Percentile, RoundingOfThePercentDoesNotMoveTheRank) {
  Values twenty;
  for (int i = 20; i >= 1; --i) twenty.push_back(i);
  EXPECT_EQ(percentile(twenty, 0), 1);
  EXPECT_EQ(percentile(twenty, 95), 19);
  EXPECT_EQ(percentile(twenty, 90), 18);
  EXPECT_EQ(percentile(twenty, 99), 20);
}

TEST(Mean, OfAFew) { EXPECT_EQ(mean(Values{1, 2, 6}), 3); }

// Wikipedia, "Median absolute deviation"
TEST(Mad, IsNotScaled) { EXPECT_EQ(mad(Values{1, 1, 2, 2, 4, 6, 9}), 1); }

// Wikipedia, "Coefficient of variation"
TEST(Cv, UsesTheSampleStandardDeviation) {
  EXPECT_EQ(cv_pct(Values{100, 100, 100}), 0);
  EXPECT_EQ(cv_pct(Values{90, 100, 110}), 10);
  EXPECT_NEAR(cv_pct(Values{1, 5, 6, 8, 10, 40, 65, 88}), 118, 0.5);
}

TEST(Cv, IsZeroForOneValueAndForAMeanOfZero) {
  EXPECT_EQ(cv_pct(Values{7}), 0);
  EXPECT_EQ(cv_pct(Values{-1, 1}), 0);
}

// NIST/SEMATECH e-Handbook of Statistical Methods, 7.1.6 "What are outliers in the data?"
const Values kNist{30,  171, 184, 201, 212, 250, 265, 270, 272, 289, 305, 306,  322,  322,  336,
                   346, 351, 370, 390, 404, 409, 411, 436, 437, 439, 441, 444,  448,  451,  453,
                   470, 480, 482, 487, 494, 495, 499, 503, 514, 521, 522, 527,  548,  550,  559,
                   560, 570, 572, 574, 578, 585, 592, 592, 607, 616, 618, 621,  629,  637,  638,
                   640, 656, 668, 707, 709, 719, 737, 739, 752, 758, 766, 792,  792,  794,  802,
                   818, 830, 832, 843, 858, 860, 869, 918, 925, 953, 991, 1000, 1005, 1068, 1441};

TEST(Quartiles, AreThoseOfNist) {
  EXPECT_EQ(median(kNist), 559.5);
  EXPECT_EQ(quartiles(kNist).lower, 429.75);
  EXPECT_EQ(quartiles(kNist).upper, 742.25);
}

// Wikipedia, "Quartile", method 4
TEST(Quartiles, InterpolateBetweenRanks) {
  const Values eleven{6, 47, 49, 15, 42, 41, 7, 39, 43, 40, 36};
  EXPECT_EQ(quartiles(eleven).lower, 15);
  EXPECT_EQ(quartiles(eleven).upper, 43);
  const Values six{7, 15, 36, 39, 40, 41};
  EXPECT_EQ(quartiles(six).lower, 13);
  EXPECT_EQ(quartiles(six).upper, 40.25);
}

TEST(Quartiles, StayWithinTheValues) {
  EXPECT_EQ(quartiles(Values{5}).lower, 5);
  EXPECT_EQ(quartiles(Values{5}).upper, 5);
  EXPECT_EQ(quartiles(Values{1, 2}).lower, 1);
  EXPECT_EQ(quartiles(Values{1, 2}).upper, 2);
}

TEST(Outliers, OfNistAreOneMildOne) {
  EXPECT_EQ(outliers(kNist).mild, 1);
  EXPECT_EQ(outliers(kNist).severe, 0);
}

TEST(Outliers, BeyondTheOuterFenceAreSevereAndNotMildToo) {
  Values values = kNist;
  values.push_back(2500);
  EXPECT_EQ(outliers(values).mild, 1);
  EXPECT_EQ(outliers(values).severe, 1);
}

TEST(Outliers, OnAFenceAreNone) {
  // Quartiles 2 and 6, fences -4, 12 and -10, 18.
  EXPECT_EQ(outliers(Values{1, 2, 3, 4, 5, 6, 12}).mild, 0);
  EXPECT_EQ(outliers(Values{1, 2, 3, 4, 5, 6, 12.5}).mild, 1);
  EXPECT_EQ(outliers(Values{1, 2, 3, 4, 5, 6, 18}).mild, 1);
  EXPECT_EQ(outliers(Values{1, 2, 3, 4, 5, 6, 18.5}).severe, 1);
}

TEST(NoValues, GiveNoNumber) {
  EXPECT_TRUE(std::isnan(median({})));
  EXPECT_TRUE(std::isnan(percentile({}, 50)));
  EXPECT_TRUE(std::isnan(mean({})));
  EXPECT_TRUE(std::isnan(mad({})));
  EXPECT_TRUE(std::isnan(cv_pct({})));
  EXPECT_TRUE(std::isnan(quartiles({}).lower));
  EXPECT_EQ(outliers({}).mild, 0);
  EXPECT_TRUE(std::isnan(median_interval({}, 1).lo));
  EXPECT_TRUE(std::isnan(median_interval({{}, {}}, 1).hi));
}

TEST(MedianInterval, OfOneRoundIsItsRange) {
  const Interval interval = median_interval({{3, 1, 2}, {}}, 1);
  EXPECT_EQ(interval.lo, 1);
  EXPECT_EQ(interval.hi, 3);
}

TEST(MedianInterval, OfEqualRoundsHasNoWidth) {
  const Interval interval = median_interval(Rounds(12, {4, 5, 9}), 1);
  EXPECT_EQ(interval.lo, 5);
  EXPECT_EQ(interval.hi, 5);
}

TEST(MedianInterval, DrawsWholeRounds) {
  // Two rounds: drawn twice the same one (a quarter each) or both (half of the draws). Drawing
  // single samples would almost never give a resample of all ones or all threes.
  const Interval interval = median_interval({Values(50, 1), Values(50, 3)}, 1);
  EXPECT_EQ(interval.lo, 1);
  EXPECT_EQ(interval.hi, 3);
}

TEST(MedianInterval, ManyRoundsPinTheMedian) {
  // One odd round in 24 moves no 95 % interval, however wild it is.
  Rounds rounds(23, {10, 11, 12});
  rounds.push_back({500, 600, 700});
  EXPECT_EQ(median_interval(rounds, 1).lo, 11);
  EXPECT_EQ(median_interval(rounds, 1).hi, 11);
}

TEST(MedianInterval, IsTheSameForTheSameSeed) {
  Rounds rounds;
  for (int i = 0; i < 12; ++i) rounds.push_back({10.0 + i % 5, 11.0 + i % 7, 12.0 + i});
  EXPECT_EQ(median_interval(rounds, 7).lo, median_interval(rounds, 7).lo);
  EXPECT_EQ(median_interval(rounds, 7).hi, median_interval(rounds, 7).hi);
}

/// 25 rounds of one sample: the exact interval of order statistics is the 8th to the 18th, at 95.7
/// %, since a fair coin shows at most 7 heads in 25 throws with a probability of 0.0216.
TEST(MedianInterval, AgreesWithTheBinomialInterval) {
  Rounds rounds;
  for (int i = 1; i <= 25; ++i) rounds.push_back({static_cast<double>(i)});
  const Interval interval = median_interval(rounds, 1);
  EXPECT_NEAR(interval.lo, 8, 1);
  EXPECT_NEAR(interval.hi, 18, 1);
}

TEST(MedianInterval, CoversTheTrueMedian) {
  std::mt19937 random(5);
  const auto uniform = [&] { return static_cast<double>(random()) / 4294967296.0; };
  int covered = 0;
  for (int run = 0; run < 200; ++run) {
    Rounds rounds(12);
    for (Values& round : rounds) {
      const double shift = uniform() - 0.5;  // what the samples of a round share
      for (int i = 0; i < 9; ++i) round.push_back(10 + shift + 0.2 * (uniform() - 0.5));
    }
    const Interval interval = median_interval(rounds, 1);
    covered += interval.lo <= 10 && 10 <= interval.hi;
  }
  EXPECT_GE(covered,
            176);  // 88 %: the percentile bootstrap of 12 clusters is known to be a little narrow
}

TEST(Summarize, CountsAndOrdersAllSamples) {
  const Summary summary = summarize({{4, 1}, {}, {3, 2, 10}}, 1);
  EXPECT_EQ(summary.rounds, 2);
  EXPECT_EQ(summary.samples, 5);
  EXPECT_EQ(summary.median, 3);
  EXPECT_EQ(summary.min, 1);
  EXPECT_EQ(summary.mean, 4);
  EXPECT_EQ(summary.p90, 10);
  EXPECT_EQ(summary.p95, 10);
  EXPECT_EQ(summary.p99, 10);
  EXPECT_EQ(summary.max, 10);
  EXPECT_EQ(summary.mad, 1);
  EXPECT_EQ(summary.ci_lo, 2.5);
  EXPECT_EQ(summary.ci_hi, 3);
  EXPECT_NEAR(summary.cv_pct, 88.39, 0.01);
  EXPECT_EQ(summary.outliers_mild, 0);
  EXPECT_EQ(summary.outliers_severe, 0);
}

TEST(Summarize, WithoutSamplesSaysSo) {
  EXPECT_EQ(summarize({}, 1).samples, 0);
  EXPECT_EQ(summarize({{}, {}}, 1).samples, 0);
  EXPECT_EQ(summarize({{}, {}}, 1).rounds, 0);
  EXPECT_EQ(summarize({}, 1).median, 0);
}

TEST(Summarize, OneSample) {
  const Summary summary = summarize({{7}}, 1);
  EXPECT_EQ(summary.median, 7);
  EXPECT_EQ(summary.ci_lo, 7);
  EXPECT_EQ(summary.ci_hi, 7);
  EXPECT_EQ(summary.p99, 7);
  EXPECT_EQ(summary.mad, 0);
  EXPECT_EQ(summary.cv_pct, 0);
}

}  // namespace
}  // namespace arbench

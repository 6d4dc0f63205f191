// Two sides joined row by row, and what may be said of the difference. Pure functions over plain values.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "compare/ratio.hpp"
#include "compare/result_set.hpp"

namespace arbench::compare {

/// What the two sides do not share. Several values of one side are separated by " | "; none is "-". Files of different formats
/// state different things: between those, what only one side states is no difference.
struct Difference {
  std::string name, a, b;
};
std::vector<Difference> differences(const Side& a, const Side& b);
/// True for what another CUDA toolkit changes by itself, and for the seed, which each launch may have its own of.
bool is_expected(const Difference& difference);

/// One row of either side.
struct Compared {
  Key key;
  std::string name;
  Verdict verdict = Verdict::none;   ///< none: see `note`
  std::optional<double> a_us, b_us;  ///< value()
  std::optional<double> ratio;       ///< B / A; above 1, B is slower
  std::optional<Interval> interval;  ///< 95 %, of the ratio
  double band_pct = kLeastBandPct;
  std::string note;  ///< why it was not compared, or which launches are not in it; may be empty
};

/// Geometric mean of the ratios of one algorithm's rows of one class of sizes.
struct Group {
  std::string algorithm, sizes;
  int rows = 0;
  double ratio = 1;
  Interval interval;  ///< 95 %, from rounds: the spread between launches is not in it
};

struct Comparison {
  std::vector<std::string> warnings;
  std::vector<Difference> environment;
  std::vector<Compared> rows;  ///< in A's order, then what only B has
  std::vector<Group> groups;   ///< in the order of the rows; those with an interval count
};

Comparison compare(const Side& a, const Side& b);

/// A row is SLOWER and its ratio lies above 1 + pct / 100.
bool has_slower(const Comparison& comparison, double pct);

}  // namespace arbench::compare

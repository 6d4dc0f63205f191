// What `arbench compare` reads: one result set per launch. Plain values.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "statistics.hpp"

namespace arbench::compare {

/// Key columns of a row by name, which decide what is compared with what. Never a version, a build, a
/// driver or the id of a run.
using Key = std::map<std::string, std::string>;

/// One row of one launch.
struct Entry {
  Key key;
  std::string name;  ///< joins with samples.csv; no key
  std::string status = "ok", reason;
  std::optional<double> median_us;           ///< empty: no time
  std::optional<Interval> interval;          ///< of the median, where the file states one
  std::vector<std::vector<double>> samples;  ///< us by round; empty: only the median is known
  std::optional<double> aa_pct;
};

/// One launch. `facts` are what is the same for all rows (commit, driver, NCCL ...), by name.
struct ResultSet {
  std::string path;
  std::map<std::string, std::string> facts;
  std::vector<Entry> entries;
};

/// One side of a comparison: its launches in the order given.
using Side = std::vector<ResultSet>;

/// `paths` is a comma-separated list. Each part is a folder of `arbench run --out`, a folder that holds such folders
/// (launch-1, launch-2, ...; hidden ones do not count), or a rows.csv. Throws UsageError, one line that names the file, for all that cannot be used.
Side read_side(const std::string& paths);

// One reader per file. `path` is for messages. All throw UsageError as read_side() does. -------------------------------

/// rows.csv of schema version 1. Samples are added by add_samples().
ResultSet read_rows(const std::string& text, const std::string& path);
/// samples.csv of the same run. Lines of rows that are not there or are not ok are passed over.
void add_samples(ResultSet& set, const std::string& text, const std::string& path);
/// Environment and configuration of run.json.
void add_facts(ResultSet& set, const std::string& text, const std::string& path);
}  // namespace arbench::compare

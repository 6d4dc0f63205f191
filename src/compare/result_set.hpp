// What `arbench compare` reads: one result set per launch. Plain values.
#pragma once

#include <map>
#include <nlohmann/json_fwd.hpp>
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
/// (launch-1, launch-2, ...; hidden ones do not count), or a file as read_result() takes. Throws UsageError, one line that names
/// the file, for all that cannot be used.
Side read_side(const std::string& paths);

/// A rows.csv, a JSON file of Google Benchmark, or what nccl-tests printed or wrote by -J: told apart by what they hold. All
/// throw UsageError as read_side() does. `path` is for messages.
ResultSet read_result(const std::string& text, const std::string& path);

// One reader per file. -------------------------------------------------------------------------------------------------

/// rows.csv of schema version 1. Samples are added by add_samples().
ResultSet read_rows(const std::string& text, const std::string& path);
/// samples.csv of the same run. Lines of rows that are not there or are not ok are passed over.
void add_samples(ResultSet& set, const std::string& text, const std::string& path);
/// Environment and configuration of run.json.
void add_facts(ResultSet& set, const std::string& text, const std::string& path);

/// `file` is a JSON file of Google Benchmark. A benchmark's name (run_name) is its whole key, so such rows meet none of another
/// format; its time is real_time, and each repetition is a round of one sample. Of a file that holds aggregates alone, the median
/// counts, or else the mean, as one measure. A benchmark with an error, or skipped, is a row without time.
ResultSet read_google_benchmark(const nlohmann::json& file, const std::string& path);

/// What nccl-tests printed: any text around its tables, prefixes of mpirun or srun, several tables. The header says where the
/// columns are: with or without root, in-place columns and those of -I, #wrong or (before 2.13) error. nccl_tests.hpp says
/// which keys a row has.
ResultSet read_nccl_tests(const std::string& text, const std::string& path);
/// What nccl-tests wrote by -J.
ResultSet read_nccl_tests_json(const nlohmann::json& file, const std::string& path);

/// Rows in the order of the file, in which a key may come again: each time is a round of one sample of the same row.
class Repetitions {
 public:
  /// No time: the row has none. Refuses more than 100000 of them.
  void add(ResultSet& set, Key key, const std::string& name, std::optional<double> us);
  /// The row of that key is not compared, whatever its other repetitions say.
  void fail(ResultSet& set, Key key, const std::string& name, const std::string& status,
            const std::string& reason);

 private:
  Entry& entry(ResultSet& set, Key key, const std::string& name);

  std::map<Key, std::size_t> places_;
  std::size_t count_ = 0;
};
}  // namespace arbench::compare

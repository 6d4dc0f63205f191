#include <gtest/gtest.h>

#include "compare/compare.hpp"
#include "compare/result_set.hpp"
#include "disk.hpp"
#include "options.hpp"

namespace arbench::compare {
namespace {

std::string file_of(const std::string& benchmarks) {
  return R"({"context": {"date": "2026-01-01T00:00:00+00:00", "host_name": "box", "num_cpus": 8,
"caches": [{"type": "Data"}], "load_avg": [1,2,3], "json_schema_version": 1}, "benchmarks": [)" +
         benchmarks + "]}\n";
}

std::string run(const std::string& name, const std::string& time, const std::string& unit) {
  return R"({"name": ")" + name + R"(", "run_name": ")" + name +
         R"(", "run_type": "iteration", "repetitions": 2, "iterations": 10, "real_time": )" + time +
         R"(, "cpu_time": 1.0, "time_unit": ")" + unit + "\"}";
}

std::string aggregate(const std::string& name, const std::string& kind, const std::string& time) {
  return R"({"name": ")" + name + "_" + kind + R"(", "run_name": ")" + name +
         R"(", "run_type": "aggregate", "aggregate_name": ")" + kind + R"(", "real_time": )" +
         time + R"(, "cpu_time": 1.0, "time_unit": "ns"})";
}

ResultSet read(const std::string& benchmarks) { return read_result(file_of(benchmarks), "file"); }

using Samples = std::vector<std::vector<double>>;

TEST(GoogleBenchmark, RepetitionsAreRounds) {
  const ResultSet set =
      read(run("BM_add/8", "1500", "ns") + "," + run("BM_copy/8", "2", "ms") + "," +
           run("BM_add/8", "1.6e3", "ns") + "," + aggregate("BM_add/8", "median", "1550") + "," +
           aggregate("BM_add/8", "cv", "NaN"));
  ASSERT_EQ(set.entries.size(), 2U);
  EXPECT_EQ(set.entries[0].key, (Key{{"benchmark", "BM_add/8"}}));
  EXPECT_EQ(set.entries[0].name, "BM_add/8");
  EXPECT_EQ(set.entries[0].samples, (Samples{{1.5}, {1.6}}));
  EXPECT_EQ(set.entries[1].samples, Samples{{2000}});
  const std::map<std::string, std::string> facts{
      {"context host_name", "box"},
      {"context json_schema_version", "1"},
      {"context num_cpus", "8"},
      {"format", "Google Benchmark (median over repetitions)"}};
  EXPECT_EQ(set.facts, facts);
}

TEST(GoogleBenchmark, AggregatesCountWhereThereIsNothingElse) {
  const ResultSet set =
      read(aggregate("BM_a", "mean", "100") + "," + aggregate("BM_a", "median", "90") + "," +
           aggregate("BM_a", "stddev", "7") + "," + aggregate("BM_b", "mean", "50"));
  ASSERT_EQ(set.entries.size(), 2U);
  EXPECT_EQ(set.entries[0].samples, Samples{{0.09}});
  EXPECT_EQ(set.entries[1].samples, Samples{{0.05}});
}

TEST(GoogleBenchmark, ErrorsAndSkippedOnesHaveAReason) {
  const ResultSet set = read(
      R"({"name": "BM_a", "error_occurred": true, "error_message": "no device", "real_time": 0.0},
         {"name": "BM_b", "skipped": true, "skip_message": "too small"})");
  ASSERT_EQ(set.entries.size(), 2U);
  EXPECT_EQ(set.entries[0].status, "error");
  EXPECT_EQ(compare({set}, {set}).rows[0].note,
            "A: 1 of 1 launches are error (no device); B: 1 of 1 launches are error (no device)");
  EXPECT_EQ(set.entries[1].status, "skipped");
}

TEST(GoogleBenchmark, IsComparedByNameAndSummedByFamily) {
  const ResultSet a = read(run("BM_add/8", "10", "us") + "," + run("BM_add/8", "10", "us"));
  const ResultSet b = read(run("BM_add/8", "30", "us") + "," + run("BM_add/8", "30", "us"));
  const Comparison found = compare({a}, {b});
  ASSERT_EQ(found.rows.size(), 1U);
  EXPECT_EQ(found.rows[0].verdict, Verdict::slower);
  ASSERT_EQ(found.groups.size(), 1U);
  EXPECT_EQ(found.groups[0].algorithm, "BM_add");
  EXPECT_EQ(found.groups[0].sizes, "-");
}

std::string refusal(const std::string& text) {
  return message<UsageError>([&] { read_result(text, "file"); });
}

TEST(GoogleBenchmark, RefusalsNameTheBenchmark) {
  EXPECT_EQ(refusal(file_of(run("BM_a", "1", "h"))),
            "compare file: benchmark 1: time_unit 'h' is none of ns, us, ms, s");
  EXPECT_EQ(refusal(file_of(run("BM_a", "1", "s") + "," + run("BM_b", "-1", "s"))),
            "compare file: benchmark 2: real_time '-1' is not a number above 0");
  EXPECT_EQ(refusal(file_of(run("BM_a", "\"x\"", "s"))),
            "compare file: benchmark 1: real_time 'x' is not a number above 0");
  EXPECT_EQ(refusal(file_of("{}")), "compare file: benchmark 1 has no name");
  EXPECT_EQ(refusal(file_of("")), "compare file: has no benchmarks");
  EXPECT_EQ(refusal(R"({"benchmarks": 1})"), "compare file: has no list of benchmarks");
  EXPECT_EQ(refusal(R"({"context": {"json_schema_version": 2}, "benchmarks": []})"),
            "compare file: has another json_schema_version than 1");
}

}  // namespace
}  // namespace arbench::compare

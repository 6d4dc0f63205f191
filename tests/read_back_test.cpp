#include "report/read_back.hpp"

#include <gtest/gtest.h>

#include <fstream>
#include <nlohmann/json.hpp>

#include "disk.hpp"
#include "options.hpp"
#include "report/columns.hpp"
#include "report/writer.hpp"
#include "sample_row.hpp"

namespace arbench {
namespace {

using nlohmann::json;

const json kEnvironment = json::parse(R"({
    "start_time_utc": "2025-01-31T12:34:56Z", "arbench": {"version": "0.1.0", "git_commit": "1a2b3c4"},
    "cuda": {"toolkit": "12.8", "driver": "590.48.01"},
    "gpus": [{"device": 0, "name": "A", "pci_bus_id": "0000:01:00.0", "free_bytes": 5}]})");
const json kConfig{{"rounds", 12}, {"row_seconds", 0.3}, {"gpus", {2, 4}}};

/// With all that is measured.
Row full_row() {
  Row row = timed_row("one_shot_pull", 57344, 7);
  row.time = Summary{.rounds = 12,
                     .samples = 1200,
                     .median = 7,
                     .ci_lo = 6.875,
                     .ci_hi = 7.125,
                     .min = 6.5,
                     .mean = 1.0 / 3,
                     .p90 = 8,
                     .p95 = 9,
                     .p99 = 10.5,
                     .max = 64,
                     .mad = 0.125,
                     .cv_pct = 3.5,
                     .outliers_mild = 4,
                     .outliers_severe = 1};
  row.cpu_us_median = 1.5;
  row.floor_us = 1.75;
  row.aa_pct = 0.25;
  row.stopped = "precision";
  row.throttled = false;
  row.pcie_generation = 4;
  row.pcie_width = 8;
  row.ran = "ring/ll";
  row.point.toolkit = "nvrtc 12.8.93";
  row.reason = "a remark, \"quoted\"";
  return row;
}

class ReadBack : public testing::Test {
 protected:
  ReadBack() {
    Writer writer(folder_, kEnvironment, kConfig);
    writer.add(full_row(), {{0, 0, -1, 7}, {0, 1, -1, 7}});
    writer.add(hung_, {});
  }

  Finished read(const json& environment = kEnvironment, const json& config = kConfig) {
    return read_back(folder_, environment, config, cases_);
  }
  std::string refusal(const json& environment, const json& config = kConfig) {
    const std::string text = message<UsageError>([&] { read(environment, config); });
    const std::string begin = "--resume " + folder_.string() + ": ";
    EXPECT_EQ(text.substr(0, begin.size()), begin);
    return text.substr(std::min(text.size(), begin.size()));
  }

  TemporaryFolder temporary_;
  std::filesystem::path folder_ = temporary_ / "out";
  const Row hung_ = untimed_row("ring_simple", Status::hung, "rank 1 waited for rank 0");
  const std::vector<Case> cases_{full_row().point, hung_.point};
};

TEST_F(ReadBack, RowsAreWhatWasWritten) {
  const Finished finished = read();
  ASSERT_EQ(finished.rows.size(), 2u);
  EXPECT_EQ(csv_line({finished.rows[0], {}}), csv_line({full_row(), {}}));
  EXPECT_EQ(csv_line({finished.rows[1], {}}), csv_line({hung_, {}}));
  EXPECT_EQ(finished.rows[0].time->mean, 1.0 / 3);
  EXPECT_EQ(finished.rows[0].point, full_row().point);
  EXPECT_EQ(json::parse(finished.environment), kEnvironment);
}

TEST_F(ReadBack, AHalfWrittenLineIsNoRow) {
  const std::string text = text_of(folder_ / "rows.csv");
  for (const std::size_t lost : {1u, 20u, 100u}) {
    std::ofstream(folder_ / "rows.csv") << text.substr(0, text.size() - lost);
    EXPECT_EQ(read().rows.size(), 1u) << lost;
  }
}

TEST_F(ReadBack, WhatGoesOnHoldsTheRowsAndNothingElse) {
  std::ofstream(folder_ / "rows.csv", std::ios::app) << "1,half a l";
  std::ofstream(folder_ / "samples.csv", std::ios::app)
      << "allreduce/never_came/bf16/g4/graph/hot/8,threads,0,0,-1,7\nhalf";
  Finished finished = read();
  finished.rows.pop_back();
  json later = kEnvironment;
  later["start_time_utc"] = "2025-02-01T00:00:00Z";
  later["argv"] = {"arbench", "--resume"};
  {
    Writer writer(folder_, finished, later, kConfig);
    writer.add(hung_, {});
    writer.finish();
  }
  const RunFacts facts = run_facts(kEnvironment);
  EXPECT_EQ(text_of(folder_ / "rows.csv"),
            csv_header() + csv_line({full_row(), facts}) + csv_line({hung_, facts}));
  EXPECT_EQ(text_of(folder_ / "samples.csv"),
            "name,launch,round,replay,rank,us\n"
            "allreduce/one_shot_pull/bf16/g4/graph/hot/57344/nvrtc-12.8.93,threads,0,0,-1,7\n"
            "allreduce/one_shot_pull/bf16/g4/graph/hot/57344/nvrtc-12.8.93,threads,0,1,-1,7\n");
  const json run = json::parse(text_of(folder_ / "run.json"));
  EXPECT_EQ(run["complete"], true);
  EXPECT_EQ(run["rows"].size(), 2u);
  EXPECT_EQ(run["rows"][0]["run_id"], "2025-01-31T12:34:56Z");
  EXPECT_EQ(run["environment"]["start_time_utc"], "2025-01-31T12:34:56Z");
  EXPECT_EQ(run["environment"]["resumed"].dump(),
            R"([{"argv":["arbench","--resume"],"start_time_utc":"2025-02-01T00:00:00Z"}])");
}

TEST_F(ReadBack, WhatDiffersIsNamed) {
  json config = kConfig;
  config["rounds"] = 5;
  EXPECT_EQ(refusal(kEnvironment, config), "is of another run: rounds was 12 there, is 5 now");
  config = kConfig;
  config["new"] = true;
  EXPECT_EQ(refusal(kEnvironment, config), "is of another run: new was unknown there, is true now");
  json environment = kEnvironment;
  environment["arbench"]["git_commit"] = "2222222";
  EXPECT_EQ(refusal(environment),
            "is of another run: git_commit was \"1a2b3c4\" there, is \"2222222\" now");
  environment = kEnvironment;
  environment["cuda"]["driver"] = "600";
  EXPECT_EQ(refusal(environment),
            "is of another run: driver was \"590.48.01\" there, is \"600\" now");
  environment = kEnvironment;
  environment["gpus"][0]["name"] = "B";
  EXPECT_EQ(refusal(environment),
            "is of another run: GPUs was [[0,\"A\",\"0000:01:00.0\"]] there, is "
            "[[0,\"B\",\"0000:01:00.0\"]] now");
}

TEST_F(ReadBack, WhatTheMachineIsDoingMayDiffer) {
  json environment = kEnvironment;
  environment["gpus"][0]["free_bytes"] = 6;
  environment["start_time_utc"] = "2025-02-01T00:00:00Z";
  EXPECT_EQ(read(environment).rows.size(), 2u);
}

TEST_F(ReadBack, FilesThatAreNotOfThisRunAreRefused) {
  const std::string rows = text_of(folder_ / "rows.csv");
  std::ofstream(folder_ / "rows.csv") << "a,b\n";
  EXPECT_EQ(refusal(kEnvironment), "line 1 of rows.csv has other columns");
  std::ofstream(folder_ / "rows.csv") << rows << "1,2\n";
  EXPECT_EQ(refusal(kEnvironment), "line 4 of rows.csv is no row of this run");
  std::string edited = rows;
  edited.replace(edited.find(",1200,"), 6, ",1200x,");
  std::ofstream(folder_ / "rows.csv") << edited;
  EXPECT_EQ(refusal(kEnvironment), "line 2 of rows.csv is no row of this run");
  std::ofstream(folder_ / "run.json") << "{";
  EXPECT_EQ(refusal(kEnvironment), "run.json is not JSON");
  std::filesystem::remove(folder_ / "run.json");
  EXPECT_EQ(refusal(kEnvironment), "cannot read run.json; it takes the folder of --out");
}

}  // namespace
}  // namespace arbench

#include "report/columns.hpp"

#include <gtest/gtest.h>

#include <clocale>
#include <cmath>
#include <limits>
#include <nlohmann/json.hpp>
#include <set>

#include "report/csv.hpp"
#include "sample_row.hpp"

namespace arbench {
namespace {

using nlohmann::json;

const RunFacts kFacts{.run_id = "2025-01-31T12:34:56Z",
                      .build_id = "1a2b3c4+cuda12.8+Release",
                      .cuda_runtime = "12.8",
                      .driver = "590.48.01",
                      .nccl_version = "2.28.9",
                      .gpu_names = {{0, "A"}, {1, "A"}, {2, "B"}, {3, "A"}}};

Row full_row() {
  Row row = timed_row("one_shot_pull", 57344, 7);
  row.time = Summary{.rounds = 12,
                     .samples = 1200,
                     .median = 7,
                     .ci_lo = 6.875,
                     .ci_hi = 7.125,
                     .min = 6.5,
                     .mean = 7.25,
                     .p90 = 8,
                     .p95 = 9,
                     .p99 = 10.5,
                     .max = 64,
                     .mad = 0.125,
                     .cv_pct = 3.5,
                     .outliers_mild = 4,
                     .outliers_severe = 1};
  row.l2_sets = 1;
  row.iso_us_median = 9.5;
  row.skew_us_median = 2.25;
  row.start_skew_us_median = 0.75;
  row.clock_error_us = 1.25;
  row.sm_mhz_min = 1980.5;
  row.cpu_us_median = 1.5;
  row.floor_us = 1.75;
  row.max_ulp = 0.5;
  row.max_abs_err = 0.015625;
  row.bitwise_ranks = true;
  row.bitwise_runs = false;
  row.aa_pct = 0.25;
  row.stopped = "rounds";
  row.throttled = true;
  row.pcie_generation = 5;
  row.pcie_width = 16;
  return row;
}

std::string field(const Row& row, std::string_view name) {
  const json value = json_row({row, kFacts}).at(std::string(name));
  return value.dump();
}

TEST(Columns, Header) {
  EXPECT_EQ(
      csv_header(),
      "schema_version,run_id,build_id,cuda_runtime,driver,nccl_version,algo,impl,nccl_proto,"
      "ngpus,gpu_order,topo_class,dtype,redop,bytes,count,in_place,mode,ops_per_graph,l2,l2_sets,"
      "placement,name,launch,transport,backend,virtual,gpu,blocks,threads,ran,toolkit,rounds,"
      "samples,"
      "lat_us_median,lat_us_ci_lo,lat_us_ci_hi,lat_us_min,lat_us_mean,lat_us_p90,lat_us_p95,"
      "lat_us_p99,lat_us_max,lat_us_mad,cv_pct,outliers_mild,outliers_severe,iso_us_median,"
      "skew_us_median,start_skew_us_median,skew_error_us,added_skew_us,cpu_us_median,algbw_"
      "GBps,busbw_GBps,pct_ring_ceiling,floor_us,pct_floor,wrong,max_ulp,"
      "max_abs_err,bitwise_ranks,bitwise_runs,sm_mhz_min,throttled,pcie_gen,pcie_width,"
      "aa_pct,stopped,status,reason\n");
}

TEST(Columns, HaveDifferentNamesAndADescriptionEach) {
  std::set<std::string_view> names;
  for (const Column& column : columns()) {
    EXPECT_TRUE(names.insert(column.name).second) << column.name;
    EXPECT_FALSE(column.description.empty()) << column.name;
  }
}

TEST(Columns, LineOfAnOkRow) {
  EXPECT_EQ(
      csv_line({full_row(), kFacts}),
      "1,2025-01-31T12:34:56Z,1a2b3c4+cuda12.8+Release,12.8,590.48.01,2.28.9,one_shot_pull,"
      "custom,,4,0 1 2 3,,bf16,sum,57344,28672,0,graph,20,hot,1,out_of_place,"
      "allreduce/one_shot_pull/bf16/g4/graph/hot/57344,threads,p2p,cuda,0,A + B,36,512,,,12,1200,"
      "7,6.875,7.125,6.5,7.25,8,9,10.5,64,0.125,3.5,4,1,9.5,2.25,0.75,1.25,0,1.5,8.192,12."
      "288,,1.75,25,0,0.5,0.015625,1,0,1980.5,1,5,16,0.25,rounds,ok,\n");
}

TEST(Columns, LineOfARowThatDidNotRun) {
  Row row = untimed_row("nccl_ring", Status::skipped, "needs \"two\" GPUs,\nnot one");
  row.point.devices = {0, 0};
  row.point.placement = Placement::in_place;
  row.point.mode = Mode::eager;
  row.point.launch = Launch::processes;
  row.point.transport = Transport::host;
  EXPECT_EQ(csv_line({row, {}}),
            "1,,,,,,nccl_ring,nccl,,2,0 0,,bf16,sum,57344,28672,1,eager,20,hot,,in_place,"
            "allreduce/nccl_ring/bf16/g2/eager/hot/57344/in_place,processes,host,cuda,1,,,,,,,,"
            ",,,,,,,,,,,,,,,,,0,,,,,,,,,,,,,,,,,,skipped,\"needs \"\"two\"\" GPUs, not one\"\n");
}

TEST(Columns, JsonHoldsTheSameCells) {
  EXPECT_EQ(
      json_row({full_row(), kFacts}).dump(),
      R"({"schema_version":1,"run_id":"2025-01-31T12:34:56Z",)"
      R"("build_id":"1a2b3c4+cuda12.8+Release","cuda_runtime":"12.8","driver":"590.48.01",)"
      R"("nccl_version":"2.28.9","algo":"one_shot_pull","impl":"custom","nccl_proto":null,)"
      R"("ngpus":4,"gpu_order":"0 1 2 3","topo_class":null,"dtype":"bf16","redop":"sum",)"
      R"("bytes":57344,"count":28672,"in_place":0,"mode":"graph","ops_per_graph":20,)"
      R"("l2":"hot","l2_sets":1,"placement":"out_of_place",)"
      R"("name":"allreduce/one_shot_pull/bf16/g4/graph/hot/57344","launch":"threads","transport":"p2p",)"
      R"("backend":"cuda","virtual":0,"gpu":"A + B","blocks":36,"threads":512,"ran":null,"toolkit":null,)"
      R"("rounds":12,"samples":1200,"lat_us_median":7.0,"lat_us_ci_lo":6.875,)"
      R"("lat_us_ci_hi":7.125,"lat_us_min":6.5,"lat_us_mean":7.25,"lat_us_p90":8.0,)"
      R"("lat_us_p95":9.0,"lat_us_p99":10.5,"lat_us_max":64.0,"lat_us_mad":0.125,)"
      R"("cv_pct":3.5,"outliers_mild":4,"outliers_severe":1,"iso_us_median":9.5,)"
      R"("skew_us_median":2.25,"start_skew_us_median":0.75,"skew_error_us":1.25,)"
      R"("added_skew_us":0.0,"cpu_us_median":1.5,"algbw_GBps":8.192,)"
      R"("busbw_GBps":12.288,"pct_ring_ceiling":null,"floor_us":1.75,"pct_floor":25.0,"wrong":0,"max_ulp":0.5,)"
      R"("max_abs_err":0.015625,"bitwise_ranks":1,"bitwise_runs":0,"sm_mhz_min":1980.5,"throttled":1,"pcie_gen":5,"pcie_width":16,"aa_pct":0.25,"stopped":"rounds","status":"ok","reason":null})");
}

TEST(Columns, TheToolkitIsThatOfTheRowsKernel) {
  Row row = full_row();
  row.point.toolkit = "nvrtc 12.8.93";
  EXPECT_EQ(field(row, "toolkit"), R"("nvrtc 12.8.93")");
}

TEST(Columns, OnlyAnOkRowHasATime) {
  for (const Status status : {Status::functional, Status::skipped, Status::unsupported,
                              Status::wrong, Status::hung, Status::error}) {
    Row row = full_row();
    row.status = status;
    for (const char* name :
         {"rounds", "samples", "lat_us_median", "lat_us_ci_lo", "lat_us_max", "cv_pct",
          "iso_us_median", "skew_us_median", "start_skew_us_median", "skew_error_us", "sm_mhz_min",
          "cpu_us_median", "algbw_GBps", "busbw_GBps", "pct_floor", "stopped"})
      EXPECT_EQ(field(row, name), "null") << name << " " << word(status);
  }
}

TEST(Columns, ASummaryOfNoSamplesIsNoTime) {
  Row row = full_row();
  row.time = Summary{};
  EXPECT_EQ(field(row, "lat_us_median"), "null");
  EXPECT_EQ(field(row, "samples"), "null");
  EXPECT_EQ(field(row, "algbw_GBps"), "null");
}

TEST(Columns, WhatIsNotFiniteIsEmpty) {
  Row row = full_row();
  row.time->p99 = std::numeric_limits<double>::quiet_NaN();
  row.time->max = std::numeric_limits<double>::infinity();
  row.cpu_us_median = -std::numeric_limits<double>::infinity();
  EXPECT_EQ(field(row, "lat_us_p99"), "null");
  EXPECT_EQ(field(row, "lat_us_max"), "null");
  EXPECT_EQ(field(row, "cpu_us_median"), "null");
}

TEST(Columns, WrongIsEmptyWhenNothingWasChecked) {
  EXPECT_EQ(field(untimed_row("a", Status::error, "x"), "wrong"), "null");
  Row row = untimed_row("a", Status::wrong, "x");
  row.wrong = 18446744073709551615ULL;
  EXPECT_EQ(field(row, "wrong"), "18446744073709551615");
}

TEST(Columns, WhatNcclRan) {
  Row row = timed_row("nccl_auto", 1024, 20);
  row.geometry = {};
  row.ran = "ring/ll128";
  EXPECT_EQ(field(row, "ran"), "\"ring/ll128\"");
  EXPECT_EQ(field(row, "nccl_proto"), "\"ll128\"");
  EXPECT_EQ(field(row, "impl"), "\"nccl\"");
  EXPECT_EQ(field(row, "blocks"), "null");
  row.ran = "unverified";
  EXPECT_EQ(field(row, "nccl_proto"), "null");
}

TEST(Columns, ColdL2) {
  Row row = full_row();
  row.point.l2 = L2::cold;
  row.l2_sets = 20;
  EXPECT_EQ(field(row, "l2"), "\"cold\"");
  EXPECT_EQ(field(row, "l2_sets"), "20");
  EXPECT_EQ(field(row, "name"), "\"allreduce/one_shot_pull/bf16/g4/graph/cold/57344\"");
}

TEST(Columns, TheHostBackendHasNoGpu) {
  Row row = full_row();
  row.point.backend = Backend::host;
  EXPECT_EQ(field(row, "gpu"), "null");
  EXPECT_EQ(field(row, "backend"), "\"host\"");
}

TEST(Columns, TextIsOneLineOfUtf8) {
  Row row = untimed_row("a", Status::error, "one\r\ntwo\tthree \xff \xc3\xa4");
  EXPECT_EQ(json_row({row, kFacts})["reason"], "one  two three \xef\xbf\xbd \xc3\xa4");
}

TEST(CsvField, IsQuotedOnlyWhereItMust) {
  EXPECT_EQ(csv_field(""), "");
  EXPECT_EQ(csv_field("one two"), "one two");
  EXPECT_EQ(csv_field("a,b"), "\"a,b\"");
  EXPECT_EQ(csv_field("say \"x\""), "\"say \"\"x\"\"\"");
  EXPECT_EQ(csv_field("a\nb"), "\"a\nb\"");
  EXPECT_EQ(csv_field("a\rb"), "\"a\rb\"");
  EXPECT_EQ(csv_field(" a"), "\" a\"");
  EXPECT_EQ(csv_field("a "), "\"a \"");
}

TEST(CsvCells, AreWhatWasWritten) {
  using Cells = std::vector<std::string>;
  EXPECT_EQ(csv_cells(""), Cells{""});
  EXPECT_EQ(csv_cells("a,,b c\n"), (Cells{"a", "", "b c"}));
  EXPECT_EQ(csv_cells("\"a,b\",\"say \"\"x\"\"\",\" c\"\n"), (Cells{"a,b", "say \"x\"", " c"}));
}

TEST(NumberText, IsTheShortestThatReadsBack) {
  EXPECT_EQ(number_text(0.1), "0.1");
  EXPECT_EQ(number_text(7.0), "7");
  EXPECT_EQ(number_text(1.0 / 3), "0.3333333333333333");
  EXPECT_EQ(number_text(1.0F / 3), "0.33333334");
  EXPECT_EQ(number_text(-1e-7), "-1e-07");
  EXPECT_EQ(number_text(std::numeric_limits<double>::quiet_NaN()), "");
  EXPECT_EQ(number_text(std::numeric_limits<float>::infinity()), "");
}

TEST(NumberText, HasAPointInEveryLocale) {
  const std::string before = std::setlocale(LC_ALL, nullptr);
  if (!std::setlocale(LC_ALL, "de_DE.UTF-8") && !std::setlocale(LC_ALL, "fr_FR.UTF-8"))
    GTEST_SKIP() << "no locale with a decimal comma is installed";
  EXPECT_EQ(number_text(1234.5), "1234.5");
  EXPECT_EQ(fixed_text(1234.56, 1), "1234.6");
  std::setlocale(LC_ALL, before.c_str());
}

TEST(RunFacts, ComeFromTheEnvironment) {
  const RunFacts facts = run_facts(json::parse(R"({
    "start_time_utc": "2025-01-31T12:34:56Z",
    "arbench": {"version": "0.1.0", "git_commit": "1a2b3c4", "git_dirty": true, "build_type": "Release"},
    "cuda": {"toolkit": "12.8", "runtime": "12.8", "driver": "590.48.01"},
    "nccl": {"library": "2.28.9"},
    "gpus": [{"device": 0, "name": "A"}, {"device": 3, "name": "B"}]})"));
  EXPECT_EQ(facts.run_id, "2025-01-31T12:34:56Z");
  EXPECT_EQ(facts.build_id, "1a2b3c4-dirty+cuda12.8+Release");
  EXPECT_EQ(facts.cuda_runtime, "12.8");
  EXPECT_EQ(facts.driver, "590.48.01");
  EXPECT_EQ(facts.nccl_version, "2.28.9");
  EXPECT_EQ(facts.gpu_names, (std::map<int, std::string>{{0, "A"}, {3, "B"}}));
}

TEST(RunFacts, AreEmptyWhereNothingIsKnown) {
  const RunFacts facts = run_facts(json::parse(R"({
    "arbench": {"version": "0.1.0", "git_commit": null, "git_dirty": null, "build_type": null},
    "cuda": {"toolkit": null, "driver": 7}, "nccl": 3, "gpus": [{}, 5, {"device": 1}]})"));
  EXPECT_EQ(facts.build_id, "0.1.0+host");
  EXPECT_EQ(facts.driver, "");
  EXPECT_EQ(facts.nccl_version, "");
  EXPECT_EQ(facts.gpu_names, (std::map<int, std::string>{{1, ""}}));
  for (const json& odd : {json(), json("text"), json::array({1}), json::object()})
    EXPECT_EQ(run_facts(odd).run_id, "");
}

}  // namespace
}  // namespace arbench

// Logs in the layout of nccl-tests, and what is read out of them.
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "compare/compare.hpp"
#include "compare_sides.hpp"
#include "options.hpp"

namespace arbench::compare {
namespace {

const std::string kBanner =
    "# nccl-tests version 2.17.1 nccl-headers=22703 nccl-library=22809\n"
    "# Collective test starting: all_reduce_perf\n"
    "# nThread 1 nGpus 2 minBytes 8192 maxBytes 16384 step: 2(factor) warmup iters: 1 iters: 20 "
    "agg iters: 1 validation: 1 graph: 0\n"
    "#\n"
    "# Using devices\n"
    "#  Rank  0 Group  0 Pid   4242 on      node1 device  0 [0000:05:00] NVIDIA RTX PRO 6000\n"
    "#  Rank  1 Group  0 Pid   4242 on      node1 device  1 [0000:06:00] NVIDIA RTX PRO 6000\n"
    "#\n";
const std::string kTable =
    "#                                                              out-of-place                  "
    "     in-place          \n"
    "#       size         count      type   redop    root     time   algbw   busbw #wrong     time "
    "  algbw   busbw #wrong\n"
    "#        (B)    (elements)                               (us)  (GB/s)  (GB/s)            (us) "
    " (GB/s)  (GB/s)       \n";
const std::string kRow =
    "        8192          2048     float     sum      -1    12.34    0.66    0.66      0    12.10 "
    " "
    "  0.68    0.68      3\n";
const std::string kFooter =
    "# Out of bounds values : 3 FAILED\n# Avg bus bandwidth    : 0.675 \n#\n";

ResultSet log_of(const std::string& text) { return read_result(text, "log"); }

std::string replaced(std::string text, const std::string& what, const std::string& by) {
  for (std::size_t at = 0; (at = text.find(what, at)) != std::string::npos; at += by.size())
    text.replace(at, what.size(), by);
  return text;
}

std::string tagged(const std::string& text, const std::string& tag) {
  return tag + replaced(text.substr(0, text.size() - 1), "\n", "\n" + tag) + "\n";
}

using Samples = std::vector<std::vector<double>>;

TEST(NcclTests, ALogOf2_17) {
  const ResultSet set = log_of(kBanner + kTable + kRow + kFooter);
  ASSERT_EQ(set.entries.size(), 2U);
  const Key expected{{"algo", "nccl_auto"}, {"backend", "cuda"}, {"bytes", "8192"},
                     {"count", "2048"},     {"dtype", "f32"},    {"gpu_order", "0 1"},
                     {"in_place", "0"},     {"l2", "hot"},       {"launch", "threads"},
                     {"mode", "eager"},     {"ngpus", "2"},      {"placement", "out_of_place"},
                     {"redop", "sum"},      {"toolkit", ""},     {"transport", "p2p"},
                     {"virtual", "0"}};
  EXPECT_EQ(set.entries[0].key, expected);
  EXPECT_EQ(set.entries[0].name, "nccl_auto/f32/sum/g2/eager/out_of_place/8192");
  EXPECT_EQ(set.entries[0].samples, Samples{{12.34}});
  EXPECT_EQ(set.entries[0].status, "ok");
  EXPECT_EQ(set.entries[1].key.at("placement"), "in_place");
  EXPECT_EQ(set.entries[1].status, "wrong");
  EXPECT_EQ(set.entries[1].reason, "3 wrong elements, line 12");
  const std::map<std::string, std::string> facts{
      {"-n", "20"},
      {"-w", "1"},
      {"format", "nccl-tests (mean over -n iterations)"},
      {"gpu", "NVIDIA RTX PRO 6000, NVIDIA RTX PRO 6000"},
      {"nccl-tests", "2.17.1"},
      {"nccl_version", "2.28.9"}};
  EXPECT_EQ(set.facts, facts);
}

TEST(NcclTests, ALogOf2_13BetweenNcclsOwnLines) {
  const ResultSet set = log_of(
      "# nThread 1 nGpus 1 minBytes 8 maxBytes 8 step: 2(factor) warmup iters: 5 iters: 20 agg "
      "iters: 1 validation: 1 graph: 2\n"
      "#\n# Using devices\n"
      "#  Rank  0 Group  0 Pid   1887 on   worker-1 device  0 [0x8d] NVIDIA H100 80GB HBM3\n"
      "#  Rank  1 Group  0 Pid   1888 on   worker-1 device  1 [0x91] NVIDIA H100 80GB HBM3\n"
      "worker-1:1887:1887 [0] NCCL INFO NCCL_ALGO set by environment to Tree\n"
      "NCCL version 2.21.5+cuda12.4\n" +
      kTable +
      "worker-1:1887:1901 [0] NCCL INFO comm 0x55 rank 0 nranks 2\n"
      "           8             4      half     sum      -1    8.123    0.00    0.00    N/A    "
      "8.005"
      "    0.00    0.00    N/A\n");
  ASSERT_EQ(set.entries.size(), 2U);
  EXPECT_EQ(set.entries[0].name, "nccl_tree/f16/sum/g2/graph/out_of_place/8");
  EXPECT_EQ(set.entries[0].key.at("launch"), "processes");
  EXPECT_EQ(set.entries[1].samples, Samples{{8.005}});
  EXPECT_EQ(set.facts.at("nccl_version"), "2.21.5");
  EXPECT_EQ(set.facts.at("end of the log"), "missing");
}

TEST(NcclTests, TagsOfMpirunAndSrun) {
  const auto rows = log_of(kBanner + kTable + kRow + kFooter).entries;
  for (const char* tag : {"[1,0]<stdout>:", "0: ", " 3: "}) {
    const ResultSet set = log_of(tagged(kBanner + kTable + kRow + kFooter, tag));
    ASSERT_EQ(set.entries.size(), 2U) << tag;
    EXPECT_EQ(set.entries[0].key, rows[0].key) << tag;
    EXPECT_EQ(set.entries[0].samples, rows[0].samples) << tag;
  }
}

TEST(NcclTests, ColumnsOfOtherOptionsAndVersions) {
  const ResultSet iterations = log_of(
      kBanner +
      "#       size         count      type   redop    root  cputime   algbw   busbw  #wrong    "
      "i_min    i_max    i_p99    i_cv%  cputime   algbw   busbw  #wrong    i_min    i_max    "
      "i_p99 "
      "   i_cv%           timestamp\n"
      "        8192          2048  bfloat16     sum      -1    12.34    0.66    0.66       0    "
      "11.0 "
      "   14.0    13.9    2.10    12.10    0.68    0.68       0    11.0    14.0    13.9    2.10  "
      "2025-11-02 10:00:00\n");
  ASSERT_EQ(iterations.entries.size(), 2U);
  EXPECT_EQ(iterations.entries[1].name,
            "nccl_auto/bf16/sum/g2/eager/in_place/8192, measure cpu time");
  EXPECT_EQ(iterations.entries[1].samples, Samples{{12.10}});

  const ResultSet one = log_of(
      "#                                                            in-place\n"
      "#       size         count      type   redop    root     time   algbw   busbw #wrong\n"
      "           8             2     float     sum       0    8.50    0.00    0.00      0\n");
  ASSERT_EQ(one.entries.size(), 1U);
  EXPECT_EQ(one.entries[0].name, "nccl_auto/f32/sum/gunknown/eager/in_place/8, root 0");
}

TEST(NcclTests, ADeviationIsNoCountOfWrongElements) {
  const std::string text =
      "#                                                     out-of-place                       "
      "in-place\n"
      "#       size         count    type   redop     time   algbw   busbw  error     time   algbw "
      "  "
      "busbw  error\n"
      "           8             2   float     sum    8.501    0.00    0.00  4e-07    8.402    0.00 "
      "  "
      " 0.00  0e+00\n";
  const ResultSet good = log_of(text + "# Out of bounds values : 0 OK\n");
  EXPECT_EQ(good.entries[0].status, "ok");
  EXPECT_EQ(good.entries[0].samples, Samples{{8.501}});
  const ResultSet bad = log_of(text + "# Out of bounds values : 1 FAILED\n");
  EXPECT_EQ(bad.entries[0].status, "wrong");
  EXPECT_EQ(bad.entries[1].status, "wrong");
}

TEST(NcclTests, RowsThatComeAgainAreRepetitions) {
  const std::string again = replaced(kRow, "12.34", "13.00");
  const ResultSet set = log_of(kBanner + kTable + kRow + again + kRow + kFooter);
  ASSERT_EQ(set.entries.size(), 2U);
  EXPECT_EQ(set.entries[0].samples, (Samples{{12.34}, {13.00}, {12.34}}));
  EXPECT_TRUE(compare({set}, {set}).rows[0].interval);
  EXPECT_FALSE(compare({log_of(kBanner + kTable + kRow)}, {set}).rows[0].interval);
}

TEST(NcclTests, SettingsThatDifferWithinAFileAreKeys) {
  const std::string run = kBanner + kTable + kRow + kFooter;
  const ResultSet set = log_of(run + replaced(run, " iters: 20", " iters: 100"));
  ASSERT_EQ(set.entries.size(), 4U);
  EXPECT_EQ(set.entries[0].name, "nccl_auto/f32/sum/g2/eager/out_of_place/8192, -n 20 -w 1");
  EXPECT_EQ(set.entries[2].name, "nccl_auto/f32/sum/g2/eager/out_of_place/8192, -n 100 -w 1");
  EXPECT_FALSE(set.facts.contains("-n"));
}

TEST(NcclTests, WhatMeasuresSomethingElseDoesNotJoin) {
  const std::string run = kBanner + kTable + kRow + kFooter;
  const auto key = [](const std::string& text) { return log_of(text).entries[0].key; };
  EXPECT_EQ(key(replaced(run, "agg iters: 1", "agg iters: 100")).at("aggregated"), "100");
  EXPECT_EQ(key(replaced(run, "# Using", "# Blocking Enabled: wait\n# Using")).at("blocking"), "1");
  EXPECT_EQ(key(replaced(run, "all_reduce_perf", "reduce_scatter_perf")).at("algo"),
            "reduce_scatter_perf");
  const Key two = key(replaced(run, "Rank  1 Group  0", "Rank  1 Group  1"));
  EXPECT_EQ(two.at("ngpus"), "1");
  EXPECT_EQ(two.at("groups"), "2");
}

TEST(NcclTests, JoinsRowsOfArbench) {
  const std::string keys =
      "schema_version,algo,ngpus,gpu_order,dtype,redop,bytes,count,in_place,mode,l2,placement,"
      "launch,transport,backend,virtual,name,lat_us_median,status\n";
  const ResultSet rows = read_result(
      keys +
          "1,nccl_auto,2,0 1,f32,sum,8192,2048,0,eager,hot,out_of_place,threads,p2p,cuda,0,n,6.17,"
          "ok\n"
          "1,nccl_auto,2,0 1,f32,sum,8192,2048,0,eager,hot,out_of_place,threads,p2p,cuda,1,v,9,ok\n"
          "1,nccl_ring,2,0 "
          "1,f32,sum,8192,2048,0,eager,hot,out_of_place,threads,p2p,cuda,0,r,9,ok\n",
      "rows.csv");
  const Comparison found = compare({rows}, {log_of(kBanner + kTable + kRow + kFooter)});
  ASSERT_EQ(found.rows.size(), 4U);
  EXPECT_EQ(*found.rows[0].ratio, 2);
  EXPECT_EQ(found.rows[0].verdict, Verdict::unclear);
  EXPECT_EQ(found.rows[1].note, "not in B");
  EXPECT_EQ(found.rows[2].note, "not in B");
  ASSERT_EQ(found.environment.size(), 1U);  // what only one format states is none
  EXPECT_EQ(found.environment[0].a, "arbench (median over samples)");
  EXPECT_EQ(found.environment[0].b, "nccl-tests (mean over -n iterations)");
}

const std::string kJson =
    R"({"version":3,"args":["./build/all_reduce_perf","-g","2"],"env":["HOME=/root",
"NCCL_ALGO=Ring","NCCL_PROTO=LL","TOKEN=secret"],"nccl_version":22809,"config":{"nthreads":1,"ngpus":2,
"warmup_iters":1,"iterations":20,"aggregated_iterations":1,"validation":1,"graph":0,
"blocking_collectives":"false","devices":[{"rank":0,"group":0,"pid":4242,"hostname":"node1","device":0,
"device_hex":"0000:05:00","device_info":"NVIDIA RTX PRO 6000"}]},"results":[{"size":8192,"count":2048,
"type":"float","redop":"sum","root":"    -1","out_of_place":{"time":12.340000,"alg_bw":0.66,"bus_bw":0.66,
"nwrong":0.000000},"in_place":{"time":12.100000,"alg_bw":0.68,"bus_bw":0.68,"nwrong":3.000000},
"actual_iterations":20,"experiment_name":null}],"out_of_bounds":{"count":3,"okay":"false"}})";

TEST(NcclTests, JsonHasTheKeysOfText) {
  const ResultSet set = log_of(kJson);
  Key expected = log_of(kBanner + kTable + kRow).entries[0].key;
  expected["algo"] = "nccl_ring_ll";
  ASSERT_EQ(set.entries.size(), 2U);
  EXPECT_EQ(set.entries[0].key, expected);
  EXPECT_EQ(set.entries[0].samples, Samples{{12.34}});
  EXPECT_EQ(set.entries[1].status, "wrong");
  EXPECT_EQ(set.entries[1].reason, "3 wrong elements, result 1");
  EXPECT_EQ(set.facts.at("nccl_version"), "2.28.9");
  EXPECT_EQ(set.facts.at("gpu"), "NVIDIA RTX PRO 6000, NVIDIA RTX PRO 6000");
  for (const auto& [name, value] : set.facts) EXPECT_EQ(value.find("secret"), std::string::npos);
  EXPECT_EQ(log_of(replaced(kJson, R"("experiment_name":null)", R"("experiment_name":"two_shot")"))
                .entries[0]
                .key.at("algo"),
            "two_shot");
}

std::string refusal(const std::string& text) {
  return message<UsageError>([&] { log_of(text); });
}

TEST(NcclTests, RefusalsNameTheLine) {
  const std::string head = kBanner + kTable;
  EXPECT_EQ(refusal(head + kRow.substr(0, 60)),
            "compare log: line 12 has no end: the file was cut");
  EXPECT_EQ(refusal(head + "  8  2  float  sum  -1  8.50\n"),
            "compare log: line 12 has 6 fields and not the 13 of the table's header");
  EXPECT_EQ(refusal(head + replaced(kRow, "12.34", "-inf")),
            "compare log: line 12 has the time '-inf', which is not a number above 0");
  EXPECT_EQ(refusal(head + replaced(kRow, " 3\n", " x\n")),
            "compare log: line 12 has #wrong 'x', which is no number of elements");
  EXPECT_EQ(refusal(head + replaced(kRow, " 8192 ", " 99999999999999999999 ")),
            "compare log: line 12 has a size beyond 64 bits");
  EXPECT_EQ(refusal(head), "compare log: has a table of nccl-tests without rows");
  EXPECT_EQ(refusal("# size count type time busbw time busbw time busbw\n"),
            "compare log: line 1 is the header of a table with neither one nor two times");
  EXPECT_EQ(refusal("{\"results\": []}"), "compare log: has no results");
  EXPECT_EQ(refusal("{\"results\": 1}"), "compare log: has no list of results");
  EXPECT_EQ(refusal(replaced(kJson, "12.340000", "\"fast\"")),
            "compare log: result 1 has the time 'fast', which is not a number above 0");
  EXPECT_EQ(refusal(replaced(kJson, "8192", "-1")), "compare log: result 1 has no size");
  EXPECT_EQ(refusal(replaced(kJson, "\"ngpus\":2", "\"ngpus\":5000")),
            "compare log: lists more ranks than 4096, the most that are read");
}

}  // namespace
}  // namespace arbench::compare

// Hostile input: each is refused by one line that names the file.
#include <gtest/gtest.h>

#include "compare/result_set.hpp"
#include "compare_sides.hpp"
#include "options.hpp"

namespace arbench::compare {
namespace {

const std::string kRow = "1,ring,2,bf16,1024,ring/1024,10,ok,,0,cuda\n";

std::string refusal(const std::string& rows) {
  const TemporaryFolder folder;
  write(folder / "rows.csv", rows);
  std::string said = message<UsageError>([&] { read_side((folder / "rows.csv").string()); });
  const std::string start = "compare " + (folder / "rows.csv").string() + ": ";
  return said.starts_with(start) ? said.substr(start.size()) : "not this file: " + said;
}

TEST(CompareInput, RefusesWhatIsNoRows) {
  EXPECT_EQ(refusal(kHeader + kRow), "not this file: nothing thrown");
  EXPECT_EQ(refusal(""), "is empty");
  EXPECT_EQ(refusal(kHeader), "has no rows");
  EXPECT_EQ(refusal(std::string("schema_version,\0", 16)), "is binary, not text");
  EXPECT_EQ(refusal("hello\n"),
            "is neither rows.csv of arbench (which begins with schema_version) nor JSON of Google "
            "Benchmark or nccl-tests, and holds no table of nccl-tests");
  EXPECT_EQ(refusal("{\"rows\": []}\n"),
            "is JSON, but neither of Google Benchmark (benchmarks) nor nccl-tests (results)");
  EXPECT_EQ(refusal("{\"benchmarks\": "), "is not JSON, or was cut");
  EXPECT_EQ(refusal("{" + std::string(32 << 20, ' ')),
            "is larger than 32 MiB, the most that is read of JSON");
  EXPECT_EQ(refusal("{\"benchmarks\": " + std::string(100, '[') + std::string(100, ']') + "}"),
            "is nested deeper than 64");
  EXPECT_EQ(refusal(std::string((64 << 20) + 1, ' ')),
            "is larger than 64 MiB, the most that is read");
  EXPECT_EQ(refusal(kHeader + kRow.substr(0, 30)), "line 2 has no end: the file was cut");
  EXPECT_EQ(refusal(kHeader + "1,ring\n"), "line 2 has not as many fields as the header");
  EXPECT_EQ(refusal(kHeader + kRow + kRow), "line 3 repeats the keys of an earlier row");
  EXPECT_EQ(refusal(kHeader + "1,\"ring\n"), "line 2 has a quote that is not closed");
  EXPECT_EQ(refusal("schema_version," + std::string(2000, ',') + "\n"),
            "line 1 has more than 1000 fields");
  EXPECT_EQ(refusal("schema_version,algo,algo\n"), "has two columns algo");
  EXPECT_EQ(refusal("schema_version,algo\n"), "has no column ngpus");
  EXPECT_EQ(refusal(kHeader + "2" + kRow.substr(1)), "line 2 has another schema_version than 1");
}

TEST(CompareInput, RowsOfTwoToolkitsHaveDifferentKeys) {
  const std::string header = kHeader.substr(0, kHeader.size() - 1) + ",toolkit\n";
  const std::string row = kRow.substr(0, kRow.size() - 1);
  const ResultSet set = read_rows(header + row + ",\n" + row + ",nvrtc 12.8.93\n", "x");
  ASSERT_EQ(set.entries.size(), 2u);
  EXPECT_EQ(set.entries[0].key.at("toolkit"), "");
  EXPECT_EQ(set.entries[1].key.at("toolkit"), "nvrtc 12.8.93");
  EXPECT_EQ(read_rows(kHeader + kRow, "x").entries[0].key, set.entries[0].key);
}

TEST(CompareInput, RefusesNumbersThatAreNone) {
  for (const char* bad : {"nan", "inf", "-1", "0", "1e999", "10x"})
    EXPECT_EQ(refusal(kHeader + "1,ring,2,bf16,1024,ring/1024," + bad + ",ok,,0,cuda\n"),
              "line 2: lat_us_median '" + std::string(bad) + "' is not a number above 0");
}

TEST(CompareInput, RefusesFoldersWithoutResults) {
  const TemporaryFolder folder;
  const std::string path = folder.path().string();
  EXPECT_EQ(message<UsageError>([&] { read_side(path); }),
            "compare " + path + ": holds no rows.csv and no folder with one");
  EXPECT_EQ(message<UsageError>([&] { read_side(path + "/none"); }),
            "compare " + path +
                "/none: does not exist; it takes a folder of arbench run --out, or a file");
  EXPECT_EQ(message<UsageError>([&] { read_side(","); }),
            "compare ,: has an empty path in its list");
  write(folder / "rows.csv", kHeader + kRow);
  write(folder / "run.json", "{\"environment\": ");
  EXPECT_EQ(message<UsageError>([&] { read_side(path); }),
            "compare " + path + "/run.json: is not JSON, or was cut");
  write(folder / "run.json", "{}");
  write(folder / "samples.csv", "name,launch,round,rank,us\nring/1024,,99999999,-1,3\n");
  EXPECT_EQ(message<UsageError>([&] { read_side(path); }),
            "compare " + path + "/samples.csv: line 2 has no time, or no round below 10000");
}

}  // namespace
}  // namespace arbench::compare

#include "report/writer.hpp"

#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <fstream>
#include <nlohmann/json.hpp>

#include "disk.hpp"
#include "options.hpp"
#include "report/columns.hpp"
#include "sample_row.hpp"

namespace arbench {
namespace {

namespace fs = std::filesystem;
using nlohmann::json;

const json kEnvironment{{"start_time_utc", "2025-01-31T12:34:56Z"}};
const json kConfig{{"rounds", 12}};
constexpr std::chrono::hours kNever{1000};

class WriterTest : public testing::Test {
 protected:
  std::string usage_error(const fs::path& out) {
    return message<UsageError>([&] { Writer(out, kEnvironment, kConfig); });
  }

  TemporaryFolder temporary_;
  fs::path folder_ = temporary_.path();
};

TEST_F(WriterTest, MakesTheFolderAndItsParents) {
  const fs::path out = folder_ / "a" / "b";
  Writer writer(out, kEnvironment, kConfig);
  EXPECT_EQ(text_of(out / "rows.csv"), csv_header());
  EXPECT_EQ(text_of(out / "samples.csv"), "name,launch,round,replay,rank,us\n");
}

TEST_F(WriterTest, RowsAndSamplesAreOnDiskWhenAddReturns) {
  Writer writer(folder_, kEnvironment, kConfig, kNever);
  const Row first = timed_row("one_shot_pull", 57344, 7);
  const Row second = untimed_row("nccl_ring", Status::skipped, "one GPU");
  writer.add(first, {{0, 0, -1, 7.25}, {0, 1, -1, 0.1}, {1, 0, 3, 1234567}});
  writer.add(second, {});
  RunFacts facts;
  facts.run_id = "2025-01-31T12:34:56Z";
  facts.build_id = "+host";
  EXPECT_EQ(text_of(folder_ / "rows.csv"),
            csv_header() + csv_line({first, facts}) + csv_line({second, facts}));
  EXPECT_EQ(text_of(folder_ / "samples.csv"),
            "name,launch,round,replay,rank,us\n"
            "allreduce/one_shot_pull/bf16/g4/graph/hot/57344,threads,0,0,-1,7.25\n"
            "allreduce/one_shot_pull/bf16/g4/graph/hot/57344,threads,0,1,-1,0.1\n"
            "allreduce/one_shot_pull/bf16/g4/graph/hot/57344,threads,1,0,3,1234567\n");
}

TEST_F(WriterTest, JsonHoldsEnvironmentConfigAndRows) {
  Writer writer(folder_, kEnvironment, kConfig, kNever);
  writer.add(untimed_row("nccl_ring", Status::skipped, "one GPU"), {});
  writer.finish();
  json run = json::parse(text_of(folder_ / "run.json"));
  EXPECT_EQ(run["rows"].size(), 1U);
  EXPECT_EQ(run["rows"][0]["algo"], "nccl_ring");
  EXPECT_EQ(run["rows"][0]["reason"], "one GPU");
  EXPECT_EQ(run["rows"][0]["run_id"], "2025-01-31T12:34:56Z");
  run.erase("rows");
  EXPECT_EQ(run, (json{{"schema_version", 1},
                       {"complete", true},
                       {"environment", {{"start_time_utc", "2025-01-31T12:34:56Z"}}},
                       {"config", {{"rounds", 12}}}}));
}

TEST_F(WriterTest, JsonBeginsLikeThis) {
  Writer writer(folder_, kEnvironment, kConfig);
  EXPECT_EQ(text_of(folder_ / "run.json"),
            "{\n \"schema_version\": 1,\n \"complete\": false,\n \"environment\": {\n"
            "  \"start_time_utc\": \"2025-01-31T12:34:56Z\"\n },\n \"config\": {\n"
            "  \"rounds\": 12\n },\n \"rows\": []\n}\n");
}

TEST_F(WriterTest, JsonIsRewrittenWhenTheIntervalHasPassed) {
  const auto rows_after = [&](const char* name, std::chrono::milliseconds interval) {
    Writer writer(folder_ / name, kEnvironment, kConfig, interval);
    writer.add(timed_row("one_shot_pull", 57344, 7), {});
    const json run = json::parse(text_of(folder_ / name / "run.json"));
    EXPECT_EQ(run["complete"], false);
    return run["rows"].size();
  };
  EXPECT_EQ(rows_after("always", std::chrono::milliseconds(0)), 1U);
  EXPECT_EQ(rows_after("never", kNever), 0U);
}

TEST_F(WriterTest, ACutRunLeavesAllRowsInAnIncompleteJson) {
  { Writer(folder_ / "a", kEnvironment, kConfig, kNever).add(timed_row("x", 8, 7), {}); }
  const json run = json::parse(text_of(folder_ / "a" / "run.json"));
  EXPECT_EQ(run["complete"], false);
  EXPECT_EQ(run["rows"].size(), 1U);
  Writer(folder_ / "b", kEnvironment, kConfig).finish(false);
  EXPECT_EQ(json::parse(text_of(folder_ / "b" / "run.json"))["complete"], false);
}

TEST_F(WriterTest, LeavesNoTemporaryFile) {
  Writer(folder_, kEnvironment, kConfig).finish();
  std::vector<std::string> names;
  for (const auto& entry : fs::directory_iterator(folder_))
    names.push_back(entry.path().filename());
  std::sort(names.begin(), names.end());
  EXPECT_EQ(names, (std::vector<std::string>{"rows.csv", "run.json", "samples.csv"}));
}

TEST_F(WriterTest, AForkedChildWritesNothing) {
  Writer writer(folder_, kEnvironment, kConfig);
  fs::remove(folder_ / "run.json");
  const pid_t child = fork();
  if (child == 0) {
    writer.~Writer();
    _exit(0);
  }
  waitpid(child, nullptr, 0);
  EXPECT_FALSE(fs::exists(folder_ / "run.json"));
}

TEST_F(WriterTest, NeverOverwritesResults) {
  for (const std::string file : {"rows.csv", "samples.csv", "run.json"}) {
    const fs::path out = folder_ / file.substr(0, 3);
    fs::create_directory(out);
    std::ofstream(out / file) << "precious";
    EXPECT_EQ(usage_error(out), "--out " + out.string() + ": holds " + file +
                                    " already; it takes a folder without results that can be "
                                    "written to, or a new one");
    EXPECT_EQ(text_of(out / file), "precious");
    EXPECT_EQ(std::distance(fs::directory_iterator(out), {}), 1);
  }
}

TEST_F(WriterTest, OtherFilesInTheFolderDoNotMatter) {
  std::ofstream(folder_ / "notes.txt") << "mine";
  Writer(folder_, kEnvironment, kConfig).finish();
  EXPECT_EQ(text_of(folder_ / "notes.txt"), "mine");
}

TEST_F(WriterTest, RefusesWhatIsNoFolder) {
  std::ofstream(folder_ / "file") << "x";
  const std::string accepted =
      "; it takes a folder without results that can be written to, or a new one";
  const std::string file = (folder_ / "file").string();
  EXPECT_EQ(usage_error(file),
            "--out " + file + ": cannot be created (Not a directory)" + accepted);
  EXPECT_EQ(usage_error(file + "/x"),
            "--out " + file + "/x: cannot be created (Not a directory)" + accepted);
}

TEST_F(WriterTest, RefusesAFolderThatCannotBeWrittenTo) {
  EXPECT_EQ(usage_error("/proc/self"),
            "--out /proc/self: cannot create rows.csv (No such file or directory); it takes a "
            "folder without results that can be written to, or a new one");
}

TEST_F(WriterTest, AFullDiskKeepsTheRowsBefore) {
  Writer writer(folder_, kEnvironment, kConfig, kNever);
  const Row row = timed_row("one_shot_pull", 57344, 7);
  writer.add(row, {});
  const std::string before = text_of(folder_ / "rows.csv");
  {
    const SmallDisk disk(before.size() + 10);  // room for a part of the next line
    EXPECT_EQ(message<WriteError>([&] { writer.add(row, {}); }),
              "cannot write " + (folder_ / "rows.csv").string() +
                  ": File too large; rows finished before are kept");
    EXPECT_EQ(text_of(folder_ / "rows.csv"), before);
  }
  writer.add(row, {});  // there is room again: no gap, no rest of the line that failed
  EXPECT_EQ(text_of(folder_ / "rows.csv"), before + before.substr(csv_header().size()));
}

TEST_F(WriterTest, AVanishedFolderIsNoticed) {
  const fs::path out = folder_ / "out";
  Writer writer(out, kEnvironment, kConfig, kNever);
  fs::remove_all(out);
  EXPECT_EQ(message<WriteError>([&] { writer.add(timed_row("one_shot_pull", 57344, 7), {}); }),
            "cannot write " + (out / "rows.csv").string() +
                ": it was moved or deleted during the run; rows finished before are kept");
  EXPECT_EQ(message<WriteError>([&] { writer.finish(); }),
            "cannot write " + (out / "run.json").string() +
                ": No such file or directory; rows finished before are kept");
}

TEST_F(WriterTest, AMovedFolderIsNoticed) {
  const fs::path out = folder_ / "out";
  Writer writer(out, kEnvironment, kConfig, kNever);
  fs::rename(out, folder_ / "elsewhere");
  EXPECT_EQ(message<WriteError>([&] { writer.add(timed_row("x", 8, 7), {}); }),
            "cannot write " + (out / "rows.csv").string() +
                ": it was moved or deleted during the run; rows finished before are kept");
  EXPECT_EQ(text_of(folder_ / "elsewhere" / "rows.csv"), csv_header());
}

}  // namespace
}  // namespace arbench

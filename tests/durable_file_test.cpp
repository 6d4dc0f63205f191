#include "report/durable_file.hpp"

#include <gtest/gtest.h>

#include <system_error>

#include "disk.hpp"

namespace arbench {
namespace {

namespace fs = std::filesystem;

TEST(AppendFile, Grows) {
  const TemporaryFolder folder;
  AppendFile file(folder / "a.csv");
  EXPECT_EQ(text_of(folder / "a.csv"), "");
  file.append("one\n");
  EXPECT_EQ(text_of(folder / "a.csv"), "one\n");
  file.append("two\n");
  EXPECT_EQ(text_of(folder / "a.csv"), "one\ntwo\n");
}

TEST(AppendFile, TakesNoFileThatExists) {
  const TemporaryFolder folder;
  std::ofstream(folder / "a.csv") << "precious";
  EXPECT_EQ(message<std::system_error>([&] { AppendFile file(folder / "a.csv"); }), "File exists");
  EXPECT_EQ(text_of(folder / "a.csv"), "precious");
}

TEST(AppendFile, TakesAPartOfARecordBackWhenTheDiskIsFull) {
  const TemporaryFolder folder;
  AppendFile file(folder / "a.csv");
  file.append("one\n");
  {
    const SmallDisk disk(6);
    EXPECT_EQ(message<WriteError>([&] { file.append("two\n"); }),
              "cannot write " + (folder / "a.csv").string() +
                  ": File too large; rows finished before are kept");
    EXPECT_EQ(text_of(folder / "a.csv"), "one\n");
  }
  file.append("three\n");
  EXPECT_EQ(text_of(folder / "a.csv"), "one\nthree\n");
}

TEST(AppendFile, IsAnErrorOnceDeleted) {
  const TemporaryFolder folder;
  AppendFile file(folder / "a.csv");
  fs::remove(folder / "a.csv");
  const std::string expected = "cannot write " + (folder / "a.csv").string() +
                               ": it was moved or deleted during the run; rows finished before "
                               "are kept";
  EXPECT_EQ(message<WriteError>([&] { file.append("one\n"); }), expected);
  std::ofstream(folder / "a.csv") << "another file";
  EXPECT_EQ(message<WriteError>([&] { file.append("one\n"); }), expected);
}

TEST(AppendFile, GoesOnBehindWhatAFileHolds) {
  const TemporaryFolder folder;
  std::ofstream(folder / "a.csv") << "one\n";
  AppendFile file(folder / "a.csv", AppendFile::Existing::append);
  file.append("two\n");
  EXPECT_EQ(text_of(folder / "a.csv"), "one\ntwo\n");
  {
    const SmallDisk disk(10);
    EXPECT_THROW(file.append("three\n"), WriteError);
  }
  EXPECT_EQ(text_of(folder / "a.csv"), "one\ntwo\n");
  EXPECT_THROW(AppendFile(folder / "b.csv", AppendFile::Existing::append), std::system_error);
}

TEST(ReplaceFile, ReplacesAndLeavesNothingElse) {
  const TemporaryFolder folder;
  replace_file(folder / "a.json", "a longer text");
  replace_file(folder / "a.json", "{}");
  EXPECT_EQ(text_of(folder / "a.json"), "{}");
  EXPECT_FALSE(fs::exists(folder / "a.json.tmp"));
}

TEST(ReplaceFile, TakesARelativePath) {
  const fs::path before = fs::current_path();
  const TemporaryFolder folder;
  fs::current_path(folder.path());
  replace_file("a.json", "{}");
  fs::current_path(before);
  EXPECT_EQ(text_of(folder / "a.json"), "{}");
}

TEST(ReplaceFile, KeepsTheOldTextWhenTheDiskIsFull) {
  const TemporaryFolder folder;
  replace_file(folder / "a.json", "{}");
  {
    const SmallDisk disk(3);
    EXPECT_EQ(message<WriteError>([&] { replace_file(folder / "a.json", "{...}"); }),
              "cannot write " + (folder / "a.json").string() +
                  ": File too large; rows finished before are kept");
  }
  EXPECT_EQ(text_of(folder / "a.json"), "{}");
  EXPECT_FALSE(fs::exists(folder / "a.json.tmp"));
}

TEST(ReplaceFile, SaysThatTheDiskIsFull) {
  const TemporaryFolder folder;
  fs::create_symlink("/dev/full", folder / "a.json.tmp");  // where the text goes first
  EXPECT_EQ(message<WriteError>([&] { replace_file(folder / "a.json", "{}"); }),
            "cannot write " + (folder / "a.json").string() +
                ": No space left on device; rows finished before are kept");
  EXPECT_FALSE(fs::exists(folder / "a.json"));
}

}  // namespace
}  // namespace arbench

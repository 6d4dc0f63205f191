// The fuzzer's seeds, and what it once found, through the fuzzer's own entry. Their names say what must become of them.
#include <gtest/gtest.h>

#include <set>

#include "disk.hpp"
#include "fuzz/readers.hpp"

namespace arbench::compare {
namespace {

TEST(FuzzCorpus, EachIsReadOrRefusedAsItsNameSays) {
  int read = 0, refused = 0;
  for (const auto& file : std::filesystem::directory_iterator("tests/fuzz/corpus")) {
    const std::string name = file.path().filename().string(), text = text_of(file.path());
    const auto* bytes = reinterpret_cast<const std::uint8_t*>(text.data());
    EXPECT_EQ(LLVMFuzzerTestOneInput(bytes, text.size()), 0);
    const std::string outcome = outcome_of(text);
    if (name.starts_with("read_")) {
      EXPECT_EQ(outcome, "") << name;
      ++read;
    } else {
      EXPECT_TRUE(name.starts_with("refused_")) << name;
      EXPECT_NE(outcome, "") << name;
      ++refused;
    }
  }
  EXPECT_GE(read, 10);
  EXPECT_GE(refused, 10);
}

}  // namespace
}  // namespace arbench::compare

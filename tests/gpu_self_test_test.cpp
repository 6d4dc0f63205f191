// The negative controls on the GPUs present; virtual ranks where there is one.
#include <gtest/gtest.h>

#include "self_test.hpp"

namespace arbench {
namespace {

class GpuSelfTest : public testing::TestWithParam<Launch> {};

INSTANTIATE_TEST_SUITE_P(Gpu, GpuSelfTest, testing::Values(Launch::threads, Launch::grid),
                         [](const auto& info) { return std::string(word(info.param)); });

/// Of 16 cases one cannot go wrong, and in a grid launch five.
TEST_P(GpuSelfTest, CatchesEveryControl) {
  const Machine machine = discover("");
  if (machine.gpus.empty()) GTEST_SKIP() << "no CUDA device: " << machine.cuda_error;
  Options options;
  options.backend = Backend::cuda;
  options.launch = GetParam();
  int caught = 0;
  const auto verdicts =
      self_test(options, machine, control_names(Backend::cuda), [&](const Verdict& verdict) {
        caught += verdict.word == "caught" ? 1 : 0;
        EXPECT_NE(verdict.word, "MISSED") << line(verdict);
        EXPECT_NE(verdict.word, "FAILED") << line(verdict);
      });
  EXPECT_EQ(exit_code(verdicts), 0);
  EXPECT_EQ(caught, GetParam() == Launch::grid ? 11 : 15);
}

}  // namespace
}  // namespace arbench

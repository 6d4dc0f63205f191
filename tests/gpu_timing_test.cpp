// Every timed sequence on a GPU, with two ranks: on GPUs of their own where there are two, else virtual ones. Compared are no
// times, only that each is there and of a possible size.
#include <gtest/gtest.h>

#include <array>
#include <cstdlib>

#include "machine.hpp"
#include "spmd.hpp"

namespace arbench {
namespace {

class GpuTiming : public testing::TestWithParam<Launch> {
 protected:
  void SetUp() override {
    const Machine machine = discover("");
    if (machine.gpus.empty()) GTEST_SKIP() << "no CUDA device: " << machine.cuda_error;
    setenv("CUDA_DEVICE_MAX_CONNECTIONS", "32", 1);
    setenv("CUDA_MODULE_LOADING", "EAGER", 1);
    const bool real = GetParam() == Launch::threads && machine.gpus.size() > 1;
    config.backend = Backend::cuda;
    config.devices = {0, real ? 1 : 0};
  }
  WorldConfig config = host_config(2, GetParam());
};

INSTANTIATE_TEST_SUITE_P(Gpu, GpuTiming, testing::Values(Launch::threads, Launch::grid),
                         [](const auto& info) { return std::string(word(info.param)); });

TEST_P(GpuTiming, EverySequenceHasItsSamples) {
  on_all_drivers(config, [&](Driver& driver, int) {
    for (const Mode mode : {Mode::eager, Mode::graph})
      for (const L2 l2 : {L2::hot, L2::cold}) {
        Case point = host_case("one_shot_pull", config, Dtype::bf16, 28672, mode, {});
        point.l2 = l2;
        const Opened opened = driver.open(0, point);
        EXPECT_EQ(opened.sets, l2 == L2::cold ? 3 : 1);
        EXPECT_EQ(opened.sweep_us > 0, l2 == L2::cold);
        for (const Sequence sequence :
             {Sequence::ops, Sequence::together, Sequence::isolated, Sequence::barriers}) {
          std::array<double, 20> us{};
          std::array<std::int64_t, 20> start{}, end{};
          EXPECT_GT(driver.warm_up(0, sequence), 0);
          const Visit visit = driver.round(0, 4, {us.data(), start.data(), end.data()}, sequence);
          for (int replay = 0; replay < 4; ++replay) {
            EXPECT_GT(us[replay], 0);
            if (visit.stamped) {
              EXPECT_GT(end[replay], start[replay]);
            }
          }
          if (sequence != Sequence::ops) continue;
          EXPECT_GT(visit.sm_mhz, 50);
          EXPECT_LT(visit.sm_mhz, 10000);
        }
        EXPECT_EQ(driver.verify(0, 7).wrong, 0u);
        driver.close(0);
      }
  });
}

TEST_P(GpuTiming, ALateRankStartsLate) {
  config.skew_us = 100'000;
  std::array<double, 20> us{};
  std::array<std::int64_t, 20> start{}, end{};
  on_all_drivers(config, [&](Driver& driver, int index) {
    driver.open(0, host_case("one_shot_pull", config, Dtype::bf16, 28672, Mode::graph, {}));
    driver.warm_up(0);
    driver.round(0, 2, {&us[index * 10], &start[index * 10], &end[index * 10]});
  });
  EXPECT_GT(start[0], start[10]);
  EXPECT_GT(start[11], start[1]);
}

}  // namespace
}  // namespace arbench

#include "result.hpp"

#include <gtest/gtest.h>

#include "sample_row.hpp"

namespace arbench {
namespace {

TEST(Row, BandwidthIsThatOfNcclTests) {
  // 8 ranks, 64 MB in 1 ms: 64 GB/s, times 2 * 7 / 8.
  Row row = timed_row("ring_simple", 64'000'000, 1000);
  row.point.devices = {0, 1, 2, 3, 4, 5, 6, 7};
  EXPECT_EQ(row.algbw_gbps(), 64);
  EXPECT_EQ(row.busbw_gbps(), 112);
}

TEST(Row, TwoRanksMoveWhatTheMessageHolds) {
  Row row = timed_row("ring_simple", 1'000'000, 100);
  row.point.devices = {0, 1};
  EXPECT_EQ(row.algbw_gbps(), 10);
  EXPECT_EQ(row.busbw_gbps(), 10);
}

TEST(Row, AFloorIsPercentOfTheMedian) {
  Row row = timed_row("ring_simple", 1'000'000, 100);
  EXPECT_FALSE(row.pct_floor());
  row.floor_us = 40;
  EXPECT_EQ(row.pct_floor(), 40);
  row.time.reset();
  EXPECT_FALSE(row.pct_floor());
}

TEST(Row, NoBandwidthWithoutTimeBytesOrRanks) {
  EXPECT_FALSE(untimed_row("a", Status::skipped, "why").algbw_gbps());
  EXPECT_FALSE(untimed_row("a", Status::skipped, "why").busbw_gbps());
  EXPECT_FALSE(timed_row("a", 0, 5).algbw_gbps());
  EXPECT_FALSE(timed_row("a", 0, 5).busbw_gbps());
  EXPECT_FALSE(timed_row("a", 1024, 0).algbw_gbps());
  Row row = timed_row("a", 1024, 5);
  row.point.devices.clear();
  EXPECT_FALSE(row.busbw_gbps());
}

}  // namespace
}  // namespace arbench

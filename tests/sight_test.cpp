#include "sight.hpp"

#include <gtest/gtest.h>

#include "doctor_machine.hpp"

namespace arbench {
namespace {

using Links = std::vector<LinkNow>;

TEST(Sight, AnyLookThatSawItThrottledCounts) {
  Sight sight;
  sight.add({});
  EXPECT_EQ(sight.throttled, std::nullopt);
  sight.add({false, {}});
  EXPECT_EQ(sight.throttled, false);
  sight.add({true, {}});
  sight.add({false, {}});
  EXPECT_EQ(sight.throttled, true);
}

TEST(Sight, OfALinkTheBestLookCounts) {
  Sight sight;
  sight.add({{}, {{0, 1, 16}, {1, 5, 16}}});
  sight.add({{}, {{1, 4, 16}, {0, 5, 8}, {2, 3, 4}}});
  EXPECT_EQ(sight.links, (Links{{0, 5, 16}, {1, 5, 16}, {2, 3, 4}}));
}

TEST(CrossesLinks, BetweenDevicesAndThroughHostMemory) {
  Case point;
  point.devices = {0, 1};
  EXPECT_TRUE(crosses_links(point));
  point.devices = {1, 1};
  EXPECT_FALSE(crosses_links(point));
  point.transport = Transport::host;
  EXPECT_TRUE(crosses_links(point));
}

TEST(SlowLinks, NamesThoseBelowTheirMost) {
  const std::vector<Gpu> gpus{rtx_pro_6000(0), rtx_pro_6000(1), rtx_pro_6000(2)};
  EXPECT_EQ(slow_links({{0, 5, 16}, {1, 5, 16}}, gpus), "");
  EXPECT_EQ(slow_links({{0, 5, 8}, {1, 5, 16}, {2, 4, 16}}, gpus),
            "PCIe link under load: GPU 0 gen 5 x8 of gen 5 x16, GPU 2 gen 4 x16 of gen 5 x16");
  EXPECT_EQ(slow_links({{7, 1, 1}}, gpus), "");
}

TEST(SlowLinks, AGpuWithNvlinksMayLetItsPcieLinkSleep) {
  std::vector<Gpu> gpus{rtx_pro_6000(0)};
  gpus[0].nvlinks = 18;
  EXPECT_EQ(slow_links({{0, 1, 16}}, gpus), "");
}

}  // namespace
}  // namespace arbench

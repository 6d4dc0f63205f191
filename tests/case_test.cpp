#include "arbench/case.hpp"

#include <gtest/gtest.h>

namespace arbench {
namespace {

Case verify_pass() {
  Case point;
  point.algorithm = "one_shot_pull";
  point.bytes = 57344;
  point.devices = {0, 1, 2, 3, 4, 5, 6, 7};
  return point;
}

TEST(Case, NameHoldsWhatTwoBuildsAreJoinedBy) {
  Case point = verify_pass();
  EXPECT_EQ(point.name(), "allreduce/one_shot_pull/bf16/g8/graph/hot/57344");
  point.dtype = Dtype::f32;
  point.mode = Mode::eager;
  point.placement = Placement::in_place;
  point.devices = {3, 3};
  point.bytes = 0;
  EXPECT_EQ(point.name(), "allreduce/one_shot_pull/f32/g2/eager/hot/0/in_place");
  point.l2 = L2::cold;
  EXPECT_EQ(point.name(), "allreduce/one_shot_pull/f32/g2/eager/cold/0/in_place");
}

TEST(Case, NamesAToolkitThatIsNotTheBuilds) {
  Case point = verify_pass();
  EXPECT_EQ(point.contender(), "one_shot_pull");
  point.toolkit = "nvrtc 12.8.93";
  EXPECT_EQ(point.contender(), "one_shot_pull nvrtc 12.8.93");
  EXPECT_EQ(point.name(), "allreduce/one_shot_pull/bf16/g8/graph/hot/57344/nvrtc-12.8.93");
  point.placement = Placement::in_place;
  EXPECT_EQ(point.name(), "allreduce/one_shot_pull/bf16/g8/graph/hot/57344/in_place/nvrtc-12.8.93");
}

TEST(Case, NameHoldsNeitherDevicesNorLaunch) {
  Case other = verify_pass();
  other.devices = {7, 6, 5, 4, 3, 2, 1, 0};
  other.launch = Launch::processes;
  other.backend = Backend::host;
  other.geometry = {8, 256};
  EXPECT_EQ(other.name(), verify_pass().name());
  EXPECT_NE(other, verify_pass());
}

TEST(Case, CountsElementsOfItsDtype) {
  Case point = verify_pass();
  EXPECT_EQ(point.count(), 28672U);
  point.dtype = Dtype::f16;
  EXPECT_EQ(point.count(), 28672U);
  point.dtype = Dtype::f32;
  EXPECT_EQ(point.count(), 14336U);
}

TEST(Case, IsVirtualIfAnyTwoRanksShareADevice) {
  Case point;
  const auto is_virtual = [&](std::vector<int> devices) {
    point.devices = std::move(devices);
    return point.is_virtual();
  };
  EXPECT_FALSE(is_virtual({}));
  EXPECT_FALSE(is_virtual({0}));
  EXPECT_FALSE(is_virtual({1, 0}));
  EXPECT_TRUE(is_virtual({0, 0}));
  EXPECT_TRUE(is_virtual({0, 1, 2, 0}));
}

TEST(Case, ContendersOfAPointDifferInAlgorithmAndToolkitAlone) {
  const Case point = verify_pass();
  const auto changed = [&](auto change) {
    Case other = verify_pass();
    change(other);
    return other;
  };
  EXPECT_TRUE(point.same_point(point));
  EXPECT_TRUE(point.same_point(changed([](Case& c) { c.algorithm = "nccl_auto"; })));
  EXPECT_TRUE(point.same_point(changed([](Case& c) { c.toolkit = "nvrtc 13.0.88"; })));
  EXPECT_FALSE(point.same_point(changed([](Case& c) { c.dtype = Dtype::f16; })));
  EXPECT_FALSE(point.same_point(changed([](Case& c) { c.bytes = 57342; })));
  EXPECT_FALSE(point.same_point(changed([](Case& c) { c.mode = Mode::eager; })));
  EXPECT_FALSE(point.same_point(changed([](Case& c) { c.l2 = L2::cold; })));
  EXPECT_FALSE(point.same_point(changed([](Case& c) { c.placement = Placement::in_place; })));
  EXPECT_FALSE(point.same_point(changed([](Case& c) { c.launch = Launch::grid; })));
  EXPECT_FALSE(point.same_point(changed([](Case& c) { c.backend = Backend::host; })));
  EXPECT_FALSE(point.same_point(changed([](Case& c) { c.devices.pop_back(); })));
  EXPECT_FALSE(point.same_point(changed([](Case& c) { c.geometry.blocks = 4; })));
}

TEST(Words, NameEachValueAndNothingElse) {
  EXPECT_EQ(word(Dtype::f16), "f16");
  EXPECT_EQ(word(Dtype::bf16), "bf16");
  EXPECT_EQ(word(Dtype::f32), "f32");
  EXPECT_EQ(word(Mode::graph), "graph");
  EXPECT_EQ(word(L2::hot), "hot");
  EXPECT_EQ(word(L2::cold), "cold");
  EXPECT_EQ(word(Placement::in_place), "in_place");
  EXPECT_EQ(word(Launch::grid), "grid");
  EXPECT_EQ(word(Backend::host), "host");
  EXPECT_EQ(from_word<Dtype>("bf16"), Dtype::bf16);
  EXPECT_EQ(from_word<Launch>("processes"), Launch::processes);
  EXPECT_EQ(from_word<Dtype>("BF16"), std::nullopt);
  EXPECT_EQ(from_word<Dtype>(""), std::nullopt);
  EXPECT_EQ(from_word<Backend>("auto"), std::nullopt);
}

}  // namespace
}  // namespace arbench

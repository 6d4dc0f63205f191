#include "report/table.hpp"

#include <gtest/gtest.h>

#include <optional>

#include "report/layout.hpp"
#include "sample_row.hpp"

namespace arbench {
namespace {

TEST(Table, SizesByAlgorithms) {
  EXPECT_EQ(
      table({timed_row("one_shot_pull", 1024, 5.254), timed_row("ring_simple", 1024, 21.44),
             timed_row("nccl_ring", 1024, 18.06), timed_row("nccl_tree", 1024, 13.135),
             timed_row("one_shot_pull", 1048576, 312.4), timed_row("ring_simple", 1048576, 123.4),
             timed_row("nccl_ring", 1048576, 1234.4), timed_row("nccl_tree", 1048576, 1500)}),
      R"(allreduce, bf16, 4 ranks, graph, out of place, one thread per rank, cuda backend: median us per op

 size  one_shot_pull  ring_simple  nccl_ring  nccl_tree  best           vs nccl
1 KiB           5.25         21.4       18.1       13.1  one_shot_pull    2.50x
1 MiB            312          123       1234       1500  ring_simple     10.00x
)");
}

TEST(Table, ToolkitsOfOneKernelStandSideBySide) {
  Row other = timed_row("one_shot_pull", 1024, 5);
  other.point.toolkit = "nvrtc 12.8.93";
  EXPECT_EQ(
      table({timed_row("one_shot_pull", 1024, 6), other}),
      R"(allreduce, bf16, 4 ranks, graph, out of place, one thread per rank, cuda backend: median us per op

 size  one_shot_pull  one_shot_pull nvrtc 12.8.93  best                         vs nccl
1 KiB           6.00                         5.00  one_shot_pull nvrtc 12.8.93        -
)");
}

TEST(Table, WhatHasNoTimeIsAWordWithItsReasonBelow) {
  Row refused = untimed_row("ring_ll", Status::skipped, "8-byte words,\nno tails");
  Row same = untimed_row("ring_ll128", Status::unsupported, "8-byte words,\nno tails");
  EXPECT_EQ(
      table({timed_row("one_shot_pull", 57344, 7.5), refused, same,
             untimed_row("nccl_ring", Status::functional, "ranks met over loopback sockets"),
             untimed_row("broken_fence", Status::wrong, "12 wrong elements"),
             untimed_row("two_shot_pull", Status::hung, "rank 1 waited for rank 0"),
             untimed_row("ring_simple", Status::error, "illegal address")}),
      R"(allreduce, bf16, 4 ranks, graph, out of place, one thread per rank, cuda backend: median us per op

  size  one_shot_pull  ring_ll  ring_ll128   nccl_ring  broken_fence  two_shot_pull  ring_simple  best           vs nccl
56 KiB           7.50        -           -  functional         WRONG           HUNG        error  one_shot_pull        -
  ring_ll, ring_ll128: 8-byte words, no tails
  nccl_ring: ranks met over loopback sockets
  broken_fence: 12 wrong elements
  two_shot_pull: rank 1 waited for rank 0
  ring_simple: illegal address
)");
}

TEST(Table, TiesAreInBrackets) {
  // Intervals: 9.90..10.10, 10.098..10.302 and 10.197..10.403.
  EXPECT_EQ(
      table({timed_row("a", 8, 10), timed_row("b", 8, 10.2), timed_row("c", 8, 10.3)}),
      R"(allreduce, bf16, 4 ranks, graph, out of place, one thread per rank, cuda backend: median us per op

size     a       b     c  best  vs nccl
 8 B  10.0  (10.2)  10.3  a           -
(in brackets: tied with the best, within the A/A band or 1 %, or intervals overlap)
)");
}

TEST(Table, TiesAreWithinTheBandOrOnePercent) {
  const auto sure = [](const std::string& name, std::uint64_t bytes, double us,
                       std::optional<double> band) {
    Row row = timed_row(name, bytes, us);
    row.time->ci_lo = row.time->ci_hi = us;
    row.aa_pct = band;
    return row;
  };
  EXPECT_EQ(
      table({sure("a", 8, 10, {}), sure("b", 8, 10.09, {}), sure("c", 8, 10.11, {}),
             sure("a", 16, 10, 0.5), sure("b", 16, 10.09, 0.5), sure("c", 16, 10.11, 0.5),
             sure("a", 32, 10, 2.5), sure("b", 32, 10.24, 2.5), sure("c", 32, 10.26, 2.5)}),
      R"(allreduce, bf16, 4 ranks, graph, out of place, one thread per rank, cuda backend: median us per op

size     a       b     c  best  vs nccl
 8 B  10.0  (10.1)  10.1  a           -
16 B  10.0  (10.1)  10.1  a           -
32 B  10.0  (10.2)  10.3  a           -
(in brackets: tied with the best, within the A/A band or 1 %, or intervals overlap)
A/A: one contender, measured twice as two, differs by 0.50 to 2.50 %
)");
}

TEST(Table, OneBandIsNoRange) {
  Row row = timed_row("a", 8, 10);
  row.aa_pct = 0.126;
  EXPECT_EQ(
      table({row}),
      R"(allreduce, bf16, 4 ranks, graph, out of place, one thread per rank, cuda backend: median us per op

size     a  best  vs nccl
 8 B  10.0  a           -
A/A: one contender, measured twice as two, differs by 0.13 %
)");
}

TEST(Table, OneForEachPointThatDiffersInMoreThanSize) {
  Row grid = timed_row("a", 1000, 0.1234);
  grid.point.launch = Launch::grid;
  grid.point.devices = {0, 0};
  Row half_virtual = timed_row("a", 1000, 3);
  half_virtual.point.devices = {0, 0, 1, 1};
  half_virtual.point.launch = Launch::processes;
  half_virtual.point.transport = Transport::host;
  Row host = timed_row("a", 1536, 50000.4);
  host.point.backend = Backend::host;
  host.point.devices = {0, 0};
  host.point.placement = Placement::in_place;
  host.point.dtype = Dtype::f32;
  host.point.mode = Mode::eager;
  host.point.l2 = L2::cold;
  EXPECT_EQ(
      table({grid, half_virtual, host}),
      R"(allreduce, bf16, 2 ranks, graph, out of place, all ranks in one grid, cuda backend: median us per op
virtual ranks on one GPU: not a multi-GPU result

  size      a  best  vs nccl
1000 B  0.123  a           -

allreduce, bf16, 4 ranks, graph, out of place, through host memory, one process per rank, cuda backend: median us per op
virtual ranks on 2 GPUs: not a result of 4 GPUs

  size     a  best  vs nccl
1000 B  3.00  a           -

allreduce, f32, 2 ranks, eager, in place, cold L2, one thread per rank, host backend: median us per op
host backend: not a GPU result

  size      a  best  vs nccl
1536 B  50000  a           -
)");
}

TEST(Table, SizesAscendAndAreExact) {
  Row empty = timed_row("a", 0, 1);
  empty.time.reset();
  empty.reason = "0 bytes: nothing to time";
  EXPECT_EQ(
      table({timed_row("a", 3221225472, 99999.5), timed_row("a", 57345, 9.996),
             timed_row("b", 57344, 99.96), timed_row("a", 114688, 0.9996), empty}),
      R"(allreduce, bf16, 4 ranks, graph, out of place, one thread per rank, cuda backend: median us per op

   size       a    b  best  vs nccl
    0 B      ok       -           -
 56 KiB          100  b           -
57345 B    10.0       a           -
112 KiB    1.00       a           -
  3 GiB  100000       a           -
  a: 0 bytes: nothing to time
)");
}

TEST(Table, NcclAloneIsTheBestWithoutAFactor) {
  EXPECT_EQ(
      table({timed_row("nccl_auto", 2048, 20), untimed_row("x", Status::skipped, "no")}),
      R"(allreduce, bf16, 4 ranks, graph, out of place, one thread per rank, cuda backend: median us per op

  size  nccl_auto  x  best       vs nccl
 2 KiB       20.0     nccl_auto        -
56 KiB             -  -                -
  x: no
)");
}

TEST(Table, ManyAlgorithmsGoOnBelow) {
  EXPECT_EQ(
      table({timed_row("one_shot_pull", 1024, 5), timed_row("one_shot_push", 1024, 6),
             timed_row("nccl_ring", 1024, 10)},
            36),
      R"(allreduce, bf16, 4 ranks, graph, out of place, one thread per rank, cuda backend: median us per op

 size  one_shot_pull  one_shot_push
1 KiB           5.00           6.00

 size  nccl_ring
1 KiB       10.0

 size  best           vs nccl
1 KiB  one_shot_pull    2.00x
)");
}

TEST(Table, OfNoRowsIsEmpty) { EXPECT_EQ(table({}), ""); }

TEST(Layout, HoldsTheWidthUnlessOneColumnIsWider) {
  const std::vector<TextColumn> columns{
      {{"k", "1"}}, {{"aaaa", "2"}}, {{"bb", "3"}}, {{"c", "x"}, true}, {{"d", "4"}}};
  EXPECT_EQ(layout(columns, 17), "k  aaaa  bb  c  d\n1     2   3  x  4\n");
  EXPECT_EQ(layout(columns, 16), "k  aaaa  bb\n1     2   3\n\nk  c  d\n1  x  4\n");
  EXPECT_EQ(layout(columns, 0), "k  aaaa\n1     2\n\nk  bb\n1   3\n\nk  c  d\n1  x  4\n");
}

}  // namespace
}  // namespace arbench

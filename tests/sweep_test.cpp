#include "sweep.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <functional>

#include "disk.hpp"
#include "doctor_machine.hpp"
#include "runner.hpp"

namespace arbench {
namespace {

using Names = std::vector<std::string>;
using Ints = std::vector<int>;

const Names kAlgorithms = {"one_shot_pull", "one_shot_push", "two_shot_pull", "nccl_auto"};

Machine box(int gpus) {
  Machine machine = healthy();
  machine.gpus.clear();
  for (int device = 0; device < gpus; ++device) machine.gpus.push_back(rtx_pro_6000(device));
  return machine;
}

Machine without_gpu() {
  Machine machine;
  machine.cuda_error = "no CUDA driver: libcuda.so.1 does not load";
  return machine;
}

Options parsed(const std::vector<const char*>& words) {
  std::vector<const char*> argv{"arbench"};
  argv.insert(argv.end(), words.begin(), words.end());
  return parse(static_cast<int>(argv.size()), argv.data());
}

std::vector<Case> cases_of(const std::vector<const char*>& words, const Machine& machine,
                           const Names& algorithms = {"a"}) {
  return expand(parsed(words), machine, algorithms);
}

Names names_of(const std::vector<Case>& cases) {
  Names names;
  for (const Case& point : cases) names.push_back(point.name());
  return names;
}

/// Each value once, in order of appearance.
template <class T>
std::vector<T> seen(const std::vector<Case>& cases, std::function<T(const Case&)> of) {
  std::vector<T> values;
  for (const Case& point : cases)
    if (std::find(values.begin(), values.end(), of(point)) == values.end())
      values.push_back(of(point));
  return values;
}

/// Algorithm and toolkit of each case.
Names contenders_of(const std::vector<Case>& cases) {
  Names names;
  for (const Case& point : cases) names.push_back(point.contender());
  return names;
}

Ints ranks_of(const std::vector<Case>& cases) {
  return seen<int>(cases, [](const Case& c) { return c.ranks(); });
}

std::vector<std::uint64_t> sizes_of(const std::vector<Case>& cases) {
  return seen<std::uint64_t>(cases, [](const Case& c) { return c.bytes; });
}

std::string refusal(const std::vector<const char*>& words, const Machine& machine) {
  try {
    cases_of(words, machine, kAlgorithms);
  } catch (const UsageError& error) {
    return error.what();
  }
  return "accepted";
}

TEST(Sweep, DefaultOnEightGpus) {
  const auto cases = cases_of({}, box(8), {"one_shot_pull", "nccl_auto"});
  Names expected;
  for (const char* ranks : {"g2", "g4", "g8"})
    for (const char* mode : {"eager", "graph"})
      for (const char* bytes : {"1024", "4096", "14336", "16384", "57344", "65536", "262144",
                                "1048576", "4194304", "16777216", "67108864"})
        for (const char* algorithm : {"one_shot_pull", "nccl_auto"})
          expected.push_back(std::string("allreduce/") + algorithm + "/bf16/" + ranks + "/" + mode +
                             "/hot/" + bytes);
  EXPECT_EQ(names_of(cases), expected);
  EXPECT_EQ(cases.front().devices, (Ints{0, 1}));
  EXPECT_EQ(cases.back().devices, (Ints{0, 1, 2, 3, 4, 5, 6, 7}));
  EXPECT_EQ(cases.front().backend, Backend::cuda);
  EXPECT_EQ(cases.front().launch, Launch::threads);
  EXPECT_EQ(cases.front().geometry, Geometry{});
}

TEST(Sweep, OrderIsRanksDtypeSizeAlgorithm) {
  EXPECT_EQ(names_of(cases_of(
                {"--gpus", "4,2", "--dtype", "f32,f16", "--mode", "graph", "--sizes", "16,8"},
                box(4), {"b", "a"})),
            (Names{"allreduce/b/f32/g4/graph/hot/8", "allreduce/a/f32/g4/graph/hot/8",
                   "allreduce/b/f32/g4/graph/hot/16", "allreduce/a/f32/g4/graph/hot/16",
                   "allreduce/b/f16/g4/graph/hot/8", "allreduce/a/f16/g4/graph/hot/8",
                   "allreduce/b/f16/g4/graph/hot/16", "allreduce/a/f16/g4/graph/hot/16",
                   "allreduce/b/f32/g2/graph/hot/8", "allreduce/a/f32/g2/graph/hot/8",
                   "allreduce/b/f32/g2/graph/hot/16", "allreduce/a/f32/g2/graph/hot/16",
                   "allreduce/b/f16/g2/graph/hot/8", "allreduce/a/f16/g2/graph/hot/8",
                   "allreduce/b/f16/g2/graph/hot/16", "allreduce/a/f16/g2/graph/hot/16"}));
}

TEST(Sweep, PlacementComesBeforeModeBeforeSize) {
  EXPECT_EQ(
      names_of(cases_of({"--gpus", "2", "--placement", "in_place,out_of_place", "--mode",
                         "graph,eager", "--sizes", "8,16"},
                        box(4))),
      (Names{
          "allreduce/a/bf16/g2/graph/hot/8/in_place", "allreduce/a/bf16/g2/graph/hot/16/in_place",
          "allreduce/a/bf16/g2/eager/hot/8/in_place", "allreduce/a/bf16/g2/eager/hot/16/in_place",
          "allreduce/a/bf16/g2/graph/hot/8", "allreduce/a/bf16/g2/graph/hot/16",
          "allreduce/a/bf16/g2/eager/hot/8", "allreduce/a/bf16/g2/eager/hot/16"}));
}

TEST(Sweep, L2ComesBehindModeAndBeforeSize) {
  EXPECT_EQ(names_of(cases_of(
                {"--gpus", "2", "--l2", "hot,cold", "--mode", "graph", "--sizes", "8,16"}, box(4))),
            (Names{"allreduce/a/bf16/g2/graph/hot/8", "allreduce/a/bf16/g2/graph/hot/16",
                   "allreduce/a/bf16/g2/graph/cold/8", "allreduce/a/bf16/g2/graph/cold/16"}));
}

TEST(Sweep, ContendersOfAPointAreAdjacent) {
  const auto cases = cases_of({"--sizes", "8,16", "--gpus", "2"}, box(2), kAlgorithms);
  ASSERT_EQ(cases.size(), 16U);
  for (std::size_t i = 0; i < cases.size(); ++i)
    EXPECT_TRUE(cases[i].same_point(cases[i / 4 * 4])) << cases[i].name();
  EXPECT_FALSE(cases[3].same_point(cases[4]));
}

TEST(Sweep, RankCountsGoAsFarAsThereAreDevices) {
  EXPECT_EQ(ranks_of(cases_of({}, box(2))), Ints{2});
  EXPECT_EQ(ranks_of(cases_of({}, box(3))), (Ints{2, 3}));
  EXPECT_EQ(ranks_of(cases_of({}, box(6))), (Ints{2, 4, 6}));
  EXPECT_EQ(ranks_of(cases_of({}, box(16))), (Ints{2, 4, 8, 16}));
  EXPECT_EQ(ranks_of(cases_of({"--gpus", "5"}, box(8))), Ints{5});
  EXPECT_EQ(ranks_of(cases_of({"--devices", "7,0,7"}, box(8))), (Ints{2, 3}));
}

TEST(Sweep, RanksAreTheFirstDevices) {
  const auto cases = cases_of({"--devices", "5,1,5,0", "--gpus", "3"}, box(8));
  EXPECT_EQ(cases.front().devices, (Ints{5, 1, 5}));
  EXPECT_TRUE(cases.front().is_virtual());
}

TEST(Sweep, OneGpuGivesVirtualRanks) {
  const auto cases = cases_of({}, box(1));
  EXPECT_EQ(ranks_of(cases), (Ints{2, 4, 8}));
  EXPECT_EQ(cases.back().devices, (Ints{0, 0, 0, 0, 0, 0, 0, 0}));
  EXPECT_EQ(cases.back().backend, Backend::cuda);
}

TEST(Sweep, VirtualRanksAreOnTheFirstDeviceOrTheOneNamed) {
  EXPECT_EQ(cases_of({"--virtual", "3"}, box(8)).back().devices, (Ints{0, 0, 0}));
  EXPECT_EQ(cases_of({"--virtual", "2", "--devices", "6"}, box(8)).back().devices, (Ints{6, 6}));
  EXPECT_EQ(ranks_of(cases_of({"--virtual", "16"}, box(1))), (Ints{2, 4, 8, 16}));
}

TEST(Sweep, AGridLaunchHasAllRanksOnOneDevice) {
  EXPECT_EQ(cases_of({"--launch", "grid"}, box(8)).front().devices, (Ints{0, 0}));
  EXPECT_EQ(cases_of({"--launch", "grid"}, box(8)).front().launch, Launch::grid);
  EXPECT_EQ(cases_of({"--launch", "grid", "--gpus", "3"}, without_gpu()).front().devices,
            (Ints{0, 0, 0}));
}

TEST(Sweep, HostRanksNeedNoDevice) {
  const auto cases = cases_of({}, without_gpu());
  EXPECT_EQ(cases.front().backend, Backend::host);
  EXPECT_EQ(ranks_of(cases), (Ints{2, 4, 8}));
  EXPECT_EQ(cases.back().devices, (Ints{0, 1, 2, 3, 4, 5, 6, 7}));
  EXPECT_EQ(sizes_of(cases), (std::vector<std::uint64_t>{1024, 14336, 57344}));
  EXPECT_EQ(ranks_of(cases_of({"--gpus", "16,3"}, without_gpu())), (Ints{16, 3}));
  EXPECT_EQ(cases_of({"--backend", "host"}, box(2)).front().backend, Backend::host);
}

TEST(Sweep, LaunchAndGeometryAreTheUsers) {
  const auto cases =
      cases_of({"--launch", "processes", "--blocks", "36", "--threads", "512"}, box(2));
  EXPECT_EQ(cases.front().launch, Launch::processes);
  EXPECT_EQ(cases.front().geometry, (Geometry{36, 512}));
}

TEST(Sweep, SizesAreRoundedDownToWholeElements) {
  const Machine machine = box(2);
  EXPECT_EQ(sizes_of(cases_of({"--sizes", "0,4,5,6,7,9", "--dtype", "f32"}, machine)),
            (std::vector<std::uint64_t>{0, 4, 8}));
  EXPECT_EQ(sizes_of(cases_of({"--sizes", "0,4,5,6,7,9", "--dtype", "f16"}, machine)),
            (std::vector<std::uint64_t>{0, 4, 6, 8}));
  Options options;
  options.sizes = {1};
  EXPECT_THROW(expand(options, machine, {"a"}), UsageError);
}

TEST(Sweep, ShapesScaleWithTheDtype) {
  const auto cases =
      cases_of({"--model", "kimi-k2.5", "--tokens", "1,4", "--dtype", "bf16,f32"}, box(2));
  EXPECT_EQ(sizes_of(cases), (std::vector<std::uint64_t>{14336, 57344, 28672, 114688}));
  EXPECT_EQ(
      sizes_of(cases_of({"--model", "kimi-k2", "--tokens", "1", "--sizes", "14336,8"}, box(2))),
      (std::vector<std::uint64_t>{8, 14336}));
}

TEST(Sweep, GlobsSelectInTheOrderOfTheRegistry) {
  const auto chosen = [](const char* algorithms) {
    return seen<std::string>(cases_of({"--algo", algorithms, "--sizes", "8"}, box(2), kAlgorithms),
                             [](const Case& c) { return c.algorithm; });
  };
  EXPECT_EQ(chosen("*"), kAlgorithms);
  EXPECT_EQ(chosen("nccl_*,one_shot_p?s*"), (Names{"one_shot_push", "nccl_auto"}));
  EXPECT_EQ(chosen("two_shot_pull,*_pull"), (Names{"one_shot_pull", "two_shot_pull"}));
  EXPECT_EQ(chosen("[no]*auto"), Names{"nccl_auto"});
}

TEST(Sweep, RefusesWhatIsNotThere) {
  const std::string all = "one_shot_pull, one_shot_push, two_shot_pull, nccl_auto";
  EXPECT_EQ(refusal({"--algo", "ring_*"}, box(2)),
            "--algo ring_*: matches no algorithm; accepts globs and " + all);
  EXPECT_EQ(refusal({"--algo", "nccl_auto,one_shot_pul"}, box(2)),
            "--algo one_shot_pul: matches no algorithm; accepts globs and " + all +
                "; did you mean one_shot_pull?");
  EXPECT_EQ(refusal({"--gpus", "2,4"}, box(2)),
            "--gpus 4: 2 devices here; use --virtual 4 for virtual ranks on one GPU");
  EXPECT_EQ(refusal({"--gpus", "16"}, box(1)),
            "--gpus 16: 8 virtual ranks here; use --virtual 16 for virtual ranks on one GPU");
  EXPECT_EQ(refusal({"--gpus", "4", "--virtual", "2"}, box(8)),
            "--gpus 4: --virtual makes 2; use --virtual 4 for virtual ranks on one GPU");
  EXPECT_EQ(refusal({"--gpus", "4", "--devices", "0,1,2"}, box(8)),
            "--gpus 4: --devices names 3; use --virtual 4 for virtual ranks on one GPU");
  EXPECT_EQ(refusal({"--devices", "0,2"}, box(2)), "--devices 2: no such device, accepts 0,1");
  EXPECT_EQ(refusal({"--devices", "1"}, box(2)),
            "--devices 1: one rank reduces nothing, accepts 2 ids or more; --virtual N makes N "
            "virtual ranks");
}

TEST(Sweep, RefusesBlocksOfFewerThreadsThanAWarpOnAGpu) {
  EXPECT_EQ(refusal({"--threads", "31"}, box(2)),
            "--threads 31: too few for a GPU, accepts 32 to 512 there: a block has a thread for "
            "each rank");
  EXPECT_EQ(refusal({"--threads", "32"}, box(2)), "accepted");
  EXPECT_EQ(refusal({"--threads", "1"}, without_gpu()), "accepted");
}

TEST(Sweep, RefusesDevicesWhereThereIsNone) {
  const std::string why = "no CUDA device answers (no CUDA driver: libcuda.so.1 does not load); ";
  EXPECT_EQ(refusal({"--backend", "cuda"}, without_gpu()),
            "--backend cuda: " + why + "accepts host here");
  EXPECT_EQ(refusal({"--devices", "0,1"}, without_gpu()),
            "--devices 0,1: " + why + "--gpus N runs N ranks on the host");
  EXPECT_EQ(refusal({"--virtual", "4"}, without_gpu()),
            "--virtual 4: " + why + "--gpus N runs N ranks on the host");
  EXPECT_EQ(refusal({"--virtual", "4", "--backend", "host"}, box(1)),
            "--virtual 4: the host backend has no devices; --gpus N runs N ranks on the host");
}

TEST(Remark, SaysWhatWasDecidedByDefault) {
  const auto text = [](const std::vector<const char*>& words, const Machine& machine) {
    return remark(parsed(words), machine);
  };
  EXPECT_EQ(text({}, box(8)), "");
  EXPECT_EQ(text({}, box(1)), "one GPU: virtual ranks on device 0; no multi-GPU result");
  EXPECT_EQ(text({"--virtual", "4"}, box(1)), "");
  EXPECT_EQ(text({"--launch", "grid"}, box(8)),
            "grid launch: virtual ranks on device 0; no multi-GPU result");
  EXPECT_EQ(text({}, without_gpu()),
            "no CUDA device answers (no CUDA driver: libcuda.so.1 does not load): host backend, "
            "whose times say nothing about a GPU");
  EXPECT_EQ(text({}, Machine{}),
            "no CUDA device answers (this build has no CUDA): host backend, whose times say "
            "nothing about a GPU");
  EXPECT_EQ(text({"--backend", "host"}, box(8)), "");
}

TEST(Defaults, FillInSizesAndLeaveWhatWasAskedFor) {
  EXPECT_EQ(resolved_backend(parsed({}), box(1)), Backend::cuda);
  EXPECT_EQ(resolved_backend(parsed({}), without_gpu()), Backend::host);
  EXPECT_EQ(resolved_backend(parsed({"--backend", "cuda"}), without_gpu()), Backend::cuda);
  EXPECT_EQ(with_defaults(parsed({}), Backend::cuda).sizes.size(), 11U);
  EXPECT_EQ(with_defaults(parsed({}), Backend::host).sizes.size(), 3U);
  EXPECT_EQ(with_defaults(parsed({"--sizes", "8"}), Backend::cuda).sizes,
            std::vector<std::uint64_t>{8});
  EXPECT_TRUE(with_defaults(parsed({"--model", "glm-4.5"}), Backend::cuda).sizes.empty());
}

TEST(Slow, AGlobThatMatchesNothingThatRunsIsRefused) {
  EXPECT_EQ(refusal({"--slow", "ring_*:5", "--mode", "graph", "--algo", "nccl_auto"}, box(2)),
            "--slow ring_*: matches none of what runs, nccl_auto");
  EXPECT_EQ(
      seen<std::string>(cases_of({"--slow", "nccl_*:5", "--mode", "graph"}, box(2), kAlgorithms),
                        [](const Case& point) { return point.algorithm; })
          .size(),
      4U);
}

TEST(Estimate, IsRowsTimesSecondsPerRow) {
  const auto cases = cases_of({}, box(8), kAlgorithms);
  ASSERT_EQ(cases.size(), 264U);
  EXPECT_EQ(count_points(cases), 66);
  EXPECT_DOUBLE_EQ(estimate_seconds(cases, parsed({"--no-aa"})), 132);
  EXPECT_DOUBLE_EQ(estimate_seconds(cases, parsed({})), 165);
  EXPECT_DOUBLE_EQ(estimate_seconds(cases, parsed({"--row-seconds", "0.8"})), 330);
  EXPECT_DOUBLE_EQ(estimate_seconds({}, parsed({})), 0);
}

/// The default sweep of one GPU, of all that is registered; NCCL is skipped there. An algorithm more that takes it above 5
/// minutes needs shorter rows or fewer sizes by default.
TEST(Estimate, TheDefaultSweepOfOneGpuTakesFiveMinutesAtMost) {
  const auto cases = cases_of({}, box(1), algorithm_names(Backend::host, {}));
  EXPECT_GT(cases.size(), 300U);
  EXPECT_LE(estimate_seconds(cases, parsed({})), 300);
}

TEST(Toolkits, AreContendersOfEachPointInTheOrderGiven) {
  const Options options = parsed(
      {"--gpus", "2", "--sizes", "1K", "--mode", "graph", "--toolkit", "nvrtc:/a,build,nvrtc:/b"});
  EXPECT_EQ(contenders_of(expand(options, box(2), {"ring_simple", "nccl_auto"},
                                 {"nvrtc 12.8.93", "nvrtc 13.5.37"})),
            (Names{"ring_simple nvrtc 12.8.93", "ring_simple", "ring_simple nvrtc 13.5.37",
                   "nccl_auto"}));
}

TEST(Toolkits, NeedACudaDevice) {
  const auto refusal = [](const std::vector<const char*>& words) {
    return message<UsageError>(
        [&] { expand(parsed(words), without_gpu(), {"a"}, {"nvrtc 12.8.93"}); });
  };
  EXPECT_EQ(refusal({"--toolkit", "nvrtc:/a"}),
            "--toolkit nvrtc:/a: needs the CUDA backend: no CUDA device answers (no CUDA driver: "
            "libcuda.so.1 does not load); accepts build here");
  EXPECT_EQ(refusal({"--toolkit", "build,nvrtc:/a", "--backend", "host"}),
            "--toolkit nvrtc:/a: needs the CUDA backend: --backend host runs host threads; accepts "
            "build here");
}

}  // namespace
}  // namespace arbench

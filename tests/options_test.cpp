#include "options.hpp"

#include <gtest/gtest.h>

#include <iterator>
#include <sstream>

namespace arbench {
namespace {

using Words = std::vector<std::string>;
using Sizes = std::vector<std::uint64_t>;
using Ints = std::vector<int>;

Options parsed(Words words) {
  words.insert(words.begin(), "arbench");
  std::vector<const char*> argv;
  for (const auto& text : words) argv.push_back(text.c_str());
  return parse(static_cast<int>(argv.size()), argv.data());
}

/// Blanks separate words.
Options parsed(const std::string& line) {
  std::istringstream text(line);
  return parsed(Words(std::istream_iterator<std::string>(text), {}));
}

TEST(Options, Defaults) {
  const Options options = parsed("");
  EXPECT_EQ(options.command, Command::run);
  EXPECT_EQ(options.algorithms, Words{});
  EXPECT_EQ(options.dtypes, std::vector{Dtype::bf16});
  EXPECT_EQ(options.sizes, Sizes{});
  EXPECT_EQ(options.shape_elements, Sizes{});
  EXPECT_EQ(options.gpus, Ints{});
  EXPECT_EQ(options.modes, (std::vector{Mode::eager, Mode::graph}));
  EXPECT_EQ(options.l2s, std::vector{L2::hot});
  EXPECT_EQ(options.placements, std::vector{Placement::out_of_place});
  EXPECT_EQ(options.devices, Ints{});
  EXPECT_EQ(options.virtual_ranks, 0);
  EXPECT_EQ(options.backend, std::nullopt);
  EXPECT_EQ(options.launch, Launch::threads);
  EXPECT_EQ(options.transport, Transport::p2p);
  EXPECT_EQ(options.geometry, Geometry{});
  EXPECT_EQ(options.toolkits, Words{"build"});
  EXPECT_EQ(options.rounds, 12);
  EXPECT_EQ(options.replays, 100);
  EXPECT_EQ(options.ops, 20);
  EXPECT_EQ(options.row_seconds, 0.3);
  EXPECT_EQ(options.skew_us, 0);
  EXPECT_EQ(options.timeout_seconds, 10);
  EXPECT_EQ(options.seed, 1U);
  EXPECT_FALSE(options.dry_run || options.nccl_loopback || options.verbose);
  EXPECT_EQ(options.nccl_lib + options.out, "");
}

TEST(Options, NoArgumentsAtAllRuns) { EXPECT_EQ(parse(0, nullptr).command, Command::run); }

TEST(Options, Commands) {
  EXPECT_EQ(parsed("run").command, Command::run);
  EXPECT_EQ(parsed("run --ops 1").command, Command::run);
  EXPECT_EQ(parsed("--ops 1 run").command, Command::run);
  EXPECT_EQ(parsed("doctor").command, Command::doctor);
  EXPECT_EQ(parsed("doctor --nccl-lib /lib/libnccl.so.2 --verbose").command, Command::doctor);
  EXPECT_EQ(parsed("list --backend host").command, Command::list);
  EXPECT_EQ(parsed("--list").command, Command::list);
  EXPECT_EQ(parsed("run --list").command, Command::list);
  EXPECT_EQ(parsed("--help").command, Command::help);
  EXPECT_EQ(parsed("doctor -h").command, Command::help);
  EXPECT_EQ(parsed("--help -b 0 --no-such-option").command, Command::help);
  EXPECT_EQ(parsed("--version").command, Command::version);
  EXPECT_EQ(parsed("--version --help").command, Command::help);
}

TEST(Options, EveryOptionReachesItsField) {
  const Options options = parsed(
      "--algo ring_*,nccl_auto --dtype f32,f16 --gpus 8,3 --mode graph --l2 cold,hot --placement "
      "in_place,out_of_place --devices 3,3,1 --backend cuda --launch processes --transport host "
      "--blocks 36 --toolkit nvrtc:/opt/cuda-12.8,build,nvrtc:x/libnvrtc.so,build "
      "--threads 512 --rounds 3 --replays 7 --ops 122 --row-seconds 1.5 --skew-us 2.5 --timeout "
      "0.25 --seed 0 "
      "--dry-run --nccl-loopback --nccl-lib /x/libnccl.so.2 --out results/a --verbose");
  EXPECT_EQ(options.algorithms, (Words{"ring_*", "nccl_auto"}));
  EXPECT_EQ(options.toolkits, (Words{"nvrtc:/opt/cuda-12.8", "build", "nvrtc:x/libnvrtc.so"}));
  EXPECT_EQ(options.dtypes, (std::vector{Dtype::f32, Dtype::f16}));
  EXPECT_EQ(options.gpus, (Ints{8, 3}));
  EXPECT_EQ(options.modes, std::vector{Mode::graph});
  EXPECT_EQ(options.l2s, (std::vector{L2::cold, L2::hot}));
  EXPECT_EQ(options.placements, (std::vector{Placement::in_place, Placement::out_of_place}));
  EXPECT_EQ(options.devices, (Ints{3, 3, 1}));
  EXPECT_EQ(options.backend, Backend::cuda);
  EXPECT_EQ(options.launch, Launch::processes);
  EXPECT_EQ(options.transport, Transport::host);
  EXPECT_EQ(options.geometry, (Geometry{36, 512}));
  EXPECT_EQ(options.rounds, 3);
  EXPECT_EQ(options.replays, 7);
  EXPECT_EQ(options.ops, 122);
  EXPECT_EQ(options.row_seconds, 1.5);
  EXPECT_EQ(options.skew_us, 2.5);
  EXPECT_EQ(options.timeout_seconds, 0.25);
  EXPECT_EQ(options.seed, 0U);
  EXPECT_EQ(parsed("--precision 2.5").precision_pct, 2.5);
  EXPECT_EQ(parsed("--precision 1%").precision_pct, 1);
  EXPECT_EQ(parsed("--max-seconds 30").max_seconds, 30);
  EXPECT_TRUE(options.aa);
  EXPECT_FALSE(parsed("--no-aa").aa);
  EXPECT_EQ(parsed("--soak 10000").soak, 10000);
  EXPECT_EQ(options.slow_pct, 0);
  EXPECT_EQ(parsed("--slow r*:2.5 --ops 40 --mode graph").slow_algorithms, "r*");
  EXPECT_EQ(parsed("--slow r*:2.5 --ops 40 --mode graph").slow_pct, 2.5);
  EXPECT_TRUE(options.dry_run && options.nccl_loopback && options.verbose);
  EXPECT_EQ(options.nccl_lib, "/x/libnccl.so.2");
  EXPECT_EQ(options.out, "results/a");
  EXPECT_FALSE(options.allow_busy);
  EXPECT_TRUE(parsed("--allow-busy").allow_busy);
  EXPECT_FALSE(options.resume || options.retry_failed);
  EXPECT_EQ(parsed("--resume a/b").out, "a/b");
  EXPECT_TRUE(parsed("--resume a/b").resume);
  EXPECT_TRUE(parsed("--resume a/b --retry-failed").retry_failed);
  EXPECT_EQ(parsed("--virtual 16").virtual_ranks, 16);
  EXPECT_EQ(parsed("--virtual 4 --devices 3").devices, Ints{3});
  EXPECT_EQ(parsed("--backend auto").backend, std::nullopt);
  EXPECT_EQ(parsed("--seed 18446744073709551615").seed, 18446744073709551615U);
}

TEST(Options, DuplicateItemsAreCollapsedButDevicesMayRepeat) {
  EXPECT_EQ(parsed("--gpus 4,2,4").gpus, (Ints{4, 2}));
  EXPECT_EQ(parsed("--dtype f16,f16").dtypes, std::vector{Dtype::f16});
  EXPECT_EQ(parsed("--mode graph,graph").modes, std::vector{Mode::graph});
  EXPECT_EQ(parsed("--algo a,b,a").algorithms, (Words{"a", "b"}));
  EXPECT_EQ(parsed("--devices 0,0,0,0").devices, (Ints{0, 0, 0, 0}));
  EXPECT_EQ(parsed("--sizes 1K,1024").sizes, Sizes{1024});
}

TEST(Sizes, MultiplyOrAdd) {
  EXPECT_EQ(parsed("-b 8 -e 64").sizes, (Sizes{8, 16, 32, 64}));
  EXPECT_EQ(parsed("-b 8 -e 100 -f 4").sizes, (Sizes{8, 32}));
  EXPECT_EQ(parsed("-b 8 -e 41 -f 1.5").sizes, (Sizes{8, 12, 18, 27, 40}));
  EXPECT_EQ(parsed("-b 1K -e 4K -i 1K").sizes, (Sizes{1024, 2048, 3072, 4096}));
  EXPECT_EQ(parsed("--min-bytes 1K --max-bytes 4K --step-bytes 3K").sizes, (Sizes{1024, 4096}));
  EXPECT_EQ(parsed("--min-bytes=1K --max-bytes=9K --factor=3").sizes, (Sizes{1024, 3072, 9216}));
  EXPECT_EQ(parsed("-b8 -e8").sizes, Sizes{8});
}

TEST(Sizes, AnEndThatIsLeftOutIsTheDefaultOrTheOtherEnd) {
  EXPECT_EQ(parsed("-b 32M").sizes, (Sizes{33554432, 67108864}));
  EXPECT_EQ(parsed("-e 4K").sizes, (Sizes{1024, 2048, 4096}));
  EXPECT_EQ(parsed("-f 256").sizes, (Sizes{1024, 262144, 67108864}));
  EXPECT_EQ(parsed("-i 32M").sizes, (Sizes{1024, 33555456}));
  EXPECT_EQ(parsed("-b 128M").sizes, Sizes{134217728});
  EXPECT_EQ(parsed("-e 512").sizes, Sizes{512});
}

TEST(Sizes, SuffixesAreBinaryAndFractionsAreWholeBytes) {
  EXPECT_EQ(parsed("--sizes 2g,1.5M,56K,0.5k,7").sizes,
            (Sizes{7, 512, 57344, 1572864, 2147483648}));
  EXPECT_EQ(parsed("--sizes 0.1K").sizes, Sizes{102});
  EXPECT_EQ(parsed("--sizes 1024G").sizes, Sizes{1099511627776});
  EXPECT_EQ(parsed("--sizes 0").sizes, Sizes{0});
}

TEST(Sizes, ListAndRangeAddUp) {
  EXPECT_EQ(parsed("--sizes 48,0 -b 32 -e 64").sizes, (Sizes{0, 32, 48, 64}));
}

TEST(Shapes, AreHiddenSizeTimesTokens) {
  const Options options = parsed("--model kimi-k2.5");
  EXPECT_EQ(options.shape_elements, (Sizes{7168, 28672, 57344}));
  EXPECT_EQ(options.sizes, Sizes{});
  EXPECT_EQ(parsed("--model gpt-oss-120b --tokens 6,1,6").shape_elements, (Sizes{2880, 17280}));
}

TEST(Shapes, ComeBesideSizesThatAreGiven) {
  const Options options = parsed("--model llama-3-70b --tokens 1 -b 8 -e 16");
  EXPECT_EQ(options.shape_elements, Sizes{8192});
  EXPECT_EQ(options.sizes, (Sizes{8, 16}));
}

TEST(Help, FitsAScreenAndNamesEveryOption) {
  const std::string text = help();
  std::istringstream lines(text);
  for (std::string line; std::getline(lines, line);) EXPECT_LE(line.size(), 100U) << line;
  for (const char* part : {"-b, --min-bytes SIZE",
                           "-e, --max-bytes SIZE",
                           "-f, --factor X",
                           "-i, --step-bytes SIZE",
                           "--sizes LIST",
                           "--model NAME",
                           "kimi-k2.5",
                           "minimax-m2",
                           "--tokens LIST",
                           "--gpus LIST",
                           "--mode LIST",
                           "--dtype LIST",
                           "--l2 LIST",
                           "--placement LIST",
                           "--algo LIST",
                           "--devices LIST",
                           "--virtual N",
                           "--backend auto|cuda|host",
                           "--launch threads|processes|grid",
                           "--transport p2p|host",
                           "--blocks N",
                           "--threads N",
                           "--rounds N",
                           "--replays N",
                           "--ops N",
                           "--row-seconds S",
                           "--skew-us D",
                           "--timeout S",
                           "--seed N",
                           "--precision P%",
                           "--max-seconds S",
                           "--soak CALLS",
                           "--no-aa",
                           "--allow-busy",
                           "--resume DIR",
                           "--retry-failed",
                           "--nccl-lib PATH",
                           "--nccl-loopback",
                           "--out DIR",
                           "--dry-run",
                           "--list",
                           "--verbose",
                           "--version",
                           "-h, --help",
                           "of f16, bf16, f32 (default bf16)",
                           "1K,4K,14336,16K,57344,64K,256K,1M,4M,16M,64M"})
    EXPECT_NE(text.find(part), std::string::npos) << part;
}

}  // namespace
}  // namespace arbench

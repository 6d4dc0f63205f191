// Every kind of command line that is refused, and the one line that says why.
#include <gtest/gtest.h>

#include <sstream>

#include "options.hpp"

namespace arbench {
namespace {

struct Refused {
  std::string line;     ///< words separated by blanks; '_' is an empty word
  std::string message;  ///< the whole of it
};

void PrintTo(const Refused& refused, std::ostream* out) { *out << refused.line; }

std::string message_of(std::vector<std::string> words) {
  words.insert(words.begin(), "arbench");
  std::vector<const char*> argv;
  argv.reserve(words.size());
  for (const auto& text : words) argv.push_back(text.c_str());
  try {
    parse(static_cast<int>(argv.size()), argv.data());
  } catch (const UsageError& error) {
    return error.what();
  }
  return "accepted";
}

class CommandLine : public testing::TestWithParam<Refused> {};

TEST_P(CommandLine, IsRefusedInOneLine) {
  std::vector<std::string> words;
  std::istringstream text(GetParam().line);
  for (std::string one; text >> one;) words.push_back(one == "_" ? "" : one);
  EXPECT_EQ(message_of(words), GetParam().message);
}

const std::string kSize = "accepts sizes from 1 to 1024G bytes, such as 57344, 56K or 1.5M";
const std::string kSizeOr0 = "accepts sizes from 0 to 1024G bytes, such as 57344, 56K or 1.5M";
const std::string kFactor = "accepts numbers above 1, up to 1024";
const std::string kSeconds = "accepts numbers above 0, up to 86400";
const std::string kItem = "empty item; accepts a list such as A,B with a comma between two items";
const std::string kToolkit =
    "accepts build, and nvrtc:PATH with the folder of a CUDA toolkit or its libnvrtc.so";
const std::string kTwice = "given more than once; a list takes commas";
const std::string kCommand =
    "unknown command, accepts run, doctor, list, self-test, compare; a list takes commas";
const std::string kOption = "unknown option, arbench --help shows those accepted";
const std::string kModels =
    "accepts kimi-k2, kimi-k2.5, deepseek-v3, qwen3-235b, glm-4.5, glm-4.5-air, llama-3-70b, "
    "gpt-oss-120b, minimax-m2";

INSTANTIATE_TEST_SUITE_P(
    Sizes, CommandLine,
    testing::Values(
        Refused{"-b 0", "-b 0: " + kSize}, Refused{"--min-bytes 0", "--min-bytes 0: " + kSize},
        Refused{"--min-bytes=0", "--min-bytes 0: " + kSize}, Refused{"-e 0", "-e 0: " + kSize},
        Refused{"-i 0", "-i 0: " + kSize}, Refused{"--step-bytes 0", "--step-bytes 0: " + kSize},
        Refused{"-b abc", "-b abc: " + kSize}, Refused{"-b 1Gx", "-b 1Gx: " + kSize},
        Refused{"-b 1GG", "-b 1GG: " + kSize}, Refused{"-b K", "-b K: " + kSize},
        Refused{"-b 1.2.3K", "-b 1.2.3K: " + kSize}, Refused{"-b .5K", "-b .5K: " + kSize},
        Refused{"-b 1T", "-b 1T: " + kSize}, Refused{"-b 1e3", "-b 1e3: " + kSize},
        Refused{"-b 0x10", "-b 0x10: " + kSize}, Refused{"-b +8", "-b +8: " + kSize},
        Refused{"-b nan", "-b nan: " + kSize}, Refused{"-e inf", "-e inf: " + kSize},
        Refused{"-b -8", "-b -8: " + kSize}, Refused{"-b 0.5", "-b 0.5: " + kSize},
        Refused{"-e 99999999999G", "-e 99999999999G: " + kSize},
        Refused{"-e 1025G", "-e 1025G: " + kSize},
        Refused{"-b 18446744073709551616", "-b 18446744073709551616: " + kSize},
        Refused{"-f 1", "-f 1: " + kFactor}, Refused{"--factor 0.5", "--factor 0.5: " + kFactor},
        Refused{"-f abc", "-f abc: " + kFactor}, Refused{"-f nan", "-f nan: " + kFactor},
        Refused{"-f inf", "-f inf: " + kFactor}, Refused{"-f -2", "-f -2: " + kFactor},
        Refused{"-f 2x", "-f 2x: " + kFactor},
        Refused{"-b 2M -e 1M", "-b 2M: accepts sizes up to that of -e 1M"},
        Refused{"--max-bytes 1M -b 2M", "-b 2M: accepts sizes up to that of --max-bytes 1M"},
        Refused{"-i 1K -f 2", "-f 2: not together with -i 1K, accepts one of the two"},
        Refused{"-i 1", "-i 1: makes too many sizes, accepts steps that make 1000 at most"},
        Refused{"-f 1.00001",
                "-f 1.00001: makes too many sizes, accepts steps that make 1000 at most"},
        Refused{"--sizes -1", "--sizes -1: " + kSizeOr0},
        Refused{"--sizes 1K,x", "--sizes x: " + kSizeOr0},
        Refused{"--sizes 0.5", "--sizes 0.5: " + kSizeOr0},
        Refused{"--sizes 1K,,2K", "--sizes 1K,,2K: " + kItem},
        Refused{"--sizes ,", "--sizes ,: " + kItem},
        Refused{"--sizes 1K,", "--sizes 1K,: " + kItem},
        Refused{"--sizes 1K 2K", "2K: " + kCommand},
        Refused{"-b 1", "-b 1: less than one bf16 element, accepts 2 bytes or more"},
        Refused{"-e 1", "-e 1: less than one bf16 element, accepts 2 bytes or more"},
        Refused{"--sizes 0,3 --dtype f16,f32",
                "--sizes 3: less than one f32 element, accepts 4 bytes or more"},
        Refused{"--model kimi", "--model kimi: unknown; " + kModels + "; did you mean kimi-k2?"},
        Refused{"--model deepseek-v4",
                "--model deepseek-v4: unknown; " + kModels + "; did you mean deepseek-v3?"},
        Refused{"--model gpt-2", "--model gpt-2: unknown; " + kModels},
        Refused{"--tokens 1,4", "--tokens 1,4: needs --model, which " + kModels},
        Refused{"--model glm-4.5 --tokens 0",
                "--tokens 0: accepts whole numbers from 1 to 1000000"},
        Refused{"--model glm-4.5 --tokens 1,2.5",
                "--tokens 2.5: accepts whole numbers from 1 to 1000000"}));

INSTANTIATE_TEST_SUITE_P(
    Ranks, CommandLine,
    testing::Values(
        Refused{"--toolkit 12.8", "--toolkit 12.8: " + kToolkit},
        Refused{"--toolkit build,nvrtc:", "--toolkit nvrtc:: " + kToolkit},
        Refused{"--gpus 0", "--gpus 0: accepts whole numbers from 2 to 16"},
        Refused{"--gpus 1",
                "--gpus 1: with one rank there is nothing to reduce; accepts whole numbers from 2 "
                "to 16"},
        Refused{"--gpus 4,1",
                "--gpus 1: with one rank there is nothing to reduce; accepts whole numbers from 2 "
                "to 16"},
        Refused{"--gpus 2,17", "--gpus 17: accepts whole numbers from 2 to 16"},
        Refused{"--gpus -2", "--gpus -2: accepts whole numbers from 2 to 16"},
        Refused{"--gpus 2,4x", "--gpus 4x: accepts whole numbers from 2 to 16"},
        Refused{"--gpus all", "--gpus all: accepts whole numbers from 2 to 16"},
        Refused{"--gpus 2,,4", "--gpus 2,,4: " + kItem},
        Refused{"--devices -1", "--devices -1: accepts whole numbers from 0 to 1023"},
        Refused{"--devices 0,a", "--devices a: accepts whole numbers from 0 to 1023"},
        Refused{"--devices 0,1,", "--devices 0,1,: " + kItem},
        Refused{"--devices 0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0",
                "--devices 0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0: accepts at most 16 device ids"},
        Refused{"--virtual 1",
                "--virtual 1: with one rank there is nothing to reduce; accepts whole numbers from "
                "2 to 16"},
        Refused{"--virtual 17", "--virtual 17: accepts whole numbers from 2 to 16"},
        Refused{"--virtual 4 --devices 0,1",
                "--virtual 4: accepts one device beside it, not --devices 0,1"},
        Refused{"--backend cdua", "--backend cdua: unknown; accepts auto, cuda, host"},
        Refused{"--backend CUDA",
                "--backend CUDA: unknown; accepts auto, cuda, host; did you mean cuda?"},
        Refused{"--launch process",
                "--launch process: unknown; accepts threads, processes, grid; "
                "did you mean processes?"},
        Refused{"--transport shm", "--transport shm: unknown; accepts p2p, host"},
        Refused{"--nccl-loopback", "--nccl-loopback: needs --launch processes, not threads"},
        Refused{"--launch grid --nccl-loopback",
                "--nccl-loopback: needs --launch processes, not grid"}));

INSTANTIATE_TEST_SUITE_P(
    Rest, CommandLine,
    testing::Values(
        Refused{"--algo ring,,tree", "--algo ring,,tree: " + kItem},
        Refused{"--dtype fp16", "--dtype fp16: unknown; accepts f16, bf16, f32; did you mean f16?"},
        Refused{"--dtype f32,BF16",
                "--dtype BF16: unknown; accepts f16, bf16, f32; did you mean bf16?"},
        Refused{"--dtype int8", "--dtype int8: unknown; accepts f16, bf16, f32"},
        Refused{"--dtype f16,", "--dtype f16,: " + kItem},
        Refused{"--mode grpah", "--mode grpah: unknown; accepts eager, graph; did you mean graph?"},
        Refused{"--mode both", "--mode both: unknown; accepts eager, graph"},
        Refused{"--l2 warm", "--l2 warm: unknown; accepts hot, cold"},
        Refused{"--placement in-place",
                "--placement in-place: unknown; accepts out_of_place, in_place; did you mean "
                "in_place?"},
        Refused{"--blocks 0", "--blocks 0: accepts whole numbers from 1 to 128"},
        Refused{"--blocks 129", "--blocks 129: accepts whole numbers from 1 to 128"},
        Refused{"--threads 0", "--threads 0: accepts whole numbers from 1 to 512"},
        Refused{"--threads 513", "--threads 513: accepts whole numbers from 1 to 512"},
        Refused{"--rounds 0", "--rounds 0: accepts whole numbers from 1 to 100000"},
        Refused{"--rounds 1.5", "--rounds 1.5: accepts whole numbers from 1 to 100000"},
        Refused{"--replays 0", "--replays 0: accepts whole numbers from 1 to 100000"},
        Refused{"--precision 0", "--precision 0: accepts numbers above 0, up to 100"},
        Refused{"--precision 101%", "--precision 101: accepts numbers above 0, up to 100"},
        Refused{"--precision x", "--precision x: accepts numbers above 0, up to 100"},
        Refused{"--max-seconds 0", "--max-seconds 0: accepts numbers above 0, up to 86400"},
        Refused{"--ops -1", "--ops -1: accepts whole numbers from 1 to 10000"},
        Refused{"--ops 10001", "--ops 10001: accepts whole numbers from 1 to 10000"},
        Refused{"--row-seconds 0", "--row-seconds 0: " + kSeconds},
        Refused{"--row-seconds inf", "--row-seconds inf: " + kSeconds},
        Refused{"--soak 0", "--soak 0: accepts whole numbers from 1 to 10000000"},
        Refused{"--skew-us 0", "--skew-us 0: accepts numbers above 0, up to 1e+06"},
        Refused{"--skew-us 600 --timeout 0.001",
                "--skew-us 600: accepts at most half of --timeout, 500"},
        Refused{"--slow 3", "--slow 3: accepts ALGO:PCT, such as ring_simple:3"},
        Refused{"--slow :3", "--slow :3: accepts ALGO:PCT, such as ring_simple:3"},
        Refused{"--slow ring*:x --mode graph", "--slow x: accepts numbers above 0, up to 100"},
        Refused{"--slow ring*:0 --mode graph", "--slow 0: accepts numbers above 0, up to 100"},
        Refused{"--slow ring*:3 --mode graph",
                "--slow ring*:3: accepts whole ops of --ops 20, multiples of 5 %"},
        Refused{"--slow ring*:5", "--slow ring*:5: needs --mode graph"},
        Refused{"--timeout 0", "--timeout 0: " + kSeconds},
        Refused{"--timeout -1", "--timeout -1: " + kSeconds},
        Refused{"--timeout nan", "--timeout nan: " + kSeconds},
        Refused{"--timeout 10s", "--timeout 10s: " + kSeconds},
        Refused{"--seed -1", "--seed -1: accepts whole numbers from 0 to 18446744073709551615"},
        Refused{"--seed 18446744073709551616",
                "--seed 18446744073709551616: accepts whole numbers "
                "from 0 to 18446744073709551615"}));

INSTANTIATE_TEST_SUITE_P(
    Words, CommandLine,
    testing::Values(
        Refused{"--rouns 3", "--rouns: " + kOption + "; did you mean --rounds?"},
        Refused{"--row 3", "--row: " + kOption + "; did you mean --row-seconds?"},
        Refused{"--no-such-thing", "--no-such-thing: " + kOption},
        Refused{"--no-such-thing=4 run", "--no-such-thing: " + kOption},
        Refused{"-z 4", "-z: " + kOption}, Refused{"bench", "bench: " + kCommand},
        Refused{"docter", "docter: " + kCommand + "; did you mean doctor?"},
        Refused{"-5", "-5: " + kCommand},
        Refused{"run doctor", "doctor: unexpected, accepts one command; a list takes commas"},
        Refused{"doctor -b 8",
                "-b 8: not used by doctor, which accepts --nccl-lib, --verbose, -h, --help"},
        Refused{"doctor --list",
                "--list: not used by doctor, which accepts --nccl-lib, --verbose, -h, --help"},
        Refused{"--list --dry-run",
                "--dry-run: not used by list, which accepts --backend, "
                "--nccl-lib, --list, --verbose, -h, --help"},
        Refused{"-b", "-b: needs a value, SIZE"},
        Refused{"--rounds 3 --out", "--out: needs a value, DIR"},
        Refused{"-e -b 8", "-e: needs a value, SIZE"},
        Refused{"--out --verbose", "--out: needs a value, DIR"},
        Refused{"--sizes= 4", "--sizes: needs a value, LIST"},
        Refused{"-b _", "-b: needs a value, SIZE"}, Refused{"--out _", "--out: needs a value, DIR"},
        Refused{"--devices _", "--devices: needs a value, LIST"},
        Refused{"--verbose=no", "--verbose: takes no value"},
        Refused{"--rounds 1 --rounds 1", "--rounds 1: " + kTwice},
        Refused{"-b 1K --min-bytes 2K", "--min-bytes 2K: " + kTwice},
        Refused{"--gpus 2 --gpus 4", "--gpus 4: " + kTwice}));

TEST(CommandLineText, ControlCharactersStayInTheLine) {
  EXPECT_EQ(message_of({"--mode", "gr\naph\x1b"}),
            "--mode gr?aph?: unknown; accepts eager, graph; did you mean graph?");
  EXPECT_EQ(message_of({"--bad\noption"}), "--bad?option: " + kOption);
}

}  // namespace
}  // namespace arbench

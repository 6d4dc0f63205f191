#include "option_table.hpp"

#include <algorithm>
#include <limits>
#include <sstream>
#include <type_traits>
#include <utility>

#include "arbench/peers.hpp"
#include "models.hpp"

namespace arbench {
namespace {

using Apply = std::function<void(Draft&, const Argument&)>;

constexpr int kMaxRepetitions = 100000;
constexpr int kMaxOps = 10000;
constexpr int kMaxSoak = 10000000;
constexpr int kMaxDevice = 1023;
constexpr double kMaxSeconds = 86400;
constexpr double kMaxSkewUs = 1e6;

/// "graph|eager": how help shows a choice of words.
template <class E>
std::string choice(const std::string& first = "") {
  std::string text = first;
  for (const auto& name : words<E>()) text += (text.empty() ? "" : "|") + name;
  return text;
}

/// " (default 12)", put after a text.
std::string default_is(const std::string& text) { return " (default " + text + ")"; }

/// The default of a list of words.
template <class E>
std::string defaults(const std::vector<E>& list) {
  std::vector<std::string> names;
  names.reserve(list.size());
  for (E value : list) names.emplace_back(word(value));
  return default_is(joined(names));
}

/// parse() asks for these by name: they choose the command.
void nothing(Draft&, const Argument&) {}

/// Keeps the argument for later.
template <std::optional<Argument> Draft::*Member>
void keep(Draft& draft, const Argument& argument) {
  draft.*Member = argument;
}

template <int Options::*Member, int most>
void set_count(Draft& draft, const Argument& argument) {
  draft.options.*Member = static_cast<int>(to_integer(argument, 1, most));
}

template <double Options::*Member>
void set_seconds(Draft& draft, const Argument& argument) {
  draft.options.*Member = to_number(argument, 0, kMaxSeconds);
}

void set_precision(Draft& draft, const Argument& argument) {
  Argument number = argument;
  if (number.text.ends_with('%')) number.text.pop_back();
  draft.options.precision_pct = to_number(number, 0, 100);
}

template <bool Options::*Member>
void set_flag(Draft& draft, const Argument&) {
  draft.options.*Member = true;
}

template <std::string Options::*Member>
void set_text(Draft& draft, const Argument& argument) {
  draft.options.*Member = argument.text;
}

/// Appends unless it is there already: duplicates in a list are collapsed.
template <class T>
void add(std::vector<T>& list, T value) {
  if (std::find(list.begin(), list.end(), value) == list.end()) list.push_back(std::move(value));
}

/// A list of an enum's words replaces the default.
template <auto Member>
void set_words(Draft& draft, const Argument& argument) {
  auto& list = draft.options.*Member;
  using E = typename std::remove_reference_t<decltype(list)>::value_type;
  list.clear();
  for (const Argument& item : items(argument)) add(list, to_word<E>(item));
}

int to_ranks(const Argument& argument) {
  const std::string accepted = "accepts whole numbers from 2 to " + std::to_string(kMaxRanks);
  if (argument.text == "1")
    refuse(argument, "with one rank there is nothing to reduce; " + accepted);
  return static_cast<int>(to_integer(argument, 2, kMaxRanks));
}

void set_gpus(Draft& draft, const Argument& argument) {
  for (const Argument& item : items(argument)) add(draft.options.gpus, to_ranks(item));
}

void set_devices(Draft& draft, const Argument& argument) {
  draft.devices = argument;
  for (const Argument& item : items(argument))
    draft.options.devices.push_back(static_cast<int>(to_integer(item, 0, kMaxDevice)));
  if (draft.options.devices.size() > kMaxRanks)
    refuse(argument, "accepts at most " + std::to_string(kMaxRanks) + " device ids");
}

void set_virtual(Draft& draft, const Argument& argument) {
  draft.virtual_ranks = argument;
  draft.options.virtual_ranks = to_ranks(argument);
}

template <int Geometry::*Member, int most>
void set_geometry(Draft& draft, const Argument& argument) {
  draft.options.geometry.*Member = static_cast<int>(to_integer(argument, 1, most));
}

void set_seed(Draft& draft, const Argument& argument) {
  draft.options.seed = to_integer(argument, 0, std::numeric_limits<std::uint64_t>::max());
}

void set_skew(Draft& draft, const Argument& argument) {
  draft.skew_us = argument;
  draft.options.skew_us = to_number(argument, 0, kMaxSkewUs);
}

void set_algorithms(Draft& draft, const Argument& argument) {
  for (const Argument& item : items(argument)) add(draft.options.algorithms, item.text);
}

void set_toolkits(Draft& draft, const Argument& argument) {
  draft.options.toolkits.clear();
  for (const Argument& item : items(argument)) {
    if (item.text != "build" && !(item.text.starts_with("nvrtc:") && item.text.size() > 6))
      refuse(item,
             "accepts build, and nvrtc:PATH with the folder of a CUDA toolkit or its libnvrtc.so");
    add(draft.options.toolkits, item.text);
  }
}

void set_backend(Draft& draft, const Argument& argument) {
  auto accepted = words<Backend>();
  accepted.insert(accepted.begin(), "auto");
  require_one_of(argument, accepted);
  draft.options.backend = from_word<Backend>(argument.text);
}

/// "ring*:3"
void set_slow(Draft& draft, const Argument& argument) {
  const auto colon = argument.text.rfind(':');
  if (colon == std::string::npos || colon == 0)
    refuse(argument, "accepts ALGO:PCT, such as ring_simple:3");
  draft.slow = argument;
  draft.options.slow_algorithms = argument.text.substr(0, colon);
  draft.options.slow_pct = to_number({argument.option, argument.text.substr(colon + 1)}, 0, 100);
}

void set_loopback(Draft& draft, const Argument& argument) {
  draft.nccl_loopback = argument;
  draft.options.nccl_loopback = true;
}

/// `usage` is "-b, --min-bytes SIZE": the names, then the placeholder of the value if it takes one.
OptionSpec option(const std::string& usage, std::string help, Apply apply,
                  unsigned commands = kRun) {
  OptionSpec spec{{}, "", std::move(help), commands, std::move(apply)};
  std::istringstream words(usage);
  for (std::string text; words >> text;) {
    if (text.back() == ',') text.pop_back();
    if (text.front() == '-') {
      spec.names.push_back(text);
    } else {
      spec.value = text;
    }
  }
  return spec;
}

OptionGroup size_options() {
  return {"Sizes: bytes per rank; K, M and G are binary, 1.5M is accepted",
          {option("-b, --min-bytes SIZE", "smallest size" + default_is(kDefaultMinBytes),
                  keep<&Draft::min_bytes>),
           option("-e, --max-bytes SIZE", "largest size" + default_is(kDefaultMaxBytes),
                  keep<&Draft::max_bytes>),
           option("-f, --factor X", "multiply from size to size" + default_is(kDefaultFactor),
                  keep<&Draft::factor>),
           option("-i, --step-bytes SIZE", "add from size to size, instead of -f",
                  keep<&Draft::step_bytes>),
           option("--sizes LIST",
                  std::string("these sizes, also beside -b and -e; 0 is the empty message "
                              "(default, if no size is asked for: ") +
                      kDefaultSizes + "; on the host backend: " + kDefaultHostSizes + ")",
                  keep<&Draft::sizes>),
           option("--model NAME",
                  "the shapes of a model, hidden size x tokens, of " + joined(model_names()),
                  keep<&Draft::model>),
           option("--tokens LIST", "tokens per pass for --model" + default_is(kDefaultTokens),
                  keep<&Draft::tokens>)}};
}

OptionGroup rank_options() {
  return {
      "Ranks and devices",
      {option("--gpus LIST", "rank counts from 2 to 16 (default 2, 4, 8 and all that there are)",
              set_gpus, kRun | kSelfTest),
       option("--devices LIST", "device of each rank; a repeated id makes virtual ranks",
              set_devices, kRun | kSelfTest),
       option("--virtual N",
              "N virtual ranks on device 0, or on the one of --devices "
              "(default on a single GPU: 8)",
              set_virtual, kRun | kSelfTest),
       option("--backend " + choice<Backend>("auto"),
              "auto is cuda where a device answers, else host (default auto)", set_backend,
              kRun | kList | kSelfTest),
       option(
           "--launch " + choice<Launch>(),
           "a host thread per rank, a process per rank, or all ranks in one "
           "cooperative launch on one device" +
               default_is(std::string(word(Options{}.launch))),
           [](Draft& draft, const Argument& argument) {
             draft.options.launch = to_word<Launch>(argument);
           },
           kRun | kSelfTest),
       option("--transport " + choice<Transport>(),
              "how bytes travel: through peers' device memory, or through pinned host memory, "
              "which needs no peer access; NCCL then runs with NCCL_P2P_DISABLE=1, unless you "
              "set that yourself" +
                  default_is(std::string(word(Options{}.transport))),
              [](Draft& draft, const Argument& argument) {
                draft.options.transport = to_word<Transport>(argument);
              })}};
}

OptionGroup contender_options() {
  return {"What runs",
          {option("--algo LIST", "names and globs, see arbench list (default: all not hidden)",
                  set_algorithms),
           option("--toolkit LIST",
                  "whose compiler made the kernels, in the same rounds: build, as they are in this "
                  "program, and nvrtc:PATH, compiled now by the NVRTC of the CUDA toolkit in that "
                  "folder (default build)",
                  set_toolkits),
           option("--dtype LIST", "of " + joined(words<Dtype>()) + defaults(Options{}.dtypes),
                  set_words<&Options::dtypes>),
           option("--mode LIST", "of " + joined(words<Mode>()) + defaults(Options{}.modes),
                  set_words<&Options::modes>),
           option("--l2 LIST",
                  "of " + joined(words<L2>()) +
                      ": cold evicts all buffers from the L2 before each sample, "
                      "whose ops then use one set of buffers each" +
                      defaults(Options{}.l2s),
                  set_words<&Options::l2s>),
           option("--placement LIST",
                  "of " + joined(words<Placement>()) + defaults(Options{}.placements),
                  set_words<&Options::placements>),
           option("--blocks N", "blocks per rank (default: the algorithm's choice)",
                  set_geometry<&Geometry::blocks, kMaxBlocks>),
           option("--threads N", "threads per block (default: the algorithm's choice)",
                  set_geometry<&Geometry::threads, kMaxThreads>)}};
}

OptionGroup measuring_options() {
  const Options def;
  return {
      "Measuring",
      {option("--rounds N", "visits to each contender" + default_is(shown(def.rounds)),
              set_count<&Options::rounds, kMaxRepetitions>),
       option("--replays N", "samples per round, at most" + default_is(shown(def.replays)),
              set_count<&Options::replays, kMaxRepetitions>),
       option("--ops N", "allreduces per sample" + default_is(shown(def.ops)),
              set_count<&Options::ops, kMaxOps>),
       option("--row-seconds S",
              "timed work per row; large sizes take fewer replays" +
                  default_is(shown(def.row_seconds)),
              set_seconds<&Options::row_seconds>),
       option("--precision P%",
              "stop a point after " + std::to_string(kLeastRounds) +
                  " rounds or more, once the 95 % interval of every contender's median is "
                  "within P % to each side (default: never)",
              set_precision),
       option("--max-seconds S",
              "rounds go on for S seconds per row, whatever --rounds says "
              "(default: no such limit)",
              set_seconds<&Options::max_seconds>),
       option("--soak CALLS",
              "before it is timed, each contender makes so many calls with inputs that change "
              "from call to call, all of them checked (default: none)",
              set_count<&Options::soak, kMaxSoak>),
       option("--no-aa", "do not measure the first contender of a point twice",
              [](Draft& draft, const Argument&) { draft.options.aa = false; }),
       option("--allow-busy", "also measure on a GPU that somebody else uses",
              set_flag<&Options::allow_busy>, kRun | kSelfTest),
       option("--skew-us D",
              "one rank after the other starts a chained sample D us late; in complete rotations "
              "per round (default: none)",
              set_skew),
       option("--slow ALGO:PCT",
              "slow down algorithms that match ALGO, to see what finds it: samples hold PCT % more "
              "ops than are counted; a whole number of ops, in graph mode (default: none)",
              set_slow),
       option("--timeout S",
              "seconds after which a wait has hung" + default_is(shown(def.timeout_seconds)),
              set_seconds<&Options::timeout_seconds>, kRun | kSelfTest),
       option("--seed N",
              "of the contenders' order and of the data" + default_is(std::to_string(def.seed)),
              set_seed)}};
}

OptionGroup compare_options() {
  const auto csv = [](Draft& draft, const Argument& argument) {
    draft.options.compare.csv = argument.text;
  };
  const auto markdown = [](Draft& draft, const Argument& argument) {
    draft.options.compare.markdown = argument.text;
  };
  const auto html = [](Draft& draft, const Argument& argument) {
    draft.options.compare.html = argument.text;
  };
  const auto fail_on_slower = [](Draft& draft, const Argument& argument) {
    draft.options.compare.fail_on_slower_pct = to_number(argument, 0, 1000);
  };
  return {"Comparing",
          {option("--csv FILE", "write the rows of the comparison as CSV", csv, kCompare),
           option("--markdown FILE", "write the comparison as markdown", markdown, kCompare),
           option("--html FILE", "write the comparison as a page for a browser", html, kCompare),
           option("--fail-on-slower PCT",
                  "exit 3 when a row is SLOWER, and by more than this; with a single launch on a "
                  "side only a factor of two is",
                  fail_on_slower, kCompare)}};
}

OptionGroup other_options() {
  constexpr unsigned kAll = kRun | kDoctor | kList | kSelfTest;
  return {
      "Other",
      {option("--nccl-lib PATH", "the NCCL library to open", set_text<&Options::nccl_lib>, kAll),
       option("--nccl-loopback",
              "run NCCL's virtual ranks over loopback sockets, for correctness "
              "alone; needs --launch processes",
              set_loopback),
       option("--out DIR", "write rows.csv, run.json and the rest there", keep<&Draft::out>),
       option("--resume DIR",
              "go on with the cut run of that folder: the same options again, with this for --out",
              keep<&Draft::resume>),
       option("--retry-failed", "with --resume: measure hung and error rows again",
              keep<&Draft::retry_failed>),
       option("--dry-run", "print the names of the cases and the time they take",
              set_flag<&Options::dry_run>),
       option("--list", "the same as arbench list", nothing, kRun | kList),
       option("--verbose", "log more", set_flag<&Options::verbose>, kAll | kCompare),
       option("--version", "print version, commit, CUDA toolkit and build type", nothing),
       option("-h, --help", "this text", nothing, kAll | kCompare)}};
}

}  // namespace

const std::vector<OptionGroup>& option_table() {
  static const std::vector<OptionGroup> table{size_options(),      rank_options(),
                                              contender_options(), measuring_options(),
                                              compare_options(),   other_options()};
  return table;
}

}  // namespace arbench

#include "options.hpp"

#include <algorithm>
#include <cmath>
#include <set>

#include "command_line.hpp"
#include "models.hpp"
#include "option_table.hpp"
#include "option_values.hpp"

namespace arbench {
namespace {

constexpr std::size_t kMaxSizes = 1000;
constexpr std::uint64_t kMaxTokens = 1000000;
constexpr double kMaxFactor = 1024;
constexpr std::size_t kHelpColumn = 30, kHelpWidth = 100;

/// The range as it is swept. An end that was not given is the default, or the other end where that
/// lies outside of the default.
struct Range {
  Argument first, last;
  std::uint64_t from, to;
};

Range range_of(const Draft& draft) {
  Range range;
  range.first = draft.min_bytes.value_or(Argument{"-b", kDefaultMinBytes});
  range.last = draft.max_bytes.value_or(Argument{"-e", kDefaultMaxBytes});
  range.from = to_size(range.first, false);
  range.to = to_size(range.last, false);
  if (range.from <= range.to) return range;
  if (draft.min_bytes && draft.max_bytes)
    refuse(range.first, "accepts sizes up to that of " + range.last.option + " " + range.last.text);
  if (draft.min_bytes) {
    range.to = range.from;
  } else {
    range.from = range.to;
    range.first = range.last;
  }
  return range;
}

/// Each size is the one before, times `factor`, plus `add`; `step` is the option that says so.
std::set<std::uint64_t> swept(const Range& range, double factor, double add, const Argument& step) {
  std::set<std::uint64_t> sizes;
  std::size_t steps = 0;
  const auto last = static_cast<double>(range.to);
  for (auto at = static_cast<double>(range.from); at <= last; at = at * factor + add) {
    sizes.insert(static_cast<std::uint64_t>(at));
    if (++steps > kMaxSizes)
      refuse(step, "makes too many sizes, accepts steps that make " + std::to_string(kMaxSizes) +
                       " at most");
  }
  return sizes;
}

/// A size that no element of a chosen type fits into would silently become the empty message.
void check_fits(const Options& options, const Argument& argument, std::uint64_t bytes) {
  for (Dtype dtype : options.dtypes)
    if (bytes > 0 && bytes < size_of(dtype))
      refuse(argument, "less than one " + std::string(word(dtype)) + " element, accepts " +
                           std::to_string(size_of(dtype)) + " bytes or more");
}

std::set<std::uint64_t> range_sizes(const Draft& draft) {
  if (!draft.min_bytes && !draft.max_bytes && !draft.factor && !draft.step_bytes) return {};
  if (draft.factor && draft.step_bytes)
    refuse(*draft.factor, "not together with " + draft.step_bytes->option + " " +
                              draft.step_bytes->text + ", accepts one of the two");
  const Argument by = draft.factor.value_or(Argument{"-f", kDefaultFactor});
  const double factor = draft.step_bytes ? 1 : to_number(by, 1, kMaxFactor);
  const std::uint64_t step = draft.step_bytes ? to_size(*draft.step_bytes, false) : 0;
  const Range range = range_of(draft);
  check_fits(draft.options, range.first, range.from);
  return swept(range, factor, static_cast<double>(step), draft.step_bytes.value_or(by));
}

void settle_sizes(Draft& draft) {
  std::set<std::uint64_t> sizes = range_sizes(draft);
  if (draft.sizes)
    for (const Argument& item : items(*draft.sizes)) {
      sizes.insert(to_size(item, true));
      check_fits(draft.options, item, to_size(item, true));
    }
  draft.options.sizes.assign(sizes.begin(), sizes.end());
}

void settle_shapes(Draft& draft) {
  if (!draft.model) {
    if (draft.tokens)
      refuse(*draft.tokens, "needs --model, which accepts " + joined(model_names()));
    return;
  }
  require_one_of(*draft.model, model_names());
  const Model& model = *find_model(draft.model->text);
  std::set<std::uint64_t> elements;
  for (const Argument& item : items(draft.tokens.value_or(Argument{"--tokens", kDefaultTokens})))
    elements.insert(model.elements(to_integer(item, 1, kMaxTokens)));
  draft.options.shape_elements.assign(elements.begin(), elements.end());
}

void check_slow(const Argument& slow, const Options& options) {
  const double ops = options.slow_pct * options.ops / 100;
  if (std::abs(ops - std::round(ops)) > 1e-9)
    refuse(slow, "accepts whole ops of --ops " + std::to_string(options.ops) + ", multiples of " +
                     shown(100.0 / options.ops) + " %");
  if (options.modes != std::vector{Mode::graph}) refuse(slow, "needs --mode graph");
}

void check_combinations(const Draft& draft) {
  const Options& options = draft.options;
  if (draft.virtual_ranks && options.devices.size() > 1)
    refuse(*draft.virtual_ranks, "accepts one device beside it, not " + draft.devices->option +
                                     " " + draft.devices->text);
  if (draft.skew_us && options.skew_us * 1e-6 > options.timeout_seconds / 2)
    refuse(*draft.skew_us,
           "accepts at most half of --timeout, " + shown(options.timeout_seconds / 2 * 1e6));
  if (draft.slow) check_slow(*draft.slow, options);
  if (draft.nccl_loopback && options.launch != Launch::processes)
    refuse(*draft.nccl_loopback,
           "needs --launch processes, not " + std::string(word(options.launch)));
}

void settle_folder(Draft& draft) {
  if (draft.resume && draft.out)
    refuse(*draft.resume, "accepts no " + draft.out->option + " " + draft.out->text +
                              " beside it: what is new goes into the same folder");
  if (draft.retry_failed && !draft.resume)
    refuse(*draft.retry_failed, "needs --resume, which accepts the folder of a cut run");
  draft.options.resume = draft.resume.has_value();
  draft.options.retry_failed = draft.retry_failed.has_value();
  if (const auto folder = draft.resume ? draft.resume : draft.out; folder)
    draft.options.out = folder->text;
}

/// The line and its end, broken at blanks where it is too wide, `indent` columns before the rest.
std::string wrapped(std::string line, std::size_t indent) {
  std::string text;
  while (line.size() > kHelpWidth) {
    const std::size_t blank = line.rfind(' ', kHelpWidth);
    if (blank == std::string::npos || blank < indent) break;
    text += line.substr(0, blank) + "\n";
    line = std::string(indent, ' ') + line.substr(blank + 1);
  }
  return text + line + "\n";
}

/// "  -b, --min-bytes SIZE   smallest size (default 1K)".
std::string help_entry(const OptionSpec& spec) {
  std::string line = "  " + joined(spec.names) + (spec.value.empty() ? "" : " " + spec.value);
  std::string above;
  if (line.size() + 2 > kHelpColumn) {
    above = line + "\n";
    line.clear();
  }
  line.resize(kHelpColumn, ' ');
  return above + wrapped(line + spec.help, kHelpColumn);
}

}  // namespace

Options parse(int argc, const char* const* argv) {
  const CommandLine line = read_command_line({argv + std::min(argc, 1), argv + argc});
  Draft draft;
  draft.options.command = line.command;
  if (line.command == Command::help || line.command == Command::version) return draft.options;
  for (const auto& [spec, argument] : line.uses) spec->apply(draft, argument);
  if (line.command == Command::compare) {
    draft.options.compare.a = line.operands[0];
    draft.options.compare.b = line.operands[1];
    return draft.options;
  }
  settle_sizes(draft);
  settle_shapes(draft);
  settle_folder(draft);
  check_combinations(draft);
  return draft.options;
}

std::string help() {
  std::string text =
      "usage: arbench [run] [options]     measure allreduces and print a table of them\n"
      "       arbench doctor [options]    look at driver, GPUs and libraries, and say what to do\n"
      "       arbench list [options]      show the algorithms\n"
      "       arbench self-test [options] run algorithms that are wrong on purpose: each must be "
      "caught\n"
      "       arbench compare A B [options]  say where the results B differ from A: folders of "
      "--out, or\n"
      "                                   files of Google Benchmark or nccl-tests\n";
  for (const OptionGroup& group : option_table()) {
    text += "\n" + group.title + "\n";
    for (const OptionSpec& spec : group.options) text += help_entry(spec);
  }
  return text + "\nExit codes\n" +
         wrapped(
             "  0 all ok, 1 internal error, 2 usage, 3 compare found a slower row, 4 hung, 7 wrong "
             "data, 8 a case failed "
             "otherwise, 130 interrupted",
             2);
}

}  // namespace arbench

// The one table of options: names, placeholder, help and meaning. parse() and help() both read it.
// Thread safety: the table is constant once made.
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "option_values.hpp"
#include "options.hpp"

namespace arbench {

/// Options in the making. What takes several options to settle is kept as it was typed.
struct Draft {
  Options options;
  std::optional<Argument> min_bytes, max_bytes, factor, step_bytes, sizes;
  std::optional<Argument> model, tokens;
  std::optional<Argument> devices, virtual_ranks;
  std::optional<Argument> nccl_loopback;
  std::optional<Argument> skew_us, slow;
  std::optional<Argument> out, resume, retry_failed;
};

/// Sets of commands, to be combined by `|`.
inline constexpr unsigned kRun = 1, kDoctor = 2, kList = 4, kSelfTest = 8, kCompare = 16;

struct OptionSpec {
  std::vector<std::string> names;  ///< without abbreviations: "-b", "--min-bytes"
  std::string value;               ///< placeholder of its value; empty: a flag
  std::string help;                ///< what it does and its default, in one line; help() wraps it
  unsigned commands = kRun;        ///< which commands take it
  /// Puts the argument into the draft. Throws UsageError for a value that is not accepted.
  std::function<void(Draft&, const Argument&)> apply;
};

struct OptionGroup {
  std::string title;
  std::vector<OptionSpec> options;
};

const std::vector<OptionGroup>& option_table();

/// Defaults as one would type them, shown by help.
inline constexpr const char* kDefaultMinBytes = "1K";  ///< where -e, -f or -i is given
inline constexpr const char* kDefaultMaxBytes = "64M";
inline constexpr const char* kDefaultFactor = "2";
inline constexpr const char* kDefaultTokens = "1,4,8";
/// Without any size option. 14336 and 57344: 1 and 4 tokens of hidden size 7168 in two bytes each.
inline constexpr const char* kDefaultSizes = "1K,4K,14336,16K,57344,64K,256K,1M,4M,16M,64M";
/// The same on the host backend, where a core does a multiprocessor's work.
inline constexpr const char* kDefaultHostSizes = "1K,14336,57344";

}  // namespace arbench

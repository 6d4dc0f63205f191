// From the text of an option to its value. Every refusal is a UsageError of one line: the option as
// it was typed, the offending text, and what is accepted.
// Thread safety: pure functions.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "arbench/case.hpp"
#include "options.hpp"

namespace arbench {

/// One option as the user typed it.
struct Argument {
  std::string option;  ///< "-b" or "--min-bytes"
  std::string text;    ///< its value, or one item of its list; empty for a flag
};

/// The largest message size that is accepted: 1024G.
inline constexpr std::uint64_t kMaxBytes = std::uint64_t{1} << 40;

/// Throws UsageError "OPTION TEXT: why". Control characters become '?', so that it stays one line.
[[noreturn]] void refuse(const Argument& argument, const std::string& why);

/// "0.3", "12".
std::string shown(double number);
/// "a, b, c".
std::string joined(const std::vector<std::string>& names);
/// "; did you mean NAME?" for the accepted name nearest to `text`, or nothing if none is close: one
/// that `text` begins, or at most two edits away and fewer than half its letters. Case is ignored.
std::string did_you_mean(const std::string& text, const std::vector<std::string>& accepted);
/// Refuses a text that is none of `accepted`.
void require_one_of(const Argument& argument, const std::vector<std::string>& accepted);

/// The items of a comma-separated list. Refuses an empty one.
std::vector<Argument> items(const Argument& list);

/// Bytes from "57344", "56K" or "1.5M": binary suffixes as in nccl-tests, of either case. A
/// fraction of a byte is dropped; a size that becomes 0 that way is refused.
std::uint64_t to_size(const Argument& argument, bool zero_is_accepted);
std::uint64_t to_integer(const Argument& argument, std::uint64_t least, std::uint64_t most);
/// A decimal number with `least` < number <= `most`. No exponents, nan or inf.
double to_number(const Argument& argument, double least, double most);

/// The words of an enum, for messages and help.
template <class E>
std::vector<std::string> words() {
  return {Words<E>::list.begin(), Words<E>::list.end()};
}

template <class E>
E to_word(const Argument& argument) {
  require_one_of(argument, words<E>());
  return *from_word<E>(argument.text);
}

}  // namespace arbench

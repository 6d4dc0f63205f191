#include "option_values.hpp"

#include <algorithm>
#include <cctype>
#include <charconv>
#include <numeric>
#include <optional>
#include <sstream>

namespace arbench {
namespace {

std::string lower(std::string text) {
  for (char& c : text) c = static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
  return text;
}

/// Levenshtein's distance: insertions, deletions and replacements.
std::size_t edits(const std::string& from, const std::string& to) {
  std::vector<std::size_t> row(to.size() + 1);
  std::iota(row.begin(), row.end(), 0);
  for (std::size_t i = 0; i < from.size(); ++i) {
    std::size_t diagonal = row[0];
    row[0] = i + 1;
    for (std::size_t j = 0; j < to.size(); ++j) {
      const std::size_t replaced = diagonal + (from[i] == to[j] ? 0 : 1);
      diagonal = row[j + 1];
      row[j + 1] = std::min({replaced, diagonal + 1, row[j] + 1});
    }
  }
  return row.back();
}

/// Digits with at most one point between them; from_chars alone would take "inf", "nan" and "-1".
std::optional<double> decimal(std::string_view text) {
  const auto is_digit = [](char c) { return c >= '0' && c <= '9'; };
  const bool plain =
      std::all_of(text.begin(), text.end(), [&](char c) { return is_digit(c) || c == '.'; }) &&
      std::count(text.begin(), text.end(), '.') <= 1;
  if (text.empty() || !plain || !is_digit(text.front()) || !is_digit(text.back()))
    return std::nullopt;
  double value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc{} || end != text.data() + text.size()) return std::nullopt;
  return value;
}

/// Bytes per unit of the suffix that ends `text`, which is cut off.
double take_suffix(std::string_view& text) {
  if (text.empty()) return 1;
  const auto place = std::string_view("kmg").find(
      static_cast<char>(std::tolower(static_cast<unsigned char>(text.back()))));
  if (place == std::string_view::npos) return 1;
  text.remove_suffix(1);
  return static_cast<double>(std::uint64_t{1} << (10 * (place + 1)));
}

}  // namespace

void refuse(const Argument& argument, const std::string& why) {
  std::string line = argument.option;
  if (!argument.text.empty()) line += " " + argument.text;
  line += ": " + why;
  std::replace_if(
      line.begin(), line.end(),
      [](char c) { return std::iscntrl(static_cast<unsigned char>(c)) != 0; }, '?');
  throw UsageError(line);
}

std::string shown(double number) {
  std::ostringstream text;
  text << number;
  return text.str();
}

std::string joined(const std::vector<std::string>& names) {
  std::string text;
  for (const auto& name : names) text += (text.empty() ? "" : ", ") + name;
  return text;
}

std::string did_you_mean(const std::string& text, const std::vector<std::string>& accepted) {
  const std::string typed = lower(text);
  const std::string* nearest = nullptr;
  std::size_t least = 3;
  for (const auto& name : accepted) {
    const std::string known = lower(name);
    std::size_t distance = edits(typed, known);
    if (2 * distance >= typed.size()) distance = least;
    if (typed.size() >= 3 && known.starts_with(typed))
      distance = std::min<std::size_t>(distance, 1);
    if (distance >= least) continue;
    least = distance;
    nearest = &name;
  }
  return nearest == nullptr ? "" : "; did you mean " + *nearest + "?";
}

void require_one_of(const Argument& argument, const std::vector<std::string>& accepted) {
  if (std::find(accepted.begin(), accepted.end(), argument.text) != accepted.end()) return;
  refuse(argument, "unknown; accepts " + joined(accepted) + did_you_mean(argument.text, accepted));
}

std::vector<Argument> items(const Argument& list) {
  std::vector<Argument> found;
  for (std::size_t start = 0;;) {
    const std::size_t comma = list.text.find(',', start);
    found.push_back({list.option, list.text.substr(start, comma - start)});
    if (found.back().text.empty())
      refuse(list, "empty item; accepts a list such as A,B with a comma between two items");
    if (comma == std::string::npos) return found;
    start = comma + 1;
  }
}

std::uint64_t to_size(const Argument& argument, bool zero_is_accepted) {
  std::string_view text = argument.text;
  const double unit = take_suffix(text);
  const auto number = decimal(text);
  const double bytes = number.value_or(-1) * unit;
  const bool zero = number && *number == 0;
  if (zero ? zero_is_accepted : bytes >= 1 && bytes <= static_cast<double>(kMaxBytes))
    return static_cast<std::uint64_t>(bytes);
  refuse(argument, std::string("accepts sizes from ") + (zero_is_accepted ? "0" : "1") +
                       " to 1024G bytes, such as 57344, 56K or 1.5M");
}

std::uint64_t to_integer(const Argument& argument, std::uint64_t least, std::uint64_t most) {
  const char* const end = argument.text.data() + argument.text.size();
  std::uint64_t value = 0;
  const auto [stop, error] = std::from_chars(argument.text.data(), end, value);
  if (error == std::errc{} && stop == end && least <= value && value <= most) return value;
  refuse(argument,
         "accepts whole numbers from " + std::to_string(least) + " to " + std::to_string(most));
}

double to_number(const Argument& argument, double least, double most) {
  const auto value = decimal(argument.text);
  if (value && *value > least && *value <= most) return *value;
  refuse(argument, "accepts numbers above " + shown(least) + ", up to " + shown(most));
}

}  // namespace arbench

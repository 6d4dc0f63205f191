#include "report/csv.hpp"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <nlohmann/json.hpp>

namespace arbench {
namespace {

/// Holds any float or double: at most 309 digits before the point, and the sign.
constexpr int kLongest = 340;

template <class Number, class... Format>
std::string to_text(Number value, Format... format) {
  char text[kLongest];
  return {text, std::to_chars(text, text + kLongest, value, format...).ptr};
}

}  // namespace

std::string csv_field(std::string_view text) {
  const bool plain = text.find_first_of(",\"\r\n") == std::string_view::npos &&
                     !text.starts_with(' ') && !text.ends_with(' ');
  if (plain) return std::string(text);
  std::string quoted = "\"";
  for (const char c : text) quoted += c == '"' ? "\"\"" : std::string(1, c);
  return quoted + '"';
}

std::vector<std::string> csv_cells(std::string_view line) {
  std::vector<std::string> cells(1);
  bool quoted = false;
  for (std::size_t i = 0; i < line.size() && (quoted || line[i] != '\n'); ++i) {
    if (line[i] == '"') {
      const bool doubled = quoted && i + 1 < line.size() && line[i + 1] == '"';
      if (doubled)
        cells.back() += line[++i];
      else
        quoted = !quoted;
    } else if (line[i] == ',' && !quoted) {
      cells.emplace_back();
    } else {
      cells.back() += line[i];
    }
  }
  return cells;
}

std::string number_text(double value) { return std::isfinite(value) ? to_text(value) : ""; }
std::string number_text(float value) { return std::isfinite(value) ? to_text(value) : ""; }

std::string fixed_text(double value, int decimals) {
  return to_text(value, std::chars_format::fixed, decimals);
}

std::string clean_line(std::string_view raw) {
  std::string line(raw);
  const auto control = [](unsigned char c) { return c < 0x20 || c == 0x7f; };
  std::replace_if(line.begin(), line.end(), control, ' ');
  // The library knows UTF-8: what it cannot encode comes back replaced.
  const std::string valid =
      nlohmann::json(line).dump(-1, ' ', false, nlohmann::json::error_handler_t::replace);
  return nlohmann::json::parse(valid).get<std::string>();
}

}  // namespace arbench

#include "compare/input.hpp"

#include <charconv>
#include <cmath>
#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>

#include "options.hpp"
#include "report/csv.hpp"

namespace arbench::compare {

using nlohmann::json;

void refuse_file(const std::string& path, const std::string& why) {
  throw UsageError(clean_line("compare " + path + ": " + why));
}

std::string read_text(const std::string& path, std::size_t most) {
  std::error_code error;
  if (!std::filesystem::is_regular_file(path, error)) refuse_file(path, "is no file");
  std::ifstream file(path, std::ios::binary);
  if (!file) refuse_file(path, "cannot be read");
  std::string text;
  std::vector<char> piece(1 << 16);
  while (file.read(piece.data(), static_cast<std::streamsize>(piece.size())), file.gcount() > 0) {
    text.append(piece.data(), static_cast<std::size_t>(file.gcount()));
    if (text.size() > most)
      refuse_file(path,
                  "is larger than " + std::to_string(most >> 20) + " MiB, the most that is read");
  }
  if (text.empty()) refuse_file(path, "is empty");
  if (text.find('\0') != std::string::npos) refuse_file(path, "is binary, not text");
  return text;
}

void require_utf8(const std::string& text, const std::string& path) {
  try {
    json(text).dump();  // the library knows UTF-8
  } catch (const json::exception&) {
    refuse_file(path, "is not UTF-8");
  }
}

json read_json(const std::string& text, const std::string& path) {
  constexpr int kDeepest = 64;
  const auto watch = [&](int depth, json::parse_event_t, json&) {
    if (depth > kDeepest) refuse_file(path, "is nested deeper than 64");
    return true;
  };
  json value = json::parse(text, watch, false);
  if (value.is_discarded()) refuse_file(path, "is not JSON, or was cut");
  return value;
}

std::optional<double> positive_number(std::string_view text) {
  double value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc() || end != text.data() + text.size()) return std::nullopt;
  if (!std::isfinite(value) || value <= 0) return std::nullopt;
  return value;
}

bool CsvReader::next(std::vector<std::string>& cells) {
  cells.clear();
  if (at_ >= text_.size()) return false;
  record_line_ = line_;
  do {
    if (cells.size() == kMaxColumns)
      refuse_file(path_, where() + " has more than " + std::to_string(kMaxColumns) + " fields");
    cells.emplace_back();
  } while (field(cells.back()));
  return true;
}

/// True when another field of the record follows.
bool CsvReader::field(std::string& cell) {
  bool quoted = false;
  for (; at_ < text_.size(); ++at_) {
    const char c = text_[at_];
    if (c == '\n') ++line_;
    if (c == '"') {
      const bool doubled = quoted && at_ + 1 < text_.size() && text_[at_ + 1] == '"';
      if (doubled) cell += text_[++at_];
      if (!doubled) quoted = !quoted;
    } else if (!quoted && c == ',') {
      ++at_;
      return true;
    } else if (!quoted && c == '\n') {
      ++at_;
      if (cell.ends_with('\r')) cell.pop_back();
      return false;
    } else {
      cell += c;
    }
    if (cell.size() > kMaxField)
      refuse_file(path_, where() +
                             (quoted ? " has a quote that is not closed within "
                                     : " has a field of more than ") +
                             std::to_string(kMaxField) + " bytes");
  }
  refuse_file(path_, where() + (quoted ? " has a quote that is not closed"
                                       : " has no end: the file was cut"));
}

}  // namespace arbench::compare

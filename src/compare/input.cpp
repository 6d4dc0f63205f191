#include "compare/input.hpp"

#include <algorithm>
#include <charconv>
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
  require_text(text, path);
  return text;
}

void require_text(const std::string& text, const std::string& path) {
  if (text.empty()) refuse_file(path, "is empty");
  if (text.find('\0') != std::string::npos) refuse_file(path, "is binary, not text");
}

void require_utf8(const std::string& text, const std::string& path) {
  try {
    json(text).dump();  // the library knows UTF-8
  } catch (const json::exception&) {
    refuse_file(path, "is not UTF-8");
  }
}

namespace {

/// NaN, Infinity and the like outside of strings, signs with them, become null.
std::string without_nan(std::string_view text) {
  std::string plain;
  plain.reserve(text.size());
  bool quoted = false;
  for (std::size_t i = 0; i < text.size(); ++i) {
    if (text[i] == '"') quoted = !quoted;
    if (quoted && text[i] == '\\' && i + 1 < text.size()) plain += text[i++];
    std::size_t word = 0;
    for (const std::string_view name : {"-NaN", "NaN", "-Infinity", "Infinity"})
      if (!quoted && text.substr(i).starts_with(name)) word = std::max(word, name.size());
    if (word == 0) {
      plain += text[i];
    } else {
      plain += "null";
      i += word - 1;
    }
  }
  return plain;
}

}  // namespace

json read_json(const std::string& text, const std::string& path) {
  constexpr int kDeepest = 64;
  if (text.size() > kMaxJson)
    refuse_file(path, "is larger than 32 MiB, the most that is read of JSON");
  const auto watch = [&](int depth, json::parse_event_t, json&) {
    if (depth > kDeepest) refuse_file(path, "is nested deeper than 64");
    return true;
  };
  json value = json::parse(without_nan(text), watch, false);
  if (value.is_discarded()) refuse_file(path, "is not JSON, or was cut");
  return value;
}

const json& member(const json& value, const char* name) {
  static const json none;
  const auto at = value.is_object() ? value.find(name) : value.end();
  return value.is_object() && at != value.end() ? *at : none;
}

std::string text_of(const json& value) {
  if (value.is_null()) return "";
  if (value.is_string()) return value.get<std::string>();
  return value.dump(-1, ' ', false, json::error_handler_t::replace);
}

std::vector<std::string_view> words_of(std::string_view line) {
  constexpr std::string_view kBlank = " \t\r\v\f";
  std::vector<std::string_view> words;
  std::size_t at = line.find_first_not_of(kBlank);
  while (at != std::string_view::npos && words.size() < kMaxColumns) {
    const std::size_t end = std::min(line.find_first_of(kBlank, at), line.size());
    words.push_back(line.substr(at, end - at));
    at = line.find_first_not_of(kBlank, end);
  }
  return words;
}

std::optional<std::uint64_t> whole_number(std::string_view text) {
  std::uint64_t value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc() || end != text.data() + text.size()) return std::nullopt;
  return value;
}

bool is_measure(double value) { return value >= 1e-15 && value <= 1e20; }

std::optional<double> positive_number(std::string_view text) {
  double value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc() || end != text.data() + text.size()) return std::nullopt;
  if (!is_measure(value)) return std::nullopt;
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

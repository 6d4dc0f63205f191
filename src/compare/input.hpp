// Reading what somebody else may have written: every refusal is one line that names the file. Bounded memory.
#pragma once

#include <cstddef>
#include <cstdint>
#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace arbench::compare {

inline constexpr std::size_t kMaxText = std::size_t{64} << 20;  ///< of rows.csv and logs
inline constexpr std::size_t kMaxJson = std::size_t{32} << 20;  ///< takes 25 times that, at most
inline constexpr std::size_t kMaxSamples = std::size_t{512} << 20;  ///< of samples.csv
inline constexpr std::size_t kMaxColumns = 1000, kMaxField = 65536, kMaxRows = 100'000,
                             kMaxRounds = 10'000;

/// Throws UsageError "compare PATH: WHY".
[[noreturn]] void refuse_file(const std::string& path, const std::string& why);

/// Refuses what is not a regular file, cannot be read or is larger than `most` bytes, and as require_text() does.
std::string read_text(const std::string& path, std::size_t most);
/// Refuses text that is empty or holds a NUL.
void require_text(const std::string& text, const std::string& path);
/// Refuses text that is not UTF-8.
void require_utf8(const std::string& text, const std::string& path);
/// Refuses what is larger than kMaxJson, no JSON, or nested deeper than 64. NaN and infinities, which Google Benchmark writes
/// as bare words, are null.
nlohmann::json read_json(const std::string& text, const std::string& path);
/// The member of that name; null where there is none, or `value` is no object.
const nlohmann::json& member(const nlohmann::json& value, const char* name);
/// A string as it is, null as nothing, all else as JSON.
std::string text_of(const nlohmann::json& value);

/// The parts of a line between blanks; those after the first kMaxColumns are left out.
std::vector<std::string_view> words_of(std::string_view line);
/// Of decimal digits alone, below 2^64.
std::optional<std::uint64_t> whole_number(std::string_view text);

/// Above 0 by at least 1e-15, and at most 1e20: no ratio of two such numbers overflows.
bool is_measure(double value);
/// A decimal number that is_measure(); nothing for any other text.
std::optional<double> positive_number(std::string_view text);

/// The records of a CSV file (RFC 4180; LF or CRLF). Refuses a quote that is not closed, text that does not end with a line
/// end, and fields or records beyond the limits.
class CsvReader {
 public:
  CsvReader(std::string_view text, std::string path) : text_(text), path_(std::move(path)) {}
  /// False at the end.
  bool next(std::vector<std::string>& cells);
  /// "line 7": where the last record began.
  std::string where() const { return "line " + std::to_string(record_line_); }

 private:
  bool field(std::string& cell);

  std::string_view text_;
  std::string path_;
  std::size_t at_ = 0;
  std::size_t line_ = 1, record_line_ = 0;
};

}  // namespace arbench::compare

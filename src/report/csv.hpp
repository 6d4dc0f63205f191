// How a CSV file spells text and numbers (RFC 4180, but LF for line ends). Pure functions, the same
// in every locale.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace arbench {

/// Quoted, with its quotes doubled, only when it holds a comma, a quote or a line break, or begins
/// or ends with a space.
std::string csv_field(std::string_view text);

/// The cells of one line, as csv_field() wrote them, without its LF. REQUIRES: no cell holds a line break.
std::vector<std::string> csv_cells(std::string_view line);

/// The shortest text that reads back as the same number: "12.3", "1e-07". Empty when it is not
/// finite.
std::string number_text(double value);
std::string number_text(float value);

/// `decimals` digits after the point, correctly rounded. REQUIRES: finite, 0 <= decimals <= 9.
std::string fixed_text(double value, int decimals);

/// `raw` as one line of valid UTF-8: control characters become spaces, bytes that are not UTF-8
/// become U+FFFD.
std::string clean_line(std::string_view raw);

}  // namespace arbench

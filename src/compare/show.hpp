// A comparison as text for a terminal, RFC 4180 CSV, GitHub markdown and HTML. Pure functions.
#pragma once

#include <string>

#include "compare/compare.hpp"

namespace arbench::compare {

/// Aligned; ends with a line end, as all of these do.
std::string text(const Comparison& comparison);
/// One line per row, and a header; empty cells where there is nothing.
std::string csv(const Comparison& comparison);
std::string markdown(const Comparison& comparison);
/// One page that loads nothing, light or dark as the reader's system is. All text is escaped.
std::string html(const Comparison& comparison);

}  // namespace arbench::compare

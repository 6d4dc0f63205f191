// Columns of text side by side. Pure function, ASCII.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

namespace arbench {

struct TextColumn {
  std::vector<std::string> cells;  ///< the heading first
  bool left = false;               ///< aligned to the left, as names are; numbers are to the right
  std::size_t width() const;
};

/// Two spaces between columns, none at line ends, a LF after each line. When a line would be wider
/// than `width`, the columns go on in a block below, after an empty line; each block begins with
/// the first column and holds at least one other. The last two columns stay together. REQUIRES: at
/// least three columns, all with as many cells.
std::string layout(const std::vector<TextColumn>& columns, std::size_t width);

}  // namespace arbench

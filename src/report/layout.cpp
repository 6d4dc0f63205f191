#include "report/layout.hpp"

#include <algorithm>
#include <string_view>

namespace arbench {
namespace {

constexpr std::string_view kGap = "  ";

std::string padded(const TextColumn& column, std::size_t line) {
  const std::string& cell = column.cells[line];
  const std::string fill(column.width() - cell.size(), ' ');
  return column.left ? cell + fill : fill + cell;
}

std::string block(const std::vector<TextColumn>& columns) {
  std::string text;
  for (std::size_t line = 0; line < columns[0].cells.size(); ++line) {
    std::string joined = padded(columns[0], line);
    for (std::size_t i = 1; i < columns.size(); ++i)
      joined.append(kGap) += padded(columns[i], line);
    joined.erase(joined.find_last_not_of(' ') + 1);
    text += joined + '\n';
  }
  return text;
}

}  // namespace

std::size_t TextColumn::width() const {
  std::size_t most = 0;
  for (const auto& cell : cells) most = std::max(most, cell.size());
  return most;
}

std::string layout(const std::vector<TextColumn>& columns, std::size_t width) {
  std::string text;
  const std::size_t pair = columns.size() - 2;
  std::vector<TextColumn> part{columns[0]};
  std::size_t used = columns[0].width();
  for (std::size_t i = 1; i < columns.size(); ++i) {
    std::size_t wanted = kGap.size() + columns[i].width();
    if (i == pair) wanted += kGap.size() + columns[i + 1].width();
    if (part.size() > 1 && i <= pair && used + wanted > width) {
      text += block(part) + '\n';
      part = {columns[0]};
      used = columns[0].width();
    }
    part.push_back(columns[i]);
    used += i <= pair ? wanted : 0;
  }
  return text + block(part);
}

}  // namespace arbench

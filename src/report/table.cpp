#include "report/table.hpp"

#include <algorithm>
#include <map>
#include <set>
#include <string_view>
#include <utility>

#include "report/columns.hpp"
#include "report/csv.hpp"
#include "report/layout.hpp"

namespace arbench {
namespace {

/// What the rows of one table have in common.
Case key_of(const Row& row) {
  Case key = row.point;
  key.algorithm.clear();
  key.toolkit.clear();
  key.bytes = 0;
  key.geometry = {};
  return key;
}

/// The rows of one table by size and contender.
struct Group {
  Case key;
  std::vector<std::string> contenders;  ///< in order of appearance
  std::map<std::uint64_t, std::map<std::string, const Row*>> sizes;
};

std::vector<Group> grouped(const std::vector<Row>& rows) {
  std::vector<Group> groups;
  for (const Row& row : rows) {
    const Case key = key_of(row);
    auto group =
        std::find_if(groups.begin(), groups.end(), [&](const Group& g) { return g.key == key; });
    if (group == groups.end()) group = groups.insert(groups.end(), Group{key, {}, {}});
    auto& names = group->contenders;
    const std::string name = row.point.contender();
    if (std::find(names.begin(), names.end(), name) == names.end()) names.push_back(name);
    group->sizes[row.point.bytes][name] = &row;
  }
  return groups;
}

// Words ------------------------------------------------------------------------------------------

std::string_view launch_words(Launch launch) {
  switch (launch) {
    case Launch::threads:
      return "one thread per rank";
    case Launch::processes:
      return "one process per rank";
    case Launch::grid:
      return "all ranks in one grid";
  }
  return "";
}

std::string warning(const Case& key) {
  if (key.backend == Backend::host) return "host backend: not a GPU result\n";
  if (!key.is_virtual()) return "";
  const auto gpus = std::set(key.devices.begin(), key.devices.end()).size();
  if (gpus == 1) return "virtual ranks on one GPU: not a multi-GPU result\n";
  return "virtual ranks on " + std::to_string(gpus) + " GPUs: not a result of " +
         std::to_string(key.ranks()) + " GPUs\n";
}

std::string title(const Case& key) {
  std::string text = "allreduce, " + std::string(word(key.dtype)) + ", " +
                     std::to_string(key.ranks()) + " ranks, " + std::string(word(key.mode)) + ", ";
  text += key.placement == Placement::in_place ? "in place, " : "out of place, ";
  if (key.l2 == L2::cold) text += "cold L2, ";
  if (key.transport == Transport::host) text += "through host memory, ";
  text += std::string(launch_words(key.launch)) + ", " + std::string(word(key.backend));
  return text + " backend: median us per op\n" + warning(key);
}

std::string size_text(std::uint64_t bytes) {
  static constexpr std::string_view kUnits[] = {" B", " KiB", " MiB", " GiB"};
  std::size_t unit = 0;
  for (; unit < 3 && bytes != 0 && bytes % 1024 == 0; ++unit) bytes /= 1024;
  return std::to_string(bytes) + std::string(kUnits[unit]);
}

/// At least three digits. The limits are where rounding would add a fourth.
std::string number_cell(double value) {
  const int decimals = value < 0.9995 ? 3 : value < 9.995 ? 2 : value < 99.95 ? 1 : 0;
  return fixed_text(value, decimals);
}

std::string word_cell(const Row& row) {
  switch (row.status) {
    case Status::ok:
      return "ok";
    case Status::functional:
      return "functional";
    case Status::wrong:
      return "WRONG";
    case Status::hung:
      return "HUNG";
    case Status::error:
      return "error";
    case Status::skipped:
    case Status::unsupported:
      break;
  }
  return "-";
}

// One line of the table --------------------------------------------------------------------------

using Line = std::map<std::string, const Row*>;

/// The fastest of those that are NCCL, or that are not; null without one.
template <class Wanted>
const Row* fastest(const Line& line, Wanted wanted) {
  const Row* best = nullptr;
  for (const auto& [name, row] : line)
    if (timed(*row) && wanted(row->point) && (!best || row->time->median < best->time->median))
      best = row;
  return best;
}

/// Medians that differ by less cannot be told apart: two measurements of one contender differ as much, and below 1 % the
/// state of the machine counts, whatever one pair says.
bool tied(const Row& row, const Row& best) {
  constexpr double kLeastBand = 1;
  const double band = std::max(best.aa_pct.value_or(0), kLeastBand);
  const Summary &a = *row.time, &b = *best.time;
  return a.median <= b.median * (1 + band / 100) || (a.ci_lo <= b.ci_hi && b.ci_lo <= a.ci_hi);
}

std::string value_cell(const Line& line, const std::string& contender, const Row* best) {
  const auto found = line.find(contender);
  if (found == line.end()) return "";
  const Row& row = *found->second;
  if (!timed(row)) return word_cell(row);
  const std::string value = number_cell(row.time->median);
  return &row != best && tied(row, *best) ? "(" + value + ")" : value;
}

std::string nccl_factor(const Line& line) {
  const Row* nccl = fastest(line, is_nccl);
  const Row* other = fastest(line, [](const Case& point) { return !is_nccl(point); });
  if (!nccl || !other) return "-";
  return fixed_text(nccl->time->median / other->time->median, 2) + "x";
}

// All lines ----------------------------------------------------------------------------------

std::vector<TextColumn> columns_of(const Group& group) {
  std::vector<TextColumn> columns(group.contenders.size() + 3);
  auto& size = columns.front();
  auto& best_name = columns[columns.size() - 2];
  auto& factor = columns.back();
  size.cells = {"size"};
  best_name = {{"best"}, true};
  factor.cells = {"vs nccl"};
  for (std::size_t i = 0; i < group.contenders.size(); ++i)
    columns[i + 1].cells = {group.contenders[i]};
  for (const auto& [bytes, line] : group.sizes) {
    const Row* best = fastest(line, [](const Case&) { return true; });
    size.cells.push_back(size_text(bytes));
    for (std::size_t i = 0; i < group.contenders.size(); ++i)
      columns[i + 1].cells.push_back(value_cell(line, group.contenders[i], best));
    best_name.cells.push_back(best ? best->point.contender() : "-");
    factor.cells.push_back(nccl_factor(line));
  }
  return columns;
}

/// "A/A: ..." if any size has a band.
std::string aa_line(const Group& group) {
  std::set<double> bands;
  for (const auto& [bytes, line] : group.sizes)
    for (const auto& [name, row] : line)
      if (row->aa_pct) bands.insert(*row->aa_pct);
  if (bands.empty()) return "";
  const std::string least = fixed_text(*bands.begin(), 2), most = fixed_text(*bands.rbegin(), 2);
  return "A/A: one contender, measured twice as two, differs by " + least +
         (least == most ? "" : " to " + most) + " %\n";
}

std::string footnotes(const Group& group) {
  std::vector<std::pair<std::string, std::vector<std::string>>> notes;  // reason, contenders
  for (const auto& contender : group.contenders) {
    for (const auto& [bytes, line] : group.sizes) {
      const auto found = line.find(contender);
      if (found == line.end() || found->second->reason.empty()) continue;
      const std::string reason = clean_line(found->second->reason);
      auto note = std::find_if(notes.begin(), notes.end(),
                               [&](const auto& n) { return n.first == reason; });
      if (note == notes.end()) note = notes.insert(notes.end(), {reason, {}});
      if (note->second.empty() || note->second.back() != contender)
        note->second.push_back(contender);
    }
  }
  std::string text;
  for (const auto& [reason, contenders] : notes) {
    std::string names;
    for (const auto& name : contenders) names += (names.empty() ? "" : ", ") + name;
    text += "  " + names + ": " + reason + '\n';
  }
  return text;
}

}  // namespace

std::string table(const std::vector<Row>& rows, int width) {
  std::string text;
  for (const Group& group : grouped(rows)) {
    if (!text.empty()) text += '\n';
    const std::string numbers =
        layout(columns_of(group), static_cast<std::size_t>(std::max(width, 0)));
    text += title(group.key) + '\n' + numbers;
    if (numbers.find('(') != std::string::npos)
      text +=
          "(in brackets: tied with the best, within the A/A band or 1 %, or intervals overlap)\n";
    text += aa_line(group);
    text += footnotes(group);
  }
  return text;
}

}  // namespace arbench

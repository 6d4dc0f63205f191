#include "compare/show.hpp"

#include <algorithm>

#include "report/csv.hpp"

namespace arbench::compare {
namespace {

using Line = std::vector<std::string>;
using Lines = std::vector<Line>;  ///< the first is the header

std::string fixed(std::optional<double> value, int decimals) {
  return value ? fixed_text(*value, decimals) : "-";
}

std::string range(const std::optional<Interval>& interval) {
  if (!interval) return "-";
  return fixed_text(interval->lo, 3) + " to " + fixed_text(interval->hi, 3);
}

Lines environment(const Comparison& comparison) {
  Lines lines{{"environment", "A", "B"}};
  for (const auto& [name, a, b] : comparison.environment) lines.push_back({name, a, b});
  return lines;
}

Lines rows(const Comparison& comparison) {
  Lines lines{{"verdict", "B/A", "95 %", "band %", "A us", "B us", "row", "note"}};
  for (const Compared& row : comparison.rows)
    if (row.verdict != Verdict::none)
      lines.push_back({std::string(word(row.verdict)), fixed(row.ratio, 3), range(row.interval),
                       fixed(row.band_pct, 1), fixed(row.a_us, 2), fixed(row.b_us, 2), row.name,
                       row.note});
  return lines;
}

Lines left_out(const Comparison& comparison) {
  Lines lines{{"not compared", "why"}};
  for (const Compared& row : comparison.rows)
    if (row.verdict == Verdict::none) lines.push_back({row.name, row.note});
  return lines;
}

Lines summary(const Comparison& comparison) {
  Lines lines{{"algorithm", "sizes", "rows", "B/A", "95 %"}};
  for (const Group& group : comparison.groups)
    lines.push_back({group.algorithm, group.sizes, std::to_string(group.rows),
                     fixed(group.ratio, 3), range(group.interval)});
  return lines;
}

/// Empty without lines below the header.
std::string aligned(const Lines& lines) {
  if (lines.size() < 2) return "";
  std::vector<std::size_t> widths(lines[0].size());
  for (const Line& line : lines)
    for (std::size_t i = 0; i < line.size(); ++i) widths[i] = std::max(widths[i], line[i].size());
  std::string all;
  for (const Line& line : lines) {
    std::string out;
    for (std::size_t i = 0; i < line.size(); ++i) {
      const std::string cell = clean_line(line[i]);
      out += cell + std::string(widths[i] + 2 - std::min(widths[i], cell.size()), ' ');
    }
    out.erase(out.find_last_not_of(' ') + 1);
    all += out + "\n";
  }
  return all + "\n";
}

std::string markdown_cell(const std::string& raw) {
  std::string cell;
  for (const char c : clean_line(raw)) {
    if (std::string_view("|\\`*_<>[]").find(c) != std::string_view::npos) cell += '\\';
    cell += c;
  }
  return cell;
}

std::string markdown_table(const Lines& lines) {
  if (lines.size() < 2) return "";
  std::string all;
  for (std::size_t i = 0; i < lines.size(); ++i) {
    for (const std::string& cell : lines[i]) all += "| " + markdown_cell(cell) + " ";
    all += "|\n";
    if (i > 0) continue;
    for (std::size_t k = 0; k < lines[0].size(); ++k) all += "| --- ";
    all += "|\n";
  }
  return all + "\n";
}

/// The policy lets the page load and run nothing, should a text get through after all.
constexpr std::string_view kPageHead = R"(<!DOCTYPE html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta http-equiv="Content-Security-Policy" content="default-src 'none'; style-src 'unsafe-inline'">
<meta name="viewport" content="width=device-width">
<meta name="color-scheme" content="light dark">
<title>arbench compare</title>
<style>
:root { --text: #1c1c1c; --page: #ffffff; --line: #d0d0d0; --faster: #14652b; --slower: #a31515; --warn: #8a5a00; }
@media (prefers-color-scheme: dark) {
  :root { --text: #e4e4e4; --page: #181818; --line: #484848; --faster: #6fd08c; --slower: #ff8a80; --warn: #e8b860; }
}
body { margin: 1.5em; color: var(--text); background: var(--page); font: 15px/1.4 system-ui, sans-serif; }
table { border-collapse: collapse; margin-bottom: 1em; font-variant-numeric: tabular-nums; }
th, td { padding: .2em .7em; border-bottom: 1px solid var(--line); text-align: left; vertical-align: top; overflow-wrap: break-word; }
.FASTER { color: var(--faster); font-weight: 600; }
.SLOWER { color: var(--slower); font-weight: 600; }
.warning { color: var(--warn); }
</style>
</head>
<body>
<h1>B against A</h1>
)";

std::string escaped(const std::string& raw) {
  std::string text;
  for (const char c : clean_line(raw)) {
    if (c == '&') text += "&amp;";
    if (c == '<') text += "&lt;";
    if (c == '>') text += "&gt;";
    if (c == '"') text += "&quot;";
    if (c == '\'') text += "&#39;";
    if (std::string_view("&<>\"'").find(c) == std::string_view::npos) text += c;
  }
  return text;
}

/// Nothing without lines below the header. A verdict has its word for a class.
std::string html_table(const std::string& title, const Lines& lines) {
  if (lines.size() < 2) return "";
  std::string all = "<h2>" + escaped(title) + "</h2>\n<table>\n";
  for (std::size_t i = 0; i < lines.size(); ++i) {
    all += "<tr>";
    for (const std::string& cell : lines[i]) {
      const bool verdict = i > 0 && (cell == "FASTER" || cell == "SLOWER");
      const std::string tag = i == 0 ? "th" : "td";
      all += "<" + tag + (verdict ? " class=\"" + cell + "\">" : ">") + escaped(cell) + "</" + tag +
             ">";
    }
    all += "</tr>\n";
  }
  return all + "</table>\n";
}

std::string counts(const Comparison& comparison) {
  std::string all;
  for (Verdict verdict : {Verdict::faster, Verdict::slower, Verdict::same, Verdict::unclear}) {
    const auto count = std::count_if(comparison.rows.begin(), comparison.rows.end(),
                                     [&](const Compared& row) { return row.verdict == verdict; });
    all += std::to_string(count) + " " + std::string(word(verdict)) + ", ";
  }
  const auto none = std::count_if(comparison.rows.begin(), comparison.rows.end(),
                                  [](const Compared& row) { return row.verdict == Verdict::none; });
  return all + std::to_string(none) + " not compared\n";
}

}  // namespace

std::string text(const Comparison& comparison) {
  std::string all = aligned(environment(comparison));
  for (const std::string& warning : comparison.warnings) all += "warning: " + warning + "\n";
  if (!comparison.warnings.empty()) all += "\n";
  return all + aligned(rows(comparison)) + aligned(left_out(comparison)) +
         aligned(summary(comparison)) + counts(comparison);
}

std::string markdown(const Comparison& comparison) {
  std::string all = markdown_table(environment(comparison));
  for (const std::string& warning : comparison.warnings) all += "> " + warning + "\n";
  if (!comparison.warnings.empty()) all += "\n";
  return all + markdown_table(rows(comparison)) + markdown_table(left_out(comparison)) +
         markdown_table(summary(comparison)) + counts(comparison);
}

std::string html(const Comparison& comparison) {
  std::string all(kPageHead);
  all += html_table("What else differs", environment(comparison));
  if (comparison.environment.empty()) all += "<p>Nothing else is known to differ.</p>\n";
  for (const std::string& warning : comparison.warnings)
    all += "<p class=\"warning\">" + escaped(warning) + "</p>\n";
  all += html_table("Rows", rows(comparison)) + html_table("Not compared", left_out(comparison)) +
         html_table("Summary", summary(comparison));
  return all + "<p>" + escaped(counts(comparison)) + "</p>\n</body>\n</html>\n";
}

std::string csv(const Comparison& comparison) {
  std::string all = "verdict,ratio,ratio_ci_lo,ratio_ci_hi,band_pct,a_us,b_us,name,note\r\n";
  const auto number = [](std::optional<double> value) { return value ? number_text(*value) : ""; };
  for (const Compared& row : comparison.rows) {
    const std::string interval =
        row.interval ? number_text(row.interval->lo) + "," + number_text(row.interval->hi) : ",";
    all += std::string(word(row.verdict)) + "," + number(row.ratio) + "," + interval + "," +
           number(row.band_pct) + "," + number(row.a_us) + "," + number(row.b_us) + "," +
           csv_field(clean_line(row.name)) + "," + csv_field(clean_line(row.note)) + "\r\n";
  }
  return all;
}

}  // namespace arbench::compare

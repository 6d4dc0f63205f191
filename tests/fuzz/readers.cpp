#include "fuzz/readers.hpp"

#include <algorithm>
#include <cstdio>
#include <cstdlib>

#include "compare/compare.hpp"
#include "compare/input.hpp"
#include "compare/result_set.hpp"
#include "compare/show.hpp"
#include "options.hpp"

namespace arbench::compare {
namespace {

void require(bool holds, const char* promise) {
  if (holds) return;
  std::fprintf(stderr, "broken: %s\n", promise);
  std::abort();
}

/// samples.csv and run.json are read into the rows of this.
ResultSet small_set() {
  return read_rows(
      "schema_version,algo,ngpus,dtype,bytes,name,lat_us_median,status\n"
      "1,ring,2,bf16,1024,ring/1024,10,ok\n",
      "rows.csv");
}

ResultSet read(const std::string& text) {
  require_text(text, "input");
  ResultSet set = small_set();
  if (text.starts_with("name,"))
    add_samples(set, text, "input");
  else if (text.find("\"environment\"") != std::string::npos)
    add_facts(set, text, "input");
  else
    set = read_result(text, "input");
  return set;
}

auto tags(const Comparison& comparison) {
  const std::string page = html(comparison);
  return std::count(page.begin(), page.end(), '<');
}

/// The same without any text that a file holds.
Comparison blank(Comparison comparison) {
  for (Difference& difference : comparison.environment) difference = {};
  for (Compared& row : comparison.rows) row.name = row.note = "";
  for (Group& group : comparison.groups) group.algorithm = "";
  return comparison;
}

void show(const ResultSet& set) {
  ResultSet other = set;
  other.facts["driver"] = "another";
  const Comparison comparison = compare({set}, {other});
  const std::string lines = csv(comparison);
  require(text(comparison).ends_with("compared\n"), "the text is whole");
  require(markdown(comparison).ends_with("compared\n"), "the markdown is whole");
  require(std::count(lines.begin(), lines.end(), '\n') ==
              static_cast<std::ptrdiff_t>(comparison.rows.size()) + 1,
          "a line of CSV per row");
  require(tags(comparison) == tags(blank(comparison)), "no tag of a file's own");
  require(!has_slower(comparison, 0), "nothing is slower than itself");
}

}  // namespace

std::string outcome_of(const std::string& text) {
  try {
    const ResultSet set = read(text);
    require(!set.entries.empty(), "what was read has rows");
    if (set.entries.size() < 50) show(set);  // thousands would be shown for seconds
    return "";
  } catch (const UsageError& error) {
    const std::string line = error.what();
    require(line.starts_with("compare input: ") && line.find('\n') == std::string::npos,
            "a refusal is one line that names the file");
    return line;
  }
}

}  // namespace arbench::compare

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  arbench::compare::outcome_of({data, data + size});
  return 0;
}

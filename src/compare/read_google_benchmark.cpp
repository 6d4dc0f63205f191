#include <nlohmann/json.hpp>
#include <set>

#include "compare/input.hpp"
#include "compare/result_set.hpp"

namespace arbench::compare {
namespace {

using nlohmann::json;

struct Unit {
  std::string name;
  double us;
};

double us_of(const json& run, const std::string& where, const std::string& path) {
  const std::string name = text_of(member(run, "time_unit"));
  for (const Unit& unit : {Unit{"ns", 1e-3}, {"us", 1}, {"ms", 1e3}, {"s", 1e6}})
    if (name == unit.name) return unit.us;
  refuse_file(path, where + ": time_unit '" + name.substr(0, 40) + "' is none of ns, us, ms, s");
}

/// Nothing for the 0 and the NaN of a run that measured nothing.
std::optional<double> time_of(const json& run, const std::string& where, const std::string& path) {
  const json& time = member(run, "real_time");
  if (time.is_null() || time == 0) return std::nullopt;
  const double us = time.is_number() ? time.get<double>() * us_of(run, where, path) : 0;
  if (!is_measure(us))
    refuse_file(
        path, where + ": real_time '" + text_of(time).substr(0, 40) + "' is not a number above 0");
  return us;
}

bool is_true(const json& run, const char* name) { return member(run, name) == true; }

std::string name_of(const json& run, const std::string& where, const std::string& path) {
  for (const char* name : {"run_name", "name"})
    if (const std::string text = text_of(member(run, name)); !text.empty()) return text;
  refuse_file(path, where + " has no name");
}

/// What was run, by the context of the file: without what differs from run to run by itself.
void add_context(ResultSet& set, const json& context) {
  for (const auto& [name, value] : context.items())
    if (name != "date" && !value.is_array() && !value.is_object())
      set.facts["context " + name] = text_of(value);
}

}  // namespace

ResultSet read_google_benchmark(const json& file, const std::string& path) {
  const json &runs = member(file, "benchmarks"), &context = member(file, "context");
  if (!runs.is_array()) refuse_file(path, "has no list of benchmarks");
  if (const json& schema = member(context, "json_schema_version"); !schema.is_null() && schema != 1)
    refuse_file(path, "has another json_schema_version than 1");
  ResultSet set{path, {{"format", "Google Benchmark (median over repetitions)"}}, {}};
  if (context.is_object()) add_context(set, context);
  Repetitions repetitions;
  std::set<std::string> known;
  // Runs first; what has none is taken from its aggregates.
  for (const std::string kind : {"", "median", "mean"}) {
    std::set<std::string> found;
    for (std::size_t i = 0; i < runs.size(); ++i) {
      const json& run = runs[i];
      const std::string where = "benchmark " + std::to_string(i + 1);
      const std::string name = name_of(run, where, path);
      const bool aggregate = text_of(member(run, "run_type")) == "aggregate";
      if (aggregate != !kind.empty() || text_of(member(run, "aggregate_name")) != kind) continue;
      if (known.contains(name)) continue;
      found.insert(name);
      if (is_true(run, "error_occurred"))
        repetitions.fail(set, {{"benchmark", name}}, name, "error",
                         text_of(member(run, "error_message")));
      else if (is_true(run, "skipped"))
        repetitions.fail(set, {{"benchmark", name}}, name, "skipped",
                         text_of(member(run, "skip_message")));
      else
        repetitions.add(set, {{"benchmark", name}}, name, time_of(run, where, path));
    }
    known.merge(found);
  }
  if (set.entries.empty()) refuse_file(path, "has no benchmarks");
  return set;
}

}  // namespace arbench::compare

#include <nlohmann/json.hpp>

#include "compare/input.hpp"
#include "compare/nccl_tests.hpp"
#include "report/csv.hpp"

namespace arbench::compare {
namespace {

using nlohmann::json;

std::uint64_t count_of(const json& value, const char* name, std::uint64_t otherwise,
                       const std::string& path) {
  const json& found = member(value, name);
  if (found.is_null()) return otherwise;
  if (!found.is_number_unsigned() || found > 1'000'000'000)
    refuse_file(path, std::string(name) + " '" + text_of(found).substr(0, 40) + "' is no count");
  return found.get<std::uint64_t>();
}

/// One device is listed per process: the others follow it.
void add_ranks(NcclRun& run, const json& config, const std::string& path) {
  const std::uint64_t each =
      count_of(config, "nthreads", 1, path) * count_of(config, "ngpus", 1, path);
  const json& devices = member(config, "devices");
  if (!devices.is_array()) return;
  for (const json& device : devices)
    for (std::uint64_t i = 0; i < each; ++i) {
      if (run.ranks.size() == kMaxRanks)
        refuse_file(path, "lists more ranks than 4096, the most that are read");
      run.ranks.push_back({"", text_of(member(device, "group")), text_of(member(device, "pid")),
                           text_of(member(device, "hostname")),
                           text_of(member(device, "device_info")).substr(0, 80),
                           count_of(device, "device", 0, path) + i});
    }
}

/// The environment may hold secrets: what is not NCCL's or CUDA's is passed over.
void add_variables(ResultSet& set, NcclRun& run, const json& variables) {
  for (const json& variable : variables) {
    const std::string text = text_of(variable);
    const std::size_t equals = text.find('=');
    if (equals == std::string::npos || !(text.starts_with("NCCL_") || text.starts_with("CUDA_")))
      continue;
    const std::string name = text.substr(0, equals), value = text.substr(equals + 1);
    set.facts["variable " + name] = value;
    if (name == "NCCL_ALGO") run.algorithm = value;
    if (name == "NCCL_PROTO") run.protocol = value;
  }
}

NcclRun run_of(ResultSet& set, const json& file) {
  NcclRun run;
  const json &config = member(file, "config"), &args = member(file, "args");
  if (args.is_array() && !args.empty()) run.program = text_of(args[0]);
  add_variables(set, run, member(file, "env"));
  add_ranks(run, config, set.path);
  run.iterations = text_of(member(config, "iterations"));
  run.warmup = text_of(member(config, "warmup_iters"));
  run.aggregated = std::to_string(count_of(config, "aggregated_iterations", 1, set.path));
  run.graph = std::to_string(count_of(config, "graph", 0, set.path));
  run.blocking = text_of(member(config, "blocking_collectives")) == "true";
  add_run_facts(set, run);
  if (const auto code = count_of(file, "nccl_version", 0, set.path))
    set.facts["nccl_version"] = nccl_version(code);
  return run;
}

/// One placement of one result.
class Adder {
 public:
  Adder(ResultSet& set, const Key& run) : set_(set), run_(run) {}
  void add(const json& measures, NcclRow row, const std::string& where);

 private:
  ResultSet& set_;
  const Key& run_;
  Repetitions repetitions_;
};

void Adder::add(const json& measures, NcclRow row, const std::string& where) {
  if (!measures.is_object()) return;
  row.cpu_time = measures.contains("cpu_time");
  const Key key = row_key(run_, row);
  const std::string name = row_name(key);
  const json& time = member(measures, row.cpu_time ? "cpu_time" : "time");
  const bool timed = time.is_number() && is_measure(time.get<double>());
  if (!timed && !time.is_null() && time != 0 && time != "nan")
    refuse_file(set_.path, where + " has the time '" + text_of(time).substr(0, 40) +
                               "', which is not a number above 0");
  repetitions_.add(set_, key, name, timed ? std::optional(time.get<double>()) : std::nullopt);
  const json& wrong = member(measures, "nwrong");
  if (wrong.is_null() || wrong == 0) return;
  if (!wrong.is_number() || wrong < 0)
    refuse_file(set_.path, where + " has nwrong '" + text_of(wrong).substr(0, 40) +
                               "', which is no number of elements");
  repetitions_.fail(set_, key, name, "wrong",
                    number_text(wrong.get<double>()) + " wrong elements, " + where);
}

std::uint64_t size_of(const json& result, const char* name, const std::string& where,
                      const std::string& path) {
  const json& value = member(result, name);
  if (!value.is_number_unsigned()) refuse_file(path, where + " has no " + name);
  return value.get<std::uint64_t>();
}

}  // namespace

ResultSet read_nccl_tests_json(const json& file, const std::string& path) {
  ResultSet set{path, {}, {}};
  const json& results = member(file, "results");
  if (!results.is_array()) refuse_file(path, "has no list of results");
  const Key run = run_key(run_of(set, file));
  Adder adder(set, run);
  for (std::size_t i = 0; i < results.size(); ++i) {
    const json& result = results[i];
    const std::string where = "result " + std::to_string(i + 1);
    const auto text = [&](const char* name) { return text_of(member(result, name)); };
    const std::string root = text("root");  // padded with blanks
    NcclRow row{size_of(result, "size", where, path),
                size_of(result, "count", where, path),
                text("type"),
                text("redop"),
                root.substr(std::min(root.find_first_not_of(' '), root.size())),
                text("experiment_name"),
                false,
                false};
    adder.add(member(result, "out_of_place"), row, where);
    row.in_place = true;
    adder.add(member(result, "in_place"), row, where);
  }
  if (set.entries.empty()) refuse_file(path, "has no results");
  return set;
}

}  // namespace arbench::compare

#include "report/read_back.hpp"

#include <algorithm>
#include <charconv>
#include <fstream>
#include <iterator>
#include <map>
#include <nlohmann/json.hpp>
#include <optional>

#include "options.hpp"
#include "report/columns.hpp"
#include "report/csv.hpp"
#include "report/run_facts.hpp"

namespace arbench {
namespace {

using nlohmann::json;

[[noreturn]] void refuse(const std::filesystem::path& folder, const std::string& why) {
  throw UsageError("--resume " + folder.string() + ": " + why);
}

std::string text_of(const std::filesystem::path& folder, const char* name) {
  std::ifstream file(folder / name, std::ios::binary);
  if (!file) refuse(folder, std::string("cannot read ") + name + "; it takes the folder of --out");
  return {std::istreambuf_iterator<char>(file), {}};
}

// What must not differ ---------------------------------------------------------------------------

std::string shown(const json& value) {
  return value.is_null() ? "unknown" : value.dump(-1, ' ', false, json::error_handler_t::replace);
}

/// Names the first place in which the two differ.
void require_equal(const std::filesystem::path& folder, const std::string& name, const json& then,
                   const json& now) {
  if (then == now) return;
  if (then.is_object() && now.is_object())
    for (const auto& [key, value] : now.items())
      require_equal(folder, key, then.value(key, json()), value);
  refuse(folder, "is of another run: " + name + " was " + shown(then) + " there, is " + shown(now) +
                     " now");
}

json at(const json& whole, const char* path) {
  const json::json_pointer place(path);
  return whole.contains(place) ? whole.at(place) : json();
}

/// What the device is, without what it is doing.
json gpu_list(const json& environment) {
  json list = json::array();
  for (const json& gpu : at(environment, "/gpus"))
    list.push_back({at(gpu, "/device"), at(gpu, "/name"), at(gpu, "/pci_bus_id")});
  return list;
}

void require_same_run(const std::filesystem::path& folder, const json& run, const json& environment,
                      const json& config) {
  require_equal(folder, "schema_version", at(run, "/schema_version"), kSchemaVersion);
  const json then = at(run, "/environment");
  for (const auto& [name, path] : {std::pair("build", "/arbench"),
                                   {"toolkit", "/cuda/toolkit"},
                                   {"CUDA runtime", "/cuda/runtime"},
                                   {"driver", "/cuda/driver"},
                                   {"NCCL", "/nccl/library"},
                                   {"toolkits", "/toolkits"}})
    require_equal(folder, name, at(then, path), at(environment, path));
  require_equal(folder, "GPUs", gpu_list(then), gpu_list(environment));
  require_equal(folder, "configuration", at(run, "/config"), config);
}

// One line of rows.csv ---------------------------------------------------------------------------

template <class Number>
Number number(const std::string& text) {
  Number value{};
  std::from_chars(text.data(), text.data() + text.size(), value);
  return value;
}

template <auto Member>
void set_time(Row& row, const std::string& text) {
  if (!row.time) row.time.emplace();
  auto& field = (*row.time).*Member;
  field = number<std::remove_reference_t<decltype(field)>>(text);
}

struct Field {
  std::string_view column;
  void (*set)(Row&, const std::string&);
};

/// The columns that no case and no run knows. Their cells are not empty when they are set.
constexpr Field kFields[] = {
    {"ops_per_graph", [](Row& row, const std::string& s) { row.ops_per_graph = number<int>(s); }},
    {"blocks", [](Row& row, const std::string& s) { row.geometry.blocks = number<int>(s); }},
    {"threads", [](Row& row, const std::string& s) { row.geometry.threads = number<int>(s); }},
    {"ran", [](Row& row, const std::string& s) { row.ran = s; }},
    {"rounds", set_time<&Summary::rounds>},
    {"samples", set_time<&Summary::samples>},
    {"lat_us_median", set_time<&Summary::median>},
    {"lat_us_ci_lo", set_time<&Summary::ci_lo>},
    {"lat_us_ci_hi", set_time<&Summary::ci_hi>},
    {"lat_us_min", set_time<&Summary::min>},
    {"lat_us_mean", set_time<&Summary::mean>},
    {"lat_us_p90", set_time<&Summary::p90>},
    {"lat_us_p95", set_time<&Summary::p95>},
    {"lat_us_p99", set_time<&Summary::p99>},
    {"lat_us_max", set_time<&Summary::max>},
    {"lat_us_mad", set_time<&Summary::mad>},
    {"cv_pct", set_time<&Summary::cv_pct>},
    {"outliers_mild", set_time<&Summary::outliers_mild>},
    {"outliers_severe", set_time<&Summary::outliers_severe>},
    {"l2_sets", [](Row& row, const std::string& s) { row.l2_sets = number<int>(s); }},
    {"iso_us_median",
     [](Row& row, const std::string& s) { row.iso_us_median = number<double>(s); }},
    {"skew_us_median",
     [](Row& row, const std::string& s) { row.skew_us_median = number<double>(s); }},
    {"start_skew_us_median",
     [](Row& row, const std::string& s) { row.start_skew_us_median = number<double>(s); }},
    {"skew_error_us",
     [](Row& row, const std::string& s) { row.clock_error_us = number<double>(s); }},
    {"added_skew_us",
     [](Row& row, const std::string& s) { row.added_skew_us = number<double>(s); }},
    {"sm_mhz_min", [](Row& row, const std::string& s) { row.sm_mhz_min = number<double>(s); }},
    {"cpu_us_median",
     [](Row& row, const std::string& s) { row.cpu_us_median = number<double>(s); }},
    {"floor_us", [](Row& row, const std::string& s) { row.floor_us = number<double>(s); }},
    {"wrong", [](Row& row, const std::string& s) { row.wrong = number<std::uint64_t>(s); }},
    {"max_ulp", [](Row& row, const std::string& s) { row.max_ulp = number<double>(s); }},
    {"max_abs_err", [](Row& row, const std::string& s) { row.max_abs_err = number<double>(s); }},
    {"bitwise_ranks", [](Row& row, const std::string& s) { row.bitwise_ranks = s == "1"; }},
    {"bitwise_runs", [](Row& row, const std::string& s) { row.bitwise_runs = s == "1"; }},
    {"aa_pct", [](Row& row, const std::string& s) { row.aa_pct = number<double>(s); }},
    {"stopped", [](Row& row, const std::string& s) { row.stopped = s; }},
    {"throttled", [](Row& row, const std::string& s) { row.throttled = s == "1"; }},
    {"pcie_gen", [](Row& row, const std::string& s) { row.pcie_generation = number<int>(s); }},
    {"pcie_width", [](Row& row, const std::string& s) { row.pcie_width = number<int>(s); }},
    {"reason", [](Row& row, const std::string& s) { row.reason = s; }},
};

std::string cell_of(const std::vector<std::string>& cells, std::string_view column) {
  const auto all = columns();
  for (std::size_t i = 0; i < all.size() && i < cells.size(); ++i)
    if (all[i].name == column) return cells[i];
  return "";
}

/// Nothing for a line of another case or status than there are.
std::optional<Row> to_row(const std::string& line, const std::map<std::string, Case>& cases) {
  const std::vector<std::string> cells = csv_cells(line);
  const auto known = cases.find(cell_of(cells, "name"));
  const auto status = from_word<Status>(cell_of(cells, "status"));
  if (known == cases.end() || !status) return std::nullopt;
  Row row;
  row.point = known->second;
  row.status = *status;
  for (const Field& field : kFields)
    if (const std::string text = cell_of(cells, field.column); !text.empty()) field.set(row, text);
  return row;
}

}  // namespace

Finished read_back(const std::filesystem::path& folder, const json& environment, const json& config,
                   std::span<const Case> cases) {
  const json run = json::parse(text_of(folder, "run.json"), nullptr, false);
  if (run.is_discarded()) refuse(folder, "run.json is not JSON");
  require_same_run(folder, run, environment, config);
  std::map<std::string, Case> by_name;
  for (const Case& point : cases) by_name.emplace(point.name(), point);
  const RunFacts facts = run_facts(at(run, "/environment"));
  Finished finished{{}, at(run, "/environment").dump()};
  const std::string text = text_of(folder, "rows.csv");
  int number = 0;
  for (std::size_t start = 0, end; (end = text.find('\n', start)) != std::string::npos;
       start = end + 1) {
    const std::string line = text.substr(start, end + 1 - start);
    const std::string where = "line " + std::to_string(++number) + " of rows.csv ";
    if (number == 1 && line != csv_header()) refuse(folder, where + "has other columns");
    if (number == 1) continue;
    const auto row = to_row(line, by_name);
    // Written again it must be the same line, or run.json would differ from it.
    if (!row || csv_line({*row, facts}) != line) refuse(folder, where + "is no row of this run");
    finished.rows.push_back(*row);
  }
  return finished;
}

}  // namespace arbench

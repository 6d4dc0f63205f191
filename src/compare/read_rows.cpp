#include <algorithm>
#include <cstdlib>
#include <nlohmann/json.hpp>
#include <set>

#include "compare/input.hpp"
#include "compare/result_set.hpp"

namespace arbench::compare {
namespace {

using nlohmann::json;
using Cells = std::vector<std::string>;

constexpr const char* kKeys[] = {
    "algo", "ngpus", "gpu_order", "dtype",  "redop",     "bytes",   "count",   "in_place",
    "mode", "l2",    "placement", "launch", "transport", "backend", "virtual", "toolkit"};
constexpr const char* kFacts[] = {"build_id", "cuda_runtime", "driver", "nccl_version", "gpu"};

/// Cells by column name.
class Columns {
 public:
  Columns(const Cells& header, const std::string& path) : path_(path), size_(header.size()) {
    for (std::size_t i = 0; i < header.size(); ++i)
      if (!places_.emplace(header[i], i).second) refuse_file(path, "has two columns " + header[i]);
  }
  void require(std::initializer_list<const char*> names) const {
    for (const char* name : names)
      if (!places_.contains(name)) refuse_file(path_, "has no column " + std::string(name));
  }
  void require_whole(const Cells& cells, const CsvReader& reader) const {
    if (cells.size() != size_)
      refuse_file(path_, reader.where() + " has not as many fields as the header");
  }
  /// Empty where there is no such column.
  std::string of(const Cells& cells, const std::string& name) const {
    const auto place = places_.find(name);
    return place == places_.end() ? "" : cells[place->second];
  }

 private:
  std::string path_;
  std::size_t size_;
  std::map<std::string, std::size_t> places_;
};

/// Refuses a cell that is neither empty nor a number above 0.
std::optional<double> time_of(const std::string& text, const std::string& what,
                              const std::string& path) {
  if (text.empty()) return std::nullopt;
  const auto value = positive_number(text);
  if (!value) refuse_file(path, what + " '" + text.substr(0, 40) + "' is not a number above 0");
  return value;
}

Entry entry_of(const Columns& columns, const Cells& cells, const std::string& where,
               const std::string& path) {
  Entry entry;
  for (const char* name : kKeys) entry.key[name] = columns.of(cells, name);
  if (entry.key["transport"].empty()) entry.key["transport"] = "p2p";  // older files knew no other
  if (!positive_number(entry.key["bytes"]) && entry.key["bytes"] != "0")
    refuse_file(path, where + ": bytes '" + entry.key["bytes"].substr(0, 40) + "' is no size");
  entry.status = columns.of(cells, "status");
  entry.reason = columns.of(cells, "reason");
  if (entry.status.empty()) refuse_file(path, where + " has no status");
  if (entry.status != "ok") return entry;
  const auto time = [&](const char* name) {
    return time_of(columns.of(cells, name), where + ": " + name, path);
  };
  entry.median_us = time("lat_us_median");
  const auto low = time("lat_us_ci_lo"), high = time("lat_us_ci_hi");
  if (entry.median_us && low && high) {
    if (*low > *entry.median_us || *high < *entry.median_us)
      refuse_file(path, where + ": lat_us_median lies outside of its interval");
    entry.interval = Interval{*low, *high};
  }
  const std::string band = columns.of(cells, "aa_pct");
  if (!band.empty() && band != "0") entry.aa_pct = time_of(band, where + ": aa_pct", path);
  return entry;
}

/// "A" or "A, B": what is not the same in all rows is listed.
void note(std::string& facts, const std::string& value) {
  if (value.empty() || ("\n" + facts + "\n").find("\n" + value + "\n") != std::string::npos) return;
  if (facts.size() < 1000) facts += (facts.empty() ? "" : "\n") + value;
}

/// Without ", nvcc 13.0.88": the toolkit is a fact of its own.
std::string host_compiler(const std::string& compiler) {
  return compiler.substr(0, compiler.find(", nvcc "));
}

void add_object(ResultSet& set, const std::string& prefix, const json& object) {
  if (object.is_object())
    for (const auto& [name, value] : object.items()) set.facts[prefix + name] = text_of(value);
}

}  // namespace

ResultSet read_rows(const std::string& text, const std::string& path) {
  require_utf8(text, path);
  CsvReader reader(text, path);
  Cells cells;
  reader.next(cells);
  const Columns columns(cells, path);
  columns.require(
      {"schema_version", "algo", "ngpus", "dtype", "bytes", "name", "lat_us_median", "status"});
  ResultSet set{path, {{"format", "arbench (median over samples)"}}, {}};
  std::set<Key> seen;
  std::set<std::string> names;
  while (reader.next(cells)) {
    columns.require_whole(cells, reader);
    if (columns.of(cells, "schema_version") != "1")
      refuse_file(path, reader.where() + " has another schema_version than 1");
    set.entries.push_back(entry_of(columns, cells, reader.where(), path));
    if (!seen.insert(set.entries.back().key).second)
      refuse_file(path, reader.where() + " repeats the keys of an earlier row");
    if (set.entries.size() > kMaxRows)
      refuse_file(path, "has more than 100000 rows, the most that are read");
    set.entries.back().name = columns.of(cells, "name");
    for (const char* name : kFacts) note(set.facts[name], columns.of(cells, name));
  }
  for (auto& [name, value] : set.facts) std::replace(value.begin(), value.end(), '\n', '+');
  if (set.entries.empty()) refuse_file(path, "has no rows");
  return set;
}

void add_samples(ResultSet& set, const std::string& text, const std::string& path) {
  std::map<std::pair<std::string, std::string>, Entry*> by_name;
  for (Entry& entry : set.entries) by_name[{entry.name, entry.key["launch"]}] = &entry;
  CsvReader reader(text, path);
  Cells cells;
  reader.next(cells);
  const Columns columns(cells, path);
  columns.require({"name", "launch", "round", "rank", "us"});
  while (reader.next(cells)) {
    columns.require_whole(cells, reader);
    if (columns.of(cells, "rank") != "-1") continue;
    const auto found = by_name.find({columns.of(cells, "name"), columns.of(cells, "launch")});
    if (found == by_name.end() || found->second->status != "ok") continue;
    const auto us = time_of(columns.of(cells, "us"), reader.where() + ": us", path);
    const std::string round = columns.of(cells, "round");
    const auto number = round == "0" ? std::optional<double>(0) : positive_number(round);
    if (!us || !number || *number >= static_cast<double>(kMaxRounds))
      refuse_file(path,
                  reader.where() + " has no time, or no round below " + std::to_string(kMaxRounds));
    auto& rounds = found->second->samples;
    const auto index = static_cast<std::size_t>(*number);
    if (rounds.size() <= index) rounds.resize(index + 1);
    rounds[index].push_back(*us);
  }
  for (Entry& entry : set.entries)
    std::erase_if(entry.samples, [](const auto& round) { return round.empty(); });
}

void add_facts(ResultSet& set, const std::string& text, const std::string& path) {
  const json run = read_json(text, path);
  const json none;
  const auto at = [&](const char* place) -> const json& {
    const json::json_pointer pointer(place);
    return run.contains(pointer) ? run.at(pointer) : none;
  };
  for (const auto& [name, place] : {std::pair("commit", "/environment/arbench/git_commit"),
                                    {"uncommitted changes", "/environment/arbench/git_dirty"},
                                    {"compiler", "/environment/arbench/compiler"},
                                    {"build type", "/environment/arbench/build_type"},
                                    {"GPU code", "/environment/cuda/architectures"},
                                    {"toolkit", "/environment/cuda/toolkit"},
                                    {"cuda_runtime", "/environment/cuda/runtime"},
                                    {"driver", "/environment/cuda/driver"},
                                    {"nccl_version", "/environment/nccl/library"},
                                    {"NCCL toolkit", "/environment/nccl/toolkit"},
                                    {"NCCL header", "/environment/nccl/header"},
                                    {"CPU", "/environment/system/cpu_model"},
                                    {"kernel", "/environment/system/kernel"}})
    set.facts[name] = text_of(at(place));
  set.facts["compiler"] = host_compiler(set.facts["compiler"]);
  set.facts.erase("build_id");  // commit, toolkit and build type, which are there by themselves
  std::string gpus;
  for (const json& gpu : at("/environment/gpus"))
    if (gpu.is_object() && gpu.contains("name"))
      gpus += (gpus.empty() ? "" : ", ") + text_of(gpu["name"]);
  if (!gpus.empty()) set.facts["gpu"] = gpus;
  add_object(set, "variable ", at("/environment/variables"));
  add_object(set, "option ", at("/config"));
}

}  // namespace arbench::compare

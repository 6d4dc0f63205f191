#include "compare/nccl_tests.hpp"

#include <algorithm>
#include <cctype>
#include <set>

namespace arbench::compare {
namespace {

constexpr std::size_t kMostListed = 64;  ///< ranks in gpu_order, which every row repeats

std::string lower(std::string text) {
  std::transform(text.begin(), text.end(), text.begin(),
                 [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
  return text.substr(0, 40);
}

std::string algorithm_of(const NcclRun& run) {
  const std::string program = run.program.substr(run.program.find_last_of('/') + 1);
  if (!program.empty() && !program.starts_with("all_reduce")) return program.substr(0, 40);
  return "nccl_" + (run.algorithm.empty() ? "auto" : lower(run.algorithm)) +
         (run.protocol.empty() ? "" : "_" + lower(run.protocol));
}

std::string dtype_of(const std::string& type) {
  if (type == "float") return "f32";
  if (type == "half") return "f16";
  return type == "bfloat16" ? "bf16" : type;
}

template <class Value>
std::size_t distinct(const std::vector<NcclRank>& ranks, Value NcclRank::*member) {
  std::set<Value> values;
  for (const NcclRank& rank : ranks) values.insert(rank.*member);
  return values.size();
}

/// The ranks of rank 0's group.
std::vector<NcclRank> one_group(const std::vector<NcclRank>& ranks) {
  std::vector<NcclRank> group;
  for (const NcclRank& rank : ranks)
    if (rank.group == ranks.front().group) group.push_back(rank);
  return group;
}

void add_ranks(Key& key, const std::vector<NcclRank>& ranks) {
  key["ngpus"] = key["gpu_order"] = key["launch"] = "unknown";
  if (ranks.empty()) return;
  const auto group = one_group(ranks);
  key["ngpus"] = std::to_string(group.size());
  key["launch"] = distinct(group, &NcclRank::pid) * distinct(group, &NcclRank::host) > 1
                      ? "processes"
                      : "threads";
  key["gpu_order"] = "";
  for (std::size_t i = 0; i < std::min(group.size(), kMostListed); ++i)
    key["gpu_order"] += (i > 0 ? " " : "") + std::to_string(group[i].device);
  if (const auto groups = distinct(ranks, &NcclRank::group); groups > 1)
    key["groups"] = std::to_string(groups);
}

}  // namespace

Key run_key(const NcclRun& run) {
  Key key{{"algo", algorithm_of(run)},
          {"mode", run.graph == "0" ? "eager" : "graph"},
          {"l2", "hot"},
          {"transport", "p2p"},
          {"toolkit", ""},
          {"backend", "cuda"},
          {"virtual", "0"}};
  add_ranks(key, run.ranks);
  if (run.aggregated != "1") key["aggregated"] = run.aggregated;
  if (run.blocking) key["blocking"] = "1";
  if (run.several) key["settings"] = "-n " + run.iterations + " -w " + run.warmup;
  return key;
}

Key row_key(const Key& run, const NcclRow& row) {
  Key key = run;
  key["dtype"] = dtype_of(row.type);
  key["redop"] = row.redop;
  key["bytes"] = std::to_string(row.bytes);
  key["count"] = std::to_string(row.count);
  key["in_place"] = row.in_place ? "1" : "0";
  key["placement"] = row.in_place ? "in_place" : "out_of_place";
  if (!row.experiment.empty()) key["algo"] = row.experiment;
  if (!row.root.empty() && row.root != "-1") key["root"] = row.root;
  if (row.cpu_time) key["measure"] = "cpu time";
  return key;
}

std::string row_name(const Key& key) {
  std::string name;
  for (const char* part : {"algo", "dtype", "redop"}) name += key.at(part) + "/";
  name += "g" + key.at("ngpus");
  for (const char* part : {"mode", "placement", "bytes"}) name += "/" + key.at(part);
  for (const char* part : {"root", "groups", "aggregated", "blocking", "measure", "settings"})
    if (const auto at = key.find(part); at != key.end())
      name += std::string(", ") + (at->first == "settings" ? "" : at->first + " ") + at->second;
  return name;
}

void add_run_facts(ResultSet& set, const NcclRun& run) {
  set.facts["format"] = "nccl-tests (mean over -n iterations)";
  if (!run.several) set.facts["-n"] = run.iterations;
  if (!run.several) set.facts["-w"] = run.warmup;
  if (run.graph != "0") set.facts["-G"] = run.graph;
  if (!run.algorithm.empty()) set.facts["variable NCCL_ALGO"] = run.algorithm;
  if (!run.protocol.empty()) set.facts["variable NCCL_PROTO"] = run.protocol;
  if (const auto hosts = distinct(run.ranks, &NcclRank::host); hosts > 1)
    set.facts["hosts"] = std::to_string(hosts);
  std::string gpus;
  for (std::size_t i = 0; i < std::min(run.ranks.size(), kMostListed); ++i)
    gpus += (i > 0 ? ", " : "") + run.ranks[i].gpu;
  set.facts["gpu"] = gpus;
}

std::string nccl_version(std::uint64_t code) {
  const std::uint64_t major = code < 10000 ? 1000 : 10000;
  return std::to_string(code / major) + "." + std::to_string(code % major / 100) + "." +
         std::to_string(code % 100);
}

}  // namespace arbench::compare

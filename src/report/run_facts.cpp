#include "report/run_facts.hpp"

#include <nlohmann/json.hpp>

namespace arbench {
namespace {

using nlohmann::json;

/// A null where the environment has no such place.
json at(const json& environment, const char* path) {
  const json::json_pointer place(path);
  return environment.contains(place) ? environment.at(place) : json();
}

std::string text(const json& value) { return value.is_string() ? value.get<std::string>() : ""; }

std::string build_id(const json& environment) {
  const std::string commit = text(at(environment, "/arbench/git_commit"));
  const std::string toolkit = text(at(environment, "/cuda/toolkit"));
  const std::string type = text(at(environment, "/arbench/build_type"));
  std::string id = commit.empty() ? text(at(environment, "/arbench/version")) : commit;
  if (at(environment, "/arbench/git_dirty") == json(true)) id += "-dirty";
  id += toolkit.empty() ? "+host" : "+cuda" + toolkit;
  return type.empty() ? id : id + "+" + type;
}

}  // namespace

RunFacts run_facts(const json& environment) {
  RunFacts facts;
  facts.run_id = text(at(environment, "/start_time_utc"));
  facts.build_id = build_id(environment);
  facts.cuda_runtime = text(at(environment, "/cuda/runtime"));
  facts.driver = text(at(environment, "/cuda/driver"));
  facts.nccl_version = text(at(environment, "/nccl/library"));
  for (const json& gpu : at(environment, "/gpus"))
    if (const json device = at(gpu, "/device"); device.is_number_integer())
      facts.gpu_names[device.get<int>()] = text(at(gpu, "/name"));
  return facts;
}

}  // namespace arbench

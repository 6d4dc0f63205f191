#include "options_json.hpp"

#include <nlohmann/json.hpp>

namespace arbench {
namespace {

template <class E>
std::vector<std::string> names(const std::vector<E>& values) {
  std::vector<std::string> list;
  for (E value : values) list.emplace_back(word(value));
  return list;
}

}  // namespace

nlohmann::json config_json(const Options& options) {
  return {{"algorithms", options.algorithms},
          {"dtypes", names(options.dtypes)},
          {"sizes", options.sizes},
          {"shape_elements", options.shape_elements},
          {"gpus", options.gpus},
          {"modes", names(options.modes)},
          {"l2", names(options.l2s)},
          {"placements", names(options.placements)},
          {"devices", options.devices},
          {"virtual_ranks", options.virtual_ranks},
          {"backend", options.backend ? std::string(word(*options.backend)) : "auto"},
          {"launch", word(options.launch)},
          {"transport", word(options.transport)},
          {"toolkits", options.toolkits},
          {"blocks", options.geometry.blocks},
          {"threads", options.geometry.threads},
          {"rounds", options.rounds},
          {"replays", options.replays},
          {"ops", options.ops},
          {"row_seconds", options.row_seconds},
          {"skew_us", options.skew_us},
          {"aa", options.aa},
          {"soak", options.soak},
          {"slow_algorithms", options.slow_algorithms},
          {"slow_pct", options.slow_pct},
          {"precision_pct", options.precision_pct},
          {"max_seconds", options.max_seconds},
          {"timeout_seconds", options.timeout_seconds},
          {"seed", options.seed},
          {"allow_busy", options.allow_busy},
          {"nccl_loopback", options.nccl_loopback},
          {"nccl_lib", options.nccl_lib}};
}

}  // namespace arbench

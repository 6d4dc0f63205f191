#include "models.hpp"

namespace arbench {
namespace {

constexpr Model kModels[] = {
    {"kimi-k2", 7168, 61},     {"kimi-k2.5", 7168, 61},    {"deepseek-v3", 7168, 61},
    {"qwen3-235b", 4096, 94},  {"glm-4.5", 5120, 92},      {"glm-4.5-air", 4096, 46},
    {"llama-3-70b", 8192, 80}, {"gpt-oss-120b", 2880, 36}, {"minimax-m2", 3072, 62},
};

}  // namespace

std::span<const Model> models() { return kModels; }

std::vector<std::string> model_names() {
  std::vector<std::string> names;
  for (const Model& model : kModels) names.emplace_back(model.name);
  return names;
}

const Model* find_model(std::string_view name) {
  for (const Model& model : kModels)
    if (model.name == name) return &model;
  return nullptr;
}

}  // namespace arbench

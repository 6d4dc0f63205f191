// Message shapes of models served with tensor parallelism.
// Source of the numbers: hidden_size and num_hidden_layers in the config.json that each model's
// publisher ships with the weights on Hugging Face (Kimi-K2.5: those of its text_config).
// llama-3-70b stands for 3.1 and 3.3 too, glm-4.5 for 4.6. Extra draft layers (MTP, EAGLE) and
// MiniMax-M2's few-byte q/k norm allreduces are not counted.
// Thread safety: constants and pure functions.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace arbench {

struct Model {
  std::string_view name;  ///< as --model takes it
  int hidden = 0;         ///< elements per token of an allreduce
  int layers = 0;

  /// Allreduces of one forward pass: after attention and after the MLP (or experts) of each layer.
  /// A vocabulary-parallel embedding adds one that is not counted here.
  constexpr int allreduces_per_pass() const { return 2 * layers; }
  /// Elements per rank of one allreduce over `tokens` tokens; times the dtype's size, its bytes.
  constexpr std::uint64_t elements(std::uint64_t tokens) const {
    return static_cast<std::uint64_t>(hidden) * tokens;
  }
};

/// All known models, in the order of --help.
std::span<const Model> models();
std::vector<std::string> model_names();
/// The one of that name, or null.
const Model* find_model(std::string_view name);

}  // namespace arbench

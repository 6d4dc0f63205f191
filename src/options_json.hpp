// The effective configuration, for run.json.
#pragma once

#include <nlohmann/json_fwd.hpp>

#include "options.hpp"

namespace arbench {

/// Every field of the options under its own name; empty lists and absent values stand as they are.
nlohmann::json config_json(const Options& options);

}  // namespace arbench

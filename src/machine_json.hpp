// A Machine as JSON, field by field under the same names: how a child hands it over, and how
// run.json keeps it.
#pragma once

#include <nlohmann/json_fwd.hpp>

#include "machine.hpp"

namespace arbench {

nlohmann::json machine_to_json(const Machine& machine);
/// Throws nlohmann::json::exception for a text that machine_to_json did not write.
Machine machine_from_json(const nlohmann::json& json);

}  // namespace arbench

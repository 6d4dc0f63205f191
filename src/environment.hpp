// Where and how a run happened, for run.json: enough to tell two runs' environments apart, nothing
// secret. Everything is taken by name from an allow-list; host name, user and the rest of the
// environment are not read.
#pragma once

#include <nlohmann/json_fwd.hpp>
#include <string>
#include <vector>

#include "machine.hpp"

namespace arbench {

/// Build, machine, system, command line and NCCL_*, CUDA_* and ARBENCH_* variables. Cheap: reads
/// some files of /proc and /sys, calls no driver. Never throws for what is absent (null), and the
/// result always dumps: bytes that are not UTF-8 are replaced. `start_time_utc` is the time of the
/// call.
nlohmann::json environment(const Machine& machine, const std::vector<std::string>& argv);

/// Those of `variables` ("NAME=value", ended by a null pointer, as environ) whose names begin with
/// NCCL_, CUDA_ or ARBENCH_. A name that holds TOKEN, KEY, SECRET, PASS, AUTH or CRED in any case
/// is kept with the value null.
nlohmann::json recorded_variables(const char* const* variables);

}  // namespace arbench

// The result folder of a run that was cut, for --resume. Pure but for reading the folder.
#pragma once

#include <filesystem>
#include <memory>
#include <nlohmann/json_fwd.hpp>
#include <span>
#include <string>
#include <vector>

#include "result.hpp"

namespace arbench {

/// What a cut run left.
struct Finished {
  std::vector<Row> rows;    ///< in the order of the file
  std::string environment;  ///< of run.json, as JSON text
};

/// Reads `folder`/run.json and rows.csv. `cases` are those of the whole run, which give each row its point; a half-written
/// last line is no row. Throws UsageError ("--resume DIR: ...") that names what differs when the run had another
/// configuration, build, driver or machine than the present one, has rows of other cases, or cannot be read.
Finished read_back(const std::filesystem::path& folder, const nlohmann::json& environment,
                   const nlohmann::json& config, std::span<const Case> cases);

}  // namespace arbench

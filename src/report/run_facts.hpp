// What is the same for all rows of a run, as the keys of each row repeat it.
#pragma once

#include <map>
#include <nlohmann/json_fwd.hpp>
#include <string>

namespace arbench {

/// Empty: not known.
struct RunFacts {
  std::string run_id;                    ///< when it started, in UTC
  std::string build_id;                  ///< "1a2b3c4-dirty+cuda12.8+Release"; "+host" without CUDA
  std::string cuda_runtime;              ///< "12.8"
  std::string driver;                    ///< "590.48.01"
  std::string nccl_version;              ///< of the library that was opened, "2.28.9"
  std::map<int, std::string> gpu_names;  ///< by device id
};

/// Takes them from what environment() (environment.hpp) wrote. What is absent there, null or of
/// another type stays empty.
RunFacts run_facts(const nlohmann::json& environment);

}  // namespace arbench

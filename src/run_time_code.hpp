// The kernels as the toolkits of --toolkit compile them at run time, so that contenders of one point
// differ in the compiler alone. Compiled once, before workers start, who inherit all of it by fork.
// Thread safety: compile_cases() runs alone; run_time_code() at any time after it.
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "arbench/case.hpp"
#include "machine.hpp"
#include "nvrtc.hpp"

namespace arbench {

/// The toolkits named "nvrtc:PATH" in --toolkit, in its order; "build" is none. Throws UsageError for
/// one that cannot be used, and for two of one version, whose rows would have the same keys.
std::vector<Nvrtc> open_toolkits(const std::vector<std::string>& listed);

/// "nvrtc 12.8.93": Case::toolkit.
std::string toolkit_name(const Nvrtc& nvrtc);

/// Like compile(), but what was compiled before comes from `folder`, and what compiles goes there; the name of a
/// file holds a hash of sources, options and version. Nothing is kept with an empty folder, or where it cannot be written.
Compiled compile_cached(const Nvrtc& nvrtc, const CompileRequest& request,
                        const std::string& folder);

/// $XDG_CACHE_HOME/arbench, or ~/.cache/arbench; empty if there is no home.
std::string cache_folder();

/// Compiles what the cases launch, each kernel instance by itself, for the devices they run on, and
/// keeps it. `progress` is called before each: its number from 1, how many there are, and what it is.
void compile_cases(const std::vector<Case>& cases, const Machine& machine,
                   const std::vector<Nvrtc>& toolkits,
                   const std::function<void(int, int, const std::string&)>& progress);

/// One kernel instance for one architecture ("sm_120").
struct RunTimeCode {
  std::string cubin;
  std::string error;  ///< one line of the log; empty if there is a cubin
};

/// Null if compile_cases() was never asked for it.
const RunTimeCode* run_time_code(const std::string& toolkit, const std::string& instance,
                                 const std::string& architecture);

/// Why the toolkit of the case has no code for it; nothing if it has, or if the code is the build's.
std::optional<std::string> no_code(const Case& point, const Machine& machine);

}  // namespace arbench

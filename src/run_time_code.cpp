#include "run_time_code.hpp"

#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <map>
#include <set>
#include <sstream>
#include <tuple>

#include "arbench/algorithm.hpp"
#include "option_values.hpp"
#include "report/durable_file.hpp"

namespace arbench {
namespace {

constexpr const char* kNvrtc = "nvrtc:";
constexpr std::size_t kMaxError = 200;

/// Toolkit, instance, architecture.
using Key = std::tuple<std::string, std::string, std::string>;

std::map<Key, RunTimeCode>& compiled() {
  static std::map<Key, RunTimeCode> all;
  return all;
}

/// FNV-1a.
std::uint64_t hash(const std::string& text) {
  std::uint64_t value = 0xcbf29ce484222325u;
  for (const char c : text) value = (value ^ static_cast<unsigned char>(c)) * 0x100000001b3u;
  return value;
}

std::filesystem::path cached_file(const Nvrtc& nvrtc, const CompileRequest& request,
                                  const std::string& folder) {
  std::string text = nvrtc.version() + "\n" + program_text(request);
  for (const std::string& option : nvrtc.options(request.architecture)) text += option + "\n";
  char digits[17];
  std::snprintf(digits, sizeof digits, "%016llx", static_cast<unsigned long long>(hash(text)));
  return std::filesystem::path(folder) /
         ("nvrtc-" + nvrtc.version() + "-" + request.architecture + "-" + digits + ".cubin");
}

/// The log's first line that says "error", or its first one.
std::string first_error(const std::string& log) {
  std::istringstream lines(log);
  std::string first = "no word of why";
  for (std::string line; std::getline(lines, line);) {
    if (first == "no word of why" && !line.empty()) first = line;
    if (line.find("error") == std::string::npos) continue;
    first = line;
    break;
  }
  return first.substr(0, kMaxError);
}

std::string architecture_of(int device, const Machine& machine) {
  for (const Gpu& gpu : machine.gpus)
    if (gpu.device == device) return "sm_" + std::to_string(gpu.major) + std::to_string(gpu.minor);
  return "";
}

/// What the case launches on each of its devices; its toolkit is not the build.
std::set<Key> keys_of(const Case& point, const Machine& machine) {
  std::set<Key> keys;
  const Algorithm* algorithm = find_algorithm(point.backend, point.algorithm);
  if (point.toolkit.empty() || algorithm == nullptr || !algorithm->instance) return keys;
  for (int device : point.devices)
    keys.emplace(point.toolkit, algorithm->instance(point), architecture_of(device, machine));
  return keys;
}

/// REQUIRES: it is one of them.
const Nvrtc& toolkit_named(const std::string& name, const std::vector<Nvrtc>& toolkits) {
  return *std::find_if(toolkits.begin(), toolkits.end(),
                       [&](const Nvrtc& one) { return toolkit_name(one) == name; });
}

}  // namespace

std::string toolkit_name(const Nvrtc& nvrtc) { return "nvrtc " + nvrtc.version(); }

std::vector<Nvrtc> open_toolkits(const std::vector<std::string>& listed) {
  std::vector<Nvrtc> toolkits;
  for (const std::string& item : listed) {
    if (!item.starts_with(kNvrtc)) continue;
    const Argument argument{"--toolkit", item};
    try {
      Nvrtc nvrtc(item.substr(std::string(kNvrtc).size()));
      for (const Nvrtc& other : toolkits)
        if (other.version() == nvrtc.version())
          refuse(argument, "is " + toolkit_name(nvrtc) + " like " + other.library() +
                               ", accepts each version once");
      toolkits.push_back(std::move(nvrtc));
    } catch (const UsageError&) {
      throw;
    } catch (const std::runtime_error& error) {
      refuse(argument, std::string(error.what()) +
                           "; accepts the folder of a CUDA toolkit, or the libnvrtc.so in it");
    }
  }
  return toolkits;
}

std::string cache_folder() {
  const auto variable = [](const char* name) {
    const char* value = std::getenv(name);
    return std::string(value == nullptr ? "" : value);
  };
  if (const auto cache = variable("XDG_CACHE_HOME"); !cache.empty()) return cache + "/arbench";
  const auto home = variable("HOME");
  return home.empty() ? "" : home + "/.cache/arbench";
}

Compiled compile_cached(const Nvrtc& nvrtc, const CompileRequest& request,
                        const std::string& folder) {
  if (folder.empty()) return nvrtc.compile(request);
  const std::filesystem::path path = cached_file(nvrtc, request, folder);
  std::ifstream file(path, std::ios::binary);
  std::string kept{std::istreambuf_iterator<char>(file), {}};
  if (kept.starts_with("\177ELF")) return {std::move(kept), ""};
  Compiled made = nvrtc.compile(request);
  if (made.cubin.empty()) return made;
  std::error_code ignored;
  std::filesystem::create_directories(folder, ignored);
  try {
    replace_file(path, made.cubin);
  } catch (const WriteError&) {  // then it is compiled again next time
  }
  return made;
}

void compile_cases(const std::vector<Case>& cases, const Machine& machine,
                   const std::vector<Nvrtc>& toolkits,
                   const std::function<void(int, int, const std::string&)>& progress) {
  std::map<Key, std::string> wanted;  // and the file that holds it
  for (const Case& point : cases)
    for (const Key& key : keys_of(point, machine))
      wanted[key] = find_algorithm(point.backend, point.algorithm)->source;
  const std::string folder = cache_folder();
  int number = 0;
  for (const auto& [key, source] : wanted) {
    const auto& [toolkit, instance, architecture] = key;
    progress(++number, static_cast<int>(wanted.size()), toolkit + ": " + instance);
    Compiled made = compile_cached(toolkit_named(toolkit, toolkits),
                                   {source, {instance}, architecture}, folder);
    RunTimeCode code{std::move(made.cubin), ""};
    if (code.cubin.empty()) code.error = first_error(made.log);
    compiled()[key] = std::move(code);
  }
}

const RunTimeCode* run_time_code(const std::string& toolkit, const std::string& instance,
                                 const std::string& architecture) {
  const auto found = compiled().find({toolkit, instance, architecture});
  return found == compiled().end() ? nullptr : &found->second;
}

std::optional<std::string> no_code(const Case& point, const Machine& machine) {
  for (const Key& key : keys_of(point, machine)) {
    const auto found = compiled().find(key);
    if (found == compiled().end()) return "was not compiled by " + point.toolkit;
    if (!found->second.error.empty())
      return point.toolkit + " does not compile it: " + found->second.error;
  }
  return std::nullopt;
}

}  // namespace arbench

#include "environment.hpp"

#include <unistd.h>

#include <algorithm>
#include <array>
#include <cctype>
#include <chrono>
#include <ctime>
#include <nlohmann/json.hpp>
#include <string_view>

#include "machine_json.hpp"
#include "system_facts.hpp"
#include "versions.hpp"

#ifndef ARBENCH_VERSION
#define ARBENCH_VERSION "unknown"
#endif
#ifndef ARBENCH_GIT_COMMIT
#define ARBENCH_GIT_COMMIT ""
#endif
#ifndef ARBENCH_BUILD_TYPE
#define ARBENCH_BUILD_TYPE ""
#endif
#ifndef ARBENCH_COMPILER
#define ARBENCH_COMPILER __VERSION__
#endif

namespace arbench {
namespace {

using nlohmann::json;

constexpr std::array<std::string_view, 3> kRecorded{"NCCL_", "CUDA_", "ARBENCH_"};
constexpr std::array<std::string_view, 6> kSecret{"TOKEN", "KEY", "SECRET", "PASS", "AUTH", "CRED"};
constexpr std::string_view kDirty = "-dirty";

json null_if_empty(const std::string& text) { return text.empty() ? json() : json(text); }
json null_if_zero(int version, std::string (*text)(int)) {
  return version ? json(text(version)) : json();
}

/// The build writes `git describe --always --dirty`'s form, so that one macro holds both facts.
json build_facts() {
  std::string commit = ARBENCH_GIT_COMMIT;
  json dirty;
  if (!commit.empty()) dirty = commit.ends_with(kDirty);
  if (commit.ends_with(kDirty)) commit.resize(commit.size() - kDirty.size());
  return {{"version", ARBENCH_VERSION},
          {"git_commit", null_if_empty(commit)},
          {"git_dirty", dirty},
          {"compiler", ARBENCH_COMPILER},
          {"build_type", null_if_empty(ARBENCH_BUILD_TYPE)}};
}

json cuda_facts(const Machine& machine) {
  return {{"toolkit", null_if_zero(machine.build_toolkit, cuda_text)},
          {"runtime", null_if_zero(machine.runtime, cuda_text)},
          {"driver", null_if_empty(machine.driver)},
          {"driver_supports", null_if_zero(machine.driver_cuda, cuda_text)},
          {"architectures", machine.architectures},
          {"mps", machine.mps},
          {"error", null_if_empty(machine.cuda_error)}};
}

json nccl_facts(const Machine& machine) {
  return {{"header", null_if_zero(machine.nccl_header, nccl_text)},
          {"library", null_if_zero(machine.nccl_library, nccl_text)},
          {"toolkit", null_if_zero(machine.nccl_toolkit, cuda_text)},
          {"path", null_if_empty(machine.nccl_path)},
          {"error", null_if_empty(machine.nccl_error)}};
}

/// What the driver says of each GPU, with what the kernel says of its slot.
json gpu_list(const Machine& machine) {
  json gpus = machine_to_json(machine).at("gpus");
  for (auto& gpu : gpus) gpu["pci"] = pci_facts("", gpu.at("pci_bus_id").get<std::string>());
  return gpus;
}

/// "2025-01-31T12:34:56Z"
std::string now_utc() {
  const std::time_t now = std::chrono::system_clock::to_time_t(std::chrono::system_clock::now());
  std::tm parts{};
  gmtime_r(&now, &parts);
  char text[32];
  std::strftime(text, sizeof text, "%Y-%m-%dT%H:%M:%SZ", &parts);
  return text;
}

std::string upper(std::string_view text) {
  std::string result(text);
  std::transform(result.begin(), result.end(), result.begin(),
                 [](unsigned char c) { return static_cast<char>(std::toupper(c)); });
  return result;
}

}  // namespace

json recorded_variables(const char* const* variables) {
  json recorded = json::object();
  for (; variables && *variables; ++variables) {
    const std::string_view text = *variables;
    const std::size_t equals = text.find('=');
    if (equals == std::string_view::npos) continue;
    const std::string_view name = text.substr(0, equals);
    if (std::none_of(kRecorded.begin(), kRecorded.end(),
                     [&](std::string_view prefix) { return name.starts_with(prefix); }))
      continue;
    const bool secret = std::any_of(kSecret.begin(), kSecret.end(), [&](std::string_view word) {
      return upper(name).find(word) != std::string::npos;
    });
    recorded[std::string(name)] = secret ? json() : json(text.substr(equals + 1));
  }
  return recorded;
}

json environment(const Machine& machine, const std::vector<std::string>& argv) {
  const json facts{{"start_time_utc", now_utc()},
                   {"argv", argv},
                   {"arbench", build_facts()},
                   {"cuda", cuda_facts(machine)},
                   {"nccl", nccl_facts(machine)},
                   {"system", system_facts("")},
                   {"gpus", gpu_list(machine)},
                   {"peer_access", machine.peer_access},
                   {"variables", recorded_variables(environ)}};
  return json::parse(facts.dump(-1, ' ', false, json::error_handler_t::replace));
}

}  // namespace arbench

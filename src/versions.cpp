#include "versions.hpp"

#include <algorithm>
#include <array>
#include <charconv>
#include <optional>
#include <regex>
#include <utility>

namespace arbench {
namespace {

struct ToolkitDriver {
  int toolkit;
  std::string_view driver;
};
// Source: CUDA Toolkit Release Notes, table "CUDA Toolkit and Corresponding Driver Versions", Linux
// x86_64, the first release of each minor version
// (https://docs.nvidia.com/cuda/cuda-toolkit-release-notes/).
constexpr std::array<ToolkitDriver, 13> kToolkitDrivers{{{12000, "525.60.13"},
                                                         {12010, "530.30.02"},
                                                         {12020, "535.54.03"},
                                                         {12030, "545.23.06"},
                                                         {12040, "550.54.14"},
                                                         {12050, "555.42.02"},
                                                         {12060, "560.28.03"},
                                                         {12080, "570.26"},
                                                         {12090, "575.51.03"},
                                                         {13000, "580.65.06"},
                                                         {13010, "590.44.01"},
                                                         {13020, "595.45.04"},
                                                         {13030, "610.43.02"}}};

struct Architecture {
  bool cubin = false;
  int major = 0, minor = 0;
  char suffix = 0;  ///< 0, 'a' (this capability only) or 'f' (its family)
};

/// "sm_120a" -> cubin, 12, 0, 'a'. Nothing for a text of another form.
std::optional<Architecture> parse(std::string_view text) {
  Architecture result;
  for (const auto& [prefix, cubin] :
       {std::pair{std::string_view("sm_"), true}, std::pair{std::string_view("compute_"), false}}) {
    if (!text.starts_with(prefix)) continue;
    text.remove_prefix(prefix.size());
    result.cubin = cubin;
    int number = 0;
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
    if (error != std::errc{}) return std::nullopt;
    result.major = number / 10;
    result.minor = number % 10;
    if (end != text.data() + text.size()) result.suffix = *end;
    return result;
  }
  return std::nullopt;
}

bool runs_on(const Architecture& code, int major, int minor) {
  const bool same_major = code.major == major;
  if (code.suffix == 'a') return same_major && code.minor == minor;
  if (code.cubin || code.suffix == 'f') return same_major && code.minor <= minor;
  return code.major < major || (same_major && code.minor <= minor);
}

bool holds(const std::vector<std::string>& architectures, bool cubin, int major, int minor) {
  return std::any_of(architectures.begin(), architectures.end(), [&](const std::string& text) {
    const auto code = parse(text);
    return code && code->cubin == cubin && runs_on(*code, major, minor);
  });
}

}  // namespace

int cuda_major(int version) { return version / 1000; }

std::string cuda_text(int version) {
  return std::to_string(version / 1000) + "." + std::to_string(version % 1000 / 10);
}

// nccl.h: up to 2.8 a version is 1000 x major + 100 x minor + patch, later 10000 x major + ...
int nccl_major(int version) { return version < 10000 ? version / 1000 : version / 10000; }

std::string nccl_text(int version) {
  const int rest = version < 10000 ? version % 1000 : version % 10000;
  return std::to_string(nccl_major(version)) + "." + std::to_string(rest / 100) + "." +
         std::to_string(rest % 100);
}

std::string driver_of_toolkit(int version) {
  for (const auto& row : kToolkitDrivers)
    if (row.toolkit == version) return std::string(row.driver);
  return "";
}

// Source: CUDA Compatibility, "Minor Version Compatibility", table 1
// (https://docs.nvidia.com/deploy/cuda-compatibility/minor-version-compatibility.html).
int oldest_branch_of_major(int major) {
  if (major == 11) return 450;
  if (major == 12) return 525;
  if (major == 13) return 580;
  return 0;
}

// NCCL's init.cc joins the text of NCCL_SUFFIX, often empty, with "+cuda".
int toolkit_in_nccl(std::string_view bytes) {
  constexpr std::string_view kBefore = "NCCL version ";
  constexpr std::size_t kLongest = 40;
  static const std::regex kVersion(R"(\d[\w.-]*\+cuda(\d{1,3})\.(\d)(?!\d))");
  for (std::size_t at = 0; (at = bytes.find(kBefore, at)) != std::string_view::npos;) {
    at += kBefore.size();
    const std::string text(bytes.substr(at, kLongest));
    std::smatch match;
    if (std::regex_search(text, match, kVersion, std::regex_constants::match_continuous))
      return std::stoi(match[1]) * 1000 + std::stoi(match[2]) * 10;
  }
  return 0;
}

std::string driver_in_proc(std::string_view text) {
  // The first line is NVRM's; the second names the compiler, whose version has a shorter first
  // number.
  static const std::regex kVersion(R"(\b(\d{3,}\.\d+(\.\d+)?)\b)");
  std::match_results<std::string_view::const_iterator> match;
  return std::regex_search(text.begin(), text.end(), match, kVersion) ? match[1].str() : "";
}

bool holds_cubin(const std::vector<std::string>& architectures, int major, int minor) {
  return holds(architectures, true, major, minor);
}

bool holds_ptx(const std::vector<std::string>& architectures, int major, int minor) {
  return holds(architectures, false, major, minor);
}

std::string code_text(int binary_version, int ptx_version,
                      const std::vector<std::string>& architectures) {
  const bool listed =
      std::any_of(architectures.begin(), architectures.end(), [&](const std::string& text) {
        const auto code = parse(text);
        return code && code->cubin && code->major * 10 + code->minor == binary_version;
      });
  if (listed || (architectures.empty() && binary_version == ptx_version))
    return "sm_" + std::to_string(binary_version) + " cubin";
  return "compute_" + std::to_string(ptx_version) + " PTX";
}

}  // namespace arbench

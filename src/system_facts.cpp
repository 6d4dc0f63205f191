#include "system_facts.hpp"

#include <sys/utsname.h>

#include <algorithm>
#include <array>
#include <cctype>
#include <charconv>
#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>
#include <sstream>
#include <string_view>
#include <thread>

namespace arbench {
namespace {

namespace fs = std::filesystem;
using nlohmann::json;

constexpr std::array<std::string_view, 4> kKernelOptions{"iommu", "intel_iommu", "amd_iommu",
                                                         "pci"};

json first_line(const std::string& path) {
  std::ifstream file(path);
  std::string line;
  return std::getline(file, line) ? json(line) : json();
}

/// The rest of the first line that begins with `key` and then `separator`, blanks around it left
/// out.
json value_in(const std::string& path, std::string_view key, char separator) {
  std::ifstream file(path);
  for (std::string line; std::getline(file, line);) {
    const auto at = line.find(separator);
    if (at == std::string::npos || !line.starts_with(key)) continue;
    const auto begin = line.find_first_not_of(" \t\"", at + 1);
    const auto end = line.find_last_not_of(" \t\"");
    return begin == std::string::npos ? json() : json(line.substr(begin, end - begin + 1));
  }
  return {};
}

/// Entries of a folder whose names begin with `prefix` and go on with a digit, or all for an empty
/// prefix.
json count_entries(const std::string& folder, std::string_view prefix = "") {
  std::error_code error;
  int count = 0;
  for (const auto& entry : fs::directory_iterator(folder, error)) {
    const std::string name = entry.path().filename();
    if (prefix.empty() || (name.starts_with(prefix) && name.size() > prefix.size() &&
                           std::isdigit(static_cast<unsigned char>(name[prefix.size()]))))
      ++count;
  }
  return error ? json() : json(count);
}

json iommu_facts(const std::string& root) {
  json options = json::array();
  std::ifstream command_line(root + "/proc/cmdline");
  for (std::string word; command_line >> word;)
    if (std::any_of(kKernelOptions.begin(), kKernelOptions.end(),
                    [&](std::string_view option) { return word.starts_with(option); }))
      options.push_back(word);
  return {{"units", count_entries(root + "/sys/class/iommu")},
          {"groups", count_entries(root + "/sys/kernel/iommu_groups")},
          {"kernel_options", options}};
}

}  // namespace

json system_facts(const std::string& root) {
  json facts{{"kernel", nullptr}, {"machine", nullptr}};
  if (utsname names{}; uname(&names) == 0) {
    facts["kernel"] = std::string(names.sysname) + " " + names.release;
    facts["machine"] = names.machine;
  }
  facts["os"] = value_in(root + "/etc/os-release", "PRETTY_NAME", '=');
  facts["cpu_model"] = value_in(root + "/proc/cpuinfo", "model name", ':');
  facts["cpus"] = std::thread::hardware_concurrency();
  facts["numa_nodes"] = count_entries(root + "/sys/devices/system/node", "node");
  facts["governor"] = first_line(root + "/sys/devices/system/cpu/cpu0/cpufreq/scaling_governor");
  facts["iommu"] = iommu_facts(root);
  return facts;
}

json pci_facts(const std::string& root, const std::string& pci_bus_id) {
  std::string address = pci_bus_id;  // sysfs writes lower case
  std::transform(address.begin(), address.end(), address.begin(),
                 [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
  const std::string folder = root + "/sys/bus/pci/devices/" + address + "/";
  json numa;
  int node = 0;
  if (const json line = first_line(folder + "numa_node"); line.is_string()) {
    const auto& text = line.get_ref<const std::string&>();
    if (std::from_chars(text.data(), text.data() + text.size(), node).ec == std::errc{})
      numa = node;
  }
  return {{"numa_node", numa},
          {"iommu_group_type", first_line(folder + "iommu_group/type")},
          {"current_link_speed", first_line(folder + "current_link_speed")},
          {"current_link_width", first_line(folder + "current_link_width")},
          {"max_link_speed", first_line(folder + "max_link_speed")},
          {"max_link_width", first_line(folder + "max_link_width")}};
}

}  // namespace arbench

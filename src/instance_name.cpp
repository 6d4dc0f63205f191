#include <cxxabi.h>

#include <cstdlib>
#include <memory>

#include "arbench/launch.hpp"

namespace arbench {
namespace {

/// "arbench::OneShotPull": as it is named within its file, where it lies in an unnamed namespace.
std::string type_name(const std::type_info& type) {
  int status = 0;
  const std::unique_ptr<char, decltype(&std::free)> raw(
      abi::__cxa_demangle(type.name(), nullptr, nullptr, &status), &std::free);
  std::string name = raw ? raw.get() : type.name();
  static constexpr std::string_view kUnnamed = "(anonymous namespace)::";
  for (std::size_t at; (at = name.find(kUnnamed)) != std::string::npos;)
    name.erase(at, kUnnamed.size());
  return name;
}

}  // namespace

std::string instance_name(const std::type_info& kernel, const std::type_info& element, int ranks) {
  return "arbench::kernel_entry<" + type_name(kernel) + ", " + type_name(element) + ", " +
         std::to_string(ranks) + ">";
}

}  // namespace arbench

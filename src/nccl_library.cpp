#include "nccl_library.hpp"

#include <dlfcn.h>
#include <glob.h>
#include <link.h>

#include <algorithm>
#include <array>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <sstream>

#include "versions.hpp"

namespace arbench {
namespace {

namespace fs = std::filesystem;

constexpr const char* kSoname = "libnccl.so.2";
constexpr std::array kNeeded{"ncclGetVersion",     "ncclGetUniqueId",      "ncclCommInitRank",
                             "ncclAllReduce",      "ncclCommDestroy",      "ncclCommAbort",
                             "ncclGetErrorString", "ncclCommGetAsyncError"};

std::string environment_value(const char* name) {
  const char* value = std::getenv(name);
  return value ? value : "";
}

/// The file behind a handle, since "libnccl.so.2" does not say which one the loader took.
std::string loaded_path(void* handle) {
  link_map* map = nullptr;
  if (dlinfo(handle, RTLD_DI_LINKMAP, &map) != 0 || !map || !map->l_name) return "";
  std::error_code error;
  const fs::path resolved = fs::canonical(map->l_name, error);
  return error ? map->l_name : resolved.string();
}

/// `name` is a path or a soname. The error names it once, as dlerror's text may or may not.
NcclLibrary open_one(const std::string& name) {
  NcclLibrary library;
  void* handle = dlopen(name.c_str(), RTLD_NOW | RTLD_LOCAL);
  if (!handle) {
    const std::string text = dlerror();
    library.error = text.find(name) == std::string::npos ? name + ": " + text : text;
    return library;
  }
  library.path = loaded_path(handle);
  const auto missing = std::find_if(kNeeded.begin(), kNeeded.end(), [&](const char* function) {
    return dlsym(handle, function) == nullptr;
  });
  if (missing != kNeeded.end()) {
    library.error = name + " has no function " + *missing + ": not an NCCL that arbench can use";
    dlclose(handle);  // nothing of it has run
    return library;
  }
  // ncclResult_t ncclGetVersion(int*): the one signature that is needed without nccl.h; 0 is
  // ncclSuccess.
  const auto get_version = reinterpret_cast<int (*)(int*)>(dlsym(handle, "ncclGetVersion"));
  if (get_version(&library.version) != 0) library.error = name + ": ncclGetVersion failed";
  if (library.error.empty()) library.handle = handle;
  return library;
}

/// The folder that holds bin/python3 for the first python3 on $PATH, as a link (a virtual
/// environment) and resolved (its base). Empty where there is none.
std::vector<fs::path> python_prefixes() {
  std::istringstream folders(environment_value("PATH"));
  std::error_code error;
  for (std::string folder; std::getline(folders, folder, ':');) {
    const fs::path python = fs::path(folder) / "python3";
    if (!fs::exists(python, error)) continue;
    const fs::path resolved = fs::canonical(python, error);
    return {python.parent_path().parent_path(), resolved.parent_path().parent_path()};
  }
  return {};
}

std::vector<fs::path> prefixes() {
  std::vector<fs::path> all;
  for (const char* name : {"VIRTUAL_ENV", "CONDA_PREFIX"})
    if (const auto value = environment_value(name); !value.empty()) all.push_back(value);
  for (const auto& prefix : python_prefixes()) all.push_back(prefix);
  const fs::path home = environment_value("HOME");
  fs::path pyenv = environment_value("PYENV_ROOT");
  if (pyenv.empty() && !home.empty()) pyenv = home / ".pyenv";
  // pyenv's python3 on $PATH is a shim that says nothing of the version chosen, so all versions
  // count.
  if (!pyenv.empty()) all.push_back(pyenv / "versions/*");
  if (!home.empty()) all.push_back(home / ".local");
  all.push_back("/usr/local");
  all.push_back("/usr");
  return all;
}

std::vector<std::string> matches(const std::string& pattern) {
  glob_t found{};
  std::vector<std::string> paths;
  if (glob(pattern.c_str(), 0, nullptr, &found) == 0)
    paths.assign(found.gl_pathv, found.gl_pathv + found.gl_pathc);
  globfree(&found);
  return paths;
}

}  // namespace

std::vector<std::string> nccl_wheels() {
  std::vector<std::string> wheels;
  for (const auto& prefix : prefixes())
    for (const char* folder : {"lib/python3*/site-packages", "lib64/python3*/site-packages",
                               "lib/python3*/dist-packages"})
      for (auto& path : matches((prefix / folder / "nvidia/nccl/lib" / kSoname).string()))
        if (std::find(wheels.begin(), wheels.end(), path) == wheels.end()) wheels.push_back(path);
  return wheels;
}

NcclLibrary open_nccl(const std::string& nccl_lib) {
  if (!nccl_lib.empty()) return open_one(nccl_lib);
  if (const auto path = environment_value("ARBENCH_NCCL_LIB"); !path.empty()) {
    auto library = open_one(path);
    if (!library) library.error += " (set by ARBENCH_NCCL_LIB)";
    return library;
  }
  auto library = open_one(kSoname);
  std::string errors = library.error;
  for (const auto& wheel : nccl_wheels()) {
    if (library) break;
    library = open_one(wheel);
    errors += "; " + library.error;
  }
  if (!library) library.error = errors;
  return library;
}

int nccl_toolkit(const std::string& path) {
  // The text lies before the GPU code, which is most of a file of some 200 MB.
  constexpr std::size_t kMost = 32 << 20;
  std::ifstream file(path, std::ios::binary);
  std::string bytes(kMost, '\0');
  file.read(bytes.data(), static_cast<std::streamsize>(kMost));
  bytes.resize(static_cast<std::size_t>(file.gcount()));
  return toolkit_in_nccl(bytes);
}

#ifdef ARBENCH_NCCL
namespace {
template <class Function>
void find(void* handle, const char* name, Function& function) {
  function = reinterpret_cast<Function>(dlsym(handle, name));
}
}  // namespace

NcclApi nccl_api(const NcclLibrary& library) {
  NcclApi api;
  find(library.handle, "ncclGetVersion", api.get_version);
  find(library.handle, "ncclGetUniqueId", api.get_unique_id);
  find(library.handle, "ncclCommInitRank", api.comm_init_rank);
  find(library.handle, "ncclAllReduce", api.all_reduce);
  find(library.handle, "ncclCommDestroy", api.comm_destroy);
  find(library.handle, "ncclCommAbort", api.comm_abort);
  find(library.handle, "ncclCommGetAsyncError", api.comm_get_async_error);
  find(library.handle, "ncclGetErrorString", api.get_error_string);
  find(library.handle, "ncclCommInitRankConfig", api.comm_init_rank_config);
  find(library.handle, "ncclGetLastError", api.get_last_error);
  find(library.handle, "ncclCommFinalize", api.comm_finalize);
  return api;
}
#endif

}  // namespace arbench

#include "nvrtc.hpp"

#include <dlfcn.h>
#include <glob.h>

#include <array>
#include <filesystem>
#include <string_view>
#include <utility>

#include "kernel_sources.hpp"

namespace arbench {
namespace {

namespace fs = std::filesystem;

/// NVRTC has no headers of the host's compiler. This is what the kernels use of them.
const std::array<KernelSource, 3> kStandardHeaders{{
    {"cstdint",
     "#pragma once\n"
     "namespace std {\n"
     "using int32_t = int;\n"
     "using int64_t = long;\n"
     "using uint16_t = unsigned short;\n"
     "using uint32_t = unsigned int;\n"
     "using uint64_t = unsigned long;\n"
     "}\n"},
    {"cstddef",
     "#pragma once\n"
     "namespace std {\n"
     "using size_t = decltype(sizeof 0);\n"
     "enum class byte : unsigned char {};\n"
     "}\n"},
    {"cstring", "#pragma once\n"},  // memcpy() is known as it is
}};

/// NVRTC's interface, which is the same since CUDA 11.1; nvrtcResult is an int whose 0 is success.
struct Api {
  using Program = void*;
  template <class... Arguments>
  using Function = int (*)(Arguments...);

  Function<int*, int*> version;
  Function<Program*, const char*, const char*, int, const char* const*, const char* const*> create;
  Function<Program*> destroy;
  Function<Program, const char*> add_name;
  Function<Program, int, const char* const*> compile;
  Function<Program, std::size_t*> log_size, cubin_size, ptx_size;
  Function<Program, char*> log, cubin, ptx;
};

template <class Function>
bool find(void* handle, const char* name, Function& function) {
  function = reinterpret_cast<Function>(dlsym(handle, name));
  return function != nullptr;
}

/// False if a function is missing.
bool find_all(void* handle, Api& api) {
  return find(handle, "nvrtcVersion", api.version) &&
         find(handle, "nvrtcCreateProgram", api.create) &&
         find(handle, "nvrtcDestroyProgram", api.destroy) &&
         find(handle, "nvrtcAddNameExpression", api.add_name) &&
         find(handle, "nvrtcCompileProgram", api.compile) &&
         find(handle, "nvrtcGetProgramLogSize", api.log_size) &&
         find(handle, "nvrtcGetProgramLog", api.log) &&
         find(handle, "nvrtcGetCUBINSize", api.cubin_size) &&
         find(handle, "nvrtcGetCUBIN", api.cubin) &&
         find(handle, "nvrtcGetPTXSize", api.ptx_size) && find(handle, "nvrtcGetPTX", api.ptx);
}

Api api_of(void* handle) {
  Api api{};
  find_all(handle, api);
  return api;
}

/// A program in the making.
class Program {
 public:
  Program(const Api& api, const std::string& text, const std::vector<KernelSource>& headers)
      : api_(api) {
    std::vector<const char*> texts, names;
    for (const KernelSource& header : headers) {
      texts.push_back(header.text.c_str());
      names.push_back(header.name.c_str());
    }
    if (api_.create(&program_, text.c_str(), "arbench.cu", static_cast<int>(headers.size()),
                    texts.data(), names.data()) != 0)
      throw std::runtime_error("NVRTC makes no program");
  }
  ~Program() { api_.destroy(&program_); }
  Program(const Program&) = delete;

  void add_name(const std::string& name) { api_.add_name(program_, name.c_str()); }
  bool compile(const std::vector<std::string>& options) {
    std::vector<const char*> list;
    for (const std::string& option : options) list.push_back(option.c_str());
    return api_.compile(program_, static_cast<int>(list.size()), list.data()) == 0;
  }
  /// Both without the zero at a text's end.
  std::string log() const { return text(api_.log_size, api_.log); }
  std::string ptx() const { return text(api_.ptx_size, api_.ptx); }
  std::string cubin() const { return bytes(api_.cubin_size, api_.cubin); }

 private:
  using Size = int (*)(void*, std::size_t*);
  using Get = int (*)(void*, char*);
  std::string bytes(Size size_of, Get get) const {
    std::size_t size = 0;
    if (size_of(program_, &size) != 0) return "";
    std::string all(size, '\0');
    return get(program_, all.data()) == 0 ? all : "";
  }
  std::string text(Size size_of, Get get) const {
    const std::string all = bytes(size_of, get);
    return all.substr(0, all.find('\0'));
  }

  const Api& api_;
  Api::Program program_ = nullptr;
};

std::vector<KernelSource> all_headers() {
  std::vector<KernelSource> headers = kernel_sources();
  headers.insert(headers.end(), kStandardHeaders.begin(), kStandardHeaders.end());
  return headers;
}

/// In a toolkit as it is installed or made by fetch_toolkit.sh; a folder of libraries will do, too.
std::string library_in(const fs::path& folder) {
  for (const char* place : {"lib64", "lib", "targets/*/lib", "."}) {
    glob_t found{};
    std::string path;
    if (glob((folder / place / "libnvrtc.so*").c_str(), 0, nullptr, &found) == 0)
      path = found.gl_pathv[0];
    globfree(&found);
    if (!path.empty()) return path;
  }
  throw std::runtime_error("no libnvrtc.so in its lib64 or lib");
}

/// The toolkit's headers, some two folders above its library.
std::vector<std::string> includes_of(const fs::path& library) {
  for (const char* up : {"..", "../.."}) {
    const fs::path include = (library.parent_path() / up / "include").lexically_normal();
    if (!fs::exists(include / "cuda_fp16.h")) continue;
    for (const fs::path& cccl : {include / "cccl", include})
      if (fs::exists(cccl / "cuda/atomic")) return {include.string(), cccl.string()};
  }
  throw std::runtime_error("no cuda_fp16.h and cuda/atomic in the include folder beside " +
                           library.string());
}

}  // namespace

Nvrtc::Nvrtc(const std::string& path) {
  std::error_code error;
  if (!fs::exists(path, error)) throw std::runtime_error("no such folder or file");
  const std::string file = fs::is_directory(path, error) ? library_in(path) : path;
  library_ = fs::canonical(file).string();
  handle_ = dlopen(library_.c_str(), RTLD_NOW | RTLD_LOCAL);
  Api api{};
  if (handle_ == nullptr || !find_all(handle_, api))
    throw std::runtime_error(library_ + " is not an NVRTC");
  includes_ = includes_of(library_);
  int major = 0, minor = 0;
  api.version(&major, &minor);
  const std::string release = std::to_string(major) + "." + std::to_string(minor);
  // It looks for this one by name, which fails where the name is not on the loader's path.
  const fs::path builtins = fs::path(library_).parent_path() / ("libnvrtc-builtins.so." + release);
  dlopen(builtins.c_str(), RTLD_NOW | RTLD_LOCAL);
  version_ = exact_version(release);
}

/// nvrtcVersion() does not tell the patch; PTX does, "release 12.8, V12.8.93".
std::string Nvrtc::exact_version(const std::string& release) const {
  const Api api = api_of(handle_);
  Program empty(api, "", {});
  if (!empty.compile({"--gpu-architecture=compute_90"})) {
    const std::string log = empty.log();
    throw std::runtime_error(library_ + " does not work: " + log.substr(0, log.find('\n')));
  }
  const std::string ptx = empty.ptx();
  const std::size_t found = ptx.find(", V" + release + ".");
  if (found == std::string::npos) return release;
  const std::size_t start = found + 3;
  return ptx.substr(start, ptx.find_first_not_of("0123456789.", start) - start);
}

std::vector<std::string> Nvrtc::options(const std::string& architecture) const {
  std::vector<std::string> list{"--gpu-architecture=" + architecture, "--std=c++20",
                                "--define-macro=NDEBUG"};
  for (const std::string& folder : includes_) list.push_back("--include-path=" + folder);
  return list;
}

Compiled Nvrtc::compile(const CompileRequest& request) const {
  const Api api = api_of(handle_);
  Program program(api, "#include \"kernels/" + request.source + "\"\n", all_headers());
  for (const std::string& instance : request.instances) program.add_name(instance);
  const bool compiled = program.compile(options(request.architecture));
  return {compiled ? program.cubin() : "", program.log()};
}

std::string program_text(const CompileRequest& request) {
  std::string text = request.source + "\n";
  for (const std::string& instance : request.instances) text += instance + "\n";
  for (const KernelSource& header : all_headers())
    if (!header.name.ends_with(".cu") || header.name == "kernels/" + request.source)
      text += header.name + "\n" + header.text + "\n";
  return text;
}

}  // namespace arbench

// NVRTC, the compiler library of a CUDA toolkit, opened at run time: the program's own kernels, compiled
// by the compiler of another toolkit than the one it was built with. Needs no GPU and no driver.
// Thread safety: an Nvrtc is a plain value; one compile() at a time.
#pragma once

#include <stdexcept>
#include <string>
#include <vector>

namespace arbench {

/// What to compile: instances of kernel_entry() of one kernel file, for one architecture.
struct CompileRequest {
  std::string source;                  ///< "one_shot_pull.cu"
  std::vector<std::string> instances;  ///< see instance_name()
  std::string architecture;            ///< "sm_120"
};

struct Compiled {
  std::string cubin;  ///< empty: it failed
  std::string log;    ///< the compiler's words, whether it failed or not
};

class Nvrtc {
 public:
  /// Opens the library `path`, or the one in the toolkit folder `path`. Throws std::runtime_error with
  /// one line when there is none, when it is no NVRTC or does not work, or when the toolkit's headers are not beside it.
  /// It stays open until the process ends.
  explicit Nvrtc(const std::string& path);

  const std::string& version() const { return version_; }  ///< "12.8.93"
  const std::string& library() const { return library_; }  ///< the file, links resolved
  /// How the build compiles, as NVRTC spells it.
  std::vector<std::string> options(const std::string& architecture) const;
  /// Never throws for what does not compile.
  Compiled compile(const CompileRequest& request) const;

 private:
  std::string exact_version(const std::string& release) const;

  void* handle_ = nullptr;
  std::string library_, version_;
  std::vector<std::string> includes_;  ///< folders of the toolkit's headers
};

/// The text that NVRTC compiles, all headers of the program included.
std::string program_text(const CompileRequest& request);

}  // namespace arbench

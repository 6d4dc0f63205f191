#include "report/durable_file.hpp"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <system_error>
#include <utility>

namespace arbench {
namespace {

constexpr int kNewFile = O_WRONLY | O_CREAT | O_CLOEXEC;
constexpr mode_t kMode = 0666;  // less the umask

/// 0, or errno of the write that failed. A full disk shows as a short write first, as an error
/// then.
int write_all(int descriptor, std::string_view text) {
  while (!text.empty()) {
    const ssize_t written = ::write(descriptor, text.data(), text.size());
    if (written < 0 && errno == EINTR) continue;
    if (written < 0) return errno;
    if (written == 0) return EIO;
    text.remove_prefix(static_cast<std::size_t>(written));
  }
  return 0;
}

/// 0, or errno. What cannot be synced at all (a pipe, some network file systems) is no error.
int sync(int descriptor) {
  while (::fsync(descriptor) != 0) {
    if (errno == EINVAL || errno == ENOTSUP) return 0;
    if (errno != EINTR) return errno;
  }
  return 0;
}

/// A rename is on disk once the folder is.
void sync_folder(const std::filesystem::path& folder) {
  const int descriptor =
      ::open(folder.empty() ? "." : folder.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  if (descriptor < 0) return;
  ::fsync(descriptor);
  ::close(descriptor);
}

std::string failure(const std::filesystem::path& path, const std::string& cause) {
  return "cannot write " + path.string() + ": " + cause + "; rows finished before are kept";
}

}  // namespace

AppendFile::AppendFile(std::filesystem::path path)
    : path_(std::move(path)), descriptor_(::open(path_.c_str(), kNewFile | O_EXCL, kMode)) {
  if (descriptor_ < 0) throw std::system_error(errno, std::generic_category());
}

AppendFile::AppendFile(std::filesystem::path path, Existing)
    : path_(std::move(path)), descriptor_(::open(path_.c_str(), O_WRONLY | O_CLOEXEC)) {
  if (descriptor_ >= 0) length_ = ::lseek(descriptor_, 0, SEEK_END);
  if (descriptor_ < 0 || length_ < 0) throw std::system_error(errno, std::generic_category());
}

AppendFile::~AppendFile() { ::close(descriptor_); }

void AppendFile::append(std::string_view record) {
  require_in_place();
  int error = write_all(descriptor_, record);
  if (error == 0) error = sync(descriptor_);
  if (error != 0) {
    // Best effort: the error below is what the user has to see.
    if (::ftruncate(descriptor_, length_) == 0) ::lseek(descriptor_, length_, SEEK_SET);
    throw WriteError(failure(path_, std::strerror(error)));
  }
  length_ += static_cast<long long>(record.size());
}

void AppendFile::require_in_place() const {
  struct stat open_file {};
  struct stat named_file {};
  if (::fstat(descriptor_, &open_file) == 0 && ::stat(path_.c_str(), &named_file) == 0 &&
      open_file.st_dev == named_file.st_dev && open_file.st_ino == named_file.st_ino)
    return;
  throw WriteError(failure(path_, "it was moved or deleted during the run"));
}

void replace_file(const std::filesystem::path& path, std::string_view text) {
  const std::filesystem::path temporary = path.string() + ".tmp";
  const int descriptor = ::open(temporary.c_str(), kNewFile | O_TRUNC, kMode);
  if (descriptor < 0) throw WriteError(failure(path, std::strerror(errno)));
  int error = write_all(descriptor, text);
  if (error == 0) error = sync(descriptor);
  // Some network file systems tell of a full disk only here.
  if (::close(descriptor) != 0 && error == 0) error = errno;
  if (error == 0 && ::rename(temporary.c_str(), path.c_str()) != 0) error = errno;
  if (error != 0) {
    ::unlink(temporary.c_str());
    throw WriteError(failure(path, std::strerror(error)));
  }
  sync_folder(path.parent_path());
}

}  // namespace arbench

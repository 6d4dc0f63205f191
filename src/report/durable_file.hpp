// Files that are complete on disk after each call, or the call throws. For one thread.
#pragma once

#include <filesystem>
#include <stdexcept>
#include <string>
#include <string_view>

namespace arbench {

/// A result file could not be written: disk full, folder gone, I/O error. what() is one line that
/// names the file, the cause and what is kept.
class WriteError : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

/// A file that only grows, by whole records.
class AppendFile {
 public:
  /// Creates it. Throws std::system_error when that fails, also when the file exists.
  explicit AppendFile(std::filesystem::path path);
  enum class Existing { append };
  /// Goes on behind what a file holds. Throws std::system_error, also when there is none.
  AppendFile(std::filesystem::path path, Existing);
  ~AppendFile();
  AppendFile(const AppendFile&) = delete;
  AppendFile& operator=(const AppendFile&) = delete;

  /// Appends and waits until it is on disk. Throws WriteError; a record that was written in part is
  /// then taken back, so that the file still ends with the record before it. A file that was moved
  /// or deleted counts as an error: what went into it would be lost.
  void append(std::string_view record);

 private:
  void require_in_place() const;

  std::filesystem::path path_;
  int descriptor_;
  long long length_ = 0;  ///< of the whole records
};

/// Replaces the file at once: a reader, or a run that is cut, sees the old text or the new one.
/// Throws WriteError, and then leaves the old file and no other.
void replace_file(const std::filesystem::path& path, std::string_view text);

}  // namespace arbench

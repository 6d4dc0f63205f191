// Host memory in a file descriptor, so that another process can map it too.
// Thread safety: none needed, a Mapping belongs to the driver thread that made it.
#pragma once

#include <cstdint>

namespace arbench {

class Mapping {
 public:
  /// Throws Refused when there is not so much shared memory, std::system_error otherwise.
  static Mapping create(std::uint64_t bytes);
  /// Maps what `process` created; its descriptor there is `fd`.
  static Mapping open(std::int64_t process, int fd, std::uint64_t bytes);
  Mapping(Mapping&& other) noexcept;
  Mapping& operator=(Mapping&&) = delete;
  ~Mapping();

  int fd() const { return fd_; }
  std::uint64_t bytes() const { return bytes_; }
  void* address() const { return address_; }

 private:
  Mapping(int fd, std::uint64_t bytes);

  int fd_;
  std::uint64_t bytes_;
  void* address_ = nullptr;
};

}  // namespace arbench

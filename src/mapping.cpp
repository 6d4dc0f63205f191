#include "mapping.hpp"

#include <fcntl.h>
#include <sys/mman.h>
#include <unistd.h>

#include <cerrno>
#include <string>
#include <system_error>
#include <utility>

#include "arbench/algorithm.hpp"

namespace arbench {

Mapping Mapping::create(std::uint64_t bytes) {
  const int fd = memfd_create("arbench", MFD_CLOEXEC);
  if (fd < 0) throw std::system_error(errno, std::generic_category(), "memfd_create");
  if (ftruncate(fd, static_cast<off_t>(bytes)) != 0) {
    close(fd);
    throw Refused("no " + std::to_string(bytes) + " bytes of shared memory");
  }
  return {fd, bytes};
}

Mapping Mapping::open(std::int64_t process, int remote_fd, std::uint64_t bytes) {
  const auto path = "/proc/" + std::to_string(process) + "/fd/" + std::to_string(remote_fd);
  const int fd = ::open(path.c_str(), O_RDWR | O_CLOEXEC);
  if (fd < 0) throw std::system_error(errno, std::generic_category(), path);
  return {fd, bytes};
}

Mapping::Mapping(Mapping&& other) noexcept
    : fd_(std::exchange(other.fd_, -1)),
      bytes_(other.bytes_),
      address_(std::exchange(other.address_, nullptr)) {}

Mapping::~Mapping() {
  if (address_ != nullptr) munmap(address_, bytes_);
  if (fd_ >= 0) close(fd_);
}

Mapping::Mapping(int fd, std::uint64_t bytes) : fd_(fd), bytes_(bytes) {
  address_ = mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
  if (address_ != MAP_FAILED) return;
  address_ = nullptr;
  close(std::exchange(fd_, -1));
  throw Refused("no address space for " + std::to_string(bytes) + " bytes");
}

}  // namespace arbench

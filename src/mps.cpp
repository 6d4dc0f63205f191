#include "mps.hpp"

#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include <cerrno>
#include <cstdlib>

namespace arbench {

std::string mps_pipe_directory() {
  const char* folder = std::getenv("CUDA_MPS_PIPE_DIRECTORY");
  return folder && *folder ? folder : "/tmp/nvidia-mps";
}

bool mps_daemon_listens(const std::string& pipe_directory) {
  sockaddr_un address{};
  address.sun_family = AF_UNIX;
  const std::string path = pipe_directory + "/control";
  if (path.size() >= sizeof address.sun_path) return false;
  path.copy(address.sun_path, path.size());
  const int fd = socket(AF_UNIX, SOCK_SEQPACKET | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
  if (fd < 0) return false;
  const int result = connect(fd, reinterpret_cast<const sockaddr*>(&address), sizeof address);
  const int error = errno;
  close(fd);
  // EPROTOTYPE: a live socket of another type; EAGAIN: its queue is full. A stale file gives
  // ECONNREFUSED.
  return result == 0 || error == EPROTOTYPE || error == EAGAIN;
}

}  // namespace arbench

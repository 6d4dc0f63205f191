#include "forked.hpp"

#include <fcntl.h>
#include <poll.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <csignal>
#include <cstring>
#include <exception>
#include <optional>
#include <sstream>
#include <string_view>
#include <thread>

namespace arbench {
namespace {

using Clock = std::chrono::steady_clock;
constexpr std::chrono::milliseconds kKillGrace{1000};
constexpr int kThrew = 1;

bool write_all(int fd, std::string_view text) {
  while (!text.empty()) {
    const ssize_t n = write(fd, text.data(), text.size());
    if (n < 0 && errno != EINTR) return false;
    if (n > 0) text.remove_prefix(static_cast<std::size_t>(n));
  }
  return true;
}

/// The child's whole life. Ends by _exit: the parent's atexit handlers and open streams are not the
/// child's.
[[noreturn]] void live_as_child(int fd, const std::function<std::string()>& work) {
  prctl(PR_SET_PDEATHSIG, SIGKILL);  // a killed parent leaves no child on the GPU
  for (int signal_number : {SIGINT, SIGTERM, SIGALRM}) std::signal(signal_number, SIG_DFL);
  int status = 0;
  std::string text;
  try {
    text = work();
  } catch (const std::exception& error) {
    text = error.what();
    status = kThrew;
  } catch (...) {
    text = "an exception without a text";
    status = kThrew;
  }
  _exit(write_all(fd, text) ? status : kThrew);
}

/// Appends to `text` until the writer has closed. False when `until` passes first.
bool read_all(int fd, Clock::time_point until, std::string& text) {
  char buffer[4096];
  while (true) {
    const auto left =
        std::chrono::duration_cast<std::chrono::milliseconds>(until - Clock::now()).count();
    pollfd ready{fd, POLLIN, 0};
    const int answered = poll(&ready, 1, static_cast<int>(std::max<long long>(left, 0)));
    if (answered < 0 && errno == EINTR) continue;
    if (answered <= 0) return false;
    const ssize_t n = read(fd, buffer, sizeof buffer);
    if (n == 0) return true;
    if (n > 0) text.append(buffer, static_cast<std::size_t>(n));
    if (n < 0 && errno != EINTR) return false;
  }
}

/// The child's wait status, or nothing if it has not ended by `until`. A process stuck in a driver
/// call does not end even by SIGKILL, so nobody waits for it without a limit.
std::optional<int> reap(pid_t child, Clock::time_point until) {
  while (true) {
    int status = 0;
    const pid_t ended = waitpid(child, &status, WNOHANG);
    if (ended == child) return status;
    if (ended < 0 && errno != EINTR)
      return 0;  // reaped elsewhere (SIGCHLD ignored): the text decides
    if (Clock::now() >= until) return std::nullopt;
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
  }
}

std::string seconds(std::chrono::milliseconds time) {
  std::ostringstream out;
  out << std::chrono::duration<double>(time).count() << " s";
  return out.str();
}

Answer judge(const std::string& name, int status, std::string text) {
  if (WIFSIGNALED(status)) {
    const int signal_number = WTERMSIG(status);
    return {"", name + " ended by signal " + std::to_string(signal_number) + " (" +
                    strsignal(signal_number) + ")"};
  }
  if (WEXITSTATUS(status) == kThrew) return {"", name + " failed: " + text};
  if (WEXITSTATUS(status) != 0)
    return {"", name + " ended with exit code " + std::to_string(WEXITSTATUS(status))};
  return {std::move(text), ""};
}

}  // namespace

Answer ask_child(const std::string& name, std::chrono::milliseconds deadline,
                 const std::function<std::string()>& work) {
  int ends[2];
  // O_CLOEXEC: programs that a library starts must not hold the pipe open behind the child's back.
  if (pipe2(ends, O_CLOEXEC) != 0) return {"", name + " failed: pipe: " + std::strerror(errno)};
  const auto until = Clock::now() + deadline;
  const pid_t child = fork();
  if (child == 0) {
    close(ends[0]);
    live_as_child(ends[1], work);
  }
  close(ends[1]);
  if (child < 0) {
    close(ends[0]);
    return {"", name + " failed: fork: " + std::strerror(errno)};
  }
  std::string text;
  const bool whole = read_all(ends[0], until, text);
  close(ends[0]);
  const auto status = whole ? reap(child, until) : std::nullopt;
  if (status) return judge(name, *status, std::move(text));
  kill(child, SIGKILL);
  reap(child, Clock::now() + kKillGrace);
  return {"", name + " did not answer within " + seconds(deadline)};
}

}  // namespace arbench

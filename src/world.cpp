#include "world.hpp"

#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cmath>
#include <cstdlib>
#include <cstring>
#include <limits>
#include <new>
#include <system_error>
#include <thread>

#include "nccl_tuner.hpp"

namespace arbench {

volatile std::sig_atomic_t interrupted = 0;

/// What a driver answers to one command. POD in shared memory.
struct World::Reply {
  /// In the order of what tells most about a failure: "stopped" is what another driver's failure looks like from the side,
  /// and "hung" may be its consequence.
  enum class Kind : std::uint32_t { ok, stopped, refused, unsupported, hung, error } kind;
  Geometry geometry;
  int ops;
  int pairs;
  int sets;
  Findings found;
  double us;
  Visit visit;
  char ran[64];
  char text[RendezvousState::kText];
};

/// One command at a time: the coordinator writes it and counts `issued` up, every driver answers
/// and counts `answered`.
struct World::Shared {
  RendezvousState meeting;
  std::atomic<std::uint32_t> issued;
  std::atomic<std::uint32_t> answered;
  Command command;
  Reply replies[kMaxRanks];
};

namespace {

/// About 50 ms; the first look comes after the 200 polls without a pause and some 5 ms more.
constexpr int kPollsPerLook = 600;

using Clock = std::chrono::steady_clock;

/// Spins a little, then sleeps: a round starts quickly, and an idle worker costs nothing.
void pause(int polls) {
  if (polls < 200) {
    std::this_thread::yield();
  } else {
    std::this_thread::sleep_for(std::chrono::microseconds(50));
  }
}

template <std::size_t N>
void put(char (&to)[N], const std::string& text) {
  const std::size_t size = std::min(text.size(), N - 1);
  std::memcpy(to, text.data(), size);
  to[size] = 0;
}

/// Environment that must stand before the first device call of a process.
void prepare_environment(const WorldConfig& config, int worker) {
  // No two ranks may share a hardware queue, or one waits behind the other's spinning kernel.
  // A process that drives one rank needs few, and the processes of an MPS server share what there
  // is.
  const int wanted = config.launch == Launch::processes ? 8 : 32;
  const char* connections = std::getenv("CUDA_DEVICE_MAX_CONNECTIONS");
  if (connections == nullptr || std::atoi(connections) < wanted)
    setenv("CUDA_DEVICE_MAX_CONNECTIONS", std::to_string(wanted).c_str(), 1);
  // A kernel that is loaded at its first launch may wait for the device, which may wait for that
  // kernel.
  setenv("CUDA_MODULE_LOADING", "EAGER", 1);
  if (config.backend == Backend::cuda) offer_nccl_tuner();  // while there is one thread only
  if (config.transport == Transport::host) setenv("NCCL_P2P_DISABLE", "1", 0);
  if (!config.nccl_loopback) return;
  // Ranks that look like different hosts may share a device; they then meet over sockets.
  setenv("NCCL_HOSTID", ("arbench-" + std::to_string(worker)).c_str(), 1);
  setenv("NCCL_SOCKET_IFNAME", "lo", 0);
  setenv("NCCL_IB_DISABLE", "1", 0);
}

std::string how_it_ended(int state) {
  if (!WIFSIGNALED(state)) return "ended with code " + std::to_string(WEXITSTATUS(state));
  const int number = WTERMSIG(state);
  return "was ended by signal " + std::to_string(number) + " (" + strsignal(number) + ")";
}

}  // namespace

std::string missing_samples(const std::vector<std::vector<double>>& us) {
  for (std::size_t rank = 0; rank < us.size(); ++rank) {
    const auto taken = std::count_if(us[rank].begin(), us[rank].end(),
                                     [](double one) { return !std::isnan(one); });
    if (taken != static_cast<std::ptrdiff_t>(us[rank].size()))
      return "rank " + std::to_string(rank) + " has " + std::to_string(taken) + " samples of " +
             std::to_string(us[rank].size());
  }
  return "";
}

World::World(WorldConfig config, std::vector<Case> cases, Seconds* seconds)
    : config_(std::move(config)),
      cases_(std::move(cases)),
      seconds_(seconds == nullptr ? &unwanted_ : seconds) {
  shared_bytes_ = sizeof(Shared) + (sizeof(double) + 2 * sizeof(std::int64_t)) * kMaxRanks *
                                       static_cast<std::size_t>(config_.max_replays);
  void* memory =
      mmap(nullptr, shared_bytes_, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
  if (memory == MAP_FAILED) throw std::system_error(errno, std::generic_category(), "mmap");
  shared_ = static_cast<Shared*>(memory);
  try {
    start_workers();
  } catch (...) {
    end_workers();
    munmap(shared_, shared_bytes_);
    throw;
  }
}

World::~World() {
  end_workers();
  munmap(shared_, shared_bytes_);
}

/// Behind Shared: all ranks' times, then their starts, then their ends.
Samples World::samples_of(int rank) const {
  const auto room = static_cast<std::ptrdiff_t>(config_.max_replays);
  auto* us = reinterpret_cast<double*>(shared_ + 1);
  auto* start_ns = reinterpret_cast<std::int64_t*>(us + kMaxRanks * room);
  return {us + rank * room, start_ns + rank * room, start_ns + (kMaxRanks + rank) * room};
}

void World::start_workers() {
  std::memset(static_cast<void*>(shared_), 0, sizeof(Shared));
  const int workers = config_.launch == Launch::processes ? config_.ranks() : 1;
  for (int worker = 0; worker < workers; ++worker) {
    const pid_t parent = getpid();
    const pid_t pid = fork();
    if (pid < 0) throw std::system_error(errno, std::generic_category(), "fork");
    if (pid == 0) {
      prctl(PR_SET_PDEATHSIG, SIGKILL);  // no worker outlives the coordinator
      if (getppid() != parent) _exit(1);
      worker_main(worker);
    }
    workers_.push_back(pid);
  }
  call({Verb::start, 0, 0, 0, {}});
  healthy_ = true;
}

/// Asks idle workers to end, since an MPS server takes a killed client for a fault; kills those
/// that do not.
void World::end_workers() noexcept {
  const Stopwatch stopwatch(seconds_->workers);
  if (healthy_) {
    shared_->command = {Verb::quit, 0, 0, 0, {}};
    shared_->issued.fetch_add(1, std::memory_order_release);
    const auto end = Clock::now() + std::chrono::seconds(5);
    while (!workers_.empty() && Clock::now() < end) {
      std::erase_if(workers_, [](pid_t pid) { return waitpid(pid, nullptr, WNOHANG) == pid; });
      pause(1000);
    }
  }
  healthy_ = false;
  for (pid_t pid : workers_) kill(pid, SIGKILL);
  // A process that is stuck in a driver call does not end even so: nobody waits for it without a limit.
  const auto end = Clock::now() + std::chrono::seconds(20);
  while (!workers_.empty() && Clock::now() < end) {
    std::erase_if(workers_, [](pid_t pid) { return waitpid(pid, nullptr, WNOHANG) == pid; });
    pause(1000);
  }
  workers_.clear();
}

void World::restart() {
  end_workers();
  start_workers();
}

void World::worker_main(int worker) {
  std::signal(SIGINT, SIG_IGN);  // the coordinator decides when to end
  std::signal(SIGTERM, SIG_DFL);
  prepare_environment(config_, worker);
  if (config_.launch == Launch::processes) {
    driver_loop(worker);
  } else {
    std::vector<std::jthread> threads;
    for (int driver = 1; driver < config_.drivers(); ++driver)
      threads.emplace_back([this, driver] { driver_loop(driver); });
    driver_loop(0);
  }
  _exit(0);  // no destructors of what was inherited
}

/// Answers commands until the process is ended. A driver that failed answers "stopped" from then
/// on.
void World::driver_loop(int index) {
  std::unique_ptr<Driver> driver;
  for (std::uint32_t done = 0;; ++done) {
    for (int polls = 0; shared_->issued.load(std::memory_order_acquire) == done; ++polls)
      pause(polls);
    const Command command = shared_->command;
    if (command.verb == Verb::quit) return;
    Reply& reply = shared_->replies[index];
    reply = {};
    const auto fail = [&](Reply::Kind kind, const std::string& text) {
      reply.kind = kind;
      put(reply.text, text);
      Rendezvous(shared_->meeting, index, config_.drivers(), {}).fail(text);
    };
    try {
      if (command.verb == Verb::start) {
        driver = std::make_unique<Driver>(config_, index, shared_->meeting);
      } else {
        carry_out(*driver, command, reply, samples_of(config_.launch == Launch::grid ? 0 : index));
      }
    } catch (const Refused& refused) {  // agreed on by all drivers, so the world is in order
      reply.kind = Reply::Kind::refused;
      put(reply.text, refused.what());
    } catch (const Unsupported& unsupported) {
      reply.kind = Reply::Kind::unsupported;
      put(reply.text, unsupported.what());
    } catch (const Hung& hung) {
      fail(Reply::Kind::hung, hung.what());
    } catch (const Stopped& stopped) {
      reply.kind = Reply::Kind::stopped;
      put(reply.text, stopped.what());
    } catch (const std::exception& error) {
      fail(Reply::Kind::error, error.what());
    }
    shared_->answered.fetch_add(1, std::memory_order_acq_rel);
  }
}

void World::carry_out(Driver& driver, const Command& command, Reply& reply,
                      const Samples& samples) {
  const auto answer = [&](const Verified& verified) {
    reply.found = verified;
    put(reply.text, verified.text);
  };
  switch (command.verb) {
    case Verb::open: {
      const Opened opened = driver.open(command.index, cases_.at(command.index));
      reply.geometry = opened.geometry;
      reply.ops = opened.ops;
      reply.pairs = opened.pairs;
      reply.sets = opened.sets;
      reply.us = opened.sweep_us;
      put(reply.ran, opened.ran);
      put(reply.text, opened.remark);
      break;
    }
    case Verb::verify:
      answer(driver.verify(command.index, command.salt));
      break;
    case Verb::soak:
      answer(driver.soak(command.index, command.salt, command.replays));
      break;
    case Verb::warm_up:
      reply.us = driver.warm_up(command.index, command.sequence);
      break;
    case Verb::round:
      if (command.salt != 0) driver.prepare_round(command.index, command.salt);
      reply.visit = driver.round(command.index, command.replays, samples, command.sequence);
      if (command.salt != 0) answer(driver.check_round(command.index, command.salt));
      break;
    case Verb::close:
      driver.close(command.index);
      break;
    default:
      throw std::logic_error("unknown command");
  }
}

double& World::seconds_of(Verb verb) {
  switch (verb) {
    case Verb::open:
      return seconds_->open;
    case Verb::verify:
    case Verb::soak:
      return seconds_->verify;
    case Verb::warm_up:
      return seconds_->warm_up;
    case Verb::round:
      return seconds_->rounds;
    case Verb::close:
      return seconds_->close;
    default:
      return seconds_->workers;
  }
}

void World::call(Command command, double expected_seconds) {
  const Stopwatch stopwatch(seconds_of(command.verb));
  const bool healthy = std::exchange(healthy_, false);  // until all have answered
  shared_->command = command;
  shared_->answered.store(0, std::memory_order_relaxed);  // ordered by the release below
  shared_->issued.fetch_add(1, std::memory_order_release);
  wait_for_replies(expected_seconds);
  healthy_ = healthy;
  const Reply* worst = nullptr;
  int agreeing = 0;
  for (int driver = 0; driver < config_.drivers(); ++driver) {
    const Reply& reply = shared_->replies[driver];
    if (reply.kind == Reply::Kind::ok) continue;
    if (reply.kind == Reply::Kind::refused || reply.kind == Reply::Kind::unsupported) ++agreeing;
    if (worst == nullptr || reply.kind > worst->kind) worst = &reply;
  }
  if (worst == nullptr) return;
  // A refusal is the answer of all drivers, or the drivers are out of step and the workers of no more use.
  const bool fatal = agreeing != config_.drivers();
  if (fatal) healthy_ = false;
  switch (worst->kind) {
    case Reply::Kind::refused:
      throw CaseFailed(Status::skipped, worst->text, fatal);
    case Reply::Kind::unsupported:
      throw CaseFailed(Status::unsupported, worst->text, fatal);
    case Reply::Kind::hung:
      throw CaseFailed(Status::hung, worst->text, true);
    default:
      throw CaseFailed(Status::error, worst->text, true);
  }
}

void World::wait_for_replies(double expected_seconds) {
  // Drivers bound their own waits; this bound is for what they cannot interrupt, such as a library
  // call that hangs.
  const auto patience =
      std::chrono::duration<double>(4 * config_.timeout_seconds + 60 + expected_seconds);
  const auto end = Clock::now() + std::chrono::duration_cast<Clock::duration>(patience);
  const auto drivers = static_cast<std::uint32_t>(config_.drivers());
  for (int polls = 0; shared_->answered.load(std::memory_order_acquire) < drivers; ++polls) {
    if (interrupted) throw Interrupted();
    if (polls % 64 == 63) look_after_workers();
    if (polls % kPollsPerLook == kPollsPerLook / 2) look_at_devices();
    if (Clock::now() > end)
      throw CaseFailed(Status::hung,
                       "no answer within " + std::to_string(static_cast<int>(patience.count())) +
                           " s from " + std::to_string(drivers - shared_->answered.load()) +
                           " of " + std::to_string(drivers) + " ranks",
                       true);
    pause(polls);
  }
}

/// Between a round's first milliseconds and its end.
void World::look_at_devices() {
  if (!watch_ || shared_->command.verb != Verb::round) return;
  sight_.add(watch_());
}

void World::look_after_workers() {
  for (std::size_t worker = 0; worker < workers_.size(); ++worker) {
    int state = 0;
    if (waitpid(workers_[worker], &state, WNOHANG) != workers_[worker]) continue;
    workers_.erase(workers_.begin() + static_cast<std::ptrdiff_t>(worker));
    const std::string who = config_.launch == Launch::processes
                                ? "the worker of rank " + std::to_string(worker) + " "
                                : "the worker process ";
    throw CaseFailed(Status::error, who + how_it_ended(state), true);
  }
}

/// The drivers bound their own work by 0.5 GB/s while they do not know its speed; so does this, for all they do to a case
/// in one command.
double World::generous_seconds(int index) const {
  const Case& point = cases_.at(static_cast<std::size_t>(index));
  return static_cast<double>(point.bytes) * point.ranks() * config_.ops * 10 / 5e8;
}

Opened World::open(int index) {
  call({Verb::open, index, 0, 0, {}}, generous_seconds(index));
  const Reply& first = shared_->replies[0];
  return {first.geometry, first.ops, first.pairs, first.ran, first.text, first.sets, first.us};
}

Verified World::verify(int index, std::uint32_t salt) {
  call({Verb::verify, index, 0, salt, {}}, generous_seconds(index));
  return verified();
}

Verified World::soak(int index, std::uint32_t salt, int calls) {
  call({Verb::soak, index, calls, salt, {}}, generous_seconds(index) * calls / config_.ops);
  return verified();
}

/// Of all ranks.
Verified World::verified() const {
  Verified all;
  all.hash = shared_->replies[0].found.hash;
  for (int driver = 0; driver < config_.drivers(); ++driver) {
    const Reply& reply = shared_->replies[driver];
    const Findings& found = reply.found;
    if (all.wrong == 0) all.text = reply.text;
    all.wrong += found.wrong;
    all.max_ulp = std::max(all.max_ulp, found.max_ulp);
    all.max_abs_err = std::max(all.max_abs_err, found.max_abs_err);
    all.same_ranks &= found.same_ranks && found.hash == all.hash;
    all.same_runs &= found.same_runs;
  }
  return all;
}

double World::warm_up(int index, Sequence sequence) {
  call({Verb::warm_up, index, 0, 0, sequence}, generous_seconds(index));
  double worst = 0;
  for (int driver = 0; driver < config_.drivers(); ++driver)
    worst = std::max(worst, shared_->replies[driver].us);
  us_per_op_[{index, sequence}] = worst;
  return worst;
}

RoundResult World::round(int index, int replays, Sequence sequence, std::uint32_t salt) {
  sight_ = {};
  for (int rank = 0; rank < config_.ranks(); ++rank)
    std::fill_n(samples_of(rank).us, replays, std::numeric_limits<double>::quiet_NaN());
  const auto known = sequence == Sequence::together ? Sequence::ops : sequence;
  call({Verb::round, index, replays, salt, sequence},
       10e-6 * us_per_op_[{index, known}] * config_.ops * replays +
           2e-6 * config_.skew_us * replays);
  look_at_devices();  // clocks that were held down are so still, and links are awake
  RoundResult result;
  result.sight = sight_;
  if (salt != 0) result.checked = verified();
  result.worst.assign(static_cast<std::size_t>(replays), 0);
  for (int rank = 0; rank < config_.ranks(); ++rank) {
    const double* us = samples_of(rank).us;
    result.us.emplace_back(us, us + replays);
    for (int replay = 0; replay < replays; ++replay)
      result.worst[replay] = std::max(result.worst[replay], us[replay]);
  }
  if (const std::string text = missing_samples(result.us); !text.empty())
    throw CaseFailed(Status::error, text, false);
  for (int driver = 0; driver < config_.drivers(); ++driver) {
    const Visit& visit = shared_->replies[driver].visit;
    result.cpu_us = std::max(result.cpu_us, visit.cpu_us);
    result.clock_error_us = std::max(result.clock_error_us, visit.clock_error_us);
    result.sm_mhz = driver == 0 ? visit.sm_mhz : std::min(result.sm_mhz, visit.sm_mhz);
  }
  if (!shared_->replies[0].visit.stamped) return result;
  result.start_skew_us = spread(samples_of(0).start_ns, replays);
  result.end_skew_us = spread(samples_of(0).end_ns, replays);
  return result;
}

std::vector<double> World::spread(const std::int64_t* first_rank, int replays) const {
  std::vector<double> us;
  for (int replay = 0; replay < replays; ++replay) {
    std::int64_t least = first_rank[replay], most = least;
    for (int rank = 1; rank < config_.ranks(); ++rank) {
      const std::int64_t ns = first_rank[rank * config_.max_replays + replay];
      least = std::min(least, ns);
      most = std::max(most, ns);
    }
    us.push_back(static_cast<double>(most - least) / 1e3);
  }
  return us;
}

void World::close(int index) { call({Verb::close, index, 0, 0, {}}); }

}  // namespace arbench

// Runs a body once per driver, each on a thread of its own, in this process: what worker processes
// do, without them, so that sanitizers and breakpoints see everything.
#pragma once

#include <exception>
#include <memory>
#include <mutex>
#include <thread>
#include <vector>

#include "driver.hpp"

namespace arbench {

/// Small and quick: host backend, 3 ops per graph.
inline WorldConfig host_config(int ranks, Launch launch = Launch::threads) {
  WorldConfig config;
  config.backend = Backend::host;
  config.launch = launch;
  for (int rank = 0; rank < ranks; ++rank) config.devices.push_back(rank);
  config.timeout_seconds = 20;
  config.ops = 3;
  config.max_replays = 10;
  return config;
}

inline Case host_case(const std::string& algorithm, const WorldConfig& config, Dtype dtype,
                      std::uint64_t count, Mode mode, Geometry geometry) {
  Case point;
  point.algorithm = algorithm;
  point.dtype = dtype;
  point.bytes = count * size_of(dtype);
  point.mode = mode;
  point.launch = config.launch;
  point.transport = config.transport;
  point.backend = config.backend;
  point.devices = config.devices;
  point.geometry = geometry;
  return point;
}

/// Calls body(driver, index) on all drivers at once; rethrows the first exception that is not a
/// mere Stopped.
template <class Body>
void on_all_drivers(const WorldConfig& config, Body body) {
  auto meeting = std::make_unique<RendezvousState>();
  std::mutex mutex;
  std::exception_ptr first, stopped;
  // Destroyed only when all threads are done: peers may still use a failed driver's memory.
  std::vector<std::unique_ptr<Driver>> drivers(static_cast<std::size_t>(config.drivers()));
  const auto drive = [&](int index) {
    try {
      drivers[index] = std::make_unique<Driver>(config, index, *meeting);
      body(*drivers[index], index);
    } catch (const Stopped&) {
      std::lock_guard lock(mutex);
      stopped = std::current_exception();
    } catch (const std::exception& error) {
      Rendezvous(*meeting, index, config.drivers(), {}).fail(error.what());
      std::lock_guard lock(mutex);
      if (!first) first = std::current_exception();
    }
  };
  {
    std::vector<std::jthread> threads;
    for (int index = 0; index < config.drivers(); ++index) threads.emplace_back(drive, index);
  }
  if (first) std::rethrow_exception(first);
  if (stopped) std::rethrow_exception(stopped);
}

}  // namespace arbench

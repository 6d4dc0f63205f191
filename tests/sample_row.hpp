// Rows with every field known, for the tests of what prints them.
#pragma once

#include <string>
#include <vector>

#include "result.hpp"

namespace arbench {

/// bf16, 57,344 bytes, graph, out of place, one thread per rank, on GPUs 0..3, and no time.
inline Row untimed_row(const std::string& algorithm, Status status, const std::string& reason) {
  Row row;
  row.point.algorithm = algorithm;
  row.point.bytes = 57344;
  row.point.devices = {0, 1, 2, 3};
  row.status = status;
  row.reason = reason;
  row.ops_per_graph = 20;
  return row;
}

/// The same with a time: a median of `us`, its interval 1 % to each side.
inline Row timed_row(const std::string& algorithm, std::uint64_t bytes, double us) {
  Row row = untimed_row(algorithm, Status::ok, "");
  row.point.bytes = bytes;
  row.geometry = {.blocks = 36, .threads = 512};
  row.wrong = 0;
  row.time.emplace();
  row.time->rounds = 12;
  row.time->samples = 1200;
  row.time->median = us;
  row.time->ci_lo = us * 0.99;
  row.time->ci_hi = us * 1.01;
  return row;
}

}  // namespace arbench

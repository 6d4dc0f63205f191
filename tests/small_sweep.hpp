// Sweeps of few small cases on the host backend, and what came of them.
#pragma once

#include <string>
#include <vector>

#include "runner.hpp"
#include "spmd.hpp"

namespace arbench {

struct Outcome {
  std::vector<Row> rows;
  std::vector<std::vector<Sample>> samples;
  std::vector<std::string> progress;
};

/// 2 rounds of 3 samples of 2 ops, however long they take; nothing is measured twice.
inline Options quick() {
  Options options;
  options.rounds = 2;
  options.replays = 3;
  options.ops = 2;
  options.row_seconds = 1000;
  options.aa = false;
  options.timeout_seconds = 2;
  return options;
}

inline Outcome sweep(const std::vector<Case>& cases, const Options& options = quick()) {
  Outcome outcome;
  run(cases, options, Machine{},
      {[&](const Row& row, const std::vector<Sample>& samples) {
         outcome.rows.push_back(row);
         outcome.samples.push_back(samples);
       },
       [&](int point, int points, const Case& first) {
         outcome.progress.push_back(std::to_string(point) + "/" + std::to_string(points) + " " +
                                    first.name());
       }});
  return outcome;
}

inline Case one_case(const std::string& algorithm, int ranks = 2, Launch launch = Launch::threads,
                     std::uint64_t count = 24) {
  return host_case(algorithm, host_config(ranks, launch), Dtype::bf16, count, Mode::eager, {1, 1});
}

/// "algorithm status reason" of each row.
inline std::vector<std::string> lines(const Outcome& outcome) {
  std::vector<std::string> lines;
  for (const Row& row : outcome.rows)
    lines.push_back(row.point.algorithm + " " + std::string(word(row.status)) +
                    (row.reason.empty() ? "" : " " + row.reason));
  return lines;
}

using Lines = std::vector<std::string>;

}  // namespace arbench

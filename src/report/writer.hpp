// The result folder of a run: rows.csv, samples.csv and run.json. For one thread.
#pragma once

#include <sys/types.h>

#include <chrono>
#include <filesystem>
#include <memory>
#include <nlohmann/json_fwd.hpp>
#include <string>
#include <vector>

#include "report/durable_file.hpp"
#include "report/read_back.hpp"
#include "report/run_facts.hpp"
#include "result.hpp"
#include "seconds.hpp"

namespace arbench {

class Writer {
 public:
  /// Creates `folder`, with its parents, and the three files in it. `environment` and `config` go
  /// into run.json as they are; the rows' keys are taken from `environment` (run_facts.hpp).
  /// run.json is written anew when a row comes in and the last time is `interval` or more ago.
  /// Throws UsageError ("--out DIR: ...") when the folder cannot be made or written to, or holds
  /// one of the three files: results are never overwritten, other files in the folder do not
  /// matter. Throws WriteError when the disk is full.
  Writer(std::filesystem::path folder, const nlohmann::json& environment,
         const nlohmann::json& config,
         std::chrono::milliseconds interval = std::chrono::seconds(10));
  /// Goes on in the folder of a cut run, behind the rows of `finished`: what else the files hold (a half-written line, rows
  /// to be repeated, samples of rows that never came) goes away first. The run keeps its environment and its run_id, and
  /// run.json lists start and command line of each continuation under `resumed`. Throws UsageError ("--resume DIR: ...")
  /// when a file cannot be opened, WriteError when the disk is full.
  Writer(std::filesystem::path folder, const Finished& finished, const nlohmann::json& environment,
         const nlohmann::json& config,
         std::chrono::milliseconds interval = std::chrono::seconds(10));
  /// Writes run.json once more if finish() was not called, so that an exception leaves one with all
  /// rows; failures are ignored. Does nothing in a forked child.
  ~Writer();
  Writer(const Writer&) = delete;
  Writer& operator=(const Writer&) = delete;

  /// Guarantee: when it returns, the row and its samples are on disk. Throws WriteError; then all
  /// rows before are in the files, each of them whole, and at most this one is missing. samples.csv
  /// holds `name,launch,round,replay,rank,us`: name and launch as in rows.csv, rank -1 for the
  /// maximum over ranks, us per op as the shortest text of a 32-bit float, which is what the GPU's
  /// timer gives.
  void add(const Row& row, const std::vector<Sample>& samples);

  /// Writes run.json for the last time: {schema_version, complete, environment, config, rows}.
  /// `complete` false tells that the run was cut, as does every run.json before this. `seconds`, if given, adds where the
  /// time went (seconds.hpp); of a run that goes on, that of its last part. Throws WriteError.
  void finish(bool complete = true, const Seconds* seconds = nullptr);

 private:
  void start_document(const nlohmann::json& environment, const nlohmann::json& config);
  void write_json(bool complete);

  struct Document;
  std::filesystem::path folder_;
  RunFacts facts_;
  std::unique_ptr<Document> document_;
  std::unique_ptr<AppendFile> rows_, samples_;
  std::chrono::milliseconds interval_;
  std::chrono::steady_clock::time_point written_;
  pid_t owner_;  ///< a forked worker inherits this object, but not the duty to write
  bool finished_ = false;
};

}  // namespace arbench

// main(): argv -> Options -> Cases -> World -> Rows -> table, CSV, JSON.
#include <spdlog/sinks/stdout_color_sinks.h>
#include <spdlog/spdlog.h>
#include <unistd.h>

#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <iostream>
#include <memory>
#include <nlohmann/json.hpp>

#include "arbench/algorithm.hpp"
#include "doctor.hpp"
#include "environment.hpp"
#include "machine.hpp"
#include "options.hpp"
#include "options_json.hpp"
#include "report/table.hpp"
#include "report/writer.hpp"
#include "runner.hpp"
#include "sweep.hpp"
#include "world.hpp"

namespace arbench {
namespace {

/// stdout holds results alone; all else goes to stderr.
void set_up_logging(const Options& options) {
  auto logger = spdlog::stderr_color_st("arbench");
  logger->set_pattern("%^%l%$: %v");
  logger->set_level(options.verbose ? spdlog::level::debug : spdlog::level::info);
  spdlog::set_default_logger(std::move(logger));
}

/// Ctrl-C and SIGTERM end the run between two waits: finished rows are on disk already. A second
/// one ends at once.
void set_up_signals() {
  struct sigaction action {};
  action.sa_handler = [](int) { interrupted = 1; };
  action.sa_flags = static_cast<int>(SA_RESETHAND);
  sigaction(SIGINT, &action, nullptr);
  sigaction(SIGTERM, &action, nullptr);
}

int list(const Options& options, const Machine& machine) {
  const Backend backend = resolved_backend(options, machine);
  for (const Algorithm& algorithm : algorithms(backend))
    std::printf("%-16s %s (%s)%s\n", algorithm.name.c_str(), algorithm.summary.c_str(),
                algorithm.stands_for.c_str(), algorithm.hidden ? " [hidden]" : "");
  return 0;
}

int dry_run(const std::vector<Case>& cases, const Options& options) {
  for (const Case& point : cases) std::printf("%s\n", point.name().c_str());
  std::printf("%zu cases, about %.0f s\n", cases.size(), estimate_seconds(cases, options));
  return 0;
}

/// One line on a terminal, rewritten for each point; nothing elsewhere.
void show_progress(int point, int points, const Case& first) {
  if (isatty(STDERR_FILENO) == 0) return;
  std::fprintf(stderr, "\r\033[K[%d/%d] n=%d %s %s %llu bytes", point, points, first.ranks(),
               std::string(word(first.dtype)).c_str(), std::string(word(first.mode)).c_str(),
               static_cast<unsigned long long>(first.bytes));
  if (point == points) std::fprintf(stderr, "\r\033[K");
}

int sweep(const Options& options, const Machine& machine, const std::vector<std::string>& argv) {
  const Backend backend = resolved_backend(options, machine);
  const Options settled = with_defaults(options, backend);
  const auto cases = expand(settled, machine, algorithm_names(backend, settled.algorithms));
  std::unique_ptr<Writer> writer;
  if (!settled.out.empty() && !settled.dry_run)
    writer =
        std::make_unique<Writer>(settled.out, environment(machine, argv), config_json(settled));
  // Behind all that may refuse the command line: a refusal is one line.
  if (const auto text = remark(settled, machine); !text.empty()) spdlog::info("{}", text);
  if (settled.dry_run) return dry_run(cases, settled);
  std::ofstream google_benchmark;
  if (writer) google_benchmark.open(settled.out + "/google_benchmark.json");
  spdlog::info("{} cases, about {:.0f} s, seed {}", cases.size(), estimate_seconds(cases, settled),
               settled.seed);
  std::vector<Row> rows;
  const RunHooks hooks{[&](const Row& row, const std::vector<Sample>& samples) {
                         rows.push_back(row);
                         spdlog::debug("{}: {} {}", row.point.name(), word(row.status), row.reason);
                         if (writer) writer->add(row, samples);
                       },
                       show_progress, writer ? &google_benchmark : nullptr};
  bool whole = true;
  try {
    run(cases, settled, machine, hooks);
  } catch (const Interrupted&) {
    whole = false;
    spdlog::warn("interrupted: {} of {} rows are done", rows.size(), cases.size());
  }
  if (writer) writer->finish(whole);
  std::cout << table(rows);
  return whole ? exit_code(rows) : 130;
}

int run_command(int argc, char** argv) {
  const Options options = parse(argc, argv);
  if (options.command == Command::help) {
    std::cout << help();
    return 0;
  }
  set_up_logging(options);
  // Workers find the library where the user said, too.
  if (!options.nccl_lib.empty()) setenv("ARBENCH_NCCL_LIB", options.nccl_lib.c_str(), 1);
  const Machine machine = discover(options.nccl_lib);
  switch (options.command) {
    case Command::doctor:
      std::cout << doctor_report(machine);
      return 0;
    case Command::list:
      return list(options, machine);
    default:
      set_up_signals();
      return sweep(options, machine, {argv, argv + argc});
  }
}

}  // namespace
}  // namespace arbench

int main(int argc, char** argv) {
  try {
    return arbench::run_command(argc, argv);
  } catch (const arbench::UsageError& error) {
    std::fprintf(stderr, "arbench: %s\n", error.what());
    return 2;
  } catch (const std::exception& error) {
    std::fprintf(stderr, "arbench: %s\n", error.what());
    return 1;
  }
}

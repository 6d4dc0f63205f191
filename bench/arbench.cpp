// main(): argv -> Options -> Cases -> World -> Rows -> table, CSV, JSON.
#include <spdlog/sinks/stdout_color_sinks.h>
#include <spdlog/spdlog.h>
#include <unistd.h>

#include <cerrno>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <iostream>
#include <map>
#include <memory>
#include <nlohmann/json.hpp>
#include <optional>
#include <set>

#include "arbench/algorithm.hpp"
#include "compare/compare.hpp"
#include "compare/show.hpp"
#include "doctor.hpp"
#include "environment.hpp"
#include "machine.hpp"
#include "nvml.hpp"
#include "nvml_state.hpp"
#include "options.hpp"
#include "options_json.hpp"
#include "report/durable_file.hpp"
#include "report/read_back.hpp"
#include "report/run_facts.hpp"
#include "report/table.hpp"
#include "report/writer.hpp"
#include "run_time_code.hpp"
#include "runner.hpp"
#include "self_test.hpp"
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
    std::printf("%-22s %s (%s)%s\n", algorithm.name.c_str(), algorithm.summary.c_str(),
                algorithm.stands_for.c_str(), algorithm.hidden ? " [hidden]" : "");
  return 0;
}

int dry_run(const std::vector<Case>& cases, const Options& options) {
  for (const Case& point : cases) std::printf("%s\n", point.name().c_str());
  std::printf("%zu cases, about %.0f s\n", cases.size(),
              estimate_seconds(runnable(cases, options), options));
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

nlohmann::json toolkits_json(const std::vector<Nvrtc>& toolkits) {
  auto list = nlohmann::json::array();
  for (const Nvrtc& one : toolkits)
    list.push_back({{"name", toolkit_name(one)}, {"library", one.library()}});
  return list;
}

std::vector<std::string> names_of(const std::vector<Nvrtc>& toolkits) {
  std::vector<std::string> names;
  for (const Nvrtc& one : toolkits) names.push_back(toolkit_name(one));
  return names;
}

void show_compiling(int number, int all, const std::string& what) {
  spdlog::debug("compiling {} of {}: {}", number, all, what);
  if (isatty(STDERR_FILENO) == 0) return;
  std::fprintf(stderr, "\r\033[K[compiling %d/%d]", number, all);
  if (number == all) std::fprintf(stderr, "\r\033[K");
}

/// The rows of a run that goes on: those that are finished already, and what is left to do.
struct Progress {
  std::vector<Row> rows;
  std::vector<Case> left;
};

/// The cases in order, less those that have one of the rows.
std::vector<Case> without(const std::vector<Case>& cases, const std::vector<Row>& rows) {
  std::set<std::string> done;
  for (const Row& row : rows) done.insert(row.point.name());
  std::vector<Case> left;
  for (const Case& point : cases)
    if (done.count(point.name()) == 0) left.push_back(point);
  return left;
}

/// In the order of the cases, which is that of an uncut run.
std::vector<Row> in_order(const std::vector<Row>& rows, const std::vector<Case>& cases) {
  std::map<std::string, const Row*> by_name;
  for (const Row& row : rows) by_name[row.point.name()] = &row;
  std::vector<Row> ordered;
  for (const Case& point : cases)
    if (const auto found = by_name.find(point.name()); found != by_name.end())
      ordered.push_back(*found->second);
  return ordered;
}

/// Opens the result folder, a new one or that of a cut run, whose rows come back in `progress`.
std::unique_ptr<Writer> open_folder(const Options& options, const nlohmann::json& environment,
                                    Progress& progress) {
  const auto config = config_json(options);
  if (!options.resume) return std::make_unique<Writer>(options.out, environment, config);
  Finished finished = read_back(options.out, environment, config, progress.left);
  if (options.retry_failed)
    std::erase_if(finished.rows, [](const Row& row) {
      return row.status == Status::hung || row.status == Status::error;
    });
  progress.rows = finished.rows;
  progress.left = without(progress.left, finished.rows);
  return std::make_unique<Writer>(options.out, finished, environment, config);
}

/// A cut run's own file lacks its end, so what goes on has another one.
std::string google_benchmark_path(const Options& options) {
  std::string path = options.out + "/google_benchmark.json";
  for (int part = 2; std::filesystem::exists(path); ++part)
    path = options.out + "/google_benchmark_" + std::to_string(part) + ".json";
  return path;
}

std::set<int> devices_of(const std::vector<Case>& cases) {
  std::set<int> devices;
  for (const Case& point : cases) devices.insert(point.devices.begin(), point.devices.end());
  return devices;
}

/// Throws UsageError when somebody else uses one of the GPUs, unless that is allowed.
void refuse_busy(const std::vector<Case>& cases, const Options& options, const Machine& machine,
                 const Nvml& nvml) {
  const std::set<int> devices = devices_of(cases);
  const auto text = busy_text(nvml, machine.gpus, {devices.begin(), devices.end()});
  if (text.empty()) return;
  if (!options.allow_busy)
    throw UsageError(text + "; free it, choose others by --devices, or accept it by --allow-busy");
  spdlog::warn("{}", text);
}

/// One line for each setting of the GPUs that makes times drift.
void warn_of_settings(const std::vector<Case>& cases, const Machine& machine) {
  const std::set<int> devices = devices_of(cases);
  std::vector<Gpu> used = machine.gpus;
  std::erase_if(used, [&](const Gpu& gpu) { return devices.count(gpu.device) == 0; });
  for (const Finding& finding : examine_settings(used))
    spdlog::warn("{}; to change it: {}", finding.text, finding.what_to_do);
}

/// False when it was interrupted. Rows come into `progress`.
bool measure(const Options& options, const Machine& machine, const Nvml* nvml, Writer* writer,
             Progress& progress, Seconds& seconds) {
  std::ofstream google_benchmark;
  const std::string path = google_benchmark_path(options);
  if (writer) google_benchmark.open(path);
  const auto add = [&](const Row& row, const std::vector<Sample>& samples) {
    const Stopwatch stopwatch(seconds.rows);
    progress.rows.push_back(row);
    spdlog::debug("{}: {} {}", row.point.name(), word(row.status), row.reason);
    if (!writer) return;
    writer->add(row, samples);
    if (!google_benchmark.flush())
      throw WriteError("cannot write " + path + ": " + std::strerror(errno) +
                       "; rows finished so far are kept");
  };
  RunHooks hooks{add, show_progress, writer ? &google_benchmark : nullptr, &seconds, {}};
  if (nvml && *nvml)
    hooks.look = [&](const std::vector<int>& devices) {
      return look(*nvml, machine.gpus, devices);
    };
  try {
    run(progress.left, options, machine, hooks);
  } catch (const Interrupted&) {
    return false;
  }
  return true;
}

void show_seconds(const Seconds& seconds) {
  spdlog::info("{:.1f} s, of which {:.1f} s timed ({:.0f} %)", seconds.total, seconds.timed,
               100 * seconds.timed / seconds.total);
}

int sweep(const Options& options, const Machine& machine, const std::vector<std::string>& argv) {
  Seconds seconds;
  std::optional<Stopwatch> stopwatch(std::in_place, seconds.total);
  const Backend backend = resolved_backend(options, machine);
  const Options settled = with_defaults(options, backend);
  const auto toolkits = open_toolkits(settled.toolkits);
  const auto cases =
      expand(settled, machine, algorithm_names(backend, settled.algorithms), names_of(toolkits));
  Progress progress{{}, cases};
  auto facts = environment(machine, argv);
  if (!toolkits.empty()) facts["toolkits"] = toolkits_json(toolkits);
  std::optional<Nvml> nvml;
  if (backend == Backend::cuda && !settled.dry_run) {
    nvml.emplace();
    refuse_busy(cases, settled, machine, *nvml);
  }
  std::unique_ptr<Writer> writer;
  if (!settled.out.empty() && !settled.dry_run) writer = open_folder(settled, facts, progress);
  // Behind all that may refuse the command line: a refusal is one line.
  if (const auto text = remark(settled, machine); !text.empty()) spdlog::info("{}", text);
  if (settled.dry_run) return dry_run(cases, settled);
  if (nvml && !*nvml) spdlog::info("no NVML: busy and throttled GPUs are not noticed");
  if (backend == Backend::cuda) warn_of_settings(cases, machine);
  if (settled.resume)
    spdlog::info("{} of {} rows are done", cases.size() - progress.left.size(), cases.size());
  spdlog::info("{} cases, about {:.0f} s, seed {}", progress.left.size(),
               estimate_seconds(runnable(progress.left, settled), settled), settled.seed);
  compile_cases(progress.left, machine, toolkits, show_compiling);
  const bool whole =
      measure(settled, machine, nvml ? &*nvml : nullptr, writer.get(), progress, seconds);
  if (!whole)
    spdlog::warn("interrupted: {} of {} rows are done", progress.rows.size(), cases.size());
  stopwatch.reset();
  show_seconds(seconds);
  if (writer) writer->finish(whole, &seconds);
  const std::vector<Row> rows = in_order(progress.rows, cases);
  std::cout << table(rows);
  return whole ? exit_code(rows) : 130;
}

int run_self_test(const Options& options, const Machine& machine) {
  const Backend backend = resolved_backend(options, machine);
  if (backend == Backend::cuda)
    refuse_busy(expand(options, machine, algorithm_names(backend, {})), options, machine, Nvml{});
  if (const auto text = remark(options, machine); !text.empty()) spdlog::info("{}", text);
  try {
    return exit_code(
        self_test(options, machine, control_names(backend),
                  [](const Verdict& verdict) { std::cout << line(verdict) << std::endl; }));
  } catch (const Interrupted&) {
    return 130;
  }
}

/// Does nothing without a path.
void write_for(const char* option, const std::string& path, const std::string& text) {
  if (path.empty()) return;
  try {
    replace_file(path, text);
  } catch (const WriteError&) {
    throw UsageError(std::string(option) + " " + path +
                     ": cannot be written; accepts the path of a file");
  }
}

int compare_sides(const CompareOptions& options) {
  const auto a = compare::read_side(options.a), b = compare::read_side(options.b);
  const auto comparison = compare::compare(a, b);
  write_for("--csv", options.csv, compare::csv(comparison));
  write_for("--markdown", options.markdown, compare::markdown(comparison));
  write_for("--html", options.html, compare::html(comparison));
  std::cout << compare::text(comparison);
  const auto& most = options.fail_on_slower_pct;
  return most && compare::has_slower(comparison, *most) ? 3 : 0;
}

/// "arbench 1a2b3c4-dirty+cuda12.8+Release": the build_id of the rows.
int show_version() {
  const RunFacts facts = run_facts(environment(built_machine(), {}));
  std::printf("arbench %s\n", facts.build_id.c_str());
  return 0;
}

int run_command(int argc, char** argv) {
  const Options options = parse(argc, argv);
  if (options.command == Command::help) {
    std::cout << help();
    return 0;
  }
  if (options.command == Command::version) return show_version();
  set_up_logging(options);
  if (options.command == Command::compare) return compare_sides(options.compare);
  // Workers find the library where the user said, too.
  if (!options.nccl_lib.empty()) setenv("ARBENCH_NCCL_LIB", options.nccl_lib.c_str(), 1);
  const Machine machine = discover(options.nccl_lib);
  switch (options.command) {
    case Command::doctor:
      std::cout << doctor_report(machine);
      return 0;
    case Command::list:
      return list(options, machine);
    case Command::self_test:
      set_up_signals();
      return run_self_test(options, machine);
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

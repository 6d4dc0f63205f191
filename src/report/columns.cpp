#include "report/columns.hpp"

#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>
#include <optional>
#include <type_traits>
#include <vector>

#include "report/csv.hpp"

namespace arbench {
namespace {

using Context = const RowContext&;

Cell text(std::string_view raw) { return raw.empty() ? Cell() : clean_line(raw); }
Cell integer(std::int64_t value) { return value; }
Cell positive(int value) { return value > 0 ? integer(value) : Cell(); }
Cell number(std::optional<double> value) {
  return value && std::isfinite(*value) ? Cell(*value) : Cell();
}

Cell yes_no(std::optional<bool> value) { return value ? integer(*value) : Cell(); }

/// For what later work measures: the column has its place, and older files read like newer ones.
Cell not_measured(Context) { return {}; }

template <std::string RunFacts::*field>
Cell fact(Context c) {
  return text(c.run.*field);
}

template <auto field>
Cell time_cell(Context c) {
  if (!timed(c.row)) return {};
  const auto value = (*c.row.time).*field;
  if constexpr (std::is_integral_v<decltype(value)>)
    return integer(value);
  else
    return number(value);
}

/// "ring/ll" -> "ll"
Cell nccl_protocol(Context c) {
  const auto slash = c.row.ran.find('/');
  if (!is_nccl(c.row.point) || slash == std::string::npos) return {};
  return text(std::string_view(c.row.ran).substr(slash + 1));
}

/// Spaces between them, since a spreadsheet takes "1-2" for a date and "1:2" for a time.
Cell device_list(Context c) {
  std::string list;
  for (const int device : c.row.point.devices)
    list += (list.empty() ? "" : " ") + std::to_string(device);
  return text(list);
}

Cell gpu_names(Context c) {
  if (c.row.point.backend != Backend::cuda) return {};
  std::vector<std::string> names;
  for (const int device : c.row.point.devices)
    if (const auto known = c.run.gpu_names.find(device); known != c.run.gpu_names.end())
      if (std::find(names.begin(), names.end(), known->second) == names.end())
        names.push_back(known->second);
  std::string joined;
  for (const auto& name : names) joined += (joined.empty() ? "" : " + ") + name;
  return text(joined);
}

constexpr Column kColumns[] = {
    // Keys
    {"schema_version", "of this file; grows when a column changes its meaning",
     [](Context) { return integer(kSchemaVersion); }},
    {"run_id", "start of the run, UTC", fact<&RunFacts::run_id>},
    {"build_id", "commit, CUDA toolkit and build type of the program", fact<&RunFacts::build_id>},
    {"cuda_runtime", "CUDA runtime version", fact<&RunFacts::cuda_runtime>},
    {"driver", "NVIDIA driver version", fact<&RunFacts::driver>},
    {"nccl_version", "version of the NCCL library opened", fact<&RunFacts::nccl_version>},
    {"algo", "algorithm", [](Context c) { return text(c.row.point.algorithm); }},
    {"impl", "nccl, or custom for a kernel of this program",
     [](Context c) { return text(is_nccl(c.row.point) ? "nccl" : "custom"); }},
    {"nccl_proto", "NCCL's protocol as read back", nccl_protocol},
    {"ngpus", "ranks; each has its own GPU unless virtual is 1 or backend is host",
     [](Context c) { return integer(c.row.point.ranks()); }},
    {"gpu_order", "device id of each rank", device_list},
    {"topo_class", "class of the slowest link between the ranks", not_measured},
    {"dtype", "element type", [](Context c) { return text(word(c.row.point.dtype)); }},
    {"redop", "reduction", [](Context) { return text("sum"); }},
    {"bytes", "message, bytes per rank", [](Context c) { return Cell(c.row.point.bytes); }},
    {"count", "message, elements per rank", [](Context c) { return Cell(c.row.point.count()); }},
    {"in_place", "1: input and output are one buffer",
     [](Context c) { return integer(c.row.point.placement == Placement::in_place); }},
    {"mode", "eager, or graph: captured once and replayed",
     [](Context c) { return text(word(c.row.point.mode)); }},
    {"ops_per_graph", "ops behind each other in one sample, in both modes",
     [](Context c) { return positive(c.row.ops_per_graph); }},
    {"l2", "hot: the same buffers in every op; cold: none of an op's buffers is in the L2",
     [](Context c) { return text(word(c.row.point.l2)); }},
    {"l2_sets", "sets of input and output that the ops of a sample take in turn",
     [](Context c) { return positive(c.row.l2_sets); }},
    {"placement", "in_place in words", [](Context c) { return text(word(c.row.point.placement)); }},
    {"name", "case name; joins with samples.csv and between builds",
     [](Context c) { return text(c.row.point.name()); }},
    {"launch", "threads, processes or grid",
     [](Context c) { return text(word(c.row.point.launch)); }},
    {"transport", "p2p: through peers' device memory, or host: through pinned host memory",
     [](Context c) { return text(word(c.row.point.transport)); }},
    {"backend", "cuda, or host: threads on the CPU",
     [](Context c) { return text(word(c.row.point.backend)); }},
    {"virtual", "1: ranks share a GPU, not a multi-GPU result",
     [](Context c) { return integer(c.row.point.is_virtual()); }},
    {"gpu", "names of the GPUs", gpu_names},
    {"blocks", "thread blocks per rank that ran",
     [](Context c) { return positive(c.row.geometry.blocks); }},
    {"threads", "threads per block that ran",
     [](Context c) { return positive(c.row.geometry.threads); }},
    {"ran", "what NCCL really ran, or unverified", [](Context c) { return text(c.row.ran); }},
    {"toolkit", "compiler of the kernel, nvrtc with its version; empty: that of build_id",
     [](Context c) { return text(c.row.point.toolkit); }},
    // Measures
    {"rounds", "visits to this contender", time_cell<&Summary::rounds>},
    {"samples", "timed replays over all rounds", time_cell<&Summary::samples>},
    {"lat_us_median",
     "us per op, chained; all lat_us_ are over samples, each the maximum over ranks",
     time_cell<&Summary::median>},
    {"lat_us_ci_lo", "95 % confidence interval of the median, from the spread between rounds",
     time_cell<&Summary::ci_lo>},
    {"lat_us_ci_hi", "its upper end", time_cell<&Summary::ci_hi>},
    {"lat_us_min", "us per op", time_cell<&Summary::min>},
    {"lat_us_mean", "us per op", time_cell<&Summary::mean>},
    {"lat_us_p90", "us per op, nearest rank", time_cell<&Summary::p90>},
    {"lat_us_p95", "us per op, nearest rank", time_cell<&Summary::p95>},
    {"lat_us_p99", "us per op, nearest rank", time_cell<&Summary::p99>},
    {"lat_us_max", "us per op", time_cell<&Summary::max>},
    {"lat_us_mad", "median absolute deviation, us, unscaled", time_cell<&Summary::mad>},
    {"cv_pct", "standard deviation in percent of the mean", time_cell<&Summary::cv_pct>},
    {"outliers_mild", "samples beyond 1.5 interquartile ranges, kept",
     time_cell<&Summary::outliers_mild>},
    {"outliers_severe", "samples beyond 3, kept", time_cell<&Summary::outliers_severe>},
    {"iso_us_median",
     "us of one op behind a barrier of the GPUs, median less that of the barriers alone",
     [](Context c) { return timed(c.row) ? number(c.row.iso_us_median) : Cell(); }},
    {"skew_us_median",
     "end of a sample on the last rank minus that on the first, us; samples that start together",
     [](Context c) { return timed(c.row) ? number(c.row.skew_us_median) : Cell(); }},
    {"start_skew_us_median", "the same of its start, us",
     [](Context c) { return timed(c.row) ? number(c.row.start_skew_us_median) : Cell(); }},
    {"skew_error_us", "how far the GPUs' clocks may be off in these two, us; 0: one clock",
     [](Context c) { return timed(c.row) ? number(c.row.clock_error_us) : Cell(); }},
    {"added_skew_us", "--skew-us: in each sample one rank starts so much later, us",
     [](Context c) { return number(c.row.added_skew_us); }},
    {"cpu_us_median", "host enqueue time, us per op, slowest rank",
     [](Context c) { return timed(c.row) ? number(c.row.cpu_us_median) : Cell(); }},
    {"algbw_GBps", "bytes / median, 1e9 B/s",
     [](Context c) { return timed(c.row) ? number(c.row.algbw_gbps()) : Cell(); }},
    {"busbw_GBps", "algbw * 2(n-1)/n as in nccl-tests, 1e9 B/s",
     [](Context c) { return timed(c.row) ? number(c.row.busbw_gbps()) : Cell(); }},
    {"pct_ring_ceiling", "busbw in percent of the links' ring bandwidth", not_measured},
    {"floor_us",
     "us that physics allows no op to undercut: a signal, the links' or the memory's bytes",
     [](Context c) { return number(c.row.floor_us); }},
    {"pct_floor", "floor_us in percent of the median",
     [](Context c) { return timed(c.row) ? number(c.row.pct_floor()) : Cell(); }},
    {"wrong", "wrong elements over all ranks; empty: nothing was checked",
     [](Context c) { return c.row.wrong ? Cell(*c.row.wrong) : Cell(); }},
    {"max_ulp", "random data: largest error against fp64, units in the sum's last place",
     [](Context c) { return number(c.row.max_ulp); }},
    {"max_abs_err", "random data: largest error against fp64",
     [](Context c) { return number(c.row.max_abs_err); }},
    {"bitwise_ranks", "random data: 1: all ranks have the same bits",
     [](Context c) { return yes_no(c.row.bitwise_ranks); }},
    {"bitwise_runs", "random data: 1: the same bits call after call",
     [](Context c) { return yes_no(c.row.bitwise_runs); }},
    {"sm_mhz_min", "lowest SM clock of any GPU, behind the chained samples of each round, MHz",
     [](Context c) { return timed(c.row) ? number(c.row.sm_mhz_min) : Cell(); }},
    {"throttled", "1: power or heat held a GPU's clocks down in a round and two repetitions",
     [](Context c) { return yes_no(c.row.throttled); }},
    {"pcie_gen", "lowest PCIe generation of the GPUs while rounds ran; empty: no data cross PCIe",
     [](Context c) { return timed(c.row) ? positive(c.row.pcie_generation) : Cell(); }},
    {"pcie_width", "the same of their widths, lanes",
     [](Context c) { return timed(c.row) ? positive(c.row.pcie_width) : Cell(); }},
    {"aa_pct", "A/A band of the point: two measurements of one contender differ by so many percent",
     [](Context c) { return number(c.row.aa_pct); }},
    {"stopped", "why no round followed: rounds, precision or budget (--max-seconds)",
     [](Context c) { return timed(c.row) ? text(c.row.stopped) : Cell(); }},
    {"status", "ok, functional, skipped, unsupported, wrong, hung or error",
     [](Context c) { return text(word(c.row.status)); }},
    {"reason", "why the status is not ok, or a remark",
     [](Context c) { return text(c.row.reason); }},
};

std::string csv_cell(const Cell& cell) {
  const auto spell = [](const auto& value) -> std::string {
    using Value = std::decay_t<decltype(value)>;
    if constexpr (std::is_same_v<Value, std::monostate>) return "";
    if constexpr (std::is_same_v<Value, std::string>) return csv_field(value);
    if constexpr (std::is_same_v<Value, double>) return number_text(value);
    if constexpr (std::is_integral_v<Value>) return std::to_string(value);
  };
  return std::visit(spell, cell);
}

template <class Spell>
std::string csv_record(Spell spell) {
  std::string line;
  for (const Column& column : kColumns) line += (line.empty() ? "" : ",") + spell(column);
  return line + '\n';
}

}  // namespace

std::span<const Column> columns() { return kColumns; }

bool timed(const Row& row) { return row.status == Status::ok && row.time && row.time->samples > 0; }

bool is_nccl(const Case& point) { return point.algorithm.starts_with("nccl_"); }

std::string csv_header() {
  return csv_record([](const Column& column) { return std::string(column.name); });
}

// The first cell, the schema version, is never empty, so csv_record() drops no leading comma.
std::string csv_line(const RowContext& context) {
  return csv_record([&](const Column& column) { return csv_cell(column.value(context)); });
}

nlohmann::ordered_json json_row(const RowContext& context) {
  nlohmann::ordered_json row = nlohmann::ordered_json::object();
  for (const Column& column : kColumns) {
    const auto set = [&](const auto& value) {
      if constexpr (std::is_same_v<std::decay_t<decltype(value)>, std::monostate>)
        row[std::string(column.name)] = nullptr;
      else
        row[std::string(column.name)] = value;
    };
    std::visit(set, column.value(context));
  }
  return row;
}

}  // namespace arbench

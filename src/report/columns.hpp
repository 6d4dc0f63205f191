// The columns of rows.csv, which are also the keys of run.json's rows: one table, so that the two
// cannot differ. Pure functions.
#pragma once

#include <cstdint>
#include <nlohmann/json_fwd.hpp>
#include <span>
#include <string>
#include <string_view>
#include <variant>

#include "report/run_facts.hpp"
#include "result.hpp"

namespace arbench {

/// Grows when a column changes its meaning or goes away; a new column alone does not change it.
inline constexpr int kSchemaVersion = 1;

struct RowContext {
  const Row& row;
  const RunFacts& run;
};

/// monostate is an empty cell: nothing between the commas of the CSV, null in JSON.
using Cell = std::variant<std::monostate, std::string, std::int64_t, std::uint64_t, double>;

struct Column {
  std::string_view name;
  std::string_view description;  ///< one line, with the unit
  Cell (*value)(const RowContext&);
};

/// In the order of the file. Guarantees: time and bandwidth cells are filled only where the status
/// is ok; no cell is NaN or infinite; text is one line of valid UTF-8.
std::span<const Column> columns();

/// True when the row has a time to show: it is ok and was sampled. Whatever else a row holds, its
/// time is not shown.
bool timed(const Row& row);

/// True for the library that the others are compared with: the names that begin with "nccl_".
bool is_nccl(const Case& point);

/// One line each, with its LF.
std::string csv_header();
std::string csv_line(const RowContext& context);

/// The same cells by column name, in column order.
nlohmann::ordered_json json_row(const RowContext& context);

}  // namespace arbench

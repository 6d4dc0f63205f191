// The command line cut into a command and options; no value is judged here.
// Thread safety: pure functions.
#pragma once

#include <string>
#include <vector>

#include "option_table.hpp"
#include "option_values.hpp"
#include "options.hpp"

namespace arbench {

struct OptionUse {
  const OptionSpec* spec;  ///< of option_table()
  Argument argument;
};

struct CommandLine {
  Command command = Command::run;
  std::vector<OptionUse> uses;        ///< in the order of the table; empty for Command::help
  std::vector<std::string> operands;  ///< of Command::compare: A and B
};

/// `arguments` without the program's name. Throws UsageError for what is unknown, misplaced, given
/// twice or without its value; --help anywhere comes before all of these but a missing value.
CommandLine read_command_line(const std::vector<std::string>& arguments);

}  // namespace arbench

#include "command_line.hpp"

#include <CLI/CLI.hpp>
#include <algorithm>
#include <utility>

namespace arbench {
namespace {

struct CommandName {
  const char* name;
  Command command;
  unsigned mask;
};
constexpr CommandName kCommands[] = {{"run", Command::run, kRun},
                                     {"doctor", Command::doctor, kDoctor},
                                     {"list", Command::list, kList},
                                     {"self-test", Command::self_test, kSelfTest},
                                     {"compare", Command::compare, kCompare}};

/// Calls `visit(spec, name)` for every name of every option that one of `commands` takes.
template <class Visit>
void each_name(unsigned commands, Visit visit) {
  for (const OptionGroup& group : option_table())
    for (const OptionSpec& spec : group.options)
      if ((spec.commands & commands) != 0)
        for (const std::string& name : spec.names) visit(spec, name);
}

std::vector<std::string> option_names(unsigned commands) {
  std::vector<std::string> names;
  each_name(commands, [&](const OptionSpec&, const std::string& name) { names.push_back(name); });
  return names;
}

[[noreturn]] void refuse_missing(const OptionSpec& spec, const std::string& name) {
  refuse({name, ""}, "needs a value, " + spec.value);
}

/// CLI11 takes the next word as the value of "--sizes=", and "--verbose=no" as a value of its own.
void check_equals_signs(const std::vector<std::string>& argv) {
  for (const std::string& text : argv)
    each_name(~0U, [&](const OptionSpec& spec, const std::string& name) {
      if (!name.starts_with("--") || !text.starts_with(name + "=")) return;
      if (spec.value.empty()) refuse({name, ""}, "takes no value");
      if (text.size() == name.size() + 1) refuse_missing(spec, name);
    });
}

/// What CLI11 made of the command line.
struct Typed {
  std::vector<OptionUse> uses;
  std::vector<std::string> words, unknown;  ///< words: the command and its operands
};

/// CLI11 cuts the command line into options and values. Each name is an option of its own there, so
/// that messages can repeat what was typed; all values are texts, so that CLI11 judges none.
Typed tokenize(const std::vector<std::string>& argv) {
  CLI::App app;
  app.set_help_flag();
  app.allow_extras();
  const auto* commands =
      app.add_option("command")->multi_option_policy(CLI::MultiOptionPolicy::TakeAll);
  std::vector<std::pair<OptionUse, const CLI::Option*>> known;
  each_name(~0U, [&](const OptionSpec& spec, const std::string& name) {
    CLI::Option* option = spec.value.empty() ? app.add_flag(name) : app.add_option(name);
    option->multi_option_policy(CLI::MultiOptionPolicy::TakeAll);
    known.push_back({{&spec, {name, ""}}, option});
  });
  try {
    std::vector<std::string> reversed(argv.rbegin(), argv.rend());
    app.parse(reversed);
  } catch (const CLI::ParseError& error) {
    for (const auto& [use, option] : known)  // only the last word can lack a value
      if (!argv.empty() && use.argument.option == argv.back())
        refuse_missing(*use.spec, use.argument.option);
    refuse({"command line", ""}, std::string(error.what()) + "; see arbench --help");
  }
  Typed typed{{}, commands->results(), {}};
  for (const std::string& text : app.remaining())  // some versions of CLI11 leave words there
    (text.starts_with('-') ? typed.unknown : typed.words).push_back(text);
  for (auto& [use, option] : known)
    for (const std::string& text : option->results())
      typed.uses.push_back({use.spec, {use.argument.option, use.spec->value.empty() ? "" : text}});
  return typed;
}

bool uses(const Typed& typed, const std::string& name) {
  return std::any_of(typed.uses.begin(), typed.uses.end(),
                     [&](const OptionUse& use) { return use.spec->names.back() == name; });
}

/// CLI11 takes any word as a value, even the name of the next option.
void check_values(const Typed& typed) {
  const auto names = option_names(~0U);
  for (const auto& [spec, argument] : typed.uses) {
    const bool is_name = argument.text.starts_with("--") ||
                         std::find(names.begin(), names.end(), argument.text) != names.end();
    if (!spec->value.empty() && (argument.text.empty() || is_name))
      refuse_missing(*spec, argument.option);
  }
}

void check_unknown(const Typed& typed) {
  for (const std::string& text : typed.unknown) {
    if (text == "--") continue;
    const std::string name = text.substr(0, text.find('='));
    refuse({name, ""}, "unknown option, arbench --help shows those accepted" +
                           did_you_mean(name, option_names(~0U)));
  }
  if (typed.words.size() > 1 && typed.words.front() != "compare")
    refuse({typed.words[1], ""}, "unexpected, accepts one command; a list takes commas");
}

/// What follows `compare`; nothing for other commands.
std::vector<std::string> operands_of(const Typed& typed, Command command) {
  if (command != Command::compare) return {};
  if (typed.words.size() != 3)
    refuse({"compare", ""},
           "accepts two result sets, A and B; several launches of one take commas");
  return {typed.words[1], typed.words[2]};
}

CommandName command_of(const Typed& typed) {
  if (typed.words.empty()) return uses(typed, "--list") ? kCommands[2] : kCommands[0];
  const std::string& text = typed.words.front();
  std::vector<std::string> accepted;
  for (const CommandName& known : kCommands) {
    if (text == known.name)
      return known.command == Command::run && uses(typed, "--list") ? kCommands[2] : known;
    accepted.emplace_back(known.name);
  }
  refuse({text, ""}, "unknown command, accepts " + joined(accepted) + "; a list takes commas" +
                         did_you_mean(text, accepted));
}

/// All options are ones that the command takes, each at most once.
void check_uses(const Typed& typed, const CommandName& command) {
  const OptionSpec* before = nullptr;
  for (const auto& [spec, argument] : typed.uses) {
    if ((spec->commands & command.mask) == 0)
      refuse(argument, "not used by " + std::string(command.name) + ", which accepts " +
                           joined(option_names(command.mask)));
    if (spec == before && !spec->value.empty())
      refuse(argument, "given more than once; a list takes commas");
    before = spec;
  }
}

}  // namespace

CommandLine read_command_line(const std::vector<std::string>& arguments) {
  check_equals_signs(arguments);
  const Typed typed = tokenize(arguments);
  if (uses(typed, "--help")) return {Command::help, {}, {}};
  if (uses(typed, "--version")) return {Command::version, {}, {}};
  check_values(typed);
  check_unknown(typed);
  const CommandName command = command_of(typed);
  check_uses(typed, command);
  return {command.command, typed.uses, operands_of(typed, command.command)};
}

}  // namespace arbench

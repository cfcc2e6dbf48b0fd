#include "compiler/Driver/CommandLine/CommandTable.h"
#include "compiler/Driver/CommandLine/CommandLineMistakes.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/Support/CommandLine.h"

namespace cl = llvm::cl;

namespace kiln {
namespace {

constexpr llvm::StringRef aliasHelp = "Alias for ";

/// LLVM hides aliases; its own options that it hides stay so.
bool isAlias(const cl::Option *option) { return option->HelpStr.starts_with(aliasHelp); }

OptionEntry describeOption(const cl::SubCommand &command, const cl::Option *option,
                           const KnownWords &words) {
  OptionEntry entry;
  entry.name = withDashes(option->ArgStr);
  entry.help = option->HelpStr.str();
  llvm::StringRef aliased = option->HelpStr;
  if (aliased.consume_front(aliasHelp))
    option = command.OptionsMap.lookup(aliased.ltrim('-'));
  entry.isRepeated = option->getNumOccurrencesFlag() == cl::ZeroOrMore;
  if (option->getValueExpectedFlag() == cl::ValueRequired)
    entry.valueName = option->ValueStr.empty() ? "value" : option->ValueStr.str();
  if (auto known = words.values.find(option); known != words.values.end())
    entry.values = known->second;
  return entry;
}

} // namespace

std::vector<CommandEntry> commandTable(const KnownWords &words) {
  auto byName = [](const auto &a, const auto &b) { return a.name < b.name; };
  std::vector<CommandEntry> commands;
  for (const cl::SubCommand *command : cl::getRegisteredSubcommands()) {
    if (command->getName().empty()) // options without a command
      continue;
    CommandEntry &entry = commands.emplace_back();
    entry.name = command->getName().str();
    entry.help = command->getDescription().str();
    if (auto known = words.operands.find(command); known != words.operands.end())
      entry.operands = known->second;
    for (const auto &[name, option] : command->OptionsMap)
      if (option->getOptionHiddenFlag() == cl::NotHidden || isAlias(option))
        entry.options.push_back(describeOption(*command, option, words));
    llvm::sort(entry.options, byName);
  }
  llvm::sort(commands, byName);
  return commands;
}

} // namespace kiln

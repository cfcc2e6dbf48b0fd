#include "compiler/Driver/CommandLine/CommandLineMistakes.h"
#include "compiler/Basic/NameSuggestion.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/CommandLine.h"

namespace cl = llvm::cl;

namespace kiln {
namespace {

/// Null when there is no command of that name.
cl::SubCommand *findCommand(llvm::StringRef name) {
  for (cl::SubCommand *command : cl::getRegisteredSubcommands())
    if (command->getName() == name && !name.empty())
      return command;
  return nullptr;
}

std::string unknownOption(cl::SubCommand &command, llvm::StringRef name) {
  std::vector<llvm::StringRef> known;
  for (const auto &[text, option] : cl::getRegisteredOptions(command))
    if (option->getOptionHiddenFlag() != cl::ReallyHidden)
      known.push_back(text);
  llvm::sort(known); // the map's order is not a stable one
  llvm::StringRef nearest = findNearestName(name, known);
  return "unknown option '" + withDashes(name) + "'" +
         (nearest.empty() ? " (kiln " + command.getName().str() + " --help shows what there is)"
                          : ": did you mean '" + withDashes(nearest) + "'?");
}

/// Whether the argument, without its dashes, is an option with its value behind it: "-j4".
bool hasPrefixOption(cl::SubCommand &command, llvm::StringRef argument) {
  return llvm::any_of(cl::getRegisteredOptions(command), [&](const auto &entry) {
    return entry.second->getFormattingFlag() == cl::Prefix && argument.starts_with(entry.first);
  });
}

} // namespace

std::string withDashes(llvm::StringRef name) {
  return (name.size() == 1 ? "-" : "--") + name.str();
}

std::string findUnknownOption(int argc, char **argv) {
  cl::SubCommand *command = argc > 1 ? findCommand(argv[1]) : nullptr;
  if (!command)
    return "";
  const auto &options = cl::getRegisteredOptions(*command);
  for (int i = 2; i < argc; ++i) {
    llvm::StringRef argument = argv[i];
    if (argument == "--")
      break;
    if (!argument.starts_with("-") || argument == "-")
      continue;
    bool isLong = argument.starts_with("--");
    auto [name, value] = argument.drop_front(isLong ? 2 : 1).split('=');
    auto option = options.find(name);
    if (option != options.end()) {
      bool takesNext = option->second->getValueExpectedFlag() == cl::ValueRequired;
      if (takesNext && !argument.contains('='))
        ++i;
    } else if (isLong || !hasPrefixOption(*command, argument.drop_front())) {
      return unknownOption(*command, name);
    }
  }
  return "";
}

std::string mistakeText(llvm::StringRef lines) {
  auto [first, rest] = lines.split('\n');
  llvm::StringRef text = first.split(": ").second;
  text = text.split(".  Try:").first;
  llvm::StringRef nearest = rest.split("Did you mean '").second.split('\'').first;
  std::string message = text.str();
  if (!message.empty())
    message[0] = llvm::toLower(message[0]);
  return nearest.empty() ? message + " (kiln --help shows what there is)"
                         : message + ": did you mean '" + nearest.str() + "'?";
}

void hideForeignOptions() {
  for (const auto &[name, option] : cl::getRegisteredOptions())
    if (name != "help" && name != "version")
      option->setHiddenFlag(cl::ReallyHidden);
}

} // namespace kiln

// kiln completion: a script by which a shell completes what is typed behind "kiln". It is made from
// the very options that the command line reads.

#include "compiler/Driver/Completion/Completion.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/FormatVariadic.h"
#include "llvm/Support/raw_ostream.h"

using llvm::formatv;
using llvm::raw_ostream;
using llvm::StringRef;

namespace kiln {
namespace {

/// In single quotes. Within them fish knows \', and the others have to leave them.
std::string quoted(StringRef text, StringRef apostrophe = "'\\''") {
  std::string result = "'";
  for (char c : text)
    result += c == '\'' ? apostrophe.str() : std::string{c};
  return result + "'";
}

std::vector<std::string> optionNames(const CommandEntry &command) {
  std::vector<std::string> names;
  for (const OptionEntry &option : command.options)
    names.push_back(option.name);
  return names;
}

std::vector<std::string> commandNames(llvm::ArrayRef<CommandEntry> commands) {
  std::vector<std::string> names;
  for (const CommandEntry &command : commands)
    names.push_back(command.name);
  return names;
}

// ------------------------------------------------------------------------------------------- bash

/// Bash splits "--diagnostics=json" at the "=", so a value is found in either place.
constexpr StringRef bashBegin = R"(# Completion of kiln for bash, written by kiln completion bash.
_kiln() {
  local current=${COMP_WORDS[COMP_CWORD]} previous=${COMP_WORDS[COMP_CWORD-1]} words=
  if [[ $current == "=" ]]; then
    current=
  elif [[ $previous == "=" ]]; then
    previous=${COMP_WORDS[COMP_CWORD-2]}
  fi
)";

constexpr StringRef bashEnd = R"(  COMPREPLY=($(compgen -W "$words" -- "$current"))
  [[ ${#COMPREPLY[@]} -gt 0 ]] || COMPREPLY=($(compgen -f -- "$current"))
}
complete -o filenames -F _kiln kiln
)";

void writeBashValues(raw_ostream &os, const CommandEntry &command) {
  for (const OptionEntry &option : command.options) {
    if (option.valueName == "folder")
      os << formatv("    \"{0} {1}\") COMPREPLY=($(compgen -d -- \"$current\")); return ;;\n",
                    command.name, option.name);
    else if (!option.values.empty())
      os << formatv("    \"{0} {1}\") words=\"{2}\" ;;\n", command.name, option.name,
                    llvm::join(option.values, " "));
    else if (!option.valueName.empty())
      os << formatv("    \"{0} {1}\") ;;\n", command.name, option.name);
  }
}

/// The words that each command takes at one kind of place, as cases.
void writeBashWords(raw_ostream &os, llvm::ArrayRef<CommandEntry> commands,
                    std::vector<std::string> (*wordsOf)(const CommandEntry &)) {
  os << "        case ${COMP_WORDS[1]} in\n";
  for (const CommandEntry &command : commands)
    if (std::vector<std::string> words = wordsOf(command); !words.empty())
      os << formatv("          {0}) words=\"{1}\" ;;\n", command.name, llvm::join(words, " "));
  os << "        esac\n";
}

void writeBash(raw_ostream &os, llvm::ArrayRef<CommandEntry> commands) {
  os << bashBegin << "  case \"${COMP_WORDS[1]} $previous\" in\n";
  for (const CommandEntry &command : commands)
    writeBashValues(os, command);
  os << "    *)\n"
     << "      if [[ $COMP_CWORD -eq 1 ]]; then\n"
     << "        words=\"" << llvm::join(commandNames(commands), " ") << " --help --version\"\n"
     << "      elif [[ $current == -* ]]; then\n";
  writeBashWords(os, commands, optionNames);
  os << "      else\n";
  writeBashWords(os, commands, [](const CommandEntry &command) { return command.operands; });
  os << "      fi ;;\n"
     << "  esac\n"
     << bashEnd;
}

// -------------------------------------------------------------------------------------------- zsh

/// What _arguments calls for a value.
std::string zshAction(const OptionEntry &option) {
  if (!option.values.empty())
    return "(" + llvm::join(option.values, " ") + ")";
  if (option.valueName == "folder")
    return "_files -/";
  return StringRef(option.valueName).contains("file") ? "_files" : "";
}

std::string zshArgument(const OptionEntry &option) {
  std::string help;
  for (char c : option.help)
    help += llvm::is_contained({'[', ']', ':', '\\'}, c) ? std::string{'\\', c} : std::string{c};
  std::string argument = (option.isRepeated ? "*" : "") + option.name;
  if (!option.valueName.empty())
    argument += StringRef(option.name).starts_with("--") ? "=" : "+";
  argument += "[" + help + "]";
  if (!option.valueName.empty())
    argument += ":" + option.valueName + ":" + zshAction(option);
  return quoted(argument);
}

void writeZsh(raw_ostream &os, llvm::ArrayRef<CommandEntry> commands) {
  os << "#compdef kiln\n# Completion of kiln for zsh, written by kiln completion zsh.\n"
     << "_kiln() {\n  local -a commands\n  commands=(\n";
  for (const CommandEntry &command : commands)
    os << "    " << quoted(command.name + ":" + command.help) << "\n";
  os << "  )\n"
     << "  if (( CURRENT == 2 )); then\n"
     << "    _describe command commands\n"
     << "    return\n"
     << "  fi\n"
     << "  shift words\n"
     << "  (( CURRENT-- ))\n"
     << "  case $words[1] in\n";
  for (const CommandEntry &command : commands) {
    os << "    " << command.name << ")\n      _arguments";
    for (const OptionEntry &option : command.options)
      os << " \\\n        " << zshArgument(option);
    os << " \\\n        '*:"
       << (command.operands.empty() ? "file:_files"
                                    : "name:(" + llvm::join(command.operands, " ") + ")")
       << "' ;;\n";
  }
  os << "  esac\n}\n"
     << "if [[ $funcstack[1] == _kiln ]]; then\n  _kiln \"$@\"\nelse\n  compdef _kiln kiln\nfi\n";
}

// ------------------------------------------------------------------------------------------- fish

std::string fishQuoted(StringRef text) { return quoted(text, "\\'"); }

std::string fishName(StringRef name) {
  if (name.consume_front("--"))
    return "-l " + name.str();
  return "-s " + name.drop_front().str();
}

void writeFish(raw_ostream &os, llvm::ArrayRef<CommandEntry> commands) {
  os << "# Completion of kiln for fish, written by kiln completion fish.\n";
  for (const CommandEntry &command : commands)
    os << formatv("complete -c kiln -f -n __fish_use_subcommand -a {0} -d {1}\n", command.name,
                  fishQuoted(command.help));
  for (const CommandEntry &command : commands) {
    if (!command.operands.empty())
      os << formatv("complete -c kiln -f -n '__fish_seen_subcommand_from {0}' -a {1}\n",
                    command.name, fishQuoted(llvm::join(command.operands, " ")));
    for (const OptionEntry &option : command.options) {
      os << formatv("complete -c kiln -n '__fish_seen_subcommand_from {0}' {1} -d {2}",
                    command.name, fishName(option.name), fishQuoted(option.help));
      if (!option.values.empty())
        os << " -x -a " << fishQuoted(llvm::join(option.values, " "));
      else if (option.valueName == "folder")
        os << " -x -a '(__fish_complete_directories)'";
      else if (!option.valueName.empty())
        os << " -r";
      os << "\n";
    }
  }
}

} // namespace

int runCompletion(const CommandLine &line) {
  switch (line.completion.shell) {
  case Shell::Bash:
    writeBash(llvm::outs(), line.completion.commands);
    break;
  case Shell::Zsh:
    writeZsh(llvm::outs(), line.completion.commands);
    break;
  case Shell::Fish:
    writeFish(llvm::outs(), line.completion.commands);
    break;
  }
  return 0;
}

} // namespace kiln

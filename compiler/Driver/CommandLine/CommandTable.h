// The commands and options of kiln as plain data, for what describes them elsewhere.

#ifndef KILN_COMPILER_DRIVER_COMMANDLINE_COMMANDTABLE_H
#define KILN_COMPILER_DRIVER_COMMANDLINE_COMMANDTABLE_H

#include <map>
#include <string>
#include <vector>

namespace llvm::cl {
class Option;
class SubCommand;
} // namespace llvm::cl

namespace kiln {

struct OptionEntry {
  /// With its dashes: "--target", "-o".
  std::string name, help;
  /// What its value is: "file", "folder", "count"…; empty: it takes none.
  std::string valueName;
  /// Those that there are, where it is one of a few.
  std::vector<std::string> values;
  bool isRepeated = false;
};

struct CommandEntry {
  std::string name, help;
  /// What may stand without an option's name; empty: files.
  std::vector<std::string> operands;
  /// By name.
  std::vector<OptionEntry> options;
};

/// What LLVM's command-line library does not tell of its options and commands.
struct KnownWords {
  std::map<const llvm::cl::Option *, std::vector<std::string>> values;
  std::map<const llvm::cl::SubCommand *, std::vector<std::string>> operands;
};

/// All commands that are registered, by name.
std::vector<CommandEntry> commandTable(const KnownWords &words);

} // namespace kiln

#endif

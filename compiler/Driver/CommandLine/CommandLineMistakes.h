// What LLVM's command-line library leaves to its users: naming an unknown option, and hiding the
// options of LLVM's own passes.

#ifndef KILN_COMPILER_DRIVER_COMMANDLINE_COMMANDLINEMISTAKES_H
#define KILN_COMPILER_DRIVER_COMMANDLINE_COMMANDLINEMISTAKES_H

#include "llvm/ADT/StringRef.h"
#include <string>

namespace kiln {

/// The first argument that looks like an option and is none of its command, as a message with the
/// nearest option; "" when there is none. LLVM takes such names for groups of options of one
/// letter: "-o may not occur within a group" for --otput.
std::string findUnknownOption(int argc, char **argv);

/// LLVM's "kiln: Unknown subcommand 'buld'.  Try: …" and, on a line of its own, "kiln: Did you mean
/// 'build'?", in one line.
std::string mistakeText(llvm::StringRef lines);

/// "--output", "-o"
std::string withDashes(llvm::StringRef name);

/// Leaves --help and --version of the options that belong to no command.
void hideForeignOptions();

} // namespace kiln

#endif

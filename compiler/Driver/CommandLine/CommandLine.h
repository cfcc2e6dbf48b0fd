// Reads the command line: the only place that knows LLVM's command-line library (cl::opt). Every
// flag belongs to a command, so LLVM's own do not show. One file for each group of flags: what they
// are called, and how they become the plain data of Options.h.

#ifndef KILN_COMPILER_DRIVER_COMMANDLINE_COMMANDLINE_H
#define KILN_COMPILER_DRIVER_COMMANDLINE_COMMANDLINE_H

#include "compiler/Driver/CommandLine/Options.h"

namespace kiln {

/// Parses the arguments. Prints help and exits for --help and --version; prints one line and exits
/// with status 2 for a mistake, as command-line tools do. Reads the variable KILN_CACHE, and
/// whether the folders of -I exist; no other file.
CommandLine parseCommandLine(int argc, char **argv);

} // namespace kiln

#endif

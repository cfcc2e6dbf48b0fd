// The flags of kiln init.

#ifndef KILN_COMPILER_DRIVER_COMMANDLINE_INITFLAGS_H
#define KILN_COMPILER_DRIVER_COMMANDLINE_INITFLAGS_H

#include "compiler/Driver/CommandLine/Options.h"
#include "compiler/Driver/CommandLine/SubCommands.h"

namespace kiln {

struct InitFlags {
  InitOptions options() const;

  SubCommands &commands;
  cl::opt<std::string> sourcePath{cl::Positional, cl::desc("<kernel.py>"), cl::sub(commands.init)};
  cl::list<std::string> kernels{
      "n", cl::desc("Name of a kernel (default: all of the file); may be repeated"),
      cl::value_desc("name"), cl::sub(commands.init)};
  cl::opt<std::string> output{"o", cl::desc("The spec to write (default: beside the source)"),
                              cl::value_desc("file"), cl::sub(commands.init)};
};

} // namespace kiln

#endif

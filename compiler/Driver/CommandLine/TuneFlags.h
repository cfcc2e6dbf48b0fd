// The flags of kiln tune, beside those of kiln build.

#ifndef KILN_COMPILER_DRIVER_COMMANDLINE_TUNEFLAGS_H
#define KILN_COMPILER_DRIVER_COMMANDLINE_TUNEFLAGS_H

#include "compiler/Driver/CommandLine/LibraryFlags.h"

namespace kiln {

struct TuneFlags {
  TuneOptions options(const CompilerFlags &compiler, const LibraryFlags &library) const;
  /// In place of a table for programs.
  bool makesTuner() const { return commands.tune && table.empty(); }

  SubCommands &commands;
  cl::list<std::string> merged{"merge",
                               cl::desc("Put these tuning files together, into the file of -o"),
                               cl::value_desc("file"), cl::sub(commands.tune)};
  cl::list<std::string> imported{"import",
                                 cl::desc("Write these files of Triton's autotuner, or tables "
                                          "of configs (--where), as a tuning file, into -o"),
                                 cl::value_desc("file"), cl::sub(commands.tune)};
  cl::list<std::string> where{"where",
                              cl::desc("--import takes tables of configs by M; this argument "
                                       "of the dispatch key is that expression over M"),
                              cl::value_desc("name=expression"), cl::sub(commands.tune)};
  cl::opt<std::string> shapes{"shapes",
                              cl::desc("Shapes that kiln_dump_shapes has written, in place of "
                                       "the spec's"),
                              cl::value_desc("file"), cl::sub(commands.tune)};
  cl::opt<std::string> table{"table",
                             cl::desc("Write the spec's measured shapes as a file that a "
                                      "program loads (kiln_load_tuning)"),
                             cl::value_desc("file"), cl::sub(commands.tune)};
  cl::opt<std::string> kernel{"kernel", cl::desc("The entry point that they are about"),
                              cl::value_desc("name"), cl::sub(commands.tune)};
  cl::opt<std::string> device{"device", cl::desc("The device that they were measured on"),
                              cl::value_desc("name"), cl::sub(commands.tune)};
};

} // namespace kiln

#endif

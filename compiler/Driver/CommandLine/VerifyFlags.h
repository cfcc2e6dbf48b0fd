// The flags of kiln verify.

#ifndef KILN_COMPILER_DRIVER_COMMANDLINE_VERIFYFLAGS_H
#define KILN_COMPILER_DRIVER_COMMANDLINE_VERIFYFLAGS_H

#include "compiler/Driver/CommandLine/CompilerFlags.h"
#include "compiler/Driver/CommandLine/LibraryFlags.h"

namespace kiln {

struct VerifyFlags {
  VerifyOptions options(const CompilerFlags &compiler, const LibraryFlags &library) const;

  SubCommands &commands;
  cl::opt<std::string> specPath{cl::Positional, cl::desc("<spec.json>"), cl::sub(commands.verify)};
  cl::opt<std::string> capture{cl::Positional, cl::desc("<folder of a capture>"),
                               cl::sub(commands.verify)};
  cl::opt<std::string> library{
      "library", cl::desc("The shared library whose functions are called, in place of a spec"),
      cl::value_desc("file"), cl::sub(commands.verify)};
  cl::list<std::string> kernels{"kernel",
                                cl::desc("Only launches of this entry point; may be repeated"),
                                cl::value_desc("name"), cl::sub(commands.verify)};
  cl::list<std::string> tolerances{
      "tolerance", cl::desc("How far elements of a type may be off, relative to |recorded| + rms"),
      cl::value_desc("type=number"), cl::sub(commands.verify)};
  cl::opt<bool> check{"check", cl::desc("Report wrong accesses and races (emulated targets)"),
                      cl::sub(commands.verify)};
  cl::opt<bool> allVariants{"all-variants",
                            cl::desc("Replay each launch by every variant that accepts it"),
                            cl::sub(commands.verify)};
};

} // namespace kiln

#endif

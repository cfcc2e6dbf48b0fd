// The flags of kiln build, check, plan and link; kiln tune has those of build.

#ifndef KILN_COMPILER_DRIVER_COMMANDLINE_LIBRARYFLAGS_H
#define KILN_COMPILER_DRIVER_COMMANDLINE_LIBRARYFLAGS_H

#include "compiler/Driver/CommandLine/CompilerFlags.h"

namespace kiln {

struct LibraryFlags {
  BuildOptions options(const CompilerFlags &compiler, bool makesTuner) const;
  bool isTritonLink() const { return commands.link && tritonCompat; }

  SubCommands &commands;
  cl::opt<std::string> specPath{cl::Positional,          cl::desc("<spec.json>"),
                                cl::sub(commands.build), cl::sub(commands.plan),
                                cl::sub(commands.link),  cl::sub(commands.check)};
  cl::opt<std::string> outputFolder{"o", cl::desc("Folder of the library's files"),
                                    cl::value_desc("folder"), cl::sub(commands.build),
                                    cl::sub(commands.link)};
  cl::alias outputFolderLong{"output", cl::aliasopt(outputFolder), cl::desc("Alias for -o")};
  cl::opt<std::string> libraryName{"name",
                                   cl::desc("Name of the library, in place of the spec's"),
                                   cl::value_desc("name"),
                                   cl::sub(commands.build),
                                   cl::sub(commands.plan),
                                   cl::sub(commands.link),
                                   cl::sub(commands.verify)};
  cl::opt<std::string> libraryPrefix{
      "prefix",
      cl::desc("Before every name that C links, the runtime's too (KILN_PREFIX)"),
      cl::value_desc("name"),
      cl::sub(commands.build),
      cl::sub(commands.plan),
      cl::sub(commands.link),
      cl::sub(commands.verify)};
  cl::opt<std::string> objects{
      "objects", cl::desc("Write a file of pieces, for kiln link, in place of a library"),
      cl::value_desc("file"), cl::sub(commands.build)};
  cl::list<std::string> pieceFiles{cl::Positional, cl::desc("<files of pieces>"),
                                   cl::sub(commands.link)};
  cl::opt<bool> planList{
      "list", cl::desc("Only names, one for each kernel and target, as --only takes them"),
      cl::sub(commands.plan)};
  cl::opt<std::string> planFile{"o", cl::desc("The file to write"), cl::value_desc("file"),
                                cl::sub(commands.plan)};
  cl::opt<std::string> header{"header",
                              cl::desc("Write the library's header here (--cxx: and that for C++ "
                                       "beside it), and no plan without -o"),
                              cl::value_desc("file"), cl::sub(commands.plan)};
  cl::opt<bool> tritonCompat{"triton-compat",
                             cl::desc("The C interface of Triton's compile.py and link.py"),
                             cl::sub(commands.link)};
};

} // namespace kiln

#endif

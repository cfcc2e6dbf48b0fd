// The flags of kiln inspect and kiln report.

#ifndef KILN_COMPILER_DRIVER_COMMANDLINE_REPORTFLAGS_H
#define KILN_COMPILER_DRIVER_COMMANDLINE_REPORTFLAGS_H

#include "compiler/Driver/CommandLine/Options.h"
#include "compiler/Driver/CommandLine/SubCommands.h"

namespace kiln {

struct ReportFlags {
  InspectOptions inspectOptions() const;
  ReportOptions reportOptions() const;

  SubCommands &commands;
  cl::opt<std::string> inspected{cl::Positional, cl::desc("<library: .a or .json>"),
                                 cl::sub(commands.inspect)};
  cl::opt<bool> sizes{"sizes", cl::desc("The bytes of each target, kernel and variant"),
                      cl::sub(commands.inspect)};
  cl::opt<bool> asJson{"json", cl::desc("As JSON"), cl::sub(commands.inspect)};
  cl::opt<std::string> library{cl::Positional, cl::desc("<library: .a or .json>"),
                               cl::sub(commands.report)};
  cl::opt<std::string> outputFile{"o", cl::desc("The file to write"), cl::value_desc("file"),
                                  cl::sub(commands.report)};
  cl::list<std::string> counts{"counts",
                               cl::desc("Counts that kiln run --count-json wrote; may be repeated"),
                               cl::value_desc("file"), cl::sub(commands.report)};
  cl::list<std::string> gpus{
      "gpu",
      cl::desc("A GPU whose least times are wanted (default: all that were counted "
               "for); may be repeated"),
      cl::value_desc("name"), cl::sub(commands.report)};
};

} // namespace kiln

#endif

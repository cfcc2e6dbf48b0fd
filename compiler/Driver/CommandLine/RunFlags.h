// The flags of kiln run.

#ifndef KILN_COMPILER_DRIVER_COMMANDLINE_RUNFLAGS_H
#define KILN_COMPILER_DRIVER_COMMANDLINE_RUNFLAGS_H

#include "compiler/Driver/CommandLine/CompilerFlags.h"

namespace kiln {

struct RunFlags {
  RunOptions options(const CompilerFlags &compiler) const;

  SubCommands &commands;
  cl::opt<std::string> specPath{cl::Positional, cl::desc("<spec.json>"), cl::sub(commands.run)};
  cl::opt<std::string> kernel{"kernel", cl::desc("The entry point to run"), cl::value_desc("name"),
                              cl::sub(commands.run)};
  cl::opt<int> variant{"variant", cl::desc("The variant to run (default: the first that accepts)"),
                       cl::value_desc("number"), cl::init(-1), cl::sub(commands.run)};
  cl::opt<std::string> grid{"grid", cl::desc("Launch grid, in place of the spec's"),
                            cl::value_desc("x,y,z"), cl::sub(commands.run)};
  cl::list<std::string> arguments{
      "arg", cl::desc("An argument: a number, @file.npy, or a generator such as zeros(64)"),
      cl::value_desc("name=value"), cl::sub(commands.run)};
  cl::list<std::string> outputs{"out", cl::desc("Write an array after the run"),
                                cl::value_desc("name=file.npy"), cl::sub(commands.run)};
  cl::opt<unsigned long long> seed{"seed", cl::desc("Start of the generators of random numbers"),
                                   cl::value_desc("number"), cl::init(0), cl::sub(commands.run)};
  cl::opt<bool> check{"check", cl::desc("Report wrong accesses and races (emulated targets)"),
                      cl::sub(commands.run)};
  cl::opt<bool> count{"count", cl::desc("Print what a profiler would count (emulated targets)"),
                      cl::sub(commands.run)};
  cl::opt<std::string> countJson{"count-json",
                                 cl::desc("Write the counts as JSON (-: standard output)"),
                                 cl::value_desc("file"), cl::sub(commands.run)};
  cl::opt<std::string> countHtml{"count-html",
                                 cl::desc("Write the counts as an annotated source, in HTML"),
                                 cl::value_desc("file"), cl::sub(commands.run)};
};

} // namespace kiln

#endif

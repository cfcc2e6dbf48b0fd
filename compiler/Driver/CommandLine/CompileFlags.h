// The flags of kiln compile: those of Triton's compile.py.

#ifndef KILN_COMPILER_DRIVER_COMMANDLINE_COMPILEFLAGS_H
#define KILN_COMPILER_DRIVER_COMMANDLINE_COMPILEFLAGS_H

#include "compiler/Driver/CommandLine/Options.h"
#include "compiler/Driver/CommandLine/SubCommands.h"

namespace kiln {

struct CompileFlags {
  CompileOptions options() const;
  void addWords(KnownWords &words) const;

  SubCommands &commands;
  cl::opt<std::string> sourcePath{cl::Positional, cl::desc("<kernel.py>"),
                                  cl::sub(commands.compile)};
  cl::opt<std::string> kernelName{"n", cl::desc("Name of the kernel"), cl::value_desc("name"),
                                  cl::sub(commands.compile)};
  cl::alias kernelNameLong{"kernel-name", cl::aliasopt(kernelName), cl::desc("Alias for -n")};
  cl::opt<std::string> signature{"s", cl::desc("Types and values of the parameters, in order"),
                                 cl::value_desc("type, value, ..."), cl::sub(commands.compile)};
  cl::alias signatureLong{"signature", cl::aliasopt(signature), cl::desc("Alias for -s")};
  cl::opt<std::string> grid{"g", cl::desc("Launch grid, expressions over the arguments"),
                            cl::value_desc("x, y, z"), cl::sub(commands.compile)};
  cl::alias gridLong{"grid", cl::aliasopt(grid), cl::desc("Alias for -g")};
  cl::opt<unsigned> numWarps{"w", cl::desc("Warps of a block (default: 4)"),
                             cl::value_desc("count"), cl::init(4), cl::sub(commands.compile)};
  cl::alias numWarpsLong{"num-warps", cl::aliasopt(numWarps), cl::desc("Alias for -w")};
  cl::opt<unsigned> numStages{"ns", cl::desc("Stages of pipelined loops (default: 3)"),
                              cl::value_desc("count"), cl::init(3), cl::sub(commands.compile)};
  cl::alias numStagesLong{"num-stages", cl::aliasopt(numStages), cl::desc("Alias for -ns")};
  cl::list<std::string> configOptions{
      "option", cl::desc("Option of the config, as in a spec (waves_per_eu=2)"),
      cl::value_desc("name=value"), cl::sub(commands.compile)};
  cl::opt<std::string> outName{"on", cl::desc("C name of the kernel (default: the kernel's)"),
                               cl::value_desc("name"), cl::sub(commands.compile)};
  cl::alias outNameLong{"out-name", cl::aliasopt(outName), cl::desc("Alias for -on")};
  cl::opt<std::string> outPath{"o", cl::desc("Path of the outputs, without extension"),
                               cl::value_desc("path"), cl::sub(commands.compile)};
  cl::alias outPathLong{"out-path", cl::aliasopt(outPath), cl::desc("Alias for -o")};
  cl::opt<std::string> emitStage{
      "emit",
      cl::desc("Write this stage (to -o, else standard output) in place of a library: ast, "
               "tile, tilegpu, llvm, llvmir, ptx, cubin, amdgcn, hsaco, asm, obj"),
      cl::value_desc("stage"), cl::sub(commands.compile)};
  cl::opt<bool> tritonCompat{"triton-compat",
                             cl::desc("The C interface of Triton's compile.py and link.py"),
                             cl::sub(commands.compile)};
};

} // namespace kiln

#endif

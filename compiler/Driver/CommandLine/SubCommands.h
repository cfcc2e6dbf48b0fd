// The commands of kiln, as LLVM's command-line library knows them.

#ifndef KILN_COMPILER_DRIVER_COMMANDLINE_SUBCOMMANDS_H
#define KILN_COMPILER_DRIVER_COMMANDLINE_SUBCOMMANDS_H

#include "llvm/Support/CommandLine.h"

namespace kiln {

namespace cl = llvm::cl;

struct SubCommands {
  cl::SubCommand init{"init", "Write a spec for the kernels of a file, for you to complete"};
  cl::SubCommand build{"build", "Compile a spec into a C library"};
  cl::SubCommand plan{"plan", "List the pieces that a spec's library is made of, as JSON"};
  cl::SubCommand link{"link", "Put a library together from pieces that were compiled"};
  cl::SubCommand compile{"compile", "Compile one kernel, with the flags of Triton's compile.py"};
  cl::SubCommand run{"run", "Compile one kernel of a spec and run it on given arguments"};
  cl::SubCommand verify{"verify",
                        "Replay launches that kiln record has captured, and compare the results"};
  cl::SubCommand check{"check", "Report mistakes in a spec and its kernels; generate nothing"};
  cl::SubCommand inspect{"inspect",
                         "Show what is in a library: variants, targets, resources, bytes"};
  cl::SubCommand report{"report", "Write a page about a library and what its kernels do"};
  cl::SubCommand tune{"tune", "Make a program that times the variants of a spec's kernels"};
  cl::SubCommand cache{"cache", "Show, prune or clear the folder of --cache"};
  cl::SubCommand language{"language", "Describe the functions that kernels can call"};
  cl::SubCommand completion{"completion", "Write a script that completes commands in a shell"};

  /// Those that read sources. Build, plan and link take the same options, so that build systems
  /// need one list of them.
  cl::SubCommandGroup readers{&build, &plan, &link, &compile, &check, &run, &verify};
  /// Those that generate code, and those that write a library.
  cl::SubCommandGroup generators{&build, &plan, &link, &compile, &run, &verify};
  cl::SubCommandGroup libraries{&build, &plan, &link, &compile};
};

} // namespace kiln

#endif

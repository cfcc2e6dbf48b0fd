// The kiln command.

#include "compiler/Driver/Commands.h"

int main(int argc, char **argv) {
  kiln::CommandLine line = kiln::parseCommandLine(argc, argv);
  switch (line.command) {
  case kiln::Command::Build:
    return kiln::runBuild(line);
  case kiln::Command::Check:
    return kiln::runCheck(line);
  case kiln::Command::Compile:
    return kiln::runCompile(line);
  case kiln::Command::Run:
    return kiln::runRun(line);
  case kiln::Command::Inspect:
    return kiln::runInspect(line);
  }
  return 2;
}

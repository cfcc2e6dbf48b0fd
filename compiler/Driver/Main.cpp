// The kiln command.

#include "compiler/Driver/Commands.h"
#include "compiler/Driver/Interrupt.h"

namespace {

int runCommand(const kiln::CommandLine &line) {
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
  case kiln::Command::Language:
    return kiln::runLanguage(line);
  }
  return 2;
}

} // namespace

int main(int argc, char **argv) {
  kiln::CommandLine line = kiln::parseCommandLine(argc, argv);
  // A kernel that runs in this very process would not look.
  if (line.command != kiln::Command::Run || !line.compiler.inProcess)
    kiln::noteInterrupts();
  int status = runCommand(line);
  kiln::endIfInterrupted();
  return status;
}

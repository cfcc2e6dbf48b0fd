// The kiln command.

#include "compiler/Driver/Cache/Cache.h"
#include "compiler/Driver/CommandLine/CommandLine.h"
#include "compiler/Driver/Completion/Completion.h"
#include "compiler/Driver/Init/Init.h"
#include "compiler/Driver/Language/Language.h"
#include "compiler/Driver/Library/Library.h"
#include "compiler/Driver/Process/Interrupt.h"
#include "compiler/Driver/Report/Report.h"
#include "compiler/Driver/Run/Run.h"
#include "compiler/Driver/Triton/Triton.h"
#include "compiler/Driver/Tune/Tune.h"
#include "compiler/Driver/Verify/Verify.h"
#include "llvm/Support/raw_ostream.h"
#include <cstdlib>
#include <unistd.h>

namespace {

int runCommand(const kiln::CommandLine &line) {
  switch (line.command) {
  case kiln::Command::Init:
    return kiln::runInit(line);
  case kiln::Command::Build:
    return kiln::runBuild(line);
  case kiln::Command::Check:
    return kiln::runCheck(line);
  case kiln::Command::Plan:
    return kiln::runPlan(line);
  case kiln::Command::Link:
    return kiln::runLink(line);
  case kiln::Command::TritonLink:
    return kiln::runTritonLink(line);
  case kiln::Command::Compile:
    return kiln::runCompile(line);
  case kiln::Command::Run:
    return kiln::runRun(line);
  case kiln::Command::Verify:
    return kiln::runVerify(line);
  case kiln::Command::Inspect:
    return kiln::runInspect(line);
  case kiln::Command::Tune:
    return kiln::runTune(line);
  case kiln::Command::Report:
    return kiln::runReport(line);
  case kiln::Command::Cache:
    return kiln::runCache(line);
  case kiln::Command::Language:
    return kiln::runLanguage(line);
  case kiln::Command::Completion:
    return kiln::runCompletion(line);
  }
  return 2;
}

/// At exit, also after --help: what could not be written to standard output is an error. LLVM's
/// streams would end the process by an internal error instead. Nobody can be told of what could not
/// be written to standard error.
void checkStandardStreams() {
  llvm::raw_fd_ostream &out = llvm::outs();
  out.flush();
  bool failed = out.has_error();
  if (failed)
    llvm::errs() << "kiln: error: cannot write to standard output: " << out.error().message()
                 << "\n";
  out.clear_error();
  llvm::errs().clear_error();
  if (failed)
    _exit(1);
}

} // namespace

int main(int argc, char **argv) {
  // The streams exist before the function is registered, so they are there when it is called.
  llvm::outs(), llvm::errs();
  std::atexit(checkStandardStreams);
  kiln::CommandLine line = kiln::parseCommandLine(argc, argv);
  // A kernel that runs in this very process would not look.
  bool launches = line.command == kiln::Command::Run || line.command == kiln::Command::Verify;
  if (!launches || !line.compiler.inProcess)
    kiln::noteInterrupts();
  int status = runCommand(line);
  kiln::endIfInterrupted();
  // What has run here may have something to do at the end.
  if (launches)
    return status;
  // Without giving back what is still in memory.
  checkStandardStreams();
  std::fflush(nullptr);
  _exit(status);
}

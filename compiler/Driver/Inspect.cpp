// kiln inspect: what is in a library.

#include "codegen/Manifest.h"
#include "compiler/Driver/Commands.h"
#include "llvm/Support/MemoryBuffer.h"

namespace kiln {

int runInspect(const CommandLine &line) {
  SourceManager sources;
  DiagnosticEngine diagnostics;
  auto file = llvm::MemoryBuffer::getFile(line.inspect.library);
  if (!file) {
    diagnostics.report(DiagKind::DriverCannotRead, DiagPlace(), line.inspect.library,
                       file.getError().message());
  } else if (auto library = inspectLibrary((*file)->getBuffer())) {
    printSummary(*library, llvm::outs());
    return 0;
  } else {
    diagnostics.report(DiagKind::DriverCannotRead, DiagPlace(), line.inspect.library,
                       llvm::toString(library.takeError()));
  }
  diagnostics.print(llvm::errs(), sources);
  return 1;
}

} // namespace kiln

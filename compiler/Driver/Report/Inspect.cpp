// kiln inspect: what is in a library.

#include "codegen/Manifest.h"
#include "compiler/Basic/RegularFile.h"
#include "compiler/Driver/Report/Report.h"

namespace kiln {

int runInspect(const CommandLine &line) {
  SourceManager sources;
  DiagnosticEngine diagnostics;
  auto file = readRegularFile(line.inspect.library, /*maxBytes=*/uint64_t(1) << 40);
  if (!file) {
    diagnostics.report(DiagKind::DriverCannotRead, DiagPlace(), line.inspect.library,
                       file.getError().message());
  } else if (auto library = inspectLibrary((*file)->getBuffer())) {
    if (line.inspect.json)
      writeSummaryJson(*library, llvm::outs());
    else if (line.inspect.sizes)
      printSizes(*library, llvm::outs());
    else
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

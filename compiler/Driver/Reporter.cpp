#include "compiler/Driver/Reporter.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/raw_ostream.h"
#include <unistd.h>

namespace kiln {

Reporter::Reporter(DiagnosticFormat format, bool quiet)
    : format(format),
      showProgress(!quiet && isatty(STDERR_FILENO) && format == DiagnosticFormat::Text) {}

Reporter::~Reporter() {
  clearProgress();
  if (format == DiagnosticFormat::Json)
    llvm::errs() << "[" << llvm::join(json, ",\n ") << "]\n";
}

void Reporter::clearProgress() {
  if (progressShown)
    llvm::errs() << "\r\033[K";
  progressShown = false;
}

void Reporter::report(llvm::ArrayRef<RenderedDiagnostic> diagnostics) {
  for (const RenderedDiagnostic &diagnostic : diagnostics) {
    if (!printed.insert(diagnostic.text).second)
      continue;
    numErrors += diagnostic.severity == Severity::Error;
    clearProgress();
    if (format == DiagnosticFormat::Json)
      json.push_back(diagnostic.json);
    else
      llvm::errs() << diagnostic.text;
  }
}

void Reporter::report(const DiagnosticEngine &diagnostics, const SourceManager &sources) {
  report(renderDiagnostics(diagnostics, sources));
}

void Reporter::progress(unsigned done, unsigned total, llvm::StringRef what) {
  if (!showProgress)
    return;
  llvm::errs() << "\r\033[K[" << done << "/" << total << "] " << what.take_front(100);
  progressShown = true;
}

} // namespace kiln

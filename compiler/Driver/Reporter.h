// Prints diagnostics, each once, and progress.

#ifndef KILN_COMPILER_DRIVER_REPORTER_H
#define KILN_COMPILER_DRIVER_REPORTER_H

#include "compiler/Driver/Options.h"
#include "compiler/Driver/VariantResult.h"
#include <set>

namespace kiln {

/// Writes to standard error. Text diagnostics appear at once; JSON ones as one array when it is
/// destroyed.
class Reporter {
public:
  Reporter(DiagnosticFormat format, bool quiet);
  ~Reporter();

  /// Variants repeat each other's diagnostics: one that was printed before is dropped.
  void report(llvm::ArrayRef<RenderedDiagnostic> diagnostics);
  void report(const DiagnosticEngine &diagnostics, const SourceManager &sources);
  /// Shows how far the work is, where standard error is a terminal: one line that is overwritten.
  void progress(unsigned done, unsigned total, llvm::StringRef what);

  unsigned errors() const { return numErrors; }

private:
  void clearProgress();

  DiagnosticFormat format;
  bool showProgress;
  bool progressShown = false;
  unsigned numErrors = 0;
  std::set<std::string> printed;
  std::vector<std::string> json;
};

} // namespace kiln

#endif

// Prints diagnostics, each once, and progress.

#ifndef KILN_COMPILER_DRIVER_REPORTING_REPORTER_H
#define KILN_COMPILER_DRIVER_REPORTING_REPORTER_H

#include "compiler/Driver/Reporting/RenderedDiagnostic.h"
#include <set>

namespace kiln {

enum class DiagnosticFormat { Text, Json, Sarif };

/// What one variant reports.
struct VariantReport {
  /// "matmul_f16 (BLOCK_M=128) for cuda:sm_90a".
  std::string name;
  llvm::ArrayRef<RenderedDiagnostic> diagnostics;
};

/// Writes to standard error. Text diagnostics appear at once; JSON ones as one array, or as one
/// SARIF log, when it is destroyed, and then how many errors were not shown.
class Reporter {
public:
  Reporter(DiagnosticFormat format, bool quiet, unsigned maxErrors);
  ~Reporter();

  /// One that was printed before is dropped.
  void report(llvm::ArrayRef<RenderedDiagnostic> diagnostics);
  /// Variants repeat each other's errors: each is printed once, with a note that says how many have
  /// it.
  void report(llvm::ArrayRef<VariantReport> variants);
  void report(const DiagnosticEngine &diagnostics, const SourceManager &sources);
  /// Shows how far the work is, where standard error is a terminal: one line that is overwritten.
  void progress(unsigned done, unsigned total, llvm::StringRef what);

  unsigned errors() const { return numErrors; }

private:
  void clearProgress();
  void print(const RenderedDiagnostic &diagnostic, const Diagnostic *lastNote = nullptr);

  DiagnosticFormat format;
  unsigned maxErrors;
  bool showProgress;
  bool progressShown = false;
  unsigned numErrors = 0, numHidden = 0;
  std::set<std::string> printed;
  std::vector<std::string> json;
};

} // namespace kiln

#endif

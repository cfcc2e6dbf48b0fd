#include "compiler/Driver/Reporting/Reporter.h"
#include "compiler/Driver/Reporting/Sarif.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/ADT/StringMap.h"
#include "llvm/Support/FormatVariadic.h"
#include "llvm/Support/JSON.h"
#include "llvm/Support/raw_ostream.h"
#include <unistd.h>

namespace kiln {

/// An element of --diagnostics=json with one more note.
static std::string withNote(llvm::StringRef element, llvm::StringRef message) {
  llvm::json::Value value = llvm::cantFail(llvm::json::parse(element));
  llvm::json::Object &diagnostic = *value.getAsObject();
  diagnostic.try_emplace("notes", llvm::json::Array());
  diagnostic.getArray("notes")->push_back(llvm::json::Object{
      {"severity", "note"}, {"kind", "driver-in-variants"}, {"message", message}});
  std::string text;
  llvm::raw_string_ostream(text) << value;
  return text;
}

Reporter::Reporter(DiagnosticFormat format, bool quiet, unsigned maxErrors)
    : format(format), maxErrors(maxErrors),
      showProgress(!quiet && isatty(STDERR_FILENO) && format == DiagnosticFormat::Text) {}

Reporter::~Reporter() {
  clearProgress();
  if (numHidden) {
    DiagnosticEngine last;
    last.report(DiagKind::DriverErrorLimit, DiagPlace(), numHidden);
    maxErrors = UINT_MAX;
    report(last, SourceManager());
  }
  if (format == DiagnosticFormat::Json)
    llvm::errs() << "[" << llvm::join(json, ",\n ") << "]\n";
  else if (format == DiagnosticFormat::Sarif)
    llvm::errs() << llvm::formatv("{0:2}\n", sarifLog(json));
}

void Reporter::clearProgress() {
  if (progressShown)
    llvm::errs() << "\r\033[K";
  progressShown = false;
}

void Reporter::print(const RenderedDiagnostic &diagnostic, const Diagnostic *lastNote) {
  if (!printed.insert(diagnostic.key).second)
    return;
  if (diagnostic.severity == Severity::Error && ++numErrors > maxErrors) {
    ++numHidden;
    return;
  }
  clearProgress();
  if (format == DiagnosticFormat::Text) {
    llvm::errs() << diagnostic.text;
    if (lastNote)
      printDiagnostic(llvm::errs(), SourceManager(), *lastNote);
    return;
  }
  json.push_back(diagnostic.json);
  if (lastNote)
    json.back() = withNote(json.back(), lastNote->message);
}

void Reporter::report(llvm::ArrayRef<RenderedDiagnostic> diagnostics) {
  for (const RenderedDiagnostic &diagnostic : diagnostics)
    print(diagnostic);
}

void Reporter::report(llvm::ArrayRef<VariantReport> variants) {
  llvm::StringMap<unsigned> counts;
  for (const VariantReport &variant : variants)
    for (const RenderedDiagnostic &diagnostic : variant.diagnostics)
      ++counts[diagnostic.key];
  for (const VariantReport &variant : variants)
    for (const RenderedDiagnostic &diagnostic : variant.diagnostics) {
      Diagnostic note(DiagKind::DriverInVariants, DiagPlace(),
                      Diagnostic::pack(counts[diagnostic.key], variants.size(), variant.name));
      bool isRepeated = diagnostic.severity == Severity::Error && variants.size() > 1;
      print(diagnostic, isRepeated ? &note : nullptr);
    }
}

void Reporter::report(const DiagnosticEngine &diagnostics, const SourceManager &sources) {
  report(renderDiagnostics(diagnostics, sources));
  unsigned kept = llvm::count_if(diagnostics.getDiagnostics(), [](const Diagnostic &diagnostic) {
    return diagnostic.severity == Severity::Error;
  });
  numErrors += diagnostics.getNumErrors() - kept;
  numHidden += diagnostics.getNumErrors() - kept;
}

void Reporter::progress(unsigned done, unsigned total, llvm::StringRef what) {
  if (!showProgress)
    return;
  llvm::errs() << "\r\033[K[" << done << "/" << total << "] " << what.take_front(100);
  progressShown = true;
}

} // namespace kiln

// Reads spec texts for tests.
#ifndef KILN_TESTS_CODEGEN_SPECTEXT_H
#define KILN_TESTS_CODEGEN_SPECTEXT_H

#include "codegen/SpecReader.h"
#include "llvm/Support/raw_ostream.h"

namespace kiln::test {

struct ReadSpec {
  std::optional<Spec> spec;
  /// Everything reported, as it is printed.
  std::string printed;
  std::vector<DiagKind> kinds;
  bool hasErrors = false;
};

inline void addKinds(const Diagnostic &diagnostic, std::vector<DiagKind> &kinds) {
  kinds.push_back(diagnostic.kind);
  for (const Diagnostic &note : diagnostic.notes)
    addKinds(note, kinds);
}

inline ReadSpec read(llvm::StringRef json, const SpecReadOptions &options = {}) {
  SourceManager sources;
  DiagnosticEngine diagnostics;
  ReadSpec result;
  result.spec = readSpec(sources.add("spec.json", json), diagnostics, options);
  result.hasErrors = diagnostics.hasErrors();
  llvm::raw_string_ostream out(result.printed);
  diagnostics.print(out, sources);
  for (const Diagnostic &diagnostic : diagnostics.getDiagnostics())
    addKinds(diagnostic, result.kinds);
  return result;
}

/// A spec with one kernel: `rest` are its further keys.
inline std::string kernelSpec(llvm::StringRef rest) {
  return (R"({"kiln": 1, "library": "lib", "targets": ["cpu:x86-64-v3"], "kernels": [
  {"name": "add", "source": "add.py", "kernel": "add_kernel",
   )" + rest +
          "}]}\n")
      .str();
}

} // namespace kiln::test

#endif // KILN_TESTS_CODEGEN_SPECTEXT_H

//===- SpecReader.h - from JSON text to a Spec ------------------*- C++ -*-===//
//
// Reads and checks everything that the JSON alone decides. What needs the kernel's source (does the
// function exist, which parameters are constexpr, is every one bound) is checked by Sema.
//
//===----------------------------------------------------------------------===//
#ifndef KILN_CODEGEN_SPECREADER_H
#define KILN_CODEGEN_SPECREADER_H

#include "codegen/Spec.h"
#include "compiler/Basic/Diagnostics.h"

namespace kiln {

struct SpecReadOptions {
  /// Targets of the command line; they replace the spec's, which may then lack them.
  std::vector<std::string> targets;
  /// Library name of the command line; replaces the spec's, which may then lack it.
  std::string library;
  /// As LibraryModel::prefix.
  std::string prefix;
};

/// Reads `file`. Reports every mistake that it can tell apart (several a run) and returns a spec
/// only if there was none.
std::optional<Spec> readSpec(const SourceFile &file, DiagnosticEngine &diagnostics,
                             const SpecReadOptions &options = {});

} // namespace kiln

#endif // KILN_CODEGEN_SPECREADER_H

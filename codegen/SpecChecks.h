//===- SpecChecks.h - rules across the objects of a spec --------*- C++ -*-===//
#ifndef KILN_CODEGEN_SPECCHECKS_H
#define KILN_CODEGEN_SPECCHECKS_H

#include "codegen/Spec.h"
#include "compiler/Basic/Diagnostics.h"

namespace kiln {

/// Rules within one kernel: specialisations of one entry point agree on its C types; no parameter
/// is bound twice; no config or signature equals an earlier one.
void checkKernel(const SpecKernel &kernel, DiagnosticEngine &diagnostics);

/// A name in "dispatch" is that of an argument that some signature leaves to run time.
bool checkArgumentName(const SpecKernel &kernel, llvm::StringRef name, const SpecPlace &place,
                       DiagnosticEngine &diagnostics);

/// Every signature has a config for every target.
void checkTargets(const Spec &spec, DiagnosticEngine &diagnostics);

/// No two C names of the generated header are equal.
void checkNames(const Spec &spec, DiagnosticEngine &diagnostics);

/// For the phase that knows the kernel's source: every name in an expression is one of `arguments`
/// (what stays a run-time argument) or of `constants`, and an integer. `constants` are those of one
/// variant: parameters fixed by the signature, a config, a heuristic or a default. Reports the
/// first name that is not.
bool checkExpression(const SpecExpression &expression,
                     llvm::ArrayRef<std::pair<std::string, ArgumentType>> arguments,
                     llvm::ArrayRef<std::pair<std::string, Literal>> constants,
                     DiagnosticEngine &diagnostics);

} // namespace kiln

#endif // KILN_CODEGEN_SPECCHECKS_H

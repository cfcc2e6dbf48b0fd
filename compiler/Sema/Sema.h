// From the syntax tree of a kernel to Tile IR: the partial evaluator's entry. See docs/sema.md.
//
// One call builds one variant: one kernel, for one signature, one choice of its compile-time
// parameters and one target. What the host side needs of a kernel before that (its parameters, its
// autotune configs, its heuristics) has entries of its own, which need no MLIR context.
#ifndef KILN_COMPILER_SEMA_SEMA_H
#define KILN_COMPILER_SEMA_SEMA_H

#include "compiler/Basic/Diagnostics.h"
#include "compiler/Basic/Literal.h"
#include "compiler/Sema/Modules/ModuleLoader.h"
#include "compiler/Sema/Values/KernelInstance.h"

#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/OwningOpRef.h"

#include <optional>
#include <string>
#include <vector>

namespace kiln {

/// Builds the Tile IR of a variant: a module with one `func.func` that has `tile.kernel`. Null
/// after an error, which is in `diags`. Loads the dialects it needs into `context`. Safe to call
/// from several threads with a context and an engine each; `loader` is shared.
mlir::OwningOpRef<mlir::ModuleOp> buildTileIR(mlir::MLIRContext &context, ModuleLoader &loader,
                                              const LoadedModule &module,
                                              const KernelInstance &instance,
                                              DiagnosticEngine &diags);

struct KernelParameterInfo {
  std::string name;
  bool isConstexpr = false;
  bool hasDefault = false;
  /// Source text of the annotation; empty when absent.
  std::string annotation;
  /// The default where it is a constant that Sema can evaluate.
  std::optional<Literal> defaultValue;
  /// Named in `do_not_specialize` of `@triton.jit`.
  bool doNotSpecialize = false;
  /// Computed by `@triton.heuristics`.
  bool isHeuristic = false;
  SourceRange range;
};

struct KernelSummary {
  std::string name;
  std::vector<KernelParameterInfo> parameters;
  bool isAutotuned = false;
  /// `@triton.jit(debug=True)`.
  bool debug = false;
  SourceRange range;
};

/// The parameter list of a kernel, as declared. Empty after an error.
std::optional<KernelSummary> describeKernel(ModuleLoader &loader, const LoadedModule &module,
                                            llvm::StringRef kernel, const TargetAnswers &target,
                                            const NamedConstants &defines, DiagnosticEngine &diags);

/// A name of a module that has run, with Python's text for its value (sets in order, enumerators by
/// name): empty where the value is not known or has no such text.
struct ModuleValue {
  std::string name;
  std::string text;
  bool isKnown = false;
};

/// Runs a module as Python would, and says what its names are worth then.
std::vector<ModuleValue> evaluateModule(ModuleLoader &loader, const LoadedModule &module,
                                        const TargetAnswers &target, const NamedConstants &defines);

/// One `triton.Config`.
struct KernelConfig {
  /// Keyword values for parameters of the kernel, in source order.
  NamedConstants constants;
  /// Keyword values for what is not a parameter (options of a backend, such as `waves_per_eu`).
  NamedConstants options;
  /// Keywords that triton.Config itself does not have.
  std::vector<std::string> keywords;
  std::optional<unsigned> numWarps, numStages, numCtas, maxRegisters;
  SourceRange range;
};

struct AutotuneList {
  std::vector<KernelConfig> configs;
  std::vector<std::string> key;
};

/// Evaluates `@triton.autotune(configs=…, key=…)` of a kernel. A kernel without one has an empty
/// list. Empty after an error.
std::optional<AutotuneList> evaluateAutotune(ModuleLoader &loader, const LoadedModule &module,
                                             llvm::StringRef kernel, const TargetAnswers &target,
                                             const NamedConstants &defines,
                                             DiagnosticEngine &diags);

/// Evaluates `@triton.heuristics` of the kernel of `instance` from its other arguments. A heuristic
/// that needs the value of a run-time argument is an error. Empty after an error.
std::optional<NamedConstants> evaluateHeuristics(ModuleLoader &loader, const LoadedModule &module,
                                                 const KernelInstance &instance,
                                                 DiagnosticEngine &diags);

} // namespace kiln

#endif // KILN_COMPILER_SEMA_SEMA_H

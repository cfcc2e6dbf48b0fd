// What a variant has to be beyond its parameters: it fits its target, and the spec's expressions
// hold for it.

#ifndef KILN_COMPILER_DRIVER_PLANNING_VARIANTCHECKS_H
#define KILN_COMPILER_DRIVER_PLANNING_VARIANTCHECKS_H

#include "codegen/LibraryModel.h"
#include "compiler/Driver/Planning/PlannedConfig.h"
#include "compiler/Sema/Sema.h"
#include <set>

namespace kiln {

/// Of one kernel's variants, which repeat each other's mistakes: a mistake in an expression is
/// reported once.
class VariantChecks {
public:
  VariantChecks(const Spec &spec, const SpecKernel &kernel, DiagnosticEngine &diagnostics)
      : spec(spec), kernel(kernel), diagnostics(diagnostics) {}

  /// Launch options that the target cannot have. What a config needs of shared memory is known only
  /// after compiling.
  bool fits(const KernelInstance &instance, const TargetInfo &target, const PlannedConfig &config);

  /// Names of the grid and of conditions. A mistake in an expression is one mistake, however many
  /// variants have it.
  bool checkExpressions(const EntryModel &entry, const VariantModel &variant);

  /// A grid that is wrong in every call of a variant.
  bool checkGrid(const EntryModel &entry, const VariantModel &variant);

  /// The spec's `when`, in this variant's constants. False when no call meets them.
  bool addConditions(const EntryModel &entry, VariantModel &variant, const PlannedConfig &config,
                     const TargetInfo &target);

private:
  /// Whether the expression is right, as `check` finds out and reports: until it once was wrong.
  bool checkOnce(const SpecExpression &expression, llvm::function_ref<bool()> check);

  const Spec &spec;
  const SpecKernel &kernel;
  DiagnosticEngine &diagnostics;
  /// JSON paths of expressions that a mistake was reported in.
  std::set<std::string> wrongExpressions;
  /// Sets of conditions that no call meets, as reported.
  std::set<std::string> contradictions;
};

} // namespace kiln

#endif

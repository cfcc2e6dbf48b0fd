// A config, wherever it comes from.

#ifndef KILN_COMPILER_DRIVER_PLANNING_PLANNEDCONFIG_H
#define KILN_COMPILER_DRIVER_PLANNING_PLANNEDCONFIG_H

#include "codegen/LibraryModel.h"
#include "codegen/Spec.h"
#include "compiler/Sema/Sema.h"
#include "compiler/Target/TargetInfo.h"

namespace kiln {

/// A config of the spec or of the source's autotune list.
struct PlannedConfig {
  std::vector<NamedLiteral> values;
  SpecOptions options;
  SpecPlace place;
  /// Of the spec's values and options.
  std::vector<std::pair<std::string, SpecPlace>> keys;
  bool fromSource = false;
  /// What the source's config has that neither the kernel nor Kiln asks for.
  std::vector<std::string> unused;

  /// Where a value or an option stands, as near as is known.
  const SpecPlace &placeOf(llvm::StringRef key) const;
};

/// A value by its name, or null.
const Literal *findValue(llvm::ArrayRef<NamedLiteral> values, llvm::StringRef name);

bool sameOptions(const SpecOptions &a, const SpecOptions &b);

/// An option that is also a parameter of the kernel: some declare `num_stages: tl.constexpr`.
std::optional<int64_t> launchOption(const SpecOptions &options, llvm::StringRef name);

PlannedConfig configOfSpec(const SpecConfig &config);

/// What the source's autotune list has for the target.
std::vector<PlannedConfig> configsOfSource(const SpecKernel &kernel, const LoadedModule &module,
                                           const TargetInfo &target, const NamedConstants &defines,
                                           ModuleLoader &loader, DiagnosticEngine &diagnostics);

} // namespace kiln

#endif

// Compiles one variant, start to end: what a worker process does.

#ifndef KILN_COMPILER_DRIVER_JOBS_COMPILEVARIANT_H
#define KILN_COMPILER_DRIVER_JOBS_COMPILEVARIANT_H

#include "compiler/Driver/Jobs/VariantResult.h"
#include "compiler/Driver/Planning/BuildPlan.h"

namespace kiln {

/// How far to go.
struct VariantGoal {
  /// Sema only: `kiln check`.
  bool checkOnly = false;
  /// The binary if the cache has it, else none: what Sema reports is not all then.
  bool cachedOnly = false;
  /// The stage whose text or bytes are wanted (--emit); empty: the binary, proved against its
  /// launcher.
  std::string emitStage;
  /// As EmitOptions has it; may be empty.
  std::function<void(bool isWaiting)> onWait;
  /// The process ends behind it, and with it all that was in memory: giving that back piece by
  /// piece takes 4 % of a small kernel's time.
  bool endsProcess = false;
};

/// Never fails: what went wrong is in the result's diagnostics.
VariantResult compileVariant(const BuildPlan &plan, const CompileJob &job, ModuleLoader &loader,
                             const CompilerOptions &options, const VariantGoal &goal);

} // namespace kiln

#endif

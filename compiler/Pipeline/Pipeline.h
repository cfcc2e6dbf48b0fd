// The order of the passes, from Tile IR to a device binary. docs/pipeline.md shows it.

#ifndef KILN_COMPILER_PIPELINE_PIPELINE_H
#define KILN_COMPILER_PIPELINE_PIPELINE_H

#include "compiler/Basic/Diagnostics.h"
#include "compiler/Target/Emission/Emit.h"
#include "mlir/IR/BuiltinOps.h"
#include <functional>
#include <optional>

namespace kiln {

/// Called when a stage is complete, with its --emit name and the IR as it stands; returns false to
/// stop there.
using StageObserver = std::function<bool(llvm::StringRef stage, mlir::ModuleOp module)>;

struct PipelineOptions {
  EmitOptions emit;
  StageObserver afterStage;
  /// Limits asked for by the config: registers per thread (cuda), waves per SIMD (hip); 0 = the
  /// compiler's choice.
  unsigned maxRegisters = 0, minOccupancy = 0;
  /// As LaunchFacts has them.
  bool waitsForEarlier = false, isCooperative = false;
  /// The variant's name, and where it is asked for: for failures that name no place in the kernel.
  std::string variant;
  DiagPlace place;
};

/// Compiles the one kernel of `module` (Tile IR, as Sema builds it), which is consumed. Empty after
/// an error, which is in `diagnostics`, or when `afterStage` stopped it. What the back end warns of
/// is in `diagnostics` too. That the kernel is too large for the target is in `doesNotFit` instead,
/// with its notes.
std::optional<DeviceBinary> runPipeline(mlir::ModuleOp module, const TargetInfo &target,
                                        const PipelineOptions &options,
                                        DiagnosticEngine &diagnostics, const SourceManager &sources,
                                        std::optional<Diagnostic> &doesNotFit);

} // namespace kiln

#endif

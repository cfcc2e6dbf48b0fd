// From a spec and its kernels' sources to the list of compilations, and the library they will fill.

#ifndef KILN_COMPILER_DRIVER_PLANNING_BUILDPLAN_H
#define KILN_COMPILER_DRIVER_PLANNING_BUILDPLAN_H

#include "codegen/LibraryModel.h"
#include "compiler/Driver/CommandLine/Options.h"
#include "compiler/Sema/Sema.h"
#include "compiler/Target/Emission/VerifyAbi.h"

namespace kiln {

/// One kernel for one signature, one config and one target.
struct CompileJob {
  /// Indices into the plan's model: the entry point, its variant, the target.
  unsigned entry = 0, variant = 0, target = 0;
  const LoadedModule *module = nullptr;
  KernelInstance instance;
  /// Comes from the source's autotune list: dropped, not refused, where it does not fit the target.
  bool mayBeDropped = false;
  /// The config or signature it comes from, in the spec or in the source.
  SpecPlace place;
  /// "matmul_f16 (BLOCK_M=128, num_warps=8)", for messages.
  std::string label;
  /// What --only and files of pieces call it (PieceName.h).
  std::string piece;
};

struct BuildPlan {
  /// Everything but the binaries.
  LibraryModel model;
  std::vector<CompileJob> jobs;
  /// Those that are to be compiled, in order: all, but for --only and `kiln run`.
  std::vector<unsigned> chosen;
};

/// Checks the spec against its sources and lists the compilations. `specPath` is the spec's, whose
/// folder relative sources start from. With --only the spec has the entry points that it names
/// (PieceName.h), and the plan chooses among their variants. Empty after an error.
std::optional<BuildPlan> planBuild(const Spec &spec, llvm::StringRef specPath, ModuleLoader &loader,
                                   const CompilerOptions &options, DiagnosticEngine &diagnostics);

/// What kernels hear when they ask for the target.
TargetAnswers answersOf(const TargetInfo &target);

/// The parameters that the launcher passes to a job's kernel, for the proof of the ABI.
std::vector<ExpectedParameter> launcherParameters(const LibraryModel &model, const CompileJob &job);

} // namespace kiln

#endif

#include "compiler/Driver/Planning/BuildPlan.h"
#include "compiler/Driver/Planning/Definitions.h"
#include "compiler/Driver/Planning/KernelPlanner.h"
#include "llvm/Support/Path.h"

namespace kiln {

TargetAnswers answersOf(const TargetInfo &target) {
  TargetAnswers answers;
  answers.backend = backendName(target.backend).str();
  answers.arch = target.archNumber;
  answers.archName = target.arch;
  answers.warpSize = target.warpSize;
  answers.takesAssembly = target.backend != Backend::CPU && !target.emulated;
  answers.scaledProducts = target.matrix.mfmaGeneration >= 4;
  answers.scaledConversions = target.matrix.mfmaGeneration >= 4;
  return answers;
}

std::vector<ExpectedParameter> launcherParameters(const LibraryModel &model,
                                                  const CompileJob &job) {
  const EntryModel &entry = model.entries[job.entry];
  std::vector<ExpectedParameter> expected;
  for (unsigned index : kernelParameters(entry, entry.variants[job.variant]))
    expected.push_back({entry.arguments[index].name, entry.arguments[index].type.bytes()});
  return expected;
}

std::optional<BuildPlan> planBuild(const Spec &spec, llvm::StringRef specPath, ModuleLoader &loader,
                                   const CompilerOptions &options, DiagnosticEngine &diagnostics) {
  BuildPlan plan;
  plan.model.name = spec.library;
  plan.model.prefix = spec.prefix;
  plan.model.targets = spec.targets;
  plan.model.sizeBudget = spec.sizeBudget;
  plan.model.isCompressed = options.isCompressed.value_or(spec.isCompressed);
  plan.model.hasPacks = options.hasPacks;
  plan.model.hasTorchSource = options.hasTorchSource;
  plan.model.hasCxxHeader = options.hasCxxHeader;
  llvm::StringRef folder = llvm::sys::path::parent_path(specPath);
  for (const SpecKernel &kernel : spec.kernels)
    planKernel(spec, kernel, folder, loader, options, diagnostics, plan);
  checkDefinitions(spec, folder, options, diagnostics);
  // Every entry point needs a variant; when all configs were dropped, their reasons stand before
  // this.
  for (const EntryModel &entry : plan.model.entries)
    if (entry.variants.empty() && !diagnostics.hasErrors())
      diagnostics.report(DiagKind::DriverNoVariant, DiagPlace(), entry.name);
  if (diagnostics.hasErrors())
    return std::nullopt;
  return plan;
}

} // namespace kiln

#include "compiler/Driver/Jobs/CompileVariant.h"
#include "compiler/Driver/Jobs/BinaryCache.h"
#include "compiler/Driver/Jobs/Timing.h"
#include "compiler/Driver/Planning/SpecPaths.h"
#include "compiler/Pipeline/DiagnosticBridge.h"
#include "compiler/Pipeline/Pipeline.h"
#include "compiler/Syntax/Dump.h"
#include "compiler/Target/Emission/VerifyAbi.h"
#include "mlir/IR/MLIRContext.h"
#include "llvm/Support/raw_ostream.h"

namespace kiln {
namespace {

class VariantCompilation {
public:
  VariantCompilation(const BuildPlan &plan, const CompileJob &job, ModuleLoader &loader,
                     const CompilerOptions &options, const VariantGoal &goal)
      : plan(plan), job(job), loader(loader), options(options), goal(goal),
        target(plan.model.targets[job.target]), context(mlir::MLIRContext::Threading::DISABLED) {}

  VariantResult run() {
    compile();
    result.times = clock.take();
    result.diagnostics = renderDiagnostics(diagnostics, loader.getSources());
    for (FileId file = numFilesBefore + 1; file <= loader.getSources().getNumFiles(); ++file)
      result.filesRead.push_back({loader.getSources().get(file).getPath().str(),
                                  sha256Of(loader.getSources().get(file).getContents())});
    return std::move(result);
  }

private:
  void compile() {
    if (goal.emitStage == "ast") {
      llvm::raw_string_ostream os(result.emitted);
      dump(*job.module->tree, os);
      return;
    }
    mlir::OwningOpRef<mlir::ModuleOp> module;
    {
      DiagnosticBridge bridge(&context, diagnostics, loader.getSources());
      module = buildTileIR(context, loader, *job.module, job.instance, diagnostics);
    }
    clock.note("sema");
    if (!module || diagnostics.hasErrors() || goal.checkOnly)
      return;
    PipelineOptions pipeline;
    pipeline.variant = job.label;
    pipeline.place = job.place.range;
    pipeline.emit = options.emit;
    const SpecOptions &requested = plan.model.entries[job.entry].variants[job.variant].options;
    pipeline.maxRegisters =
        target.backend == Backend::CUDA ? requested.maxRegisters.value_or(0) : 0;
    pipeline.minOccupancy = target.backend == Backend::HIP ? requested.wavesPerEu.value_or(0) : 0;
    pipeline.waitsForEarlier = requested.launchesEarly && target.backend == Backend::CUDA &&
                               !target.emulated && target.archNumber >= 90;
    pipeline.isCooperative = requested.isCooperative;
    pipeline.emit.fusesProducts = requested.fusesProducts;
    pipeline.emit.captureLLVM = goal.emitStage == "llvmir";
    pipeline.emit.capturePTX = goal.emitStage == "ptx" || options.emit.cudaEmit == CudaEmit::Both;
    pipeline.emit.captureAssembly = goal.emitStage == "asm" || goal.emitStage == "amdgcn";
    if (goal.emitStage == "ptx" || goal.emitStage == "llvmir")
      pipeline.emit.cudaEmit = CudaEmit::PTX;
    pipeline.emit.sourceName = [&](llvm::StringRef path) {
      return loader.getSources().find(path) ? portablePath(path, options) : path.str();
    };
    pipeline.afterStage = [&](llvm::StringRef stage, mlir::ModuleOp ir) {
      return stageDone(stage, ir);
    };
    pipeline.emit.onWait = goal.onWait;
    pipeline.emit.afterStage = [&](llvm::StringRef stage) { clock.note(stage); };
    std::optional<DeviceBinary> binary = binaryFor(*module, pipeline);
    if (binary)
      finish(std::move(*binary));
    clock.note(binary ? "check" : "unfinished");
  }

  /// The module's, from the cache or by the pipeline. Binaries that come with diagnostics of the
  /// pipeline are made again each time, for these to be seen.
  std::optional<DeviceBinary> binaryFor(mlir::ModuleOp module, const PipelineOptions &pipeline) {
    BinaryCache cache(options);
    bool isCached = cache.isUsed() && goal.emitStage.empty();
    std::string key;
    if (isCached) {
      key = cache.keyOf(module, target,
                        {pipeline.maxRegisters, pipeline.minOccupancy, pipeline.waitsForEarlier,
                         pipeline.isCooperative, pipeline.emit.fusesProducts});
      if (std::optional<DeviceBinary> known = cache.find(key)) {
        clock.note("cache");
        return known;
      }
    }
    if (goal.cachedOnly)
      return std::nullopt;
    size_t diagnosticsBefore = diagnostics.getDiagnostics().size();
    std::optional<Diagnostic> doesNotFit;
    std::optional<DeviceBinary> binary =
        runPipeline(module, target, pipeline, diagnostics, loader.getSources(), doesNotFit);
    if (doesNotFit)
      refuse(*doesNotFit);
    if (isCached && binary && diagnostics.getDiagnostics().size() == diagnosticsBefore)
      if (llvm::Error error = cache.keep(key, *binary))
        diagnostics.report(DiagKind::DriverCacheUnused, DiagPlace(),
                           llvm::toString(std::move(error)));
    return binary;
  }

  void refuse(const Diagnostic &reason) {
    result.doesNotFit = reason.message;
    for (const Diagnostic &note : reason.notes)
      if (SourceRange range = note.place.range; range.isValid())
        result.doesNotFitNotes.push_back({note.kind, note.message,
                                          loader.getSources().get(range.file).getPath().str(),
                                          range.begin, range.end});
  }

  bool stageDone(llvm::StringRef stage, mlir::ModuleOp ir) {
    clock.note(stage);
    if (stage != goal.emitStage)
      return true;
    llvm::raw_string_ostream os(result.emitted);
    ir.print(os);
    os << "\n";
    return false;
  }

  void finish(DeviceBinary binary) {
    if (!goal.emitStage.empty())
      return emit(binary);
    if (auto error = verifyAbi(binary, launcherParameters(plan.model, job), target)) {
      diagnostics.report(DiagKind::DriverAbiMismatch, job.place.range, job.label, target.name,
                         llvm::toString(std::move(error)));
      return;
    }
    for (const std::string &warning : binary.warnings)
      reportToolWarning(warning);
    if (binary.fallback)
      for (const std::string &warning : binary.fallback->warnings)
        if (!llvm::is_contained(binary.warnings, warning))
          reportToolWarning("without tensor maps: " + warning);
    // The fallback's spills are for the manifest to tell: few launches take it.
    uint32_t spilled = binary.resources.spillStoreBytes;
    if (spilled > (binary.registerLimit ? kFewSpilledBytes : 0))
      diagnostics.report(DiagKind::DriverSpills, job.place.range, job.label, target.name, spilled);
    result.binary = std::move(binary);
  }

  void reportToolWarning(const std::string &warning) {
    diagnostics.report(DiagKind::DriverToolWarning, job.place.range, job.label, target.name,
                       warning);
  }

  void emit(DeviceBinary &binary) {
    bool bytesOf = goal.emitStage == formatName(binary.format);
    result.emitted = goal.emitStage == "llvmir" ? binary.llvmIR
                     : goal.emitStage == "ptx"  ? binary.ptx
                     : bytesOf ? std::string(binary.bytes.begin(), binary.bytes.end())
                     : goal.emitStage == "asm" ? binary.assembly
                     : goal.emitStage == "amdgcn" && binary.format == BinaryFormat::HSACO
                         ? binary.assembly
                         : "";
    if (result.emitted.empty())
      diagnostics.report(DiagKind::DriverNoStage, DiagPlace(), target.name, goal.emitStage);
  }

  const BuildPlan &plan;
  const CompileJob &job;
  ModuleLoader &loader;
  const CompilerOptions &options;
  const VariantGoal &goal;
  const TargetInfo &target;
  const FileId numFilesBefore = loader.getSources().getNumFiles();
  mlir::MLIRContext context;
  // The driver counts what it does not show.
  DiagnosticEngine diagnostics{/*errorLimit=*/UINT_MAX};
  VariantResult result;
  StageClock clock;
};

} // namespace

VariantResult compileVariant(const BuildPlan &plan, const CompileJob &job, ModuleLoader &loader,
                             const CompilerOptions &options, const VariantGoal &goal) {
  auto compilation = std::make_unique<VariantCompilation>(plan, job, loader, options, goal);
  VariantResult result = compilation->run();
  if (goal.endsProcess)
    (void)compilation.release();
  return result;
}

} // namespace kiln

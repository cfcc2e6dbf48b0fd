//===- Optimize.cpp - LLVM's pass pipeline per target -------------------------===//
//
// In a file of its own because llvm/Passes/PassBuilder.h is among LLVM's slowest headers.
//
//===----------------------------------------------------------------------===//

#include "compiler/Target/CodeGeneration.h"
#include "compiler/Target/HugeFunctions.h"
#include "llvm/Analysis/LoopInfo.h"
#include "llvm/IR/Dominators.h"
#include "llvm/IR/Module.h"
#include "llvm/Passes/PassBuilder.h"
#include "llvm/Target/TargetMachine.h"
#include "llvm/Transforms/Utils/LoopUtils.h"

namespace kiln {

static llvm::OptimizationLevel pipelineLevel(unsigned optLevel) {
  switch (optLevel) {
  case 0:
    return llvm::OptimizationLevel::O0;
  case 1:
    return llvm::OptimizationLevel::O1;
  case 2:
    return llvm::OptimizationLevel::O2;
  default:
    return llvm::OptimizationLevel::O3;
  }
}

/// Keeps LLVM from unrolling loops of unknown length. ptxas makes several iterations of one itself,
/// with their loads in front, of as many as it has registers for. Of what LLVM has made, with an
/// address for each load, it does not.
static void leaveLoopsToAssembler(llvm::Module &module) {
  for (llvm::Function &function : module) {
    if (function.isDeclaration())
      continue;
    llvm::DominatorTree dominators(function);
    llvm::LoopInfo loops(dominators);
    for (llvm::Loop *loop : loops.getLoopsInPreorder())
      llvm::addStringMetadataToLoop(loop, "llvm.loop.unroll.runtime.disable");
  }
}

void optimizeModule(llvm::Module &module, llvm::TargetMachine &machine, const TargetInfo &target,
                    const EmitOptions &options) {
  if (target.backend == Backend::CUDA)
    leaveLoopsToAssembler(module);
  llvm::PipelineTuningOptions tuning;
  // A GPU thread is one lane already: vectorising its loops only costs registers. Packing scalars
  // (two halves in a register) pays on both.
  tuning.LoopVectorization = tuning.LoopInterleaving = target.warpSize == 1;
  bool huge = isHuge(longestFunction(module));
  tuning.SLPVectorization = !huge;

  llvm::LoopAnalysisManager loops;
  llvm::FunctionAnalysisManager functions;
  llvm::CGSCCAnalysisManager graph;
  llvm::ModuleAnalysisManager modules;
  llvm::PassInstrumentationCallbacks callbacks;
  if (huge)
    callbacks.registerShouldRunOptionalPassCallback([](llvm::StringRef pass, llvm::Any) {
      return pass != "GVNPass" && pass != "VectorCombinePass";
    });
  llvm::PassBuilder builder(&machine, tuning, std::nullopt, &callbacks);
  builder.registerModuleAnalyses(modules);
  builder.registerCGSCCAnalyses(graph);
  builder.registerFunctionAnalyses(functions);
  builder.registerLoopAnalyses(loops);
  builder.crossRegisterProxies(loops, functions, graph, modules);
  builder.buildPerModuleDefaultPipeline(pipelineLevel(options.optLevel)).run(module, modules);
}

} // namespace kiln

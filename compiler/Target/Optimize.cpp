//===- Optimize.cpp - LLVM's pass pipeline per target -------------------------===//
//
// In a file of its own because llvm/Passes/PassBuilder.h is among LLVM's slowest headers.
//
//===----------------------------------------------------------------------===//

#include "compiler/Target/CodeGeneration.h"
#include "compiler/Target/EmptyAccesses.h"
#include "compiler/Target/ForEachLoop.h"
#include "compiler/Target/HugeFunctions.h"
#include "compiler/Target/MaskedLoops.h"
#include "llvm/Analysis/LoopInfo.h"
#include "llvm/Analysis/ScalarEvolution.h"
#include "llvm/IR/IntrinsicInst.h"
#include "llvm/IR/IntrinsicsNVPTX.h"
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

/// Whether each thread may have a value of its own.
static bool isOfThread(llvm::Value *value, llvm::SmallPtrSetImpl<llvm::Value *> &seen) {
  auto *instruction = llvm::dyn_cast<llvm::Instruction>(value);
  if (!instruction || !seen.insert(value).second)
    return false;
  auto *intrinsic = llvm::dyn_cast<llvm::IntrinsicInst>(instruction);
  if (intrinsic && intrinsic->getIntrinsicID() == llvm::Intrinsic::nvvm_read_ptx_sreg_tid_x)
    return true;
  return llvm::any_of(instruction->operands(),
                      [&](llvm::Value *operand) { return isOfThread(operand, seen); });
}

/// Whether the loop is short, and all threads load and carry the same in it: only more loads in
/// flight make it faster, and they are few registers.
static bool loadsScalars(const llvm::Loop &loop) {
  constexpr unsigned shortBody = 40;
  unsigned size = 0, loads = 0;
  for (llvm::BasicBlock *block : loop.blocks())
    size += block->size();
  if (!loop.isInnermost() || size > shortBody)
    return false;
  for (llvm::BasicBlock *block : loop.blocks())
    for (llvm::Instruction &instruction : *block) {
      auto *load = llvm::dyn_cast<llvm::LoadInst>(&instruction);
      if (!load && !llvm::isa<llvm::PHINode>(instruction))
        continue;
      llvm::SmallPtrSet<llvm::Value *, 16> seen;
      if (isOfThread(load ? load->getPointerOperand() : &instruction, seen))
        return false;
      loads += load != nullptr;
    }
  return loads;
}

/// Keeps LLVM from unrolling loops of unknown length. ptxas makes several iterations of one itself,
/// with their loads in front, of as many as it has registers for. Of what LLVM has made, with an
/// address for each load, it does not. It makes four, though, and LLVM eight, of loops over
/// scalars; of these the ones of known length get 32.
static void leaveLoopsToAssembler(llvm::Module &module) {
  constexpr unsigned manyIterations = 32;
  forEachLoop(module, [](llvm::Loop &loop, llvm::ScalarEvolution &evolution) {
    if (!loadsScalars(loop))
      llvm::addStringMetadataToLoop(&loop, "llvm.loop.unroll.runtime.disable");
    else if (evolution.getSmallConstantTripCount(&loop) >= 2 * manyIterations)
      llvm::addStringMetadataToLoop(&loop, "llvm.loop.unroll.count", manyIterations);
  });
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
  if (target.backend == Backend::CUDA)
    builder.registerLateLoopOptimizationsEPCallback(
        [](llvm::LoopPassManager &passes, llvm::OptimizationLevel) {
          passes.addPass(SkipMaskedLoops());
        });
  if (target.backend == Backend::HIP)
    builder.registerPeepholeEPCallback(
        [](llvm::FunctionPassManager &passes, llvm::OptimizationLevel) {
          passes.addPass(LeaveOutEmptyAccesses());
        });
  builder.registerModuleAnalyses(modules);
  builder.registerCGSCCAnalyses(graph);
  builder.registerFunctionAnalyses(functions);
  builder.registerLoopAnalyses(loops);
  builder.crossRegisterProxies(loops, functions, graph, modules);
  builder.buildPerModuleDefaultPipeline(pipelineLevel(options.optLevel)).run(module, modules);
}

} // namespace kiln

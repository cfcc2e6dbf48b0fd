//===- MaskedLoops.h - Loops whose loads are masked off -----------------------===//
//
// Of
//
//     for i: rows = first + i < last; for j: sum += load(p, rows & columns(j), other=0)
//
// the inner loop does nothing but add up zeros where `rows` is false. So it is there
// twice, and a branch around it chooses: LLVM's unswitching of loops does that, and
// leaves it on GPUs, where threads of a warp may disagree. Here they lose no more
// than they did: a warp of which some threads have loads to make goes through both
// loops, of which the second has none and becomes short or nothing.
//
//===----------------------------------------------------------------------===//
#ifndef KILN_COMPILER_TARGET_MASKEDLOOPS_H
#define KILN_COMPILER_TARGET_MASKEDLOOPS_H

#include "llvm/Transforms/Scalar/LoopPassManager.h"

namespace kiln {

/// For innermost loops in another loop, whose accesses are all loads by assembly (`@$p ld…`) under
/// a predicate of which a part changes in the outer loop alone.
class SkipMaskedLoops : public llvm::PassInfoMixin<SkipMaskedLoops> {
public:
  llvm::PreservedAnalyses run(llvm::Loop &loop, llvm::LoopAnalysisManager &analyses,
                              llvm::LoopStandardAnalysisResults &results,
                              llvm::LPMUpdater &updater);
};

} // namespace kiln

#endif // KILN_COMPILER_TARGET_MASKEDLOOPS_H

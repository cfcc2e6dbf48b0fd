//===- RegisterShare.h - Fewer registers a thread, more blocks a processor ----===//
//
// ptxas gives a thread all the registers that it would like to have. A kernel that
// waits for memory is often faster with fewer, if that lets more of its blocks run on
// a processor at once. Which is faster is not known without running; the rule
// here was chosen by the times of 37 kernels of public programs on an H200
// (docs/target.md).
//
//===---------------------------------------------------------------------------===//

#ifndef KILN_COMPILER_TARGET_NVIDIA_REGISTERSHARE_H
#define KILN_COMPILER_TARGET_NVIDIA_REGISTERSHARE_H

#include "compiler/Target/DeviceBinary.h"
#include "compiler/Target/TargetInfo.h"
#include "llvm/ADT/StringRef.h"
#include <optional>
#include <string>

namespace kiln {

/// Registers a thread that let a third more blocks run on a processor than `used` does, where few
/// threads do and registers are what limits them, for a third of its registers at most; none
/// otherwise, nor where it spills already. Kernels with matrix instructions get room for one more,
/// for a fourth of their registers at most.
std::optional<unsigned> registersForMoreBlocks(const ResourceUsage &used, const LaunchFacts &launch,
                                               const TargetInfo &target, llvm::StringRef ptx);

/// The most registers that a thread of a block that runs alone can have.
unsigned mostRegisters(const LaunchFacts &launch, const TargetInfo &target);

/// The PTX of one kernel that is held to so many registers a thread (".maxnreg").
std::string withRegisterLimit(llvm::StringRef ptx, unsigned registers);

/// Whether a kernel under such a limit is to be kept: it spills kFewSpilledBytes more at most, and
/// nothing more if it has matrix instructions.
bool paysForMoreBlocks(const ResourceUsage &limited, const ResourceUsage &used,
                       llvm::StringRef ptx);

} // namespace kiln

#endif // KILN_COMPILER_TARGET_NVIDIA_REGISTERSHARE_H

// Waits of fences, which LLVM 22 may drop.

#ifndef KILN_COMPILER_TARGET_AMD_KEEPWAITS_H
#define KILN_COMPILER_TARGET_AMD_KEEPWAITS_H

#include "compiler/Target/AMD/HsacoListing.h"

namespace llvm {
class Function;
} // namespace llvm

namespace kiln {

struct TargetInfo;

/// Whether a wave may come to a barrier with an access to shared memory in flight, which no wait
/// since has been for; or with one to global memory, to a barrier of that.
bool reachesBarrierInFlight(const MachineCode &code, const llvm::TargetMachine &machine);

/// Behind each fence by which other blocks see what a wave has stored, the waits that it stands
/// for, as instructions that LLVM does not drop.
void keepWaitsOfReleases(llvm::Function &kernel, const TargetInfo &target);

/// In front of each barrier, what its fences wait for, as instructions that LLVM does not drop.
void keepWaits(llvm::Function &kernel, const TargetInfo &target);

} // namespace kiln

#endif

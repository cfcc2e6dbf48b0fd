//===- EmitAMD.h - LLVM IR to HSACO -------------------------------------------===//

#ifndef KILN_COMPILER_TARGET_AMD_EMITAMD_H
#define KILN_COMPILER_TARGET_AMD_EMITAMD_H

#include "compiler/Target/EmitOptions.h"
#include "compiler/Target/TargetError.h"
#include "compiler/Target/TargetInfo.h"
#include "llvm/Support/Error.h"

namespace llvm {
class Module;
} // namespace llvm

namespace kiln {

/// emitDeviceBinary for the HIP backend.
llvm::Expected<DeviceBinary> emitAMD(llvm::Module &module, const KernelFacts &facts,
                                     const TargetInfo &target, const EmitOptions &options);

} // namespace kiln

#endif // KILN_COMPILER_TARGET_AMD_EMITAMD_H

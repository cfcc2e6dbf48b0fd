//===- EmitCPU.h - LLVM IR to a host object ------------------------------------===//

#ifndef KILN_COMPILER_TARGET_CPU_EMITCPU_H
#define KILN_COMPILER_TARGET_CPU_EMITCPU_H

#include "compiler/Target/EmitOptions.h"
#include "compiler/Target/TargetError.h"
#include "compiler/Target/TargetInfo.h"
#include "llvm/Support/Error.h"

namespace llvm {
class Module;
} // namespace llvm

namespace kiln {

/// emitDeviceBinary for the CPU backend: a relocatable, position-independent ELF object.
llvm::Expected<DeviceBinary> emitCPU(llvm::Module &module, const KernelFacts &facts,
                                     const TargetInfo &target, const EmitOptions &options);

/// Whether a host object may leave `symbol` to the C library: libm's functions in f64 and f32 (LLVM
/// joins sin and cos to sincos), and memcpy, memmove, memset.
bool isHostLibraryFunction(llvm::StringRef symbol);

} // namespace kiln

#endif // KILN_COMPILER_TARGET_CPU_EMITCPU_H

//===- EmitNVIDIA.h - LLVM IR to PTX and cubin --------------------------------===//

#ifndef KILN_COMPILER_TARGET_NVIDIA_EMITNVIDIA_H
#define KILN_COMPILER_TARGET_NVIDIA_EMITNVIDIA_H

#include "compiler/Target/EmitOptions.h"
#include "compiler/Target/TargetError.h"
#include "compiler/Target/TargetInfo.h"
#include "llvm/Support/Error.h"

namespace llvm {
class Module;
} // namespace llvm

namespace kiln {

/// emitDeviceBinary for the CUDA backend. The result is a cubin, or PTX where the target or
/// `options.cudaEmit` says so.
llvm::Expected<DeviceBinary> emitNVIDIA(llvm::Module &module, const KernelFacts &facts,
                                        const TargetInfo &target, const EmitOptions &options,
                                        const std::function<void()> &whileAssembling);

} // namespace kiln

#endif // KILN_COMPILER_TARGET_NVIDIA_EMITNVIDIA_H

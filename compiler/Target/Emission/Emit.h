//===- Emit.h - From LLVM IR to a device binary ------------------------------===//
//
// The entry of this folder: an LLVM module, or an MLIR module in the LLVM dialect,
// becomes a cubin, PTX, an HSACO or a host object. The MLIR form only translates
// and then calls the LLVM form.
//
// Everything that decides the result is in the arguments; no environment variable
// is read except to find `ptxas` (PATH, CUDA_HOME), and nothing global is kept.
// LLVM aborts on what it cannot select: callers that must survive run this in a
// worker process.
//
//===----------------------------------------------------------------------===//
#ifndef KILN_COMPILER_TARGET_EMISSION_EMIT_H
#define KILN_COMPILER_TARGET_EMISSION_EMIT_H

#include "compiler/Target/EmitOptions.h"
#include "compiler/Target/TargetError.h"
#include "compiler/Target/TargetInfo.h"
#include "llvm/Support/Error.h"
#include <functional>
#include <memory>
#include <string>

namespace llvm {
class Module;
} // namespace llvm
namespace mlir {
class ModuleOp;
} // namespace mlir

namespace kiln {

/// Makes the binary for `target`. The module is consumed. The binary's parameters, resources and
/// architecture tag are read back from the bytes. Where ptxas makes them, `whileAssembling` is
/// called once, when it has begun: for other work meanwhile.
llvm::Expected<DeviceBinary>
emitDeviceBinary(std::unique_ptr<llvm::Module> module, const KernelFacts &facts,
                 const TargetInfo &target, const EmitOptions &options = {},
                 const std::function<void()> &whileAssembling = nullptr);

/// The same from an MLIR module in the LLVM dialect (with NVVM or ROCDL operations). The module
/// gets debug scopes when `options.lineInfo` is set.
llvm::Expected<DeviceBinary>
emitDeviceBinary(mlir::ModuleOp module, const KernelFacts &facts, const TargetInfo &target,
                 const EmitOptions &options = {},
                 const std::function<void()> &whileAssembling = nullptr);

/// Whether the programs that a binary for the target takes besides Kiln are there and work (ptxas,
/// for cubins). To be asked once before many variants, each of which would fail the same way.
llvm::Error checkTools(const TargetInfo &target, const EmitOptions &options);

/// The path of that program; empty where there is none.
llvm::Expected<std::string> findTool(const TargetInfo &target, const EmitOptions &options);

} // namespace kiln

#endif // KILN_COMPILER_TARGET_EMISSION_EMIT_H

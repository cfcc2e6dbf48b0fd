// A GPU kernel as code for the emulator: the program of one thread, on the host.
//
// The input is the module in target operations, the very code that also becomes a cubin or an
// HSACO: the LLVM dialect, NVVM or ROCDL operations, and `tilegpu.global_load` / `global_store`.
// Every operation of a target, and every access to memory, becomes a call on the emulator
// (runtime/emulator/kiln_emu.h), with a static record of its place in the source. What remains is
// ordinary host code, so the CPU's back end does the rest, and arithmetic runs at the host's speed.
// Refused: interpreting the operations; the interpreter's own arithmetic would have to be checked.

#ifndef KILN_COMPILER_EMULATOR_LOWERTOEMULATOR_H
#define KILN_COMPILER_EMULATOR_LOWERTOEMULATOR_H

#include "compiler/Target/TargetInfo.h"
#include "mlir/IR/BuiltinOps.h"

namespace kiln {

struct EmulatedKernel {
  /// The kernel's function, which becomes a host function (kiln_host_function in runtime/kiln.h)
  /// that runs one block.
  llvm::StringRef symbol;
  uint32_t threadsPerBlock = 0;
};

/// Afterwards the module is of the LLVM dialect without address spaces and calls only functions
/// named `kiln_emu_*` and intrinsics. An operation that is not emulated is an error at its place.
mlir::LogicalResult lowerToEmulator(mlir::ModuleOp module, const TargetInfo &target,
                                    const EmulatedKernel &kernel);

} // namespace kiln

#endif

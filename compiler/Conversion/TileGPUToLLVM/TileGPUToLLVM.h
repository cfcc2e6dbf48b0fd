// From tensors with layouts to the program of one thread.
//
// A kernel in TileGPU form becomes an LLVM-dialect module in three steps, each a free function:
//   1. distribute: every tensor becomes one value per register of its layout (1:N conversion),
//      every tile operation scalar arithmetic, warp shuffles, shared-memory traffic and target
//      operations. Arithmetic stays in `arith`, `math` and `scf`, on scalars.
//   2. finish: `math` operations that the target cannot select are expanded, control flow is
//      flattened, everything becomes the LLVM dialect.
//   -- the emulator's input: target operations, no assembly text so far --
//   3. expand: the target operations that have no LLVM form (predicated accesses with cache
//      modifiers) become inline assembly or branches.
// Refused: building LLVM structs of registers and taking them apart again at every operation; it
// hides values from folding and doubles the work of every later pass.

#ifndef KILN_COMPILER_CONVERSION_TILEGPUTOLLVM_TILEGPUTOLLVM_H
#define KILN_COMPILER_CONVERSION_TILEGPUTOLLVM_TILEGPUTOLLVM_H

#include "compiler/Target/TargetInfo.h"
#include "mlir/IR/BuiltinOps.h"

namespace kiln {

/// Steps 1 and 2. The module holds one kernel `func.func` whose tensors have layouts, with shared
/// memory allocated and barriers in place. Afterwards it holds an `llvm.func` of the same name with
/// the kernel ABI (pointers `ptr addrspace(1)`, booleans and 8-bit floats as i8), with LLVM, NVVM
/// or ROCDL operations and `tilegpu.global_load` / `global_store`. What a target cannot do yet is
/// an error at the operation.
mlir::LogicalResult lowerTileGPUToLLVM(mlir::ModuleOp module, const TargetInfo &target);

/// Step 3: leaves only what translates to LLVM IR.
mlir::LogicalResult expandTargetOperations(mlir::ModuleOp module, const TargetInfo &target);

/// Registers `kiln-tilegpu-to-llvm` and `kiln-expand-target-operations`; both read the target from
/// the module's `tilegpu.target`.
void registerTileGPUToLLVMPasses();

} // namespace kiln

#endif

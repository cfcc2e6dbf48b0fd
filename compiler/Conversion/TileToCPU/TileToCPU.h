// Tile IR to LLVM-dialect code for the host CPU: fused loop nests over native vectors. docs/cpu.md
// describes it.
//
// planLoops decides which loop nests there are and what is computed in each: every store,
// reduction, scan, dot, atomic and loop-carried tensor has one over its own index space, and what
// it needs is computed on the way, vector by vector, by its producers. KernelEmitter writes them.
// The alternative, one loop nest and one buffer per operation followed by loop fusion, would have
// to rediscover what def-use chains say.

#ifndef KILN_COMPILER_CONVERSION_TILETOCPU_TILETOCPU_H
#define KILN_COMPILER_CONVERSION_TILETOCPU_TILETOCPU_H

#include "mlir/IR/BuiltinOps.h"
#include "mlir/Support/LogicalResult.h"
#include "llvm/ADT/StringRef.h"

namespace kiln {

/// What the generated code may assume of the processor. The result is correct on any processor
/// whatever these say; they decide its speed.
struct CPUOptions {
  /// Width of a native vector register in bits: 128, 256 or 512.
  unsigned vectorBits = 256;
  /// Number of vector registers: bounds the dot's register tile.
  unsigned vectorRegisters = 16;
  /// Fused multiply-add is an instruction (otherwise it would be a library call, and is not used).
  bool hasFMA = true;
  /// Products may be fused with the sums that take them.
  bool fusesProducts = true;
};

/// On the lowered kernel function: bytes of per-thread scratch that its `arena` argument points to
/// (i64, may be 0).
inline constexpr llvm::StringLiteral cpuArenaBytesAttr = "tile.cpu_arena_bytes";

/// Lowers the one kernel of `module` (a `func.func` with `tile.kernel`) to the LLVM dialect, in
/// place. The kernel becomes `llvm.func @NAME(params: ptr, program_id: ptr, num_programs: ptr,
/// arena: ptr)`, where params[i] points to argument i, program_id and num_programs to three i32
/// each, and arena to 64-byte aligned scratch. The code calls libm at most. What cannot be lowered
/// is reported at its location, and fails.
mlir::LogicalResult lowerTileToCPU(mlir::ModuleOp module, const CPUOptions &options = {});

/// Registers for kiln-opt `-tile-to-cpu` (options `vector-bits`, `vector-registers`, `fma`,
/// `fuse-products`),
/// `-tile-cpu-loops`, which stops before the conversion to the LLVM dialect, and `-tile-cpu-plan`,
/// which prints the plan of the loops.
void registerTileToCPUPasses();

} // namespace kiln

#endif // KILN_COMPILER_CONVERSION_TILETOCPU_TILETOCPU_H

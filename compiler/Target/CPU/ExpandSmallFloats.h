//===- ExpandSmallFloats.h - f16 and bf16 without library calls ----------------===//

#ifndef KILN_COMPILER_TARGET_CPU_EXPANDSMALLFLOATS_H
#define KILN_COMPILER_TARGET_CPU_EXPANDSMALLFLOATS_H

namespace llvm {
class Module;
} // namespace llvm

namespace kiln {

/// Rewrites f16 and bf16 arithmetic to f32, and the conversions the processor lacks to integer
/// operations: round to nearest even, NaNs quiet, subnormals kept, scalars and vectors alike.
/// Loads, stores, selects and shuffles of the types stay. `convertsF16`: the processor converts f32
/// from and to f16 itself; bf16 it never does, and arithmetic neither (see the .cpp).
void expandSmallFloats(llvm::Module &module, bool convertsF16);

} // namespace kiln

#endif // KILN_COMPILER_TARGET_CPU_EXPANDSMALLFLOATS_H

//===- ExpandSmallFloats.h - f16 and bf16 without library calls ----------------===//

#ifndef KILN_COMPILER_TARGET_CPU_EXPANDSMALLFLOATS_H
#define KILN_COMPILER_TARGET_CPU_EXPANDSMALLFLOATS_H

namespace llvm {
class Module;
} // namespace llvm

namespace kiln {

/// Which f16 work the processor does itself; bf16 work never is (see the .cpp).
struct SmallFloatSupport {
  /// f32 from and to f16.
  bool convertF16 = false;
  /// f16 arithmetic.
  bool arithF16 = false;
};

/// Rewrites f16 and bf16 arithmetic to f32, and the conversions the processor lacks to integer
/// operations: round to nearest even, NaNs quiet, subnormals kept, scalars and vectors alike.
/// Loads, stores, selects and shuffles of the types stay.
void expandSmallFloats(llvm::Module &module, const SmallFloatSupport &support);

} // namespace kiln

#endif // KILN_COMPILER_TARGET_CPU_EXPANDSMALLFLOATS_H

//===- IntegersToHalves.h - Integers become 16-bit floats ----------------------===//

#ifndef KILN_COMPILER_TARGET_NVIDIA_INTEGERSTOHALVES_H
#define KILN_COMPILER_TARGET_NVIDIA_INTEGERSTOHALVES_H

namespace llvm {
class Module;
} // namespace llvm

namespace kiln {

/// Converts neighbouring bytes of a word to f16 two at a time and without a conversion: as parts of
/// larger numbers that a subtraction takes off again. So weights of 8 bits are widened.
void convertBytesInPairs(llvm::Module &module);

/// Converts integers that f32 holds exactly to f32, and that to f16 or bf16: the same result, as
/// only the second step rounds. The direct conversion takes a warp eight cycles of the unit for
/// special functions (I2F.F16); to f32 there is an instruction at four times that rate from sm_86
/// on (I2FP), and two halves are narrowed and packed at once (F2FP).
void convertThroughF32(llvm::Module &module);

} // namespace kiln

#endif // KILN_COMPILER_TARGET_NVIDIA_INTEGERSTOHALVES_H

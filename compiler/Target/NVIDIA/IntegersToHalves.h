//===- IntegersToHalves.h - Integers become 16-bit floats by way of f32 --------===//

#ifndef KILN_COMPILER_TARGET_NVIDIA_INTEGERSTOHALVES_H
#define KILN_COMPILER_TARGET_NVIDIA_INTEGERSTOHALVES_H

namespace llvm {
class Module;
} // namespace llvm

namespace kiln {

/// Converts integers that f32 holds exactly to f32, and that to f16 or bf16: the same result, as
/// only the second step rounds. The direct conversion takes a warp eight cycles of the unit for
/// special functions (I2F.F16); to f32 there is an instruction at four times that rate from sm_86
/// on (I2FP), and two halves are narrowed and packed at once (F2FP). Weights of 4 and 8 bits are
/// widened by nothing else.
void convertThroughF32(llvm::Module &module);

} // namespace kiln

#endif // KILN_COMPILER_TARGET_NVIDIA_INTEGERSTOHALVES_H

// What is loaded ahead, and written to shared memory behind an iteration's products.

#ifndef KILN_COMPILER_TARGET_AMD_DELAYWRITES_H
#define KILN_COMPILER_TARGET_AMD_DELAYWRITES_H

namespace llvm {
class Function;
}

namespace kiln {

/// Loops of products write what the next iteration reads when all products have begun, and work on
/// it no earlier.
void delayWrites(llvm::Function &kernel);

} // namespace kiln

#endif

// The order in which code with products issues its instructions.

#ifndef KILN_COMPILER_TARGET_AMD_SCHEDULEPRODUCTS_H
#define KILN_COMPILER_TARGET_AMD_SCHEDULEPRODUCTS_H

namespace llvm {
class Function;
}

namespace kiln {

/// Asks the back end to deal the memory accesses of code that multiplies matrices out among the
/// products, on CDNA.
void scheduleProducts(llvm::Function &kernel);

} // namespace kiln

#endif

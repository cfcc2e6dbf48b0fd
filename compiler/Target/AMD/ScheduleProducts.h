// The order in which a loop of products issues its instructions.

#ifndef KILN_COMPILER_TARGET_AMD_SCHEDULEPRODUCTS_H
#define KILN_COMPILER_TARGET_AMD_SCHEDULEPRODUCTS_H

namespace llvm {
class Function;
}

namespace kiln {

/// Asks the back end to deal the memory accesses of loops that multiply matrices out among the
/// products.
void scheduleProducts(llvm::Function &kernel);

} // namespace kiln

#endif

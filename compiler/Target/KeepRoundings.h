//===- KeepRoundings.h - Products that are rounded before they are added -------===//

#ifndef KILN_COMPILER_TARGET_KEEPROUNDINGS_H
#define KILN_COMPILER_TARGET_KEEPROUNDINGS_H

#include "llvm/ADT/StringRef.h"

namespace llvm {
class Function;
} // namespace llvm

namespace kiln {

/// A product plus zero is rounded, whatever it is added to then. `single`, `dual`: the target's
/// constraints of inline assembly for registers of an f32 and an f64.
void keepRoundings(llvm::Function &kernel, llvm::StringRef single, llvm::StringRef dual);

} // namespace kiln

#endif // KILN_COMPILER_TARGET_KEEPROUNDINGS_H

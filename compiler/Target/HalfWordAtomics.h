// Atomic operations on 16 bits, which LLVM makes of operations on words.

#ifndef KILN_COMPILER_TARGET_HALFWORDATOMICS_H
#define KILN_COMPILER_TARGET_HALFWORDATOMICS_H

#include "llvm/ADT/StringRef.h"

namespace llvm {
class Module;
} // namespace llvm

namespace kiln {

/// Has LLVM not know that an address is that of a word's lower half. Where it knows, LLVM 22 has
/// its loop of compare-and-swap combine with what was there at first in each attempt, in place of
/// what the last attempt found: its builder simplifies the shift of a phi to which the loop's own
/// value has not been added yet. Addresses of all that is shorter than a word go by registers of
/// the kind `constraint`.
void hideHalfWords(llvm::Module &module, llvm::StringRef constraint);

} // namespace kiln

#endif // KILN_COMPILER_TARGET_HALFWORDATOMICS_H

// Accesses to buffers that are constants apart.

#ifndef KILN_COMPILER_TARGET_AMD_REACHFORWARD_H
#define KILN_COMPILER_TARGET_AMD_REACHFORWARD_H

#include <cstdint>
#include <utility>
#include <vector>

namespace llvm {
class Function;
class Use;
class Value;
} // namespace llvm

namespace kiln {

/// Offsets that an innermost loop moves alike, or that masks choose, become one that several
/// accesses have, and a constant each, where accesses have room for such constants.
void reachForward(llvm::Function &kernel);

/// Accesses of a block whose offsets one mask chooses, constants apart, have one choice, and add
/// the constants to it.
void shareMaskedOffsets(llvm::Function &kernel);

/// What is added to both alternatives of an offset that a mask chooses is added behind the mask, by
/// the access, which reaches so many bytes less one: lanes hold one number for several accesses.
/// Returns what accesses had for that.
std::vector<std::pair<llvm::Use *, llvm::Value *>> reachBehindMasks(llvm::Function &kernel,
                                                                    int64_t accessReach);

} // namespace kiln

#endif

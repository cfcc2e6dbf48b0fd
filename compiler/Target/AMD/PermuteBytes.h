// Vectors of bytes that are put together from those of several words, as a tile of 8-bit numbers is
// transposed on its way to LDS: word by word, by v_perm_b32.

#ifndef KILN_COMPILER_TARGET_AMD_PERMUTEBYTES_H
#define KILN_COMPILER_TARGET_AMD_PERMUTEBYTES_H

namespace llvm {
class Function;
} // namespace llvm

namespace kiln {

/// Makes each word of such vectors of one or two instructions, which words that want bytes of the
/// same two share: two for each word of a transposed tile, where LLVM takes three to six.
void permuteBytes(llvm::Function &kernel);

} // namespace kiln

#endif

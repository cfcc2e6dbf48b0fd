//===- PairHalves.h - Words of two halves in one instruction -----------*- C++ -*-===//

#ifndef KILN_COMPILER_TARGET_AMD_PAIRHALVES_H
#define KILN_COMPILER_TARGET_AMD_PAIRHALVES_H

namespace llvm {
class Function;
} // namespace llvm

namespace kiln {

/// Which words.
enum class PairedHalves {
  /// Those of two words of which lanes choose, in place of the choices, and those that are stored
  /// alone: of as many registers.
  OfChoicesAndStores,
  Any,
};

/// Has vectors of 16-bit elements that are put together from others' elements put together word by
/// word.
void pairHalves(llvm::Function &kernel, PairedHalves which);

} // namespace kiln

#endif // KILN_COMPILER_TARGET_AMD_PAIRHALVES_H

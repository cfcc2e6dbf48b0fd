//===- PairHalves.h - Words of two halves in one instruction -----------*- C++ -*-===//

#ifndef KILN_COMPILER_TARGET_AMD_PAIRHALVES_H
#define KILN_COMPILER_TARGET_AMD_PAIRHALVES_H

namespace llvm {
class Function;
} // namespace llvm

namespace kiln {

/// Has vectors of 16-bit elements that are put together from others' elements put together word by
/// word.
void pairHalves(llvm::Function &kernel);

} // namespace kiln

#endif // KILN_COMPILER_TARGET_AMD_PAIRHALVES_H

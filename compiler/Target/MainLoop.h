//===- MainLoop.h - The loop in which a kernel spends its time ----------------===//
//
// Found in a listing: the instructions of a binary, or of the PTX that it is made of, in order,
// each with what it is and where it may branch to. Which loop runs most is not known without
// running; the one with most matrix instructions that has no other such loop within it, or else the
// innermost one with most instructions, is what a reader of the listing would look at first. Loops
// that only wait (a barrier that is asked until it is complete) are parts of the loops around them.
//
//===----------------------------------------------------------------------===//
#ifndef KILN_COMPILER_TARGET_MAINLOOP_H
#define KILN_COMPILER_TARGET_MAINLOOP_H

#include "compiler/Target/DeviceBinary.h"
#include "llvm/ADT/ArrayRef.h"

namespace kiln {

enum class ListedKind : uint8_t { Matrix, Shared, Global, Wait, Other };

struct ListedInstruction {
  ListedKind kind = ListedKind::Other;
  /// The index of the instruction that a branch goes to.
  std::optional<size_t> branchTo;
};

/// The innermost loops, each from the instruction that a branch goes back to: where some multiply
/// matrices these alone.
std::vector<llvm::ArrayRef<ListedInstruction>>
innermostLoopsOf(llvm::ArrayRef<ListedInstruction> listing);

/// What the main loop counts. None where no branch goes back.
std::optional<MainLoop> findMainLoop(llvm::ArrayRef<ListedInstruction> listing);

/// The kind of the first prefix that `mnemonic` begins with; Other without one.
struct ListedPrefix {
  llvm::StringLiteral prefix;
  ListedKind kind;
};
ListedKind kindOf(llvm::StringRef mnemonic, llvm::ArrayRef<ListedPrefix> prefixes);

} // namespace kiln

#endif // KILN_COMPILER_TARGET_MAINLOOP_H

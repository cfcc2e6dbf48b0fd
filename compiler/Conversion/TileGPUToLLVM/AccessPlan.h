// Which of a thread's registers one access to global memory covers, and who makes it.

#ifndef KILN_COMPILER_CONVERSION_TILEGPUTOLLVM_ACCESSPLAN_H
#define KILN_COMPILER_CONVERSION_TILEGPUTOLLVM_ACCESSPLAN_H

#include "compiler/Conversion/TileGPUToLLVM/Lowering.h"

namespace kiln {

struct Access {
  mlir::Value pointers, mask; ///< as the tile operation has them; mask may be null
  unsigned elementBits;
  unsigned maxBits;       ///< of the widest single access
  BinaryVector equal = 0; ///< bits of a place in the tile on which what is loaded does not depend
};

struct AccessPlan {
  /// Neighbours in memory; duplicates are left out, and what is equal to them.
  RegisterGroups groups;
  /// Of a group only the first elements may be in the mask.
  bool mayStraddle = false;
};

AccessPlan planAccess(const Access &access, const Lowering &lowering);

/// Whether a bound ends within any of the thread's groups.
mlir::Value straddles(const RegisterGroups &groups, mlir::ValueRange mask, const ScalarBuilder &s);
/// The groups, each register on its own.
RegisterGroups elementsOf(const RegisterGroups &groups);

/// Makes the access of each group by `make`, where the mask's value for the group's first register
/// holds for all of it: where it may not, there are two branches.
void makeAccesses(const AccessPlan &plan, mlir::ValueRange mask, const ScalarBuilder &s,
                  llvm::function_ref<void(llvm::ArrayRef<unsigned>, const ScalarBuilder &)> make);

/// i1: the one thread of those that hold an element which accesses it. Null when no others do.
mlir::Value ownerOf(mlir::Value pointers, const Lowering &lowering, const ScalarBuilder &s);
/// Null stands for true.
mlir::Value both(mlir::Value a, mlir::Value b, const ScalarBuilder &s);

/// A vector of integers, floats, or addresses as i64; one element stays as it is.
mlir::Value packVector(const ScalarBuilder &s, llvm::ArrayRef<mlir::Value> elements);
mlir::Value packGroup(const ScalarBuilder &s, mlir::ValueRange registers,
                      llvm::ArrayRef<unsigned> group);

} // namespace kiln

#endif

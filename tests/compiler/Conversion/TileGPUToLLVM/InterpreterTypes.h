// How the block interpreter sees types: a value is a list of scalars.

#ifndef KILN_TESTS_COMPILER_CONVERSION_TILEGPUTOLLVM_INTERPRETERTYPES_H
#define KILN_TESTS_COMPILER_CONVERSION_TILEGPUTOLLVM_INTERPRETERTYPES_H

#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "tests/compiler/Conversion/TileGPUToLLVM/Numbers.h"

namespace kiln::testing {

/// The scalars of a scalar, vector or structure.
inline llvm::SmallVector<mlir::Type> componentsOf(mlir::Type type) {
  if (auto vector = mlir::dyn_cast<mlir::VectorType>(type))
    return llvm::SmallVector<mlir::Type>(vector.getNumElements(), vector.getElementType());
  llvm::SmallVector<mlir::Type> components;
  if (auto structure = mlir::dyn_cast<mlir::LLVM::LLVMStructType>(type)) {
    for (mlir::Type member : structure.getBody())
      llvm::append_range(components, componentsOf(member));
    return components;
  }
  return {type};
}

inline unsigned bitsOf(mlir::Type scalar) {
  if (auto pointer = mlir::dyn_cast<mlir::LLVM::LLVMPointerType>(scalar))
    return 64;
  return scalar.getIntOrFloatBitWidth();
}

inline Format formatOf(mlir::Type type) {
  return type.isF16()    ? Format::F16
         : type.isBF16() ? Format::BF16
         : type.isF32()  ? Format::F32
                         : Format::F64;
}

/// What an atomic stores, from the old value and its operand.
uint64_t atomicResult(mlir::LLVM::AtomicBinOp kind, mlir::Type type, uint64_t old, uint64_t value);

} // namespace kiln::testing

#endif

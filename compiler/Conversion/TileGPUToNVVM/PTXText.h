// Instructions as PTX text within LLVM's inline assembly.

#ifndef KILN_COMPILER_CONVERSION_TILEGPUTONVVM_PTXTEXT_H
#define KILN_COMPILER_CONVERSION_TILEGPUTONVVM_PTXTEXT_H

#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/IR/Builders.h"
#include <string>

namespace kiln {

/// "$2, $3, $4", counting from `first`.
std::string registerNames(unsigned first, unsigned count);

/// The registers that `text` writes, of these types. `constraints` lists results, then operands.
llvm::SmallVector<mlir::Value> assemble(mlir::OpBuilder &b, mlir::Location loc,
                                        mlir::TypeRange results, mlir::ValueRange operands,
                                        const std::string &text, const std::string &constraints);

} // namespace kiln

#endif

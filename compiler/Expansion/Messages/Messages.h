// What kernels print, and what they say before they stop: the text of messages, the same on every
// target.
//
// The form of a printed line is Triton's, so that what reads one reads the other.

#ifndef KILN_COMPILER_EXPANSION_MESSAGES_MESSAGES_H
#define KILN_COMPILER_EXPANSION_MESSAGES_MESSAGES_H

#include "compiler/Dialect/Tile/Tile.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/IR/BuiltinOps.h"

namespace kiln {

/// printf's format of a whole line with its newline: three conversions for the program ids, one
/// for each index, all of i32, and the operation's own.
std::string lineFormat(tile::PrintOp op);

/// Where `loc` is in the source: "kernel.py:12:4", empty where it is not known.
std::string placeText(mlir::Location loc);

/// The address of `text`, which ends in a zero byte, as a constant of the module. Equal texts are
/// one constant.
mlir::Value textAddress(mlir::OpBuilder &b, mlir::Location loc, mlir::ModuleOp module,
                        llvm::StringRef text);

} // namespace kiln

#endif // KILN_COMPILER_EXPANSION_MESSAGES_MESSAGES_H

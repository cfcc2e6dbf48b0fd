// Names of node kinds and operators, generated from Nodes.def and Operators.def.
#include "compiler/Syntax/AST.h"

namespace kiln::ast {

llvm::StringRef getNodeKindName(NodeKind kind) {
  static constexpr llvm::StringLiteral names[] = {
#define KILN_EXPR(NAME) #NAME,
#define KILN_STMT(NAME) #NAME,
#define KILN_PATTERN(NAME) #NAME,
#include "compiler/Syntax/Nodes.def"
  };
  return names[static_cast<size_t>(kind)];
}

llvm::StringRef getSpelling(UnaryOp op) {
  static constexpr llvm::StringLiteral spellings[] = {
#define KILN_UNARY_OP(NAME, SPELLING) SPELLING,
#include "compiler/Syntax/Operators.def"
  };
  return spellings[static_cast<size_t>(op)];
}

llvm::StringRef getSpelling(BinaryOp op) {
  static constexpr llvm::StringLiteral spellings[] = {
#define KILN_BINARY_OP(NAME, SPELLING, TOKEN, PRECEDENCE) SPELLING,
#include "compiler/Syntax/Operators.def"
  };
  return spellings[static_cast<size_t>(op)];
}

llvm::StringRef getSpelling(CompareOp op) {
  static constexpr llvm::StringLiteral spellings[] = {
#define KILN_COMPARE_OP(NAME, SPELLING) SPELLING,
#include "compiler/Syntax/Operators.def"
  };
  return spellings[static_cast<size_t>(op)];
}

} // namespace kiln::ast

// What messages call a piece of syntax that evaluation does not take.
#ifndef KILN_COMPILER_SEMA_PYTHON_NODENAMES_H
#define KILN_COMPILER_SEMA_PYTHON_NODENAMES_H

#include "compiler/Syntax/AST.h"

#include "llvm/ADT/StringSwitch.h"

namespace kiln::sema {

/// "'yield'", "a class".
inline llvm::StringRef describeNode(ast::NodeKind kind) {
  llvm::StringRef name = ast::getNodeKindName(kind);
  return llvm::StringSwitch<llvm::StringRef>(name)
      .Case("ClassDef", "a class")
      .Case("FunctionDef", "a function")
      .Cases({"YieldExpr", "YieldFromExpr"}, "'yield'")
      .Case("AwaitExpr", "'await'")
      .Case("MatchStmt", "'match'")
      .Case("TypeAliasStmt", "'type'")
      .Case("GlobalStmt", "'global'")
      .Case("NonlocalStmt", "'nonlocal'")
      .Case("ForStmt", "a loop")
      .Case("WithStmt", "'with'")
      .Case("DeleteStmt", "'del'")
      .Case("BytesLiteral", "a bytes literal")
      .Case("ImaginaryLiteral", "an imaginary number")
      .Case("SliceExpr", "a slice")
      .Default(name);
}

} // namespace kiln::sema

#endif // KILN_COMPILER_SEMA_PYTHON_NODENAMES_H

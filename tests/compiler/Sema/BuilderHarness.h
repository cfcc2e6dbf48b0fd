// A TensorBuilder by itself: a function to build into, and nobody who runs code.
#ifndef KILN_TESTS_COMPILER_SEMA_BUILDERHARNESS_H
#define KILN_TESTS_COMPILER_SEMA_BUILDERHARNESS_H

#include "compiler/Sema/Tensors/TensorBuilder.h"

#include "mlir/IR/Verifier.h"

#include <gtest/gtest.h>

namespace kiln::sema {

class BuilderHarness : public testing::Test, CodeRunner {
protected:
  BuilderHarness() {
    context.loadDialect<tile::TileDialect, mlir::arith::ArithDialect, mlir::func::FuncDialect,
                        mlir::math::MathDialect, mlir::scf::SCFDialect, mlir::ub::UBDialect>();
    mlir::OpBuilder &builder = build.getBuilder();
    module = mlir::ModuleOp::create(builder, build.loc());
    builder.setInsertionPointToStart(module->getBody());
    function =
        mlir::func::FuncOp::create(builder, build.loc(), "test", builder.getFunctionType({}, {}));
    builder.setInsertionPointToStart(function.addEntryBlock());
  }

  /// An argument of the function.
  Tensor argument(const TensorType &type) {
    unsigned index = function.getNumArguments();
    EXPECT_TRUE(
        mlir::succeeded(function.insertArgument(index, type.toMLIR(&context), {}, build.loc())));
    return {function.getArgument(index), type};
  }

  /// How often an operation stands in the function.
  size_t count(llvm::StringRef operation) {
    size_t found = 0;
    function.walk([&](mlir::Operation *op) { found += op->getName().getStringRef() == operation; });
    return found;
  }

  /// Whether what was built is valid.
  bool verifies() {
    mlir::func::ReturnOp::create(build.getBuilder(), build.loc());
    return mlir::succeeded(mlir::verify(*module));
  }

  /// "[tag] message" of the errors so far, one a line.
  std::string takeErrors() {
    unwinding.flush();
    std::string text;
    for (const Diagnostic &diagnostic : diags.getDiagnostics())
      text += "[" + std::string(getDiagTag(diagnostic.kind)) + "] " + diagnostic.message + "\n";
    diags.clear();
    return text;
  }

  mlir::MLIRContext context;
  SourceManager sources;
  DiagnosticEngine diags;
  Unwinding unwinding{diags, /*buildsIR=*/true};
  BuiltinTable noBuiltins{{}};
  TensorBuilder build{unwinding, noBuiltins, *this, sources, {{}, nullptr, &context}};
  mlir::OwningOpRef<mlir::ModuleOp> module;
  mlir::func::FuncOp function;

private:
  Value call(const Value &, std::vector<Value>, Keywords, const ast::CallExpr *) override {
    ADD_FAILURE() << "a call";
    return build.error(DiagKind::SemaNotCallable, "nothing");
  }
  Value getAttribute(const Value &, llvm::StringRef name) override {
    ADD_FAILURE() << "an attribute: " << name.str();
    return build.error(DiagKind::SemaUnknownAttribute, "nothing", name);
  }
  Value subscript(const Value &, const Value &) override {
    ADD_FAILURE() << "a subscript";
    return build.error(DiagKind::SemaUnsupportedSyntax, "a subscript");
  }
  std::optional<std::vector<Value>> iterateObject(const Value &) override {
    ADD_FAILURE() << "an iterator";
    return build.fail(DiagKind::SemaUnsupportedSyntax, "an iterator");
  }
};

} // namespace kiln::sema

#endif // KILN_TESTS_COMPILER_SEMA_BUILDERHARNESS_H

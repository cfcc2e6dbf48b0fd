// The walker of device code: statements, expressions and control flow of one kernel. It computes
// what is known and emits IR for the rest. Internal to Sema; the entry is Sema.h, and docs/sema.md
// explains the approach.
//
// Beside it stand what it works with: the TensorBuilder, which knows operators, the ModuleScope,
// which knows names of modules, the PythonRunner, which runs Python, and Unwinding, which knows
// where evaluation is and what has gone wrong.
#ifndef KILN_COMPILER_SEMA_EVALUATE_EVALUATOR_H
#define KILN_COMPILER_SEMA_EVALUATE_EVALUATOR_H

#include "compiler/Sema/Evaluate/Frame.h"
#include "compiler/Sema/Modules/ModuleScope.h"
#include "compiler/Sema/Python/Unpacking.h"
#include "compiler/Sema/Tensors/TensorBuilder.h"

namespace kiln::sema {

class Evaluator final : public Reporting, public CodeRunner, public Unpacker {
public:
  /// All references must outlive it.
  Evaluator(SourceManager &sources, const BuiltinTable &builtins, PythonRunner &python,
            TensorTarget target, const NamedConstants &defines, DiagnosticEngine &diags);

  TensorBuilder &tensors() { return tensorBuilder; }
  ModuleScope &modules() { return scope; }
  PythonRunner &python() { return runner; }

  /// Evaluates an expression of the function that is being walked.
  Value evaluate(const ast::Expr &expr) override;
  Value getAttribute(const Value &base, llvm::StringRef name) override;
  Value subscript(const Value &base, const Value &index) override;
  Value call(const Value &callee, std::vector<Value> args, Keywords keywords,
             const ast::CallExpr *expr = nullptr) override;
  std::optional<std::vector<Value>> iterateObject(const Value &iterable) override;
  std::optional<std::vector<Value>> iterate(const Value &iterable) override {
    return tensorBuilder.iterate(iterable);
  }
  bool failed() const override { return Reporting::failed(); }
  /// Runs the body of a function whose parameters are bound already in `names`.
  /// Of a constructor `atEnd` receives the names as they are when it returns.
  Value runBody(const FunctionObject &function, Environment names, Environment *atEnd = nullptr);

  /// The module of the code at hand; null where there is none.
  ModuleState *getModule() const { return frame() ? frame()->module : nullptr; }
  /// Binds a name of the code at hand that holds `old` to `value` instead.
  void replace(llvm::StringRef name, const Value &old, const Value &value);

private:
  /// All calls that are active are frames: FrameGuard enters them.
  Frame *frame() const { return static_cast<Frame *>(unwinding().getCall()); }
  mlir::OpBuilder &builder() { return tensorBuilder.getBuilder(); }
  mlir::Location loc() const { return tensorBuilder.loc(); }
  const BuiltinTable &builtins() const { return tensorBuilder.builtins(); }

  Value lookUp(llvm::StringRef name);

  // What Triton refuses (Portability.cpp).
  /// The code at hand is to be portable.
  bool isPortable() const;
  /// These report what Triton refuses; false after an error.
  bool checkSyntax(const ast::Node &node);
  bool checkCondition(const Value &test);
  bool checkComprehended(const Value &iterable);
  bool checkAssigned(const Value &value);
  bool checkConstructor(const FunctionObject &init);
  bool checkInlined(const FunctionObject &function, const Environment &names);
  /// What a name outside of the function stands for; an Error value after a report. `module`: the
  /// code's own, if it is one of its names.
  Value outerName(llvm::StringRef name, const Value &value, const ModuleState *module = nullptr);

  /// Ends the unwinding behind a statement that failed: what it would have bound is unknown from
  /// there on (Recovery.cpp).
  Flow resumeAfter(const ast::Stmt &stmt);

  // Expressions.
  Value evaluateNode(const ast::Expr &expr);
  Value evaluateDisplay(const ast::Expr &expr, ast::ExprList elements);
  Value evaluateUnary(const ast::UnaryExpr &expr);
  Value evaluateBinary(const ast::BinaryExpr &expr);
  Value evaluateAttribute(const ast::AttributeExpr &expr);
  Value evaluateSubscript(const ast::SubscriptExpr &expr);
  Value evaluateNamed(const ast::NamedExpr &expr);
  Value evaluateSlice(const ast::SliceExpr &expr);
  Value formatString(const ast::FormattedString &expr);
  Value evaluateBool(const ast::BoolExpr &expr);
  Value evaluateCompare(const ast::CompareExpr &expr);
  Value evaluateConditional(const ast::ConditionalExpr &expr);
  Value evaluateComprehension(const ast::ComprehensionExpr &expr);
  bool runComprehension(const ast::ComprehensionExpr &expr, size_t clause,
                        llvm::function_ref<bool()> body);
  Value evaluateDict(const ast::DictExpr &expr);
  Value evaluateLambda(const ast::LambdaExpr &expr);
  Value numberAttribute(const Value &base, llvm::StringRef name);
  Value moduleAttribute(const Value &base, llvm::StringRef name);
  Value functionAttribute(const Value &base, llvm::StringRef name);

  // Statements.
  Flow execute(ast::Block block);
  Flow execute(const ast::Stmt &stmt);
  Flow executeJump(const ast::Stmt &stmt);
  /// Binds `target` as an assignment does.
  bool assign(const ast::Expr &target, Value value, bool keepConstant);
  Flow executeAssign(const ast::AssignStmt &stmt);
  Flow executeAugAssign(const ast::AugAssignStmt &stmt);
  Flow executeAnnAssign(const ast::AnnAssignStmt &stmt);
  Flow executeReturn(const ast::ReturnStmt &stmt);
  Flow executeIf(const ast::IfStmt &stmt);
  Flow executeRunTimeIf(const ast::IfStmt &stmt, Tensor condition);
  Flow executeFor(const ast::ForStmt &stmt);
  Flow executeUnrolled(const ast::ForStmt &stmt, llvm::ArrayRef<Value> items);
  Flow executeRunTimeFor(const ast::ForStmt &stmt, struct LoopBounds &bounds);
  Flow executeWhile(const ast::WhileStmt &stmt);
  Flow executeRunTimeWhile(const ast::WhileStmt &stmt);
  Flow executeAssert(const ast::AssertStmt &stmt);
  Flow executeTry(const ast::TryStmt &stmt);
  Flow executeRaise(const ast::RaiseStmt &stmt);
  Flow executeWith(const ast::WithStmt &stmt);
  Flow executeImport(const ast::Stmt &stmt);
  Flow executeDelete(const ast::DeleteStmt &stmt);
  Flow executeFunction(const ast::FunctionDef &stmt);
  Value sanitize(const Value &value);
  bool assignSubscript(const ast::SubscriptExpr &target, const Value &value);
  void raiseMistake(llvm::StringRef className, const llvm::Twine &message) override;
  bool dropsSurplus(size_t items, size_t targets) override;
  /// The bounds of a loop that runs on the device; otherwise the items to unroll over.
  std::optional<struct LoopBounds> loopBounds(const ast::ForStmt &stmt,
                                              std::optional<std::vector<Value>> &items);

  // Control flow.
  Value conditional(const ast::ConditionalExpr &expr, Tensor condition);
  Branch runBranch(llvm::function_ref<Flow()> body, llvm::ArrayRef<mlir::Type> arguments = {});
  void closeScope(Flow &flow, mlir::Value &returned);
  void closePending(PendingIf &pending, Flow &flow, mlir::Value &returned);
  bool mergeReturns(Value &a, mlir::Block *atA, Value &b, mlir::Block *atB);
  Flow mergeReturned(Tensor condition, Branch &thenBranch, Branch &elseBranch);
  /// What a conditional gives: the flag of `Branch::returned`, the return value, and names.
  struct Merged {
    Environment names;
    /// Those whose IR values come from the conditional's results, in order.
    std::vector<llvm::StringRef> changed;
    llvm::SmallVector<mlir::Value> partsA, partsB;
  };
  void mergeNames(const Environment &before, Branch &a, Branch &b, Merged &merged);
  void mergeName(llvm::StringRef name, Branch &a, Branch &b, Merged &merged);
  mlir::scf::IfOp createIf(mlir::Value condition, std::unique_ptr<mlir::Region> thenRegion,
                           std::unique_ptr<mlir::Region> elseRegion,
                           llvm::ArrayRef<mlir::Value> thenParts,
                           llvm::ArrayRef<mlir::Value> elseParts);
  Flow mergeFallThrough(Tensor condition, Branch &thenBranch, Branch &elseBranch,
                        const Environment &before);
  Flow mergePartial(Tensor condition, Branch &thenBranch, Branch &elseBranch,
                    const Environment &before);
  void openPending(mlir::Value condition, std::unique_ptr<mlir::Region> thenRegion,
                   std::unique_ptr<mlir::Region> elseRegion, bool openIsThen, Value closedReturn,
                   const Environment &before, Environment openNames);
  /// Appends poison of the type of each of `like`, at the end of `at`.
  void appendPoison(llvm::ArrayRef<mlir::Value> like, mlir::Block *at,
                    llvm::SmallVectorImpl<mlir::Value> &parts);
  mlir::Value flag(bool value, mlir::Block *at);

  // Loops.
  struct Carried {
    std::vector<llvm::StringRef> names;
    /// Before the loop.
    std::vector<Value> values;
    llvm::SmallVector<mlir::Value> inits;
    llvm::SmallVector<mlir::Type> types;
  };
  Carried findCarried(const llvm::StringSet<> &assigned, const llvm::StringSet<> &promoted);
  void bindCarried(const Carried &carried, mlir::Block &block, unsigned firstArgument);
  /// Appends what goes round, at the end of the loop's `body`.
  bool yieldCarried(const Carried &carried, ast::Block body,
                    llvm::SmallVectorImpl<mlir::Value> &yields);
  /// Names whose compile-time value the body changed go to `promoted`; false after an error.
  bool promoteChanged(const Environment &before, Environment &after, const Carried &carried,
                      ast::Block body, llvm::StringRef loopVariable, llvm::StringSet<> &promoted);
  bool prepareBounds(struct LoopBounds &bounds, SourceRange range);
  void bindResults(const Carried &carried, const Environment &before, const Environment &after,
                   llvm::ArrayRef<mlir::Value> results, llvm::StringRef loopVariable);
  Flow runWhileTest(const ast::Expr &test, const Carried &carried, std::optional<bool> &known);
  Flow runForBody(const ast::ForStmt &stmt, const struct LoopBounds &bounds, const Carried &carried,
                  llvm::SmallVectorImpl<mlir::Value> &yields);

  // Calls.
  Value evaluateCall(const ast::CallExpr &expr);
  /// A call that is a statement, to a function without side effects whose result is its purpose.
  void checkUse(const ast::CallExpr &expr, const Value &callee);
  Value callFunction(const Value &function, std::vector<Value> args, Keywords keywords);
  Value callMethod(const BoundMethodObject &method, std::vector<Value> args, Keywords keywords,
                   const ast::CallExpr *expr);
  Value callInstance(const Value &callee, std::vector<Value> args, Keywords keywords,
                     const ast::CallExpr *expr);
  bool bindParameters(const FunctionObject &function, llvm::ArrayRef<Value> args,
                      const Keywords &keywords, Environment &names);
  // Builtins.
  /// Whether it may be called where evaluation is; false after an error.
  bool checkPlace(const BuiltinInfo &info);
  /// Deals arguments out to its parameters. False after an error.
  bool bindBuiltin(const BuiltinInfo &info, llvm::ArrayRef<Value> args, const Keywords &keywords,
                   Call &call);
  void noteCall(const BuiltinInfo &info);
  Value run(const BuiltinInfo &info, Call &call);
  Value callBuiltin(const BuiltinInfo &info, std::vector<Value> args, Keywords keywords,
                    const ast::CallExpr *expr);
  bool isConstexprField(const Value &instance, llvm::StringRef name);
  Value callClass(const Value &cls, std::vector<Value> args, Keywords keywords);
  Value callType(const Value &type, std::vector<Value> args);

  Unwinding state;
  PythonRunner &runner;
  TensorBuilder tensorBuilder;
  ModuleScope scope;
  /// The expression whose value nothing uses.
  const ast::Expr *discarded = nullptr;
};

/// Enters a function call and leaves it at the end of the scope.
struct FrameGuard {
  FrameGuard(Evaluator &evaluator, Frame &frame);
  Unwinding::Entered entered;
};

} // namespace kiln::sema

#endif // KILN_COMPILER_SEMA_EVALUATE_EVALUATOR_H

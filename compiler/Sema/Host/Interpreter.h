// The interpreter of the Python beside kernels: modules, and functions that run at compile time.
// docs/sema.md, "Python at compile time", explains the approach.
//
// A module is executed as Python does it: statement by statement, in order, once, with objects that
// have identity and can change. What depends on something that is not at hand (a package, a device,
// a file) is an unknown value (ValueKind::Opaque), which remembers where it came from. Under an
// unknown condition both branches run, each from the same state (Journal), and what they do not
// agree on is unknown afterwards. Only a kernel that needs such a value reports it.
//
// Operators, attributes, methods and builtins of values are the Evaluator's: an error that it
// reports is the exception in flight. What Kiln cannot evaluate is no exception but unknown.
#ifndef KILN_COMPILER_SEMA_HOST_INTERPRETER_H
#define KILN_COMPILER_SEMA_HOST_INTERPRETER_H

#include "compiler/Sema/Evaluate/Evaluator.h"
#include "compiler/Sema/Host/Journal.h"

namespace kiln::sema {

/// How a block of statements ended.
enum class Exit : uint8_t { Normal, Returned, Break, Continue, Raised };

/// How the code of a call may have ended already, on a path that is not known to be taken.
struct Doubt {
  bool mayReturn = false, mayBreak = false, mayContinue = false;
  /// What it then returned.
  Value returned;
  /// The unknown value that decides.
  Value why;

  bool any() const { return mayReturn || mayBreak || mayContinue; }
};

/// A module, class body or function while it runs.
struct Activation {
  std::shared_ptr<Scope> scope;
  ModuleState *module = nullptr;
  const FunctionObject *function = nullptr;
  /// The class whose body it is.
  std::shared_ptr<ClassObject> cls;
  /// Of a method: the object.
  Value self;
  Value returnValue;
  Doubt doubt;
  /// Of a generator: what it has yielded.
  std::vector<Value> *yields = nullptr;
  Activation *caller = nullptr;
};

class HostInterpreter final : public PythonRunner, Unpacker {
public:
  explicit HostInterpreter(ModuleLoader &loader) : loader(loader) {}

  /// Works for `evaluator` until release(); what it changes meanwhile outside of modules that are
  /// being executed is undone then.
  void serve(Evaluator &evaluator);
  /// Whether another evaluation of the same module, with the same answers, would find what it finds
  /// in an interpreter of its own: nothing failed, and no module was executed but that one and what
  /// it imports.
  bool release();

  //===-- Modules (Modules.cpp, Imports.cpp) --===//
  ModuleState &execute(const LoadedModule &module) override;
  std::optional<Value> findGlobal(ModuleState &module, llvm::StringRef name) override;
  Value functionOf(ModuleState &module, const ast::FunctionDef &definition,
                   llvm::ArrayRef<const ast::FunctionDef *> around) override;
  std::optional<Value> importModule(ModuleState &importer, unsigned level,
                                    llvm::StringRef name) override;
  std::optional<Value> importName(ModuleState &importer, unsigned level, llvm::StringRef module,
                                  llvm::StringRef name) override;
  std::optional<Value> moduleAttribute(const Value &module, llvm::StringRef name) override;
  Value resolve(const Value &opaque) override;

  //===-- Calls (Calls.cpp, Functions.cpp, Classes.cpp) --===//
  Value call(const Value &callee, std::vector<Value> args, Keywords keywords,
             const ast::CallExpr *expr = nullptr) override;
  Value callUnknown(const Value &callee, llvm::ArrayRef<Value> args,
                    const Keywords &keywords) override;
  Value callFunction(const Value &function, std::vector<Value> args, Keywords keywords);
  Value instantiate(const Value &cls, std::vector<Value> args, Keywords keywords) override;
  Value makeSuper(llvm::ArrayRef<Value> args) override;

  //===-- Objects (Objects.cpp, Iterators.cpp) --===//

  Value getAttribute(const Value &base, llvm::StringRef name) override;
  bool setAttribute(const Value &base, llvm::StringRef name, const Value &value) override;
  Value makeIterator(const Value &iterable) override;
  std::optional<Value> next(const Value &iterator) override;
  std::optional<std::vector<Value>> drain(const Value &iterator) override;
  std::optional<std::vector<Value>> iterateObject(const Value &object) override;
  Value callFields(const Value &cls, std::vector<Value> args, Keywords keywords) override;
  /// A class of Python's exceptions; None when there is none of that name.
  Value exceptionClass(llvm::StringRef name);
  Value raise(llvm::StringRef className, const llvm::Twine &message) override;
  bool isSubclass(const Value &cls, const Value &of) override;
  void willChange(const Value &value) { journal.willWrite(value.getObject()); }

private:
  friend struct HostCall;

  //===-- Statements (Statements.cpp, Control.cpp, Patterns.cpp) --===//

  Exit execute(ast::Block block);
  Exit execute(const ast::Stmt &stmt);
  Exit executeNode(const ast::Stmt &stmt);
  Exit executeIf(const ast::IfStmt &stmt);
  Exit executeFor(const ast::ForStmt &stmt);
  Exit executeWhile(const ast::WhileStmt &stmt);
  Exit executeTry(const ast::TryStmt &stmt);
  Exit executeHandlers(const ast::TryStmt &stmt);
  Exit executeFinally(const ast::TryStmt &stmt, Exit exit);
  Exit executeWith(const ast::WithStmt &stmt, size_t item);
  Exit executeRaise(const ast::RaiseStmt &stmt);
  Exit executeAssert(const ast::AssertStmt &stmt);
  Exit executeMatch(const ast::MatchStmt &stmt);
  Exit executeImport(const ast::ImportStmt &stmt);
  Exit executeImportFrom(const ast::ImportFromStmt &stmt);
  Exit executeAssign(const ast::AssignStmt &stmt);
  Exit executeAnnAssign(const ast::AnnAssignStmt &stmt);
  Exit executeReturn(const ast::ReturnStmt &stmt);
  Exit executeAugAssign(const ast::AugAssignStmt &stmt);
  Exit executeDelete(const ast::DeleteStmt &stmt);
  Exit executeFunction(const ast::FunctionDef &stmt);
  Exit executeClass(const ast::ClassDef &stmt);
  Exit loop(const ast::Stmt &stmt, llvm::function_ref<std::optional<bool>()> advance,
            ast::Block body, ast::Block orElse, unsigned depth = 0);
  Exit loopInDoubt(const Value &why, const ast::Stmt &stmt, llvm::function_ref<Exit()> round,
                   ast::Block orElse);
  /// Whether a pattern matches; empty when that is not known, or after an error.
  std::optional<bool> matches(const ast::Pattern &pattern, const Value &subject);
  std::optional<bool> matchesSequence(const ast::SequencePattern &pattern, const Value &subject);
  std::optional<bool> matchesMapping(const ast::MappingPattern &pattern, const Value &subject);
  std::optional<bool> matchesClass(const ast::ClassPattern &pattern, const Value &subject);

  bool assign(const ast::Expr &target, const Value &value);
  bool loseUnlessKnown(const Value &base, const Value &index);
  bool assignItem(const Value &dict, const Value &key, const Value &value);
  bool assignSlice(const Value &list, const Value &index, const Value &value);
  bool assignElement(const Value &list, const Value &index, const Value &value);
  bool assignSubscript(const Value &base, const Value &index, const Value &value);
  bool deleteSubscript(const Value &base, const Value &index);

  //===-- Names (Names.cpp) --===//

  const FunctionNames &namesOf(const FunctionObject &function);
  Value lookUp(llvm::StringRef name);
  void bind(llvm::StringRef name, const Value &value);
  bool unbind(llvm::StringRef name);
  void bindIn(const std::shared_ptr<Scope> &scope, llvm::StringRef name, const Value &value);
  std::shared_ptr<Scope> scopeOf(llvm::StringRef name);
  std::optional<Value> builtinName(llvm::StringRef name);
  llvm::StringRef intern(llvm::StringRef name) { return interned.insert(name).first->getKey(); }

  //===-- Expressions (Expressions.cpp, Operators.cpp) --===//

  Value evaluate(const ast::Expr &expr) override;
  Value evaluateNode(const ast::Expr &expr);
  Value evaluateCall(const ast::CallExpr &expr);
  Value evaluateUnary(const ast::UnaryExpr &expr);
  Value evaluateBinary(const ast::BinaryExpr &expr);
  Value evaluateAttribute(const ast::AttributeExpr &expr);
  Value evaluateSubscript(const ast::SubscriptExpr &expr);
  Value evaluateSlice(const ast::SliceExpr &expr);
  Value evaluateNamed(const ast::NamedExpr &expr);
  Value evaluateBool(const ast::BoolExpr &expr);
  Value evaluateCompare(const ast::CompareExpr &expr);
  Value evaluateConditional(const ast::ConditionalExpr &expr);
  Value evaluateDisplay(const ast::Expr &expr, ast::ExprList elements);
  Value evaluateDict(const ast::DictExpr &expr);
  Value evaluateComprehension(const ast::ComprehensionExpr &expr);
  bool runClauses(const ast::ComprehensionExpr &expr, size_t clause, const Value &first,
                  llvm::function_ref<bool()> body);
  Value evaluateLambda(const ast::LambdaExpr &expr);
  Value evaluateYield(const ast::Expr &expr);
  Value evaluateFormatted(const ast::FormattedString &expr);
  Value subscript(const Value &base, const Value &index);
  Value binary(ast::BinaryOp op, const Value &left, const Value &right);
  Value binaryInPlace(ast::BinaryOp op, const Value &left, const Value &right);
  Value compare(ast::CompareOp op, const Value &left, const Value &right);
  Value compareIdentity(ast::CompareOp op, const Value &left, const Value &right);
  Value compareMember(ast::CompareOp op, const Value &left, const Value &right);
  Value compareObjects(ast::CompareOp op, const Value &left, const Value &right);
  Value unary(ast::UnaryOp op, const Value &operand);
  std::optional<bool> truth(const Value &value, Value *unknown);
  std::optional<std::vector<Value>> iterate(const Value &iterable) override;
  bool failed() const override { return core->failed(); }
  void raiseMistake(llvm::StringRef className, const llvm::Twine &message) override {
    raise(className, message);
  }
  std::optional<Value> special(const Value &object, llvm::StringRef method,
                               std::vector<Value> args);

  //===-- Objects (Objects.cpp, Iterators.cpp) --===//

  Value classAttribute(const Value &base, llvm::StringRef name);
  Value superAttribute(const InstanceObject &super, llvm::StringRef name);
  std::optional<Value> instanceAttribute(const Value &base, llvm::StringRef name);
  std::optional<Value> functionAttribute(const FunctionObject &function, llvm::StringRef name);
  std::optional<Value> tupleAttribute(const Value &base, llvm::StringRef name);
  bool setIn(Environment &names, const Value &base, llvm::StringRef name, const Value &value);
  bool setInInstance(const Value &base, llvm::StringRef name, const Value &value);
  /// Reports that; false.
  bool hasNoAttribute(const Value &base, llvm::StringRef name);
  std::optional<Value> nextOfObject(const Value &iterator);
  std::optional<Value> nextRow(IteratorObject &object);
  std::optional<Value> nextKept(IteratorObject &object);
  std::optional<Value> nextElement(IteratorObject &object);

  //===-- Calls (Calls.cpp, Functions.cpp, Classes.cpp) --===//

  Value callSource(const Value &callee, std::vector<Value> args, Keywords keywords);
  Value callMethod(const BoundMethodObject &method, std::vector<Value> args, Keywords keywords,
                   const ast::CallExpr *expr);
  Value callInstance(const Value &callee, std::vector<Value> args, Keywords keywords,
                     const ast::CallExpr *expr);
  Value callBuiltin(const Value &callee, std::vector<Value> args, Keywords keywords,
                    const ast::CallExpr *expr);
  bool bindParameters(const FunctionObject &function, llvm::ArrayRef<Value> args,
                      const Keywords &keywords, Environment &names);
  Value runBody(const Value &callee, const std::shared_ptr<Scope> &scope, const Value &self,
                std::vector<Value> *yields);
  Value makeFunction(const ast::FunctionDef &definition);
  void evaluateDefaults(FunctionObject &function);
  Value decorate(const ast::FunctionDef &definition, Value function);
  Value applyDecorator(const Value &decorator, const Value &function);
  Value makeClass(const ast::ClassDef &definition, std::vector<Value> bases,
                  const std::shared_ptr<Scope> &scope);
  void makeEnumerators(const Value &cls);
  Value makeException(const Value &cls, llvm::ArrayRef<Value> args);

  //===-- Exceptions (Exceptions.cpp) --===//

  /// Whether the failure that unwinds is an exception of Python's, not a limit of Kiln's.
  bool isException() const;
  /// Ends the unwinding; the exception that was in flight.
  Value takeException();
  void raiseAgain(const Value &exception);
  bool isCaught(const Value &exception, const Value &type);
  /// Whether a `try` that is running would handle an exception of this class.
  bool isExpected(llvm::StringRef className) const;

  //===-- What is not known (Unknown.cpp) --===//

  /// An unknown value that begins here.
  Value unknown(const llvm::Twine &path);
  /// What has no value because of the failure that unwinds, which ends.
  Value unknownAfterFailure();
  /// After Kiln's limits: unknown. `value` otherwise.
  Value settle(const Value &value);
  /// The unknown `value` under one more name.
  Value traced(const Value &value, llvm::StringRef name, SourceRange range);
  /// The contents of every object that `value` reaches are not known any more.
  void lose(const Value &value, const Value &why);
  /// Makes unknown what a statement would have bound or changed.
  void loseEffects(const ast::Node &node, const Value &why);
  void loseThrough(const FunctionObject &function, const Value &why,
                   std::set<const void *> &visited);

  /// What code that was undone again would have done.
  struct Outcome {
    Exit exit = Exit::Normal;
    Value returnValue;
    Doubt doubt;
    Value exception;
    std::optional<Diagnostic> failure;
    Journal::Changes changes;
  };
  Outcome speculate(llvm::function_ref<Exit()> body);
  Exit redo(Outcome &outcome);
  /// Keeps what two outcomes agree on.
  void merge(Outcome &a, Outcome &b, const Value &why);
  Value mergeValues(const Value &a, const Value &b, const Value &why, llvm::StringRef name);
  Exit runEither(const Value &why, llvm::function_ref<Exit()> first,
                 llvm::function_ref<Exit()> second);
  /// Runs what stands behind code that may have ended the call or the loop already.
  Exit runInDoubt(llvm::function_ref<Exit()> rest);
  Value evaluateEither(const Value &why, llvm::function_ref<Value()> first,
                       llvm::function_ref<Value()> second);
  void noteDoubt(const Doubt &doubt);

  //===-- Modules --===//

  ModuleState &stateOf(const LoadedModule &module);
  void run(ModuleState &state);
  void runStatement(const ast::Stmt &stmt);
  Value moduleValue(const LoadedModule &module);
  std::optional<Value> importedModule(const ImportResult &found, llvm::StringRef name);
  std::optional<Value> reexported(llvm::StringRef name);
  Value missingModule(llvm::StringRef name);
  bool importStar(const ast::ImportFromStmt &stmt);
  bool putsOff(unsigned level, llvm::StringRef module);
  Value putOff(unsigned level, llvm::StringRef module, llvm::StringRef name);
  Value resolveLate(const Value &opaque);
  std::optional<Value> lateImport(const Value &module, llvm::StringRef attribute,
                                  llvm::StringRef name);

  Evaluator *core = nullptr;
  ModuleLoader &loader;
  Activation *current = nullptr;
  Journal journal;
  std::map<const LoadedModule *, std::unique_ptr<ModuleState>> modules;
  std::map<const void *, std::unique_ptr<FunctionNames>> functionNames;
  llvm::StringSet<> interned;
  llvm::StringMap<Value> exceptionClasses;
  /// By path.
  llvm::StringMap<Value> resolved;
  /// The exception in flight, and the error that reports it.
  Value raised;
  uint64_t raisedBy = 0;
  /// Exceptions being handled, for a bare `raise`.
  std::vector<Value> handled;
  /// The `try` statements whose body runs, innermost last.
  struct RunningTry {
    const ast::TryStmt *stmt = nullptr;
    /// Something in it may have raised an exception.
    Value doubt;
  };
  std::vector<RunningTry> tries;
  unsigned importDepth = 0, executedModules = 0;
  /// Modules that are being executed, and how often one was that no other imported.
  unsigned moduleDepth = 0, separateRuns = 0;
  /// What imports that were put off have given since.
  std::map<std::shared_ptr<Object>, Value> lateValues;
};

/// Makes code run as Python's, below whatever runs, until the end of the scope.
struct HostCall {
  HostCall(HostInterpreter &host, Activation &activation, llvm::StringRef name);
  ~HostCall();
  HostInterpreter &host;
  Frame frame;
  FrameGuard guard;
};

} // namespace kiln::sema

#endif // KILN_COMPILER_SEMA_HOST_INTERPRETER_H

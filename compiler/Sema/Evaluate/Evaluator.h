// The partial evaluator: walks the syntax tree of one kernel and computes what is known, emitting
// IR for the rest. Internal to Sema; the entry is Sema.h, and docs/sema.md explains the approach.
//
// Every evaluation returns a Value; after an error has been reported it is an Error value,
// `failed()` is true, and everything unwinds without further messages, in device code to the
// statement, which is then given up (Recovery.cpp). The source position that errors and operations
// carry is that of the node being evaluated (`At` keeps it).
#ifndef KILN_COMPILER_SEMA_EVALUATE_EVALUATOR_H
#define KILN_COMPILER_SEMA_EVALUATE_EVALUATOR_H

#include "compiler/Basic/Diagnostics.h"
#include "compiler/Dialect/Tile/Tile.h"
#include "compiler/Sema/Builtins/Builtins.h"
#include "compiler/Sema/Modules/ModuleLoader.h"
#include "compiler/Sema/Python/Unpacking.h"
#include "compiler/Sema/Sema.h"
#include "compiler/Sema/Values/Value.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/UB/IR/UBOps.h"
#include "llvm/ADT/DenseMap.h"
#include "llvm/ADT/StringMap.h"
#include "llvm/ADT/StringSet.h"

#include <map>
#include <set>

namespace kiln::sema {

/// Triton's own limit (TRITON_MAX_TENSOR_NUMEL): beyond it a kernel has lost track of its tile, and
/// a back end would take minutes to find that out.
inline constexpr int64_t maxTensorElements = 1 << 20;
/// The elements of a tensor of this shape once each extent is a power of two, as on GPUs; at most
/// maxTensorElements + 1. Extents are positive.
int64_t paddedElements(llvm::ArrayRef<int64_t> shape);

/// Sets and dicts are searched from the front: what one step of the budget pays for.
inline constexpr uint64_t searchedPerStep = 32;

/// How a block of statements ended on the path that is still open.
enum class Flow : uint8_t { Normal, Returned, Break, Continue, Failed };

/// A run-time `if` one branch of which has returned: code goes on inside the other branch, and the
/// operation is made when the enclosing region ends.
struct PendingIf {
  mlir::Value condition;
  std::unique_ptr<mlir::Region> thenRegion, elseRegion;
  bool openIsThen = false;
  /// What the closed branch returned.
  Value closedReturn;
  /// Names as they were before the conditional.
  Environment before;
  mlir::OpBuilder::InsertPoint outside;
  SourceRange range;
};

/// The conditionals that wait for the end of one region (a function's body, a branch).
struct ReturnScope {
  std::vector<PendingIf> pending;

  ReturnScope() = default;
  ReturnScope(ReturnScope &&) = default;
  ReturnScope &operator=(ReturnScope &&) = default;
  /// Only after an error is anything left. Later ones use values of earlier ones' regions.
  ~ReturnScope() {
    while (!pending.empty())
      pending.pop_back();
  }
};

/// One branch of a run-time conditional, evaluated into a region of its own.
struct Branch {
  std::unique_ptr<mlir::Region> region;
  Environment names;
  Flow flow = Flow::Normal;
  /// Set when the branch returns on some paths only: true on those.
  mlir::Value returned;
  /// What it returned, on the paths that do.
  Value returnValue;
};

/// One function call in progress.
struct Frame {
  llvm::StringRef name;
  ModuleState *module = nullptr;
  FunctionMode mode = FunctionMode::Python;
  Environment names;
  /// Names of enclosing functions of device code, and of Python.
  std::shared_ptr<Environment> closure;
  std::shared_ptr<Scope> enclosing;
  /// Names that `global` statements give to the module.
  llvm::StringSet<> globals;
  /// Names that were annotated `x: tl.constexpr` without a value.
  llvm::StringSet<> pendingConstexprs;
  std::vector<ReturnScope> scopes;
  /// What the open path has returned, after Flow::Returned.
  Value returnValue;
  /// The `return` that was evaluated last.
  SourceRange returnRange;
  unsigned runTimeLoops = 0;
  /// A statement with a `return` was given up after an error.
  bool mayHaveReturned = false;

  Frame *caller = nullptr;
  SourceRange callRange;
  std::optional<mlir::Location> callLocation;
};

/// A call in the source while its arguments are bound and, for a builtin, while its handler runs.
struct CallSite {
  const ast::CallExpr *expr = nullptr;
  const BuiltinInfo *info = nullptr;
  /// Parameters that the call does not write: the object of a method.
  size_t numBound = 0;
};

enum class Rounding : uint8_t { Default, Nearest, TowardZero };

class HostInterpreter;

/// The evaluator of device code, and of the operations on values that all code shares. Python that
/// runs at compile time is the HostInterpreter's (Host/Interpreter.h).
class Evaluator final : public Unpacker {
public:
  /// `context` is null on the host side, where no IR is built.
  Evaluator(ModuleLoader &loader, const LoadedModule &module, const TargetAnswers &target,
            const NamedConstants &defines, DiagnosticEngine &diags, mlir::MLIRContext *context);
  ~Evaluator();

  const TargetAnswers &getTarget() const { return target; }
  bool buildsIR() const { return context != nullptr; }

  //===-- Errors (Evaluator.cpp, Recovery.cpp) --===//

  /// An error is unwinding.
  bool failed() const override { return hasFailed; }
  /// An error has been reported, whether or not evaluation went on.
  bool hasErrors() const { return !errors.empty(); }
  /// Reports at the current position, with the chain of calls as notes. Returns an Error value.
  template <typename... Args> Value error(DiagKind kind, const Args &...args) {
    return errorWithHint("", kind, args...);
  }
  template <typename... Args>
  Value errorWithHint(const llvm::Twine &hint, DiagKind kind, const Args &...args) {
    if (!hasFailed) {
      std::vector<DiagArg> slots = Diagnostic::pack(args...);
      // Where the first slot names a parameter of the builtin at hand, that argument is the place.
      Diagnostic diagnostic(kind, slots.empty() ? position : argumentRange(slots.front().str()),
                            slots);
      if (!hint.isTriviallyEmpty() && !hint.str().empty())
        diagnostic.withHint(hint);
      addError(std::move(diagnostic));
    }
    return Value();
  }
  /// A warning at the current position; one for each.
  template <typename... Args> void warn(DiagKind kind, const Args &...args) {
    if (!attempts && warned.insert({kind, position.begin}).second)
      diags.add(Diagnostic(kind, position, Diagnostic::pack(args...)));
  }
  template <typename... Args> std::nullopt_t fail(DiagKind kind, const Args &...args) {
    error(kind, args...);
    return std::nullopt;
  }
  /// Runs `body`; when it fails, forgets its errors and returns false. `why` gets the first one's
  /// message.
  bool attempt(llvm::function_ref<void()> body, std::string *why = nullptr);
  /// Unwinds without a message: something needs a value that an earlier error left unknown.
  Value failAgain();
  /// Ends the unwinding, where device code can go on without what failed; false elsewhere.
  bool resume();
  /// The same behind a statement that failed: what it would have bound is unknown from there on.
  Flow resumeAfter(const ast::Stmt &stmt);
  /// Hands the collected errors to the engine.
  void flush();
  /// Reports that something needs an opaque value, with where it came from. Returns an Error value.
  Value notKnown(const Value &value);

  //===-- For the host interpreter: an error as an exception --===//

  /// The error that unwinds; it is no exception but says that a value is not known.
  const Diagnostic &lastFailure() const { return *latest; }
  bool needsUnknown() const { return latestNeedsUnknown; }
  /// Ends the unwinding, and forgets the error.
  Diagnostic takeFailure();
  void failWith(Diagnostic failure) { addError(std::move(failure)); }
  /// Errors so far: which one an exception belongs to.
  uint64_t getNumFailures() const { return numFailures; }
  /// Nothing may go on, neither after a spent budget nor with what an earlier error left unknown.
  bool mustUnwind() const { return isStuck || failsAgain; }
  /// Spends steps of the budget; false when none are left, or after an error.
  bool step(uint64_t count = 1);
  /// Bounds the C++ stack.
  struct Depth {
    explicit Depth(Evaluator &evaluator);
    ~Depth();
    Evaluator &evaluator;
  };
  /// Code at module level runs: on a budget of its own, below nothing.
  struct ModuleRun {
    explicit ModuleRun(Evaluator &evaluator);
    ~ModuleRun();
    Evaluator &evaluator;
    Frame *frame;
    SourceRange position;
    uint64_t steps, stepLimit;
    unsigned callDepth, evaluationDepth;
    bool isOutermost;
  };

  /// Sets the current position while it lives.
  struct At {
    At(Evaluator &evaluator, SourceRange range) : evaluator(evaluator), saved(evaluator.position) {
      if (range.isValid())
        evaluator.position = range;
    }
    ~At() { evaluator.position = saved; }
    Evaluator &evaluator;
    SourceRange saved;
  };
  SourceRange getPosition() const { return position; }
  /// The name of a keyword argument of the call at hand; the current position if there is none.
  SourceRange keywordRange(llvm::StringRef name) const;
  /// What the call at hand gives for a parameter of the builtin; the current position if unknown.
  SourceRange argumentRange(llvm::StringRef name) const;

  //===-- Expressions (Expressions.cpp, Attributes.cpp) --------------------===//

  Value evaluate(const ast::Expr &expr) override;
  Value evaluateLiteral(const ast::Expr &expr);
  /// True, False, or empty after an error or for a run-time value (which is then in `tensor`).
  std::optional<bool> truth(const Value &value, Tensor *tensor = nullptr);
  Value getAttribute(const Value &base, llvm::StringRef name);
  Value subscript(const Value &base, const Value &index);
  /// The elements of a Python iterable. Empty after an error.
  std::optional<std::vector<Value>> iterate(const Value &iterable) override;
  Value binary(ast::BinaryOp op, const Value &left, const Value &right);
  /// As binary, for what the source writes: with debugging on, an assertion that integers of less
  /// than 64 bits do not overflow.
  Value checkedBinary(ast::BinaryOp op, const Value &left, const Value &right);
  Value unary(ast::UnaryOp op, const Value &operand);
  Value compare(ast::CompareOp op, const Value &left, const Value &right);

  //===-- Python on compile-time values (Python/Operators.cpp, Python/Methods.cpp) --===//

  Value pythonBinary(ast::BinaryOp op, const Value &left, const Value &right);
  Value pythonCompare(ast::CompareOp op, const Value &left, const Value &right);
  Value pythonMethod(const Value &self, llvm::StringRef name, std::vector<Value> &args,
                     Keywords &keywords);
  bool hasPythonMethod(const Value &self, llvm::StringRef name);
  Value formatString(const ast::FormattedString &expr);
  /// A compile-time integer; `what` names it in the error.
  std::optional<Int> constantInt(const Value &value, const llvm::Twine &what);
  std::optional<bool> constantBool(const Value &value, const llvm::Twine &what);
  std::optional<std::string> constantString(const Value &value, const llvm::Twine &what);
  std::optional<DType> constantDType(const Value &value, const llvm::Twine &what);
  /// A tuple, list or single integer of positive extents.
  std::optional<llvm::SmallVector<int64_t, 4>> constantShape(const Value &value,
                                                             llvm::StringRef what);
  std::optional<llvm::SmallVector<int64_t, 4>> constantInts(const Value &value,
                                                            llvm::StringRef what);
  /// One of `rank` axes; negative ones count from the end.
  std::optional<unsigned> constantAxis(const Value &value, llvm::StringRef what, size_t rank);

  //===-- Statements and control flow (Statements.cpp, ControlFlow.cpp, Loops.cpp) --===//

  Flow execute(ast::Block block);
  Flow execute(const ast::Stmt &stmt);
  /// Binds `target` as an assignment does.
  bool assign(const ast::Expr &target, Value value, bool keepConstant);
  Value conditional(const ast::ConditionalExpr &expr, Tensor condition);

  //===-- Calls (Calls.cpp) --===//

  Value call(const Value &callee, std::vector<Value> args, Keywords keywords,
             const ast::CallExpr *expr = nullptr);
  Value callFunction(const Value &function, std::vector<Value> args, Keywords keywords);
  Value evaluateCall(const ast::CallExpr &expr);
  /// A call that is a statement, to a function without side effects whose result is its purpose.
  void checkUse(const ast::CallExpr &expr, const Value &callee);
  /// Runs the body of a function whose parameters are bound already in `names`.
  /// `atEnd` receives the names as they are when it returns.
  Value runBody(const FunctionObject &function, Environment names, Environment *atEnd = nullptr);

  //===-- Modules (Functions.cpp, Modules/KnownModules.cpp; Host/) --===//

  /// A name of a module; empty when it has none. Error values are reported already.
  std::optional<Value> findGlobal(ModuleState &module, llvm::StringRef name);
  /// A kernel of a module: a function ("name"), one of a class or of a function ("Class.name"). An
  /// Error value after a report.
  Value findFunction(const LoadedModule &module, llvm::StringRef name);
  /// Empty when the module or name does not exist.
  std::optional<Value> importModule(ModuleState &importer, unsigned level, llvm::StringRef name);
  std::optional<Value> knownModule(llvm::StringRef path);
  /// An attribute of a module that Kiln knows; empty when it has none.
  std::optional<Value> knownAttribute(llvm::StringRef module, llvm::StringRef name);
  /// What `from module import *` binds, of a module that Kiln knows.
  std::vector<llvm::StringRef> knownNames(llvm::StringRef module);
  /// What -D says of a name; null when nothing.
  const Literal *findDefine(llvm::StringRef name) const;
  /// Warns of decorators that may change what the function computes (Decorators.cpp).
  void checkDecorators(const FunctionObject &function);
  Value fromConstant(const Literal &constant, ModuleState *module);
  Value functionNamed(llvm::StringRef path, ModuleState *module);
  std::optional<Literal> toConstant(const Value &value);

  //===-- Tensors (Tensors/Arithmetic.cpp, Tensors/Casts.cpp, Tensors/Shapes.cpp) --===//

  mlir::Location loc();
  /// The type that a number takes as a tensor; empty when it has none.
  std::optional<DType> numberType(const Value &number);
  /// A tensor as it is, a number as a scalar of Triton's choice.
  Tensor toTensor(const Value &value);
  Tensor constant(DType type, const Value &number);
  Tensor integerConstant(DType type, Int value) { return constant(type, Value::integer(value)); }
  Tensor splat(Tensor scalar, llvm::ArrayRef<int64_t> shape);
  Tensor broadcastTo(Tensor tensor, llvm::ArrayRef<int64_t> shape);
  bool broadcastTogether(Tensor &a, Tensor &b);
  Tensor expandDims(Tensor tensor, unsigned axis);
  Tensor reshape(Tensor tensor, llvm::ArrayRef<int64_t> shape, bool anyOrder);
  Tensor permute(Tensor tensor, llvm::ArrayRef<int64_t> order);
  Tensor unsplat(Tensor tensor);
  Tensor cast(Tensor tensor, DType type, Rounding rounding = Rounding::Default);
  Tensor bitcast(Tensor tensor, DType type);
  Tensor promoteBF16(Tensor tensor);
  DType promoteInts(DType a, DType b);
  /// Brings two operands to one element type and one shape, as `op` does in Triton.
  struct OperandRules {
    bool leftPointer = false, rightPointer = false, arithmetic = true, division = false;
  };
  std::optional<std::pair<Tensor, Tensor>> operands(llvm::StringRef op, const Value &left,
                                                    const Value &right, OperandRules rules);
  Value tensorBinary(ast::BinaryOp op, const Value &left, const Value &right);
  Value tensorCompare(ast::CompareOp op, const Value &left, const Value &right);
  Tensor add(const Value &left, const Value &right);
  Tensor subtract(const Value &left, const Value &right);
  Tensor multiply(const Value &left, const Value &right);
  Tensor divide(Tensor left, Tensor right, bool approximate);
  Tensor select(Tensor condition, Tensor x, Tensor y);
  /// tile.assert; nothing for a null condition.
  void emitAssertion(Tensor condition, llvm::StringRef message);
  Tensor minMax(bool isMax, const Value &left, const Value &right, bool propagateNan);
  Tensor negate(Tensor tensor);
  Tensor invert(Tensor tensor);
  Tensor logicalNot(Tensor tensor);
  Tensor toCondition(Tensor tensor);
  Tensor poison(const TensorType &type);
  template <typename Op, typename... Args> mlir::Value emit(Args &&...args) {
    return Op::create(builder, loc(), std::forward<Args>(args)...);
  }
  /// Reports a type of more than maxTensorElements elements; evaluation then stops.
  mlir::Type toMLIR(const TensorType &type);

  //===-- Merging (Merging.cpp) --===//

  /// Appends the IR values inside `value`, in order.
  void flatten(const Value &value, llvm::SmallVectorImpl<mlir::Value> &parts);
  /// `value` with its IR values replaced, from the front of `parts`, which is advanced.
  Value rebuild(const Value &value, llvm::ArrayRef<mlir::Value> &parts);
  /// Gives two values, available at the ends of two blocks, one structure and type, converting
  /// numbers to tensors. False, with the reason, when they cannot merge.
  bool unify(Value &a, mlir::Block *atA, Value &b, mlir::Block *atB, std::string &why);
  /// Makes `value`, available at the end of `at`, one of the structure and types of `like`.
  bool conform(const Value &like, Value &value, mlir::Block *at);

  //===-- Entry points' needs --===//

  Frame *frame = nullptr;
  mlir::OpBuilder builder;
  mlir::MLIRContext *context;
  KernelInstance const *instance = nullptr;
  /// Runs Python.
  /// What evaluations have in common that `host` may serve.
  std::string hostKey;
  std::unique_ptr<HostInterpreter> host;
  /// Above 0 in functions of elements (tl.reduce, tl.map_elementwise), which can have no
  /// assertions.
  unsigned elementFunctions = 0;
  /// Assembly of this kernel has been passed on as it stands: scalars may differ between threads.
  bool hasThreadAssembly = false;

private:
  friend struct FrameGuard;
  friend struct CallSiteGuard;

  void addError(Diagnostic diagnostic);
  Value lookUp(llvm::StringRef name);
  Value use(llvm::StringRef name, const Value &value);

  // Expressions.
  Value evaluateNode(const ast::Expr &expr);
  Value evaluateBool(const ast::BoolExpr &expr);
  Value evaluateCompare(const ast::CompareExpr &expr);
  Value evaluateConditional(const ast::ConditionalExpr &expr);
  Value evaluateComprehension(const ast::ComprehensionExpr &expr);
  bool runComprehension(const ast::ComprehensionExpr &expr, size_t clause,
                        llvm::function_ref<bool()> body);
  Value evaluateDict(const ast::DictExpr &expr);
  Value evaluateLambda(const ast::LambdaExpr &expr);
  Value combineLogical(bool isAnd, const Value &left, const Value &right);
  Value tensorAttribute(Tensor tensor, llvm::StringRef name);
  Value typeAttribute(const TensorType &type, llvm::StringRef name);
  Value blockPointerAttribute(const Value &pointer, llvm::StringRef name);
  Value descriptorAttribute(const Value &descriptor, llvm::StringRef name);
  Value unknownAttribute(const Value &base, llvm::StringRef name);
  Value indexTensor(Tensor tensor, const Value &index);
  Value subscriptSequence(const Value &base, const Value &index);

  // Statements.
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
  Flow runForBody(const ast::ForStmt &stmt, const struct LoopBounds &bounds, const Carried &carried,
                  llvm::SmallVectorImpl<mlir::Value> &yields);

  // Calls.
  bool checkKeywords(const BuiltinInfo &info, const Keywords &keywords);
  bool bindParameters(const FunctionObject &function, llvm::ArrayRef<Value> args,
                      const Keywords &keywords, Environment &names);
  bool bindBuiltin(const BuiltinInfo &info, std::vector<Value> &args, Keywords &keywords,
                   Call &call);
  Value callBuiltin(const BuiltinInfo &info, std::vector<Value> args, Keywords keywords,
                    const ast::CallExpr *expr);
  bool isConstexprField(const Value &instance, llvm::StringRef name);
  Value callClass(const Value &cls, std::vector<Value> args, Keywords keywords);
  Value callType(const Value &type, std::vector<Value> args);

  // Tensors.
  std::optional<DType> computationType(llvm::StringRef op, DType a, bool aIsNumber, DType b,
                                       bool bIsNumber, bool division);
  Tensor castFloatToFloat(Tensor tensor, const TensorType &type, Rounding rounding);
  Tensor castInt(Tensor tensor, const TensorType &type);
  Tensor castPointer(Tensor tensor, const TensorType &type);
  Tensor notZero(Tensor tensor);
  Value bitwise(ast::BinaryOp op, const Value &left, const Value &right);
  void assertInRange(ast::BinaryOp op, Tensor a, Tensor b);
  Value trueDivide(const Value &left, const Value &right);
  Value floorDivide(const Value &left, const Value &right);
  Value modulo(const Value &left, const Value &right);
  Tensor addPointer(Tensor pointer, Tensor offset);

  ModuleLoader &loader;
  TargetAnswers target;
  DiagnosticEngine &diags;
  llvm::StringMap<Literal> defines;
  std::vector<Diagnostic> errors;
  bool hasFailed = false;
  /// While unwinding: nothing may go on; the function that failed has ended; an earlier error is
  /// the reason.
  bool isStuck = false, leavesFunction = false, failsAgain = false;
  /// Calls of attempt() in progress.
  unsigned attempts = 0;
  /// Warnings that have been given, by kind and offset.
  std::set<std::pair<DiagKind, uint32_t>> warned;
  SourceRange position;
  CallSite callSite;
  uint64_t steps = 0, stepLimit;
  /// Steps of code at module level, and how deep it is nested.
  uint64_t moduleSteps = 0, moduleStepLimit;
  unsigned moduleRuns = 0;
  /// The error that was reported last, and how many there were before it.
  std::optional<Diagnostic> latest;
  size_t errorsBefore = 0;
  uint64_t numFailures = 0;
  bool latestNeedsUnknown = false;
  unsigned callDepth = 0, evaluationDepth = 0;
  /// The expression whose value nothing uses.
  const ast::Expr *discarded = nullptr;
};

/// Makes a call the one at hand until the end of the scope.
struct CallSiteGuard {
  CallSiteGuard(Evaluator &evaluator, CallSite site);
  ~CallSiteGuard();
  Evaluator &evaluator;
  CallSite saved;
};

/// Enters a function call and leaves it at the end of the scope.
struct FrameGuard {
  FrameGuard(Evaluator &evaluator, Frame &frame);
  ~FrameGuard();
  Evaluator &evaluator;
  Frame *saved;
};

} // namespace kiln::sema

#endif // KILN_COMPILER_SEMA_EVALUATE_EVALUATOR_H

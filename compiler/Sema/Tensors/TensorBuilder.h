// Tensors: arithmetic, casts, shapes and constants, as operations of Tile IR with Triton's rules.
// All that most builtins need.
#ifndef KILN_COMPILER_SEMA_TENSORS_TENSORBUILDER_H
#define KILN_COMPILER_SEMA_TENSORS_TENSORBUILDER_H

#include "compiler/Basic/SourceManager.h"
#include "compiler/Dialect/Tile/Tile.h"
#include "compiler/Sema/Python/PythonOperations.h"
#include "compiler/Sema/Values/KernelInstance.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/UB/IR/UBOps.h"

namespace kiln::sema {

enum class Rounding : uint8_t { Default, Nearest, TowardZero };

/// What tensors are built for.
struct TensorTarget {
  TargetAnswers answers;
  /// The variant that is built; null where none is.
  const KernelInstance *kernel = nullptr;
  /// Null on the host side, where no IR is built.
  mlir::MLIRContext *context = nullptr;
};

/// Operations that need no tensor are Python's: on compile-time values all works as
/// PythonOperations does. An error gives a null Tensor, or an Error value.
class TensorBuilder : public PythonOperations {
public:
  TensorBuilder(Unwinding &unwinding, const BuiltinTable &builtins, CodeRunner &code,
                SourceManager &sources, TensorTarget target)
      : PythonOperations(unwinding, builtins, code), sources(sources), target(std::move(target)),
        builder(this->target.context) {}

  //===-- What is built, and where --===//

  bool buildsIR() const { return target.context != nullptr; }
  const TargetAnswers &getTarget() const { return target.answers; }
  /// Null where no variant is built.
  const KernelInstance *getKernel() const { return target.kernel; }
  /// Run-time assertions are checked; functions of elements (tl.reduce, tl.map_elementwise) can
  /// have none.
  bool checksAssertions() const {
    return target.kernel && target.kernel->debug && !elementFunctions;
  }
  mlir::MLIRContext *getContext() const { return target.context; }
  mlir::OpBuilder &getBuilder() { return builder; }
  /// The current position, with the chain of calls.
  mlir::Location loc() const;
  template <typename Op, typename... Args> mlir::Value emit(Args &&...args) {
    return Op::create(builder, loc(), std::forward<Args>(args)...);
  }
  /// Reports a type of more than maxTensorElements elements; evaluation then stops.
  mlir::Type toMLIR(const TensorType &type);
  /// A function of elements is built while it lives.
  struct ElementFunction {
    explicit ElementFunction(TensorBuilder &tensors) : tensors(tensors) {
      ++tensors.elementFunctions;
    }
    ~ElementFunction() { --tensors.elementFunctions; }
    TensorBuilder &tensors;
  };
  /// Assembly of this kernel has been passed on as it stands: scalars may differ between threads.
  bool hasThreadAssembly() const { return passedOnAssembly; }
  void noteThreadAssembly() { passedOnAssembly = true; }

  //===-- What Triton refuses (Portability.cpp) --===//

  /// What Triton refuses is an error.
  bool isPortable() const { return target.kernel && target.kernel->portable; }
  /// Reports that Triton refuses what stands here. Returns an Error value.
  Value notPortable(const llvm::Twine &what, const llvm::Twine &hint) const {
    return errorWithHint(hint, DiagKind::SemaNotPortable, what.str());
  }
  /// These report what Triton refuses; false after an error, true where kernels need not be
  /// portable.
  bool checkPortableType(const TensorType &type) const;
  bool checkPortableProduct(const TensorType &a, const TensorType &b) const;
  bool checkPortableBlock(const TensorType &block) const;
  bool checkPortableReduction(llvm::StringRef method, DType element) const;
  bool checkPortableRows(const TensorType &rows, const TensorType &block) const;
  /// By whose rules that is: of the CPU, for which there is no Triton, a GPU of sm_90's.
  TargetAnswers portableTarget() const;

  //===-- Operators on tensors and numbers (Operators.cpp, Arithmetic.cpp) --===//

  Value binary(ast::BinaryOp op, const Value &left, const Value &right);
  /// As binary, for what the source writes: with debugging on, an assertion that integers of less
  /// than 64 bits do not overflow.
  Value checkedBinary(ast::BinaryOp op, const Value &left, const Value &right);
  Value unary(ast::UnaryOp op, const Value &operand);
  Value compare(ast::CompareOp op, const Value &left, const Value &right);
  /// `and`, `or` of two tensors.
  Value combineLogical(bool isAnd, const Value &left, const Value &right);

  /// Brings two operands to one element type and one shape, as `op` does in Triton.
  struct OperandRules {
    bool leftPointer = false, rightPointer = false, arithmetic = true, division = false;
  };
  std::optional<std::pair<Tensor, Tensor>> operands(llvm::StringRef op, const Value &left,
                                                    const Value &right, OperandRules rules);
  Tensor add(const Value &left, const Value &right);
  Tensor subtract(const Value &left, const Value &right);
  Tensor multiply(const Value &left, const Value &right);
  Tensor divide(Tensor left, Tensor right, bool approximate);
  Tensor minMax(bool isMax, const Value &left, const Value &right, bool propagateNan);
  Tensor select(Tensor condition, Tensor x, Tensor y);
  Tensor negate(Tensor tensor);
  Tensor invert(Tensor tensor);
  Tensor logicalNot(Tensor tensor);
  Tensor toCondition(Tensor tensor);
  /// tile.assert; nothing for a null condition.
  void emitAssertion(Tensor condition, llvm::StringRef message);

  //===-- Constants and shapes (Shapes.cpp) --===//

  /// The type that a number takes as a tensor; empty when it has none.
  std::optional<DType> numberType(const Value &number);
  /// A tensor as it is, a number as a scalar of Triton's choice.
  Tensor toTensor(const Value &value);
  Tensor constant(DType type, const Value &number);
  Tensor integerConstant(DType type, Int value) { return constant(type, Value::integer(value)); }
  Tensor poison(const TensorType &type);
  Tensor splat(Tensor scalar, llvm::ArrayRef<int64_t> shape);
  Tensor broadcastTo(Tensor tensor, llvm::ArrayRef<int64_t> shape);
  bool broadcastTogether(Tensor &a, Tensor &b);
  Tensor expandDims(Tensor tensor, unsigned axis);
  Tensor reshape(Tensor tensor, llvm::ArrayRef<int64_t> shape, bool anyOrder);
  Tensor permute(Tensor tensor, llvm::ArrayRef<int64_t> order);
  /// The one element of a tensor, as a scalar.
  Tensor unsplat(Tensor tensor);

  //===-- Element types (Casts.cpp) --===//

  Tensor cast(Tensor tensor, DType type, Rounding rounding = Rounding::Default);
  Tensor bitcast(Tensor tensor, DType type);
  Tensor promoteBF16(Tensor tensor);

private:
  Value tensorBinary(ast::BinaryOp op, const Value &left, const Value &right);
  Value tensorCompare(ast::CompareOp op, const Value &left, const Value &right);
  Value bitwise(ast::BinaryOp op, const Value &left, const Value &right);
  Value trueDivide(const Value &left, const Value &right);
  Value floorDivide(const Value &left, const Value &right);
  Value modulo(const Value &left, const Value &right);
  Tensor addPointer(Tensor pointer, Tensor offset);
  void assertInRange(ast::BinaryOp op, Tensor a, Tensor b);
  std::optional<DType> computationType(llvm::StringRef op, DType a, bool aIsNumber, DType b,
                                       bool bIsNumber, bool division);
  Tensor castFloatToFloat(Tensor tensor, const TensorType &type, Rounding rounding);
  Tensor castInt(Tensor tensor, const TensorType &type);
  Tensor castPointer(Tensor tensor, const TensorType &type);
  Tensor notZero(Tensor tensor);

  SourceManager &sources;
  TensorTarget target;
  mlir::OpBuilder builder;
  /// Functions of elements that are being built.
  unsigned elementFunctions = 0;
  bool passedOnAssembly = false;
};

/// The type that integers of two types compute in.
DType promoteInts(DType a, DType b);

} // namespace kiln::sema

#endif // KILN_COMPILER_SEMA_TENSORS_TENSORBUILDER_H

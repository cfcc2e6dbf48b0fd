// Building arithmetic that works alike on scalars and on one-dimensional vectors.
//
// A value here is a scalar or a `vector<NxT>` with N > 1, T an integer, a float or `!llvm.ptr`. A
// scalar that meets a vector is splat. Floating-point products and sums carry the `contract` flag,
// as GPU compilers do by default: LLVM fuses them where the processor can.

#ifndef KILN_COMPILER_EXPANSION_VECTORBUILDER_VECTORBUILDER_H
#define KILN_COMPILER_EXPANSION_VECTORBUILDER_VECTORBUILDER_H

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/IR/Builders.h"

namespace kiln {

/// `vector<lanes x element>`, or the element for one lane.
mlir::Type vectorOf(mlir::Type element, unsigned lanes);
/// The lane type; the type itself for a scalar.
mlir::Type laneType(mlir::Type type);
unsigned laneCount(mlir::Type type);
unsigned laneCount(mlir::Value value);

class VectorBuilder {
public:
  VectorBuilder(mlir::OpBuilder &builder, mlir::Location loc) : builder(builder), loc(loc) {}

  /// `scalar` in every one of `lanes`; vectors pass through.
  mlir::Value splat(mlir::Value scalar, unsigned lanes);
  /// An operation of these operands and attributes; what they say at compile time is a constant.
  template <typename Op, typename... Args> mlir::Value make(Args &&...args) {
    return builder.createOrFold<Op>(loc, std::forward<Args>(args)...);
  }

  /// A constant of the type of `like`.
  mlir::Value real(double constant, mlir::Type type);
  mlir::Value real(double constant, mlir::Value like);
  mlir::Value integer(int64_t constant, mlir::Value like);
  mlir::Value constant(int64_t value, mlir::Type type);
  /// start, start + step, … as a vector of `element` integers.
  mlir::Value iota(mlir::Type element, unsigned lanes, int64_t step = 1);

  mlir::Value add(mlir::Value a, mlir::Value b);
  mlir::Value sub(mlir::Value a, mlir::Value b);
  mlir::Value mul(mlir::Value a, mlir::Value b);
  mlir::Value div(mlir::Value a, mlir::Value b);
  /// a * b + c, fused where the processor can.
  mlir::Value mad(mlir::Value a, mlir::Value b, mlir::Value c) { return add(mul(a, b), c); }
  mlir::Value select(mlir::Value condition, mlir::Value a, mlir::Value b);
  mlir::Value less(mlir::Value a, mlir::Value b);
  mlir::Value compare(mlir::arith::CmpIPredicate predicate, mlir::Value a, mlir::Value b);
  mlir::Value compare(mlir::arith::CmpFPredicate predicate, mlir::Value a, mlir::Value b);
  /// Some lane's condition is true.
  mlir::Value anyOf(mlir::Value condition);
  mlir::Value bitAnd(mlir::Value a, mlir::Value b);
  mlir::Value bitOr(mlir::Value a, mlir::Value b);
  mlir::Value shiftLeft(mlir::Value a, int64_t bits);
  mlir::Value shiftRight(mlir::Value a, int64_t bits, bool arithmetic);
  /// Unsigned, by a positive constant.
  mlir::Value quotient(mlir::Value a, int64_t divisor);
  mlir::Value remainder(mlir::Value a, int64_t divisor);
  /// The same bits as lanes of `element`.
  mlir::Value bitcast(mlir::Value a, mlir::Type element);
  /// Signed conversion between integer widths.
  mlir::Value resize(mlir::Value a, mlir::Type element);
  /// Unsigned conversion to a wider integer.
  mlir::Value zeroExtend(mlir::Value a, mlir::Type element);
  mlir::Value extendFloat(mlir::Value a, mlir::Type element);
  mlir::Value truncateFloat(mlir::Value a, mlir::Type element);

  /// One lane, by a constant or a computed index.
  mlir::Value extract(mlir::Value vector, mlir::Value lane);
  mlir::Value extract(mlir::Value vector, unsigned lane);
  mlir::Value insert(mlir::Value vector, mlir::Value scalar, mlir::Value lane);
  mlir::Value shuffle(mlir::Value a, mlir::Value b, llvm::ArrayRef<int32_t> lanes);

  mlir::OpBuilder &builder;
  mlir::Location loc;

private:
  /// Splats the narrower of the two.
  void match(mlir::Value &a, mlir::Value &b);
};

} // namespace kiln

#endif // KILN_COMPILER_EXPANSION_VECTORBUILDER_VECTORBUILDER_H

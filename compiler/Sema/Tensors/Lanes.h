// Formulas over tensors of one shape, written as formulas: what functions of libdevice are made of.
//
// The operands are tensors already, of one shape and type, so that nothing here can fail: each
// operator is one operation. Constants take the type and shape of what they stand beside.
#ifndef KILN_COMPILER_SEMA_TENSORS_LANES_H
#define KILN_COMPILER_SEMA_TENSORS_LANES_H

#include "compiler/Sema/Tensors/FloatFunctions.h"

namespace kiln::sema {

struct Lanes {
  TensorBuilder *build;
  Tensor tensor;

  DType dtype() const { return tensor.dtype(); }
  bool isFloat() const { return dtype().isFloat(); }
  bool isDouble() const { return dtype().getBits() == 64; }

  Lanes number(double value) const {
    return {build, build->splat(build->constant(dtype(), Value::real(value)), tensor.type.shape)};
  }
  Lanes integer(int64_t value) const {
    return {build, build->splat(build->integerConstant(dtype(), value), tensor.type.shape)};
  }
  template <typename Op, typename... Others> Lanes apply(const Others &...others) const {
    return {build, {build->emit<Op>(tensor.ir, others.tensor.ir...), tensor.type}};
  }
  Lanes cast(DType type) const { return {build, build->cast(tensor, type)}; }
  Lanes bitcast(DType type) const { return {build, build->bitcast(tensor, type)}; }
  /// A float's bits, of its width.
  Lanes bits() const { return bitcast(getIntType(dtype().getBits(), true)); }
  Lanes magnitude() const { return apply<mlir::math::AbsFOp>(); }
  Lanes withSignOf(const Lanes &other) const { return apply<mlir::math::CopySignOp>(other); }
  Lanes compareFloat(mlir::arith::CmpFPredicate predicate, const Lanes &other) const {
    return {build,
            {build->emit<mlir::arith::CmpFOp>(predicate, tensor.ir, other.tensor.ir),
             tensor.type.with(DType(Scalar::Int1))}};
  }
  Lanes compareInt(mlir::arith::CmpIPredicate predicate, const Lanes &other) const {
    return {build,
            {build->emit<mlir::arith::CmpIOp>(predicate, tensor.ir, other.tensor.ir),
             tensor.type.with(DType(Scalar::Int1))}};
  }
  /// Of booleans.
  Lanes select(const Lanes &x, const Lanes &y) const {
    return {build, build->select(tensor, x.tensor, y.tensor)};
  }
  /// this * y + z, rounded once.
  Lanes fused(const Lanes &y, const Lanes &z) const { return apply<mlir::math::FmaOp>(y, z); }
  Lanes operator&(const Lanes &other) const { return apply<mlir::arith::AndIOp>(other); }
  Lanes operator|(const Lanes &other) const { return apply<mlir::arith::OrIOp>(other); }
  Lanes operator-() const { return apply<mlir::arith::NegFOp>(); }
  Value value() const { return Value::tensor(tensor); }
};

#define KILN_LANES_OPERATOR(OPERATOR, FLOAT, INT)                                                  \
  inline Lanes operator OPERATOR(const Lanes &a, const Lanes &b) {                                 \
    return a.isFloat() ? a.apply<mlir::arith::FLOAT>(b) : a.apply<mlir::arith::INT>(b);            \
  }                                                                                                \
  inline Lanes operator OPERATOR(const Lanes &a, double b) {                                       \
    return a OPERATOR(a.isFloat() ? a.number(b) : a.integer(int64_t(b)));                          \
  }                                                                                                \
  inline Lanes operator OPERATOR(double a, const Lanes &b) {                                       \
    return (b.isFloat() ? b.number(a) : b.integer(int64_t(a)))OPERATOR b;                          \
  }
KILN_LANES_OPERATOR(+, AddFOp, AddIOp)
KILN_LANES_OPERATOR(-, SubFOp, SubIOp)
KILN_LANES_OPERATOR(*, MulFOp, MulIOp)
#undef KILN_LANES_OPERATOR

/// Correctly rounded; of floats.
inline Lanes operator/(const Lanes &a, const Lanes &b) {
  return {a.build, a.build->divide(a.tensor, b.tensor, false)};
}
inline Lanes operator/(double a, const Lanes &b) { return b.number(a) / b; }

/// False for NaN; integers are signed.
#define KILN_LANES_COMPARISON(OPERATOR, FLOAT, INT)                                                \
  inline Lanes operator OPERATOR(const Lanes &a, const Lanes &b) {                                 \
    return a.isFloat() ? a.compareFloat(mlir::arith::CmpFPredicate::FLOAT, b)                      \
                       : a.compareInt(mlir::arith::CmpIPredicate::INT, b);                         \
  }                                                                                                \
  inline Lanes operator OPERATOR(const Lanes &a, double b) {                                       \
    return a OPERATOR(a.isFloat() ? a.number(b) : a.integer(int64_t(b)));                          \
  }
KILN_LANES_COMPARISON(<, OLT, slt)
KILN_LANES_COMPARISON(<=, OLE, sle)
KILN_LANES_COMPARISON(>, OGT, sgt)
KILN_LANES_COMPARISON(>=, OGE, sge)
KILN_LANES_COMPARISON(==, OEQ, eq)
#undef KILN_LANES_COMPARISON

inline Lanes isNaN(const Lanes &x) { return x.compareFloat(mlir::arith::CmpFPredicate::UNO, x); }

/// 2 ** n for integers n of `like`'s width within the range of normal numbers.
Lanes powerOfTwo(const Lanes &n, const Lanes &like);
/// x * 2 ** n, rounded once; n are integers of x's width, of less than three times its largest
/// exponent.
Lanes scaleByPower(Lanes x, Lanes n);

/// The operand of a function of one float; empty after an error.
inline std::optional<Lanes> floatLanes(TensorBuilder &build, const Call &call) {
  Tensor x = floatOperand(build, call.info->name, call[0]);
  return x ? std::optional<Lanes>({&build, x}) : std::nullopt;
}

} // namespace kiln::sema

#endif // KILN_COMPILER_SEMA_TENSORS_LANES_H

// libdevice's functions on bits and integers.

#include "compiler/Sema/DeviceFunctions/Formulas.h"
#include "compiler/Sema/Table/Handlers.h"

namespace kiln::sema {
namespace {

using ast::BinaryOp;

Value reinterpret(TensorBuilder &build, const Value &value, DType from, DType to) {
  Tensor x = build.toTensor(value);
  if (!x)
    return Value();
  if (x.dtype().getBits() != from.getBits() || x.dtype().isFloat() != from.isFloat())
    return build.error(DiagKind::SemaInvalidArgument, "the bits of a number", from.str(),
                       x.type.str());
  return Value::tensor(build.bitcast(x, to));
}

/// Two integers of one type.
std::optional<std::pair<Value, Value>> integers(TensorBuilder &build, const Call &call) {
  auto both = build.operands(call.info->name, Value::tensor(build.toTensor(call[0])), call[1], {});
  if (!both)
    return std::nullopt;
  if (!both->first.dtype().isInt())
    return build.fail(DiagKind::SemaInvalidArgument, call.info->name, "integers",
                      both->first.type.str());
  return std::make_pair(Value::tensor(both->first), Value::tensor(both->second));
}

/// Chains operations: after an error the rest is skipped.
struct Chain {
  TensorBuilder &build;
  Value operator()(BinaryOp op, const Value &a, const Value &b) const {
    return build.failed() ? Value() : build.binary(op, a, b);
  }
  Value operator()(BinaryOp op, const Value &a, Int b) const {
    return (*this)(op, a, Value::integer(b));
  }
};

/// 1 for uint8 0b01010101 and shift 1, and so on: `count` bits, then as many others.
Int alternating(unsigned bits, unsigned count) {
  Int mask = 0;
  for (unsigned bit = 0; bit < bits; ++bit)
    if (bit / count % 2 == 0)
      mask |= Int(1) << bit;
  return mask;
}

} // namespace

Value builtinFloatAsUint(TensorBuilder &build, Call &call) {
  return reinterpret(build, call[0], Scalar::FP32, Scalar::UInt32);
}
Value builtinUintAsFloat(TensorBuilder &build, Call &call) {
  return reinterpret(build, call[0], Scalar::UInt32, Scalar::FP32);
}
Value builtinDoubleAsLonglong(TensorBuilder &build, Call &call) {
  return reinterpret(build, call[0], Scalar::FP64, Scalar::Int64);
}
Value builtinLonglongAsDouble(TensorBuilder &build, Call &call) {
  return reinterpret(build, call[0], Scalar::Int64, Scalar::FP64);
}

static Value halfOfDouble(TensorBuilder &build, Call &call, unsigned shift) {
  Value bits = reinterpret(build, call[0], Scalar::FP64, Scalar::UInt64);
  if (shift && !build.failed())
    bits = build.binary(BinaryOp::ShiftRight, bits, Value::integer(shift));
  return build.failed() ? Value() : Value::tensor(build.cast(bits.getTensor(), Scalar::Int32));
}
Value builtinDoubleToHiint(TensorBuilder &build, Call &call) {
  return halfOfDouble(build, call, 32);
}
Value builtinDoubleToLoint(TensorBuilder &build, Call &call) {
  return halfOfDouble(build, call, 0);
}

Value builtinHilointToDouble(TensorBuilder &build, Call &call) {
  Tensor high = build.cast(build.toTensor(call[0]), Scalar::Int64);
  Tensor low = build.cast(build.toTensor(call[1]), Scalar::UInt32);
  low = build.cast(low, Scalar::Int64);
  if (!high || !low)
    return Value();
  Chain chain{build};
  Value bits = chain(BinaryOp::BitOr, chain(BinaryOp::ShiftLeft, Value::tensor(high), 32),
                     Value::tensor(low));
  return build.failed() ? Value() : Value::tensor(build.bitcast(bits.getTensor(), Scalar::FP64));
}

Value builtinBrev(TensorBuilder &build, Call &call) {
  Tensor x = build.toTensor(call[0]);
  if (!x)
    return Value();
  if (!x.dtype().isInt() || x.dtype().isBool())
    return build.error(DiagKind::SemaInvalidArgument, "brev", "integers", x.type.str());
  unsigned bits = x.dtype().getBits();
  Chain chain{build};
  Value result = Value::tensor(build.bitcast(x, getIntType(bits, false)));
  // Neighbours change places, then pairs, and so on.
  for (unsigned count = 1; count < bits; count *= 2) {
    Int mask = alternating(bits, count);
    Value low = chain(BinaryOp::ShiftLeft, chain(BinaryOp::BitAnd, result, mask), count);
    Value high = chain(BinaryOp::BitAnd, chain(BinaryOp::ShiftRight, result, count), mask);
    result = chain(BinaryOp::BitOr, low, high);
  }
  return build.failed() ? Value() : Value::tensor(build.bitcast(result.getTensor(), x.dtype()));
}

Value builtinMulhi(TensorBuilder &build, Call &call) {
  auto both = integers(build, call);
  if (!both)
    return Value();
  Tensor x = both->first.getTensor(), y = both->second.getTensor();
  if (x.dtype().isSigned())
    return Value::tensor(
        mlir::arith::MulSIExtendedOp::create(build.getBuilder(), build.loc(), x.ir, y.ir).getHigh(),
        x.type);
  return Value::tensor(
      mlir::arith::MulUIExtendedOp::create(build.getBuilder(), build.loc(), x.ir, y.ir).getHigh(),
      x.type);
}

Value builtinMul24(TensorBuilder &build, Call &call) {
  auto both = integers(build, call);
  if (!both)
    return Value();
  // The bits above fall off on the way up; the sign follows on the way down.
  Chain chain{build};
  Int above = both->first.getTensor().dtype().getBits() - 24;
  auto lower = [&](const Value &x) {
    return chain(BinaryOp::ShiftRight, chain(BinaryOp::ShiftLeft, x, above), above);
  };
  return chain(BinaryOp::Mul, lower(both->first), lower(both->second));
}

/// The common bits and half of the others: added to what both have, or taken from what any has.
static Value average(TensorBuilder &build, Call &call, bool up) {
  auto both = integers(build, call);
  if (!both)
    return Value();
  Chain chain{build};
  auto [x, y] = *both;
  Value half = chain(BinaryOp::ShiftRight, chain(BinaryOp::BitXor, x, y), 1);
  return up ? chain(BinaryOp::Sub, chain(BinaryOp::BitOr, x, y), half)
            : chain(BinaryOp::Add, chain(BinaryOp::BitAnd, x, y), half);
}
Value builtinHadd(TensorBuilder &build, Call &call) { return average(build, call, false); }
Value builtinRhadd(TensorBuilder &build, Call &call) { return average(build, call, true); }

/// |x - y| as the larger less the smaller, which no difference overflows.
Value builtinSad(TensorBuilder &build, Call &call) {
  auto both = integers(build, call);
  Tensor z = both ? build.toTensor(call[2]) : Tensor();
  if (!z)
    return Value();
  Tensor larger = build.minMax(true, both->first, both->second, false);
  Tensor smaller = build.minMax(false, both->first, both->second, false);
  Chain chain{build};
  Value distance = chain(BinaryOp::Sub, Value::tensor(larger), Value::tensor(smaller));
  if (build.failed())
    return Value();
  return chain(BinaryOp::Add, Value::tensor(build.bitcast(distance.getTensor(), z.dtype())),
               Value::tensor(z));
}

/// Byte i of the result is that of the eight bytes of y and x, x's the lowest, which bits 4 i to
/// 4 i + 2 of the selector number.
Value builtinBytePerm(TensorBuilder &build, Call &call) {
  Tensor words[3];
  for (unsigned i = 0; i < 3; ++i) {
    Tensor word = build.toTensor(call[i]);
    if (!word)
      return Value();
    if (!word.dtype().isInt() || word.dtype().getBits() != 32)
      return build.error(DiagKind::SemaInvalidArgument, "byte_perm", "integers of 32 bits",
                         word.type.str());
    words[i] = build.cast(build.bitcast(word, Scalar::UInt32), Scalar::UInt64);
  }
  Chain chain{build};
  Value bytes = chain(BinaryOp::BitOr, chain(BinaryOp::ShiftLeft, Value::tensor(words[1]), 32),
                      Value::tensor(words[0]));
  Value selector = Value::tensor(words[2]), result;
  for (unsigned i = 0; i < 4; ++i) {
    Value number = chain(BinaryOp::BitAnd, chain(BinaryOp::ShiftRight, selector, 4 * i), 7);
    Value shifted = chain(BinaryOp::ShiftRight, bytes, chain(BinaryOp::ShiftLeft, number, 3));
    Value placed = chain(BinaryOp::ShiftLeft, chain(BinaryOp::BitAnd, shifted, 255), 8 * i);
    result = i ? chain(BinaryOp::BitOr, result, placed) : placed;
  }
  return build.failed() ? Value() : Value::tensor(build.cast(result.getTensor(), Scalar::Int32));
}

Value builtinSignbit(TensorBuilder &build, Call &call) {
  Tensor x = build.toTensor(call[0]);
  if (!x)
    return Value();
  if (!x.dtype().isFloat() || x.dtype().getBits() < 32)
    return build.error(DiagKind::SemaFloatOnly, "signbit", "fp32 or fp64", x.type.str());
  unsigned bits = x.dtype().getBits();
  Chain chain{build};
  Value sign = chain(BinaryOp::ShiftRight, Value::tensor(build.bitcast(x, getIntType(bits, false))),
                     bits - 1);
  return build.failed() ? Value() : Value::tensor(build.cast(sign.getTensor(), Scalar::Int32));
}

/// Of the operand and of the result only the upper words count, and denormal ones are zeros.
Value builtinRcp64h(TensorBuilder &build, Call &call) {
  std::optional<Lanes> x = floatLanes(build, call);
  if (!x)
    return Value();
  if (!x->isDouble())
    return build.error(DiagKind::SemaInvalidArgument, "rcp64h", "fp64", x->tensor.type.str());
  auto upper = [](const Lanes &y) {
    Lanes bits = y.bits();
    Lanes word = (bits & bits.integer(-(int64_t(1) << 32))).bitcast(y.dtype());
    return (y.magnitude() < 0x1p-1022).select(y.number(0).withSignOf(y), word);
  };
  Lanes result = 1 / upper(*x);
  // The lower word of a NaN is no part of it.
  return isNaN(result).select(result, upper(result)).value();
}

} // namespace kiln::sema

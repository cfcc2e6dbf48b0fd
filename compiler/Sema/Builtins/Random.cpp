// Random numbers: Philox 4x32 and 4x64 (Salmon et al., "Parallel random numbers: as easy as 1, 2,
// 3", 2011), and what Triton makes of its words.

#include "compiler/Sema/Table/Handlers.h"
#include "compiler/Sema/Tensors/TensorBuilder.h"

namespace kiln::sema {
namespace {

using Words = std::array<Value, 4>;

/// Chains operations on values; after an error all are Error values.
struct Arithmetic {
  TensorBuilder &build;

  Value operator()(ast::BinaryOp op, const Value &a, const Value &b) {
    return build.failed() ? Value() : build.binary(op, a, b);
  }
  Value cast(const Value &value, DType type) {
    Tensor tensor = build.failed() ? Tensor() : build.toTensor(value);
    return tensor ? Value::tensor(build.cast(tensor, type)) : Value();
  }
  /// The upper half of the product with an unsigned constant.
  Value multiplyHigh(const Value &value, const Value &factor) {
    if (build.failed())
      return Value();
    return build.callBuiltin(Library::Language, "umulhi", {factor, value});
  }
};

/// The constants of the paper: Weyl increments of the keys, multipliers of a round.
struct PhiloxConstants {
  uint64_t keyA, keyB, roundA, roundB;
};
constexpr PhiloxConstants philox32 = {0x9E3779B9, 0xBB67AE85, 0xD2511F53, 0xCD9E8D57};
constexpr PhiloxConstants philox64 = {0x9E3779B97F4A7C15, 0xBB67AE8584CAA73B, 0xD2E7470EE14C6C93,
                                      0xCA5A826395121157};

std::optional<Words> runRounds(TensorBuilder &build, Words c, Value key0, Value key1, DType type,
                               Int rounds) {
  using ast::BinaryOp;
  Arithmetic op{build};
  const PhiloxConstants &table = type.getBits() == 32 ? philox32 : philox64;
  auto number = [](uint64_t value) { return Value::integer(Int(value)); };
  for (Int round = 0; round < rounds; ++round) {
    Value c0 = c[0], c2 = c[2];
    c[0] = op(BinaryOp::BitXor,
              op(BinaryOp::BitXor, op.multiplyHigh(c2, number(table.roundB)), c[1]), key0);
    c[2] = op(BinaryOp::BitXor,
              op(BinaryOp::BitXor, op.multiplyHigh(c0, number(table.roundA)), c[3]), key1);
    c[1] = op(BinaryOp::Mul, c2, number(table.roundB));
    c[3] = op(BinaryOp::Mul, c0, number(table.roundA));
    key0 = op(BinaryOp::Add, key0, number(table.keyA));
    key1 = op(BinaryOp::Add, key1, number(table.keyB));
    if (build.failed())
      return std::nullopt;
  }
  return c;
}

std::optional<Words> philox(TensorBuilder &build, const Value &seedValue, const Words &counters,
                            const Value &roundsValue) {
  using ast::BinaryOp;
  Arithmetic op{build};
  std::optional<Int> rounds = build.constantInt(roundsValue, "n_rounds");
  Tensor first = rounds ? build.toTensor(counters[0]) : Tensor();
  if (!first)
    return std::nullopt;
  if (*rounds < 0 || *rounds > 64)
    return build.fail(DiagKind::SemaInvalidArgument, "n_rounds", "0 to 64", toString(*rounds));
  unsigned bits = first.dtype().getBits();
  if (!first.dtype().isInt() || (bits != 32 && bits != 64))
    return build.fail(DiagKind::SemaInvalidArgument, "philox", "counters of 32 or 64 bits",
                      first.type.str());
  DType type = getIntType(bits, false);
  Tensor givenSeed = build.toTensor(seedValue);
  if (!givenSeed)
    return std::nullopt;
  if (!givenSeed.dtype().isInt())
    return build.fail(DiagKind::SemaInvalidArgument, "seed", "an integer", describe(seedValue));
  Value seed = op.cast(seedValue, Scalar::UInt64);
  Value key0 = seed, key1 = op.cast(Value::integer(0), Scalar::UInt64);
  if (bits == 32) {
    key0 = op.cast(op(BinaryOp::BitAnd, seed, Value::integer(0xFFFFFFFF)), Scalar::UInt32);
    key1 = op.cast(op(BinaryOp::ShiftRight, seed, Value::integer(32)), Scalar::UInt32);
  }
  Words words;
  for (size_t i = 0; i < 4; ++i)
    words[i] = op.cast(counters[i], type);
  if (build.failed())
    return std::nullopt;
  return runRounds(build, words, key0, key1, type, *rounds);
}

/// Four words per element of `offset`.
std::optional<Words> randomWords(TensorBuilder &build, const Value &seed, const Value &offset,
                                 const Value &rounds) {
  using ast::BinaryOp;
  Arithmetic op{build};
  Tensor offsets = build.toTensor(offset);
  if (!offsets)
    return std::nullopt;
  Value low = op.cast(offset, Scalar::UInt32);
  Value zero = op(BinaryOp::Mul, low, Value::integer(0));
  Value high = zero;
  if (offsets.dtype().getBits() > 32)
    high = op.cast(op(BinaryOp::ShiftRight, offset, Value::integer(32)), Scalar::UInt32);
  if (build.failed())
    return std::nullopt;
  return philox(build, seed, {low, high, zero, zero}, rounds);
}

/// A float in [0, 1): the sign bit is folded away, the rest scaled by just under 2^-31 (2^-63).
Value toUniform(TensorBuilder &build, const Value &word) {
  Tensor bits = build.failed() ? Tensor() : build.toTensor(word);
  if (!bits)
    return Value();
  bool wide = bits.dtype().getBits() == 64;
  if (!bits.dtype().isInt() || bits.dtype().getBits() < 32)
    return build.error(DiagKind::SemaInvalidArgument, "uint_to_uniform_float",
                       "integers of 32 or 64 bits", bits.type.str());
  bits = build.bitcast(bits, wide ? Scalar::Int64 : Scalar::Int32);
  Value negative = build.compare(ast::CompareOp::Less, Value::tensor(bits), Value::integer(0));
  if (build.failed())
    return Value();
  Tensor folded = build.select(negative.getTensor(), build.invert(bits), bits);
  return build.binary(ast::BinaryOp::Mul, Value::tensor(folded),
                      Value::real(wide ? 1.0842020432385337e-19 : 4.6566127342e-10));
}

/// Two normal numbers from two uniform ones (Box-Muller).
std::pair<Value, Value> toNormal(TensorBuilder &build, const Value &u1, const Value &u2) {
  using ast::BinaryOp;
  Arithmetic op{build};
  auto function = [&](llvm::StringRef name, const Value &x) {
    if (build.failed())
      return Value();
    return build.callBuiltin(Library::Language, name, {x});
  };
  if (build.failed())
    return {};
  Value bounded = Value::tensor(build.minMax(true, Value::real(1.0e-7), u1, false));
  Value angle = op(BinaryOp::Mul, Value::real(6.283185307179586), u2);
  Value radius = function("sqrt", op(BinaryOp::Mul, Value::real(-2.0), function("log", bounded)));
  return {op(BinaryOp::Mul, radius, function("cos", angle)),
          op(BinaryOp::Mul, radius, function("sin", angle))};
}

Value tupleOf(PythonOperations &python, std::vector<Value> values) {
  return python.failed() ? Value() : Value::tuple(std::move(values));
}

} // namespace

Value builtinPhilox(TensorBuilder &build, Call &call) {
  auto words = philox(build, call[0], {call[1], call[2], call[3], call[4]}, call[5]);
  return words ? Value::tuple({words->begin(), words->end()}) : Value();
}
Value builtinRandint4x(TensorBuilder &build, Call &call) {
  auto words = randomWords(build, call[0], call[1], call[2]);
  return words ? Value::tuple({words->begin(), words->end()}) : Value();
}
Value builtinRandint(TensorBuilder &build, Call &call) {
  auto words = randomWords(build, call[0], call[1], call[2]);
  return words ? words->front() : Value();
}
Value builtinUintToUniformFloat(TensorBuilder &build, Call &call) {
  return toUniform(build, call[0]);
}
Value builtinRand(TensorBuilder &build, Call &call) {
  auto words = randomWords(build, call[0], call[1], call[2]);
  return words ? toUniform(build, words->front()) : Value();
}
Value builtinRand4x(TensorBuilder &build, Call &call) {
  auto words = randomWords(build, call[0], call[1], call[2]);
  if (!words)
    return Value();
  std::vector<Value> uniform;
  for (const Value &word : *words)
    uniform.push_back(toUniform(build, word));
  return tupleOf(build, uniform);
}
Value builtinPairUniformToNormal(TensorBuilder &build, Call &call) {
  auto [first, second] = toNormal(build, call[0], call[1]);
  return tupleOf(build, {first, second});
}
Value builtinRandn(TensorBuilder &build, Call &call) {
  auto words = randomWords(build, call[0], call[1], call[2]);
  if (!words)
    return Value();
  Value u1 = toUniform(build, (*words)[0]), u2 = toUniform(build, (*words)[1]);
  return toNormal(build, u1, u2).first;
}
Value builtinRandn4x(TensorBuilder &build, Call &call) {
  Value uniform = builtinRand4x(build, call);
  if (build.failed())
    return Value();
  const std::vector<Value> &u = uniform.getElements();
  auto [n1, n2] = toNormal(build, u[0], u[1]);
  auto [n3, n4] = toNormal(build, u[2], u[3]);
  return tupleOf(build, {n1, n2, n3, n4});
}

} // namespace kiln::sema

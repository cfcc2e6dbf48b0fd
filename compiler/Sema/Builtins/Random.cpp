// Random numbers: Philox 4x32 and 4x64 (Salmon et al., "Parallel random numbers: as easy as 1, 2,
// 3", 2011), and what Triton makes of its words.

#include "compiler/Sema/Evaluate/Evaluator.h"

namespace kiln::sema {
namespace {

using Words = std::array<Value, 4>;

/// Chains operations on values; after an error all are Error values.
struct Arithmetic {
  Evaluator &evaluator;

  Value operator()(ast::BinaryOp op, const Value &a, const Value &b) {
    return evaluator.failed() ? Value() : evaluator.binary(op, a, b);
  }
  Value cast(const Value &value, DType type) {
    Tensor tensor = evaluator.failed() ? Tensor() : evaluator.toTensor(value);
    return tensor ? Value::tensor(evaluator.cast(tensor, type)) : Value();
  }
  /// The upper half of the product with an unsigned constant.
  Value multiplyHigh(const Value &value, const Value &factor) {
    if (evaluator.failed())
      return Value();
    return evaluator.call(Value::builtin(*findBuiltin(Library::Language, "umulhi")),
                          {factor, value}, {});
  }
};

/// The constants of the paper: Weyl increments of the keys, multipliers of a round.
struct PhiloxConstants {
  uint64_t keyA, keyB, roundA, roundB;
};
constexpr PhiloxConstants philox32 = {0x9E3779B9, 0xBB67AE85, 0xD2511F53, 0xCD9E8D57};
constexpr PhiloxConstants philox64 = {0x9E3779B97F4A7C15, 0xBB67AE8584CAA73B, 0xD2E7470EE14C6C93,
                                      0xCA5A826395121157};

std::optional<Words> runRounds(Evaluator &evaluator, Words c, Value key0, Value key1, DType type,
                               Int rounds) {
  using ast::BinaryOp;
  Arithmetic op{evaluator};
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
    if (evaluator.failed())
      return std::nullopt;
  }
  return c;
}

std::optional<Words> philox(Evaluator &evaluator, const Value &seedValue, const Words &counters,
                            const Value &roundsValue) {
  using ast::BinaryOp;
  Arithmetic op{evaluator};
  std::optional<Int> rounds = evaluator.constantInt(roundsValue, "n_rounds");
  Tensor first = rounds ? evaluator.toTensor(counters[0]) : Tensor();
  if (!first)
    return std::nullopt;
  if (*rounds < 0 || *rounds > 64)
    return evaluator.fail(DiagKind::SemaInvalidArgument, "n_rounds", "0 to 64", toString(*rounds));
  unsigned bits = first.dtype().getBits();
  if (!first.dtype().isInt() || (bits != 32 && bits != 64))
    return evaluator.fail(DiagKind::SemaInvalidArgument, "philox", "counters of 32 or 64 bits",
                          first.type.str());
  DType type = getIntType(bits, false);
  Tensor givenSeed = evaluator.toTensor(seedValue);
  if (!givenSeed)
    return std::nullopt;
  if (!givenSeed.dtype().isInt())
    return evaluator.fail(DiagKind::SemaInvalidArgument, "seed", "an integer", describe(seedValue));
  Value seed = op.cast(seedValue, Scalar::UInt64);
  Value key0 = seed, key1 = op.cast(Value::integer(0), Scalar::UInt64);
  if (bits == 32) {
    key0 = op.cast(op(BinaryOp::BitAnd, seed, Value::integer(0xFFFFFFFF)), Scalar::UInt32);
    key1 = op.cast(op(BinaryOp::ShiftRight, seed, Value::integer(32)), Scalar::UInt32);
  }
  Words words;
  for (size_t i = 0; i < 4; ++i)
    words[i] = op.cast(counters[i], type);
  if (evaluator.failed())
    return std::nullopt;
  return runRounds(evaluator, words, key0, key1, type, *rounds);
}

/// Four words per element of `offset`.
std::optional<Words> randomWords(Evaluator &evaluator, const Value &seed, const Value &offset,
                                 const Value &rounds) {
  using ast::BinaryOp;
  Arithmetic op{evaluator};
  Tensor offsets = evaluator.toTensor(offset);
  if (!offsets)
    return std::nullopt;
  Value low = op.cast(offset, Scalar::UInt32);
  Value zero = op(BinaryOp::Mul, low, Value::integer(0));
  Value high = zero;
  if (offsets.dtype().getBits() > 32)
    high = op.cast(op(BinaryOp::ShiftRight, offset, Value::integer(32)), Scalar::UInt32);
  if (evaluator.failed())
    return std::nullopt;
  return philox(evaluator, seed, {low, high, zero, zero}, rounds);
}

/// A float in [0, 1): the sign bit is folded away, the rest scaled by just under 2^-31 (2^-63).
Value toUniform(Evaluator &evaluator, const Value &word) {
  Tensor bits = evaluator.failed() ? Tensor() : evaluator.toTensor(word);
  if (!bits)
    return Value();
  bool wide = bits.dtype().getBits() == 64;
  if (!bits.dtype().isInt() || bits.dtype().getBits() < 32)
    return evaluator.error(DiagKind::SemaInvalidArgument, "uint_to_uniform_float",
                           "integers of 32 or 64 bits", bits.type.str());
  bits = evaluator.bitcast(bits, wide ? Scalar::Int64 : Scalar::Int32);
  Value negative = evaluator.compare(ast::CompareOp::Less, Value::tensor(bits), Value::integer(0));
  if (evaluator.failed())
    return Value();
  Tensor folded = evaluator.select(negative.getTensor(), evaluator.invert(bits), bits);
  return evaluator.binary(ast::BinaryOp::Mul, Value::tensor(folded),
                          Value::real(wide ? 1.0842020432385337e-19 : 4.6566127342e-10));
}

/// Two normal numbers from two uniform ones (Box-Muller).
std::pair<Value, Value> toNormal(Evaluator &evaluator, const Value &u1, const Value &u2) {
  using ast::BinaryOp;
  Arithmetic op{evaluator};
  auto function = [&](llvm::StringRef name, const Value &x) {
    if (evaluator.failed())
      return Value();
    return evaluator.call(Value::builtin(*findBuiltin(Library::Language, name)), {x}, {});
  };
  if (evaluator.failed())
    return {};
  Value bounded = Value::tensor(evaluator.minMax(true, Value::real(1.0e-7), u1, false));
  Value angle = op(BinaryOp::Mul, Value::real(6.283185307179586), u2);
  Value radius = function("sqrt", op(BinaryOp::Mul, Value::real(-2.0), function("log", bounded)));
  return {op(BinaryOp::Mul, radius, function("cos", angle)),
          op(BinaryOp::Mul, radius, function("sin", angle))};
}

Value tupleOf(Evaluator &evaluator, std::vector<Value> values) {
  return evaluator.failed() ? Value() : Value::tuple(std::move(values));
}

} // namespace

Value builtinPhilox(Evaluator &evaluator, Call &call) {
  auto words = philox(evaluator, call[0], {call[1], call[2], call[3], call[4]}, call[5]);
  return words ? Value::tuple({words->begin(), words->end()}) : Value();
}
Value builtinRandint4x(Evaluator &evaluator, Call &call) {
  auto words = randomWords(evaluator, call[0], call[1], call[2]);
  return words ? Value::tuple({words->begin(), words->end()}) : Value();
}
Value builtinRandint(Evaluator &evaluator, Call &call) {
  auto words = randomWords(evaluator, call[0], call[1], call[2]);
  return words ? words->front() : Value();
}
Value builtinUintToUniformFloat(Evaluator &evaluator, Call &call) {
  return toUniform(evaluator, call[0]);
}
Value builtinRand(Evaluator &evaluator, Call &call) {
  auto words = randomWords(evaluator, call[0], call[1], call[2]);
  return words ? toUniform(evaluator, words->front()) : Value();
}
Value builtinRand4x(Evaluator &evaluator, Call &call) {
  auto words = randomWords(evaluator, call[0], call[1], call[2]);
  if (!words)
    return Value();
  std::vector<Value> uniform;
  for (const Value &word : *words)
    uniform.push_back(toUniform(evaluator, word));
  return tupleOf(evaluator, uniform);
}
Value builtinPairUniformToNormal(Evaluator &evaluator, Call &call) {
  auto [first, second] = toNormal(evaluator, call[0], call[1]);
  return tupleOf(evaluator, {first, second});
}
Value builtinRandn(Evaluator &evaluator, Call &call) {
  auto words = randomWords(evaluator, call[0], call[1], call[2]);
  if (!words)
    return Value();
  Value u1 = toUniform(evaluator, (*words)[0]), u2 = toUniform(evaluator, (*words)[1]);
  return toNormal(evaluator, u1, u2).first;
}
Value builtinRandn4x(Evaluator &evaluator, Call &call) {
  Value uniform = builtinRand4x(evaluator, call);
  if (evaluator.failed())
    return Value();
  const std::vector<Value> &u = uniform.getElements();
  auto [n1, n2] = toNormal(evaluator, u[0], u[1]);
  auto [n3, n4] = toNormal(evaluator, u[2], u[3]);
  return tupleOf(evaluator, {n1, n2, n3, n4});
}

} // namespace kiln::sema

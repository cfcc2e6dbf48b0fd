// What is known at compile time and stays so: annotated names, parameters, functions, globals,
// comprehensions; and what an assignment makes a run-time value.

#include "tests/language/Outputs.h"

namespace kiln::testing {
namespace {

KILN_COVERS("tl.constexpr_type tl.tuple_type");

class Constexpr : public SourceTest {};

TEST_P(Constexpr, AnnotatedNamesKeepTheirValue) {
  expectCompiles(R"(
@triton.jit
def kernel(N: tl.constexpr):
    fixed: tl.constexpr = N * 2
    plain = N * 2
    tl.static_assert(fixed == 16)
    tl.static_assert(fixed.type == tl.constexpr_type(16))
    tl.static_assert(isinstance(fixed.type, tl.constexpr_type))
    tl.static_assert(plain.type == tl.int32)
    tl.static_assert(not isinstance(plain.type, tl.constexpr_type))
    later: tl.constexpr
    later = N + 1
    tl.static_assert(tl.arange(0, later - 1).shape == [8])
    left: tl.constexpr
    left, right = N, N
    tl.static_assert(left == 8)
    tl.static_assert(left.type == tl.constexpr_type(8))
    tl.static_assert(right.dtype == tl.int32)
    tl.static_assert((left, right).type == tl.tuple_type([tl.constexpr_type(8), tl.int32]))
    pair: tl.constexpr = ((0, 1), 2)
    tl.static_assert(pair[0][1] == 1 and pair[1] == 2)
    tl.static_assert(pair.type == ((0, 1), 2).type)
    first: tl.constexpr
    second: tl.constexpr
    (first, _), second = pair
    tl.static_assert(first == 0 and second == 2)
    named: tl.constexpr
    if (named := N + 3) != 11:
        tl.static_assert(False)
    else:
        tl.static_assert(named.type == tl.constexpr_type(11))
)",
                 GetParam(), {}, {{"N", 8}});
}

TEST_P(Constexpr, PythonsRulesHoldForNumbers) {
  expectCompiles(R"(
@triton.jit
def kernel(A: tl.constexpr, B: tl.constexpr, F: tl.constexpr, S: tl.constexpr, NOTHING: tl.constexpr):
    tl.static_assert(A // B == -3 and A % B == 2)       # floors
    tl.static_assert(-A // B == 2 and A / B == -2.3333333333333335)
    tl.static_assert(A ** 2 == 49 and 2 ** -1 == 0.5)
    tl.static_assert(A & B == 1 and A | B == -5 and A ^ B == -6)
    tl.static_assert(B << 4 == 48 and A >> 1 == -4 and ~B == -4)
    tl.static_assert(F * 2 == 3.0 and F // 1 == 1.0 and 7 % F == 1.0)
    tl.static_assert(1 < B < 4 and not (1 < B < 3))
    tl.static_assert((A < B) + 1 == 2)
    tl.static_assert(S == 'abc' and S != 'ab' and S in 'xabcx' and S + 'd' == 'abcd')
    tl.static_assert(NOTHING is None and S is not None)
    tl.static_assert((B if A < 0 else 1 // 0) == 3)      # the other branch is not looked at
    tl.static_assert((A > 0 and 1 // 0) == False)
    tl.static_assert((B or 1 // 0) == 3)
    tl.static_assert(2**100 % 1000 == 376)
    tl.static_assert(tl.constexpr(tl.constexpr(5)) == 5 and tl.constexpr(5).value == 5)
    tl.static_assert(min(3, 2, -1) == -1 and max(1.5, 2) == 2 and abs(A) == 7)
    tl.static_assert(int(2.9) == 2 and float(2) == 2.0 and bool(A) and len(S) == 3)
    tl.static_assert(triton.cdiv(10, 4) == 3 and tl.cdiv(A + 17, B) == 4)
    tl.static_assert(triton.next_power_of_2(17) == 32)
    big: tl.constexpr = 0x7fffffffffffffff
    tl.static_assert(big + 1 == 1 << 63)
)",
                 GetParam(), {},
                 {{"A", -7}, {"B", 3}, {"F", 1.5}, {"S", "abc"}, {"NOTHING", Literal::none()}});
}

TEST_P(Constexpr, FunctionsOfThePythonKind) {
  expectCompiles(R"(
import math
BASE = tl.constexpr(4)
SCALE: tl.constexpr = 3
TABLE = tl.constexpr((1, 2, 4))

@triton.constexpr_function
def twice(x):
    return x * 2

@triton.constexpr_function
def shape_of(m, n):
    rows = 1
    while rows < m:
        rows *= 2
    return (rows, n)

@triton.constexpr_function
def total(values):
    sum = 0
    for value in values:
        if value is None:
            continue
        sum += value
        if sum > 100:
            break
    return sum

def plain(x):
    return [x, x + 1]

@triton.jit
def answer():
    return tl.constexpr(42)

@triton.jit
def kernel():
    tl.static_assert(tl.arange(0, twice(4)).shape == [8])
    shape: tl.constexpr = shape_of(5, BASE)
    tl.static_assert(shape[0] == 8 and shape[1] == 4)
    tl.static_assert(tl.zeros(shape, tl.int8).shape == [8, 4])
    tl.static_assert(total([1, None, SCALE]) == 4)
    tl.static_assert(total(TABLE) == 7)
    tl.static_assert(total([60, 60, 60]) == 120)
    got: tl.constexpr = answer()
    tl.static_assert(got == 42)
    tl.static_assert(math.log2(8) == 3 and int(math.ceil(2.1)) == 3)
    kept: tl.constexpr = [x for x in (10, 20, 30, 40) if x >= 30]
    tl.static_assert(len(kept) == 2 and kept[0] == 30)
    both: tl.constexpr = [x for x in range(6) if x > 1 if x % 2 == 0]
    tl.static_assert(both[0] == 2 and both[1] == 4)
    pairs: tl.constexpr = [(x, y) for x in range(2) for y in range(2)]
    tl.static_assert(len(pairs) == 4 and pairs[2] == (1, 0))
    tl.static_assert(sum([x * x for x in (1, 2, 3)]) == 14)
    tl.static_assert(all([x > 0 for x in TABLE]) and not any([x > 4 for x in TABLE]))
)",
                 GetParam());
}

TEST_P(Constexpr, TypesAndStringsAndFunctionsAsParameters) {
  std::vector<float> out =
      outputsOf<float>(R"(
@triton.jit
def square(x):
    return x * x

@triton.jit
def negate(x):
    return -x

@triton.jit
def kernel(p, out, T: tl.constexpr, MODE: tl.constexpr, F: tl.constexpr, N: tl.constexpr,
           BIAS: tl.constexpr = None, SHIFT: tl.constexpr = 2.0):
    i = tl.arange(0, N)
    x = tl.load(p + i).to(T)
    tl.static_assert(x.dtype == T and T.primitive_bitwidth == 16)
    tl.static_assert(T.is_fp16() and not T.is_bf16() and T.is_floating())
    if MODE == "plus":
        x = x.to(tl.float32) + SHIFT
    elif MODE == "minus":
        x = undefined_name
    if BIAS is not None:
        x += tl.load(BIAS + i)
    tl.store(out + i, F(x))
)",
                       GetParam(), "fp32", 4, {{"p", "*fp32", Buffer<float>({1, 2, -3, 0.5})}},
                       {{"T", Literal::ofDType("fp16")},
                        {"MODE", "plus"},
                        {"F", Literal::ofFunction("square")},
                        {"N", 4}});
  EXPECT_EQ(out, (std::vector<float>{9, 16, 1, 6.25}));
}

TEST_P(Constexpr, ArgumentsThatAreOneAreConstant) {
  // A stride that a signature fixes can shape tensors, and an assignment to its name is no error.
  std::vector<int32_t> out =
      outputsOf<int32_t>(R"(
@triton.jit
def kernel(out, stride, n):
    tl.static_assert(stride == 1)
    x = tl.arange(0, 4) * stride
    stride += n
    tl.static_assert(stride.dtype == tl.int32)
    tl.store(out + tl.arange(0, 4), x + stride)
)",
                         GetParam(), "i32", 4, {{"stride", "i32:1", 1}, {"n", "i32", 5}});
  EXPECT_EQ(out, (std::vector<int32_t>{6, 7, 8, 9}));
}

TEST_P(Constexpr, QuestionsAboutTypes) {
  expectCompiles(R"(
@triton.jit
def kernel(p, c: tl.const, q, b):
    x = tl.load(p + tl.arange(0, 8))
    tl.static_assert(p.dtype.is_ptr() and p.dtype.element_ty == tl.float16)
    tl.static_assert(p.type == tl.pointer_type(tl.float16))
    tl.static_assert(not p.dtype.is_const() and c.dtype.is_const())
    tl.static_assert(c.dtype == tl.pointer_type(tl.float32, const=True))
    tl.static_assert(c.dtype != tl.pointer_type(tl.float32))
    tl.static_assert(x.type.is_block() and x.type.scalar == tl.float16)
    tl.static_assert(x.type == tl.block_type(tl.float16, [8]))
    tl.static_assert(x.dtype.name == 'fp16' and x.dtype.itemsize == 2)
    tl.static_assert(x.dtype.fp_mantissa_width == 10)
    tl.static_assert(x.dtype.exponent_bias == 15)
    tl.static_assert(tl.float8e5b16.exponent_bias == 16)
    tl.static_assert(q.dtype.element_ty.is_int_unsigned() and q.dtype.element_ty.int_bitwidth == 8)
    tl.static_assert(tl.load(b).dtype == tl.int1)
    tl.static_assert(tl.int64.is_int_signed() and not tl.int1.is_int_signed())
    tl.static_assert(tl.float8e5.is_fp8() and tl.float8e4nv.primitive_bitwidth == 8)
    tl.static_assert(str(tl.bfloat16) == 'bf16' and tl.dtype('bf16') == tl.bfloat16)
    tl.static_assert(isinstance(x, tl.tensor) and not isinstance(1, tl.tensor))
    tl.static_assert(isinstance((1, 2), tl.tuple) and isinstance(tl.int8, tl.dtype))
    tl.static_assert((x.to(tl.float32) + 1).dtype in (tl.float32, tl.float64))
)",
                 GetParam(),
                 {{"p", "*fp16", Buffer<uint16_t>(8)},
                  {"c", "*fp32", Buffer<float>(8)},
                  {"q", "*u8", Buffer<uint8_t>(8)},
                  {"b", "*i1", Buffer<uint8_t>(8)}});
}

TEST_P(Constexpr, RefusesWhatIsNotKnown) {
  auto expectError = [&](const std::string &body, const std::string &message) {
    std::string errors =
        runSource("@triton.jit\ndef kernel(n, N: tl.constexpr):\n    " + body + "\n", GetParam(),
                  {{"n", "i32", 4}}, {{"N", 4}});
    EXPECT_NE(errors.find(message), std::string::npos) << body << ": " << errors;
    EXPECT_NE(errors.find("test.py:"), std::string::npos) << errors;
  };
  expectError("x = tl.arange(0, n)", "must be known at compile time");
  expectError("m = N\n    x = tl.arange(0, m)", "must be known at compile time");
  expectError("x = tl.zeros((n,), tl.int32)", "must be known at compile time");
  expectError("tl.static_assert(N == 5, 'four is not five')", "four is not five");
  expectError("tl.static_assert(n == 4)", "must be known at compile time");
  expectError("x = tl.full((4,), 1, N)", "a dtype");
  expectError("for i in tl.static_range(n):\n        pass", "must be known at compile time");
  expectError("x: tl.constexpr = 1 // 0", "division by zero");
  expectError("x = min(1.0, float('nan'))", "NaN");
  expectError("x = max(-0.0, 1.0)", "-0.0");
  expectError("x = tl.full((), 32, tl.int32) + 0xFFFFFFFFFFFFFF", "out of range");
  expectError("x = unknown + 1", "'unknown' is not defined");
  expectError("x = N.nothing", "no attribute 'nothing'");
  expectError("x = -(0, 0)", "invalid operand of '-'");
  expectError("x = 0 + 'a'", "'+': invalid operands of types");
  expectError("x = 1.0 << 1", "'<<': invalid operands of types");
  expectError("x = (1, 2)[2]", "out of range");
  expectError("N()", "cannot be called");
  expectError("x = tl.rand(2.5, tl.arange(0, 4))", "seed: expected an integer");
}

KILN_SOURCE_TESTS(Constexpr);

} // namespace
} // namespace kiln::testing

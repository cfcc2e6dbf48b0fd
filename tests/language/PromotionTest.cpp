// The type that an operator computes in when its operands' types differ: of tensors and run-time
// scalars, C's; numbers of the source give way to them.

#include "tests/language/Numbers.h"
#include "tests/language/Outputs.h"

namespace kiln::testing {
namespace {

class Promotion : public SourceTest {};

const char *const types[] = {"i8",  "i16", "i32",  "i64",  "u8",   "u16",
                             "u32", "u64", "fp16", "bf16", "fp32", "fp64"};

/// What `a + b` is, and with `division` what `a % b` is; empty where Triton refuses it.
std::string promoted(const std::string &a, const std::string &b, bool division) {
  for (const char *wide : {"fp64", "fp32"})
    if (a == wide || b == wide)
      return wide;
  if (a == "fp16" || b == "fp16")
    return division ? "fp32" : "fp16";
  if (a == "bf16" || b == "bf16")
    return a == b && !division ? "bf16" : "fp32";
  const NumberType &x = NumberType::of(a), &y = NumberType::of(b);
  if (x.kind == y.kind)
    return x.bits > y.bits ? a : b;
  if (division)
    return "";
  const NumberType &u = x.kind == NumberType::Unsigned ? x : y;
  const NumberType &s = x.kind == NumberType::Unsigned ? y : x;
  return u.bits >= s.bits ? u.name : s.name;
}

/// tl.maximum and tl.minimum compute bf16 in fp32.
std::string widened(const std::string &type) { return type == "bf16" ? "fp32" : type; }

std::string dtype(const std::string &type) { return "tl." + NumberType::of(type).language; }

/// Pointers pi8, pi16 … to arrays of 64 elements between 1 and 7, so that sums and products are
/// exact in every type.
struct Inputs {
  std::vector<Array> arrays;
  std::vector<SourceArgument> arguments;
  std::string parameters;

  Inputs() {
    Random random(7);
    for (const char *type : types) {
      arrays.emplace_back(type, 64);
      for (size_t i = 0; i < 64; ++i)
        arrays.back().set(i, 1 + static_cast<long double>(random.below(7)));
    }
    for (const Array &array : arrays) {
      arguments.push_back(array.argument("p" + array.type().name));
      parameters += "p" + array.type().name + ", ";
    }
  }
};

std::string check(const std::string &expression, const std::string &type) {
  return "    tl.static_assert((" + expression + ").dtype == " + dtype(type) + ", '" + expression +
         " of " + type + "')\n";
}

TEST_P(Promotion, OfTensorsOfEveryPairOfTypes) {
  Inputs inputs;
  constexpr size_t count = std::size(types);
  for (size_t left = 0; left < count; ++left) {
    std::string body = "    x = tl.load(p" + std::string(types[left]) + " + i)\n";
    for (size_t right = 0; right < count; ++right) {
      std::string sum = promoted(types[left], types[right], false);
      std::string rest = promoted(types[left], types[right], true);
      body += "    y = tl.load(p" + std::string(types[right]) + " + i)\n";
      for (const char *expression : {"x + y", "x - y", "x * y", "tl.where(i > 3, x, y)"})
        body += check(expression, sum);
      body +=
          check("tl.maximum(x, y)", promoted(widened(types[left]), widened(types[right]), false));
      body += "    tl.static_assert((x < y).dtype == tl.int1)\n";
      if (!rest.empty()) {
        bool integers = !NumberType::of(rest).isFloat();
        body += check("x % y", rest) + check("x / y", integers ? "fp32" : rest);
        if (integers)
          body += check("x // y", rest);
      }
      std::string place = "out + " + std::to_string(2 * right) + " * 64 + i";
      body += "    tl.store(" + place + ", (x + y).to(tl.float64))\n    tl.store(" + place +
              " + 64, (x * y).to(tl.float64))\n";
    }
    // Few elements a program: LLVM takes a time that is quadratic in the straight code of one.
    SourceOptions options;
    options.grid = {4, 1, 1};
    std::vector<double> out =
        outputsOf<double>("@triton.jit\ndef kernel(" + inputs.parameters +
                              "out):\n    i = tl.program_id(0) * 16 + tl.arange(0, 16)\n" + body,
                          GetParam(), "fp64", 2 * count * 64, inputs.arguments, {}, options);
    for (size_t right = 0; right < count; ++right)
      for (size_t i = 0; i < 64; ++i) {
        auto x = double(inputs.arrays[left][i]), y = double(inputs.arrays[right][i]);
        ASSERT_EQ(out[2 * right * 64 + i], x + y) << types[left] << " + " << types[right];
        ASSERT_EQ(out[(2 * right + 1) * 64 + i], x * y) << types[left] << " * " << types[right];
      }
  }
}

TEST_P(Promotion, OfRunTimeScalarsIsThatOfTensors) {
  Inputs inputs;
  std::string body;
  for (const char *left : types)
    for (const char *right : types) {
      body += "    x = tl.load(p" + std::string(left) + " + tl.arange(0, 64))\n    y = tl.load(p" +
              right + ")\n" + check("x + y", promoted(left, right, false)) +
              check("y * x", promoted(left, right, false)) +
              "    tl.static_assert((x + y).shape == (64,))\n";
    }
  expectCompiles("@triton.jit\ndef kernel(" +
                     inputs.parameters.substr(0, inputs.parameters.size() - 2) + "):\n" + body,
                 GetParam(), inputs.arguments);
}

TEST_P(Promotion, OfNumbersOfTheSourceGivesWay) {
  Inputs inputs;
  std::string body;
  for (const char *type : types) {
    const NumberType &number = NumberType::of(type);
    body += "    x = tl.load(p" + std::string(type) + " + tl.arange(0, 64))\n";
    for (const char *expression : {"x + 1", "1 + x", "x * True", "x - 100"})
      body += check(expression, type);
    // Functions take numbers as the scalars that they would become.
    body += check("tl.maximum(x, 7)", promoted(widened(type), "i32", false));
    // A float beside integers is the float that it is.
    for (const char *expression : {"x + 1.5", "2.0 * x", "x + float(\"inf\")"})
      body += check(expression, number.isFloat() ? type : "fp32");
    if (number.isFloat())
      body += check("x + 2**40", type) + check("x + 1e300", type);
    else
      body += check("x + 1e300", "fp64") + check("x / 2", "fp32");
    // Division widens halves, whatever they are divided by.
    if (number.isFloat())
      body += check("x / 2", number.bits == 16 ? "fp32" : type);
  }
  expectCompiles("@triton.jit\ndef kernel(" +
                     inputs.parameters.substr(0, inputs.parameters.size() - 2) + "):\n" + body,
                 GetParam(), inputs.arguments);
}

TEST_P(Promotion, OfBooleans) {
  Inputs inputs;
  std::string body = "    b = tl.load(pi32 + tl.arange(0, 64)) > 3\n    t = b + True\n"
                     "    tl.static_assert((b & True).dtype == tl.int1)\n"
                     "    tl.static_assert((b + 1).dtype == tl.int32)\n"
                     "    tl.static_assert((b * 0.5).dtype == tl.float32)\n"
                     "    tl.static_assert((b & b).dtype == tl.int1)\n"
                     "    tl.static_assert((~b).dtype == tl.int1)\n"
                     "    tl.static_assert((not tl.program_id(0)).dtype == tl.int1)\n";
  for (const char *type : types)
    body += "    x = tl.load(p" + std::string(type) + " + tl.arange(0, 64))\n" +
            check("b * x", widened(type)) + check("x + b", widened(type));
  expectCompiles("@triton.jit\ndef kernel(" +
                     inputs.parameters.substr(0, inputs.parameters.size() - 2) + "):\n" + body,
                 GetParam(), inputs.arguments);
}

TEST_P(Promotion, OfAssignedNumbersIsThatOfScalars) {
  // A name that a number was assigned to is a run-time scalar of the number's type.
  expectCompiles(R"(
@triton.jit
def kernel(p):
    x = tl.load(p + tl.arange(0, 8))
    small = 1
    large = 2**31
    wide = -2**31 - 1
    huge = 2**63
    real = 1.0
    long = 1e300
    tiny = 1e-40
    flag = True
    fixed: tl.constexpr = 1
    tl.static_assert(small.dtype == tl.int32)
    tl.static_assert(large.dtype == tl.uint32)
    tl.static_assert(wide.dtype == tl.int64)
    tl.static_assert(huge.dtype == tl.uint64)
    tl.static_assert(real.dtype == tl.float32)
    tl.static_assert(long.dtype == tl.float64)
    tl.static_assert(tiny.dtype == tl.float64)
    tl.static_assert(flag.dtype == tl.int1)
    tl.static_assert(x.dtype == tl.int8)
    tl.static_assert((x + small).dtype == tl.int32)
    tl.static_assert((x + large).dtype == tl.uint32)
    tl.static_assert((x + real).dtype == tl.float32)
    tl.static_assert((x + fixed).dtype == tl.int8)
    tl.static_assert((x + flag).dtype == tl.int8)
)",
                 GetParam(), {{"p", "*i8", Buffer<int8_t>(8)}});
}

TEST_P(Promotion, RefusesWhatHasNoMeaning) {
  Buffer<int8_t> memory(256);
  auto errorsOf = [&](const std::string &type, const std::string &expression) {
    return runSource("@triton.jit\ndef kernel(p, q):\n    x = tl.load(p + tl.arange(0, 8))\n"
                     "    y = tl.load(q + tl.arange(0, 8))\n    z = " +
                         expression + "\n",
                     GetParam(), {{"p", "*" + type, memory}, {"q", "*i32", memory}});
  };
  auto expectError = [&](const std::string &type, const std::string &expression,
                         const std::string &message) {
    std::string errors = errorsOf(type, expression);
    EXPECT_NE(errors.find(message), std::string::npos) << expression << ": " << errors;
    EXPECT_NE(errors.find("^"), std::string::npos) << errors;
  };
  expectError("u32", "x // y", "sema-signedness");
  expectError("u8", "x % y", "sema-signedness");
  expectError("u64", "x / y", "sema-signedness");
  expectError("u32", "x + -1", "out of range");
  expectError("i8", "x + 300", "out of range");
  expectError("u8", "x * 256", "out of range");
  expectError("i32", "x + 2**31", "out of range");
  expectError("fp32", "x & y", "sema-operands");
  expectError("fp16", "x ^ 1", "sema-operands");
  expectError("fp32", "x << 1", "sema-operands");
  expectError("fp32", "~x", "sema-operand");
  expectError("fp32", "x // y", "sema-operands");
}

KILN_SOURCE_TESTS(Promotion);

} // namespace
} // namespace kiln::testing

// tl.dot of every pair of types, shapes, batches, accumulators and precisions, against sums in
// extended precision.

#include "tests/language/Numbers.h"

#include <cmath>

namespace kiln::testing {
namespace {

KILN_COVERS("tl.dot");

class Dot : public SourceTest {
protected:
  bool isCpu() const { return std::string(GetParam()) == "cpu"; }
};

struct Product {
  std::string type, resultType;
  int batch = 1, m = 16, n = 16, k = 16;
  /// More arguments of tl.dot.
  std::string options;
  /// Of an element: relative to the sum of magnitudes of the terms.
  double tolerance = 0;
  bool accumulates = false, transposed = false;
  /// What a config asks of AMD's matrix instructions.
  unsigned matrixSize = 0, kPack = 0;
  /// Of the second factor, if it is another one.
  std::string otherType = "";
};

/// Numbers that the product's type has exactly.
Array factors(const std::string &type, int count, int seed) {
  const NumberType &info = NumberType::of(type);
  if (!info.isFloat())
    return mixedArray(type, count, seed);
  Array x = uniformArray(type, count, seed, -2, 2);
  return x;
}

void checkProduct(const char *target, const Product &product) {
  int batch = product.batch, m = product.m, n = product.n, k = product.k;
  const std::string &other = product.otherType.empty() ? product.type : product.otherType;
  Array a = factors(product.type, batch * m * k, 1), b = factors(other, batch * k * n, 2);
  Array c(product.resultType, batch * m * n), start = factors(product.resultType, batch * m * n, 3);
  for (size_t i = 0; i < start.count(); ++i)
    start.set(i, std::trunc(start[i]) > 100    ? 100
                 : std::trunc(start[i]) < -100 ? -100
                                               : std::trunc(start[i]));
  std::string source =
      R"(
@triton.jit
def tile(R: tl.constexpr, C: tl.constexpr, B: tl.constexpr, TRANSPOSED: tl.constexpr):
    r = tl.arange(0, R)
    c = tl.arange(0, C)
    at = r[:, None] + c[None, :] * R if TRANSPOSED else r[:, None] * C + c[None, :]
    if B > 1:
        return tl.arange(0, B)[:, None, None] * (R * C) + at[None, :, :]
    return at

@triton.jit
def kernel(a, b, c, start, B: tl.constexpr, M: tl.constexpr, N: tl.constexpr, K: tl.constexpr,
           TRANSPOSED: tl.constexpr):
    x = tl.load(a + tile(M, K, B, False))
    y = tl.load(b + tile(K, N, B, TRANSPOSED))
    z = tl.dot(x, y)" +
      std::string(product.accumulates ? ", tl.load(start + tile(M, N, B, False))" : "") +
      product.options + R"()
    tl.store(c + tile(M, N, B, False), z)
)";
  SourceOptions options;
  options.matrixSize = product.matrixSize;
  options.kPack = product.kPack;
  std::string what = product.type + " " + product.otherType + " " + std::to_string(batch) + " x " +
                     std::to_string(m) + " x " + std::to_string(n) + " x " + std::to_string(k) +
                     product.options;
  ASSERT_EQ(
      runSource(source, target,
                {a.argument("a"), b.argument("b"), c.argument("c"), start.argument("start")},
                {{"B", batch}, {"M", m}, {"N", n}, {"K", k}, {"TRANSPOSED", product.transposed}},
                options),
      "")
      << what;
  for (int g = 0; g < batch; ++g)
    for (int i = 0; i < m; ++i)
      for (int j = 0; j < n; ++j) {
        int at = (g * m + i) * n + j;
        long double sum = product.accumulates ? start[at] : 0, scale = std::fabs(sum);
        for (int l = 0; l < k; ++l) {
          long double term =
              a[(g * m + i) * k + l] * b[g * k * n + (product.transposed ? l + j * k : l * n + j)];
          sum += term;
          scale += std::fabs(term);
        }
        if (c.type().isFloat())
          ASSERT_NEAR(double(c[at]), double(sum), product.tolerance * double(scale) + 1e-30)
              << what << " at " << i << ", " << j;
        else
          ASSERT_EQ(c[at], sum) << what << " at " << i << ", " << j;
      }
}

TEST_P(Dot, OfEveryType) {
  for (std::string type : {"fp16", "bf16", "fp8e5", "fp8e4nv", "fp8e4b8", "fp8e5b16"}) {
    bool isSmall = NumberType::of(type).bits == 8;
    if (isSmall && !isCpu()) {
      // Each GPU multiplies the 8-bit formats that it has.
      bool isNvidia = std::string(GetParam()).find("sm_") != std::string::npos;
      bool isOcp = type == "fp8e5" || type == "fp8e4nv";
      if (isNvidia != isOcp)
        continue;
    }
    checkProduct(GetParam(), {type, "fp32", 1, 32, 64, 32, "", 1e-6});
  }
  checkProduct(GetParam(), {"fp32", "fp32", 1, 32, 16, 64, ", input_precision='ieee'", 1e-6});
  checkProduct(GetParam(), {"fp32", "fp32", 1, 32, 16, 64, ", allow_tf32=False", 1e-6});
  checkProduct(GetParam(), {"fp64", "fp64", 1, 16, 32, 32, "", 1e-15});
  checkProduct(GetParam(), {"i8", "i32", 1, 32, 32, 64, ""});
}

TEST_P(Dot, OfTwoKindsOfBytes) {
  // NVIDIA's GPUs and RDNA's have the OCP's formats alone.
  std::string target = GetParam();
  bool areOcp = target.find("sm_") != std::string::npos || target.find("gfx1") != std::string::npos;
  const std::pair<const char *, const char *> kinds[] = {
      {"fp8e5", "fp8e4nv"}, {"fp8e4nv", "fp8e5"}, {"fp8e5b16", "fp8e4b8"}, {"fp8e4b8", "fp8e5b16"}};
  for (auto [type, other] : kinds) {
    if (areOcp && std::string(type).find('b') != std::string::npos)
      continue;
    auto check = [&, type = type, other = other](int m, int n, int k, bool isTransposed,
                                                 unsigned matrixSize = 0, unsigned kPack = 0) {
      checkProduct(GetParam(), {type, "fp32", 1, m, n, k, "", 1e-6, true, isTransposed, matrixSize,
                                kPack, other});
    };
    check(32, 64, 32, false);
    check(64, 64, 128, true);
    check(16, 32, 128, true, 16);
    check(32, 32, 64, false, 32, 1);
    // Rows that the instruction has more of, and products without one.
    check(4, 32, 64, true);
    check(16, 16, 8, false);
  }
}

TEST_P(Dot, OfDoubles) {
  for (auto [m, n, k] : {std::tuple(16, 16, 4), {64, 32, 16}, {32, 64, 8}, {16, 16, 2}})
    for (bool isTransposed : {false, true})
      checkProduct(GetParam(), {"fp64", "fp64", 1, m, n, k, "", 1e-15, true, isTransposed});
  checkProduct(GetParam(), {"fp64", "fp64", 2, 16, 32, 8, "", 1e-15, true});
  checkProduct(GetParam(), {"fp64", "fp64", 1, 32, 32, 16, "", 1e-15, true, false, 16, 1});
}

TEST_P(Dot, OnInstructionsOfTheSizeThatIsAskedFor) {
  for (unsigned size : {16, 32})
    for (unsigned kPack : {1, 2}) {
      Product product{"fp16", "fp32", 1, 64, 64, 64, "", 1e-6};
      product.matrixSize = size;
      product.kPack = kPack;
      checkProduct(GetParam(), product);
    }
}

TEST_P(Dot, InTheNamedPrecision) {
  // TF32 has 11 bits; the three-fold forms restore most of what is lost.
  checkProduct(GetParam(), {"fp32", "fp32", 1, 32, 32, 32, "", 2e-3});
  checkProduct(GetParam(), {"fp32", "fp32", 1, 32, 32, 32, ", input_precision='tf32'", 2e-3});
  checkProduct(GetParam(), {"fp32", "fp32", 1, 32, 32, 32, ", input_precision='tf32x3'", 2e-6});
  checkProduct(GetParam(), {"fp32", "fp32", 1, 32, 32, 32, ", input_precision='bf16x3'", 1e-4});
  checkProduct(GetParam(), {"fp32", "fp32", 1, 32, 32, 32, ", input_precision='bf16x6'", 2e-6});
}

TEST_P(Dot, OfEveryShape) {
  for (auto [m, n, k] :
       {std::tuple(16, 16, 16), {16, 128, 32}, {128, 16, 32}, {64, 64, 128}, {16, 32, 256}})
    checkProduct(GetParam(), {"fp16", "fp32", 1, m, n, k, "", 1e-6});
  checkProduct(GetParam(), {"fp16", "fp32", 1, 32, 32, 64, "", 1e-6, false, true});
  checkProduct(GetParam(),
               {"fp32", "fp32", 1, 32, 32, 64, ", input_precision='ieee'", 1e-6, false, true});
  checkProduct(GetParam(), {"fp16", "fp32", 4, 16, 32, 16, "", 1e-6});
  checkProduct(GetParam(), {"fp32", "fp32", 2, 16, 16, 32, ", input_precision='ieee'", 1e-6});
}

/// A side of the matrix unit that has only 8 elements takes them.
TEST_P(Dot, OfFewRows) {
  for (auto [n, k] : {std::pair(16, 16), {128, 512}, {64, 32}})
    for (bool isTransposed : {false, true})
      for (const char *type : {"fp16", "bf16"})
        checkProduct(GetParam(), {type, "fp32", 1, 8, n, k, "", 1e-6, true, isTransposed});
  bool isNvidia = std::string(GetParam()).find("sm_") != std::string::npos;
  if (isNvidia || isCpu())
    checkProduct(GetParam(), {"fp8e4nv", "fp32", 1, 8, 64, 64, "", 1e-6, false, true});
  checkProduct(GetParam(), {"i8", "i32", 1, 8, 32, 64, "", 0, true, true});
  checkProduct(GetParam(), {"fp32", "fp32", 1, 8, 32, 32, "", 2e-3});
  checkProduct(GetParam(), {"fp16", "fp32", 2, 8, 32, 32, "", 1e-6, true});
}

/// What is missing on a side of the unit is repeated.
TEST_P(Dot, OfFewerRowsOrColumnsThanTheUnitHas) {
  bool isNvidia = std::string(GetParam()).find("sm_") != std::string::npos;
  for (int few : {1, 2, 4})
    for (auto [m, n] : {std::pair(few, 32), {32, few}}) {
      checkProduct(GetParam(), {"fp16", "fp32", 1, m, n, 32, "", 1e-6, true});
      checkProduct(GetParam(), {"bf16", "fp32", 1, m, n, 128, "", 1e-6, false, true});
      checkProduct(GetParam(), {"fp16", "fp32", 2, m, n, 64, "", 1e-6, true});
      checkProduct(GetParam(), {"i8", "i32", 1, m, n, 64, "", 0, true, true});
      checkProduct(GetParam(), {"fp32", "fp32", 1, m, n, 32, "", 2e-3});
      checkProduct(GetParam(), {"fp32", "fp32", 1, m, n, 16, ", input_precision='ieee'", 1e-6});
      checkProduct(GetParam(), {"fp64", "fp64", 1, m, n, 16, "", 1e-15});
      if (isNvidia || isCpu())
        checkProduct(GetParam(), {"fp8e4nv", "fp32", 1, m, n, 64, "", 1e-6, false, true});
    }
}

/// K is less than one instruction's, so threads multiply by themselves.
TEST_P(Dot, OfShortRows) {
  for (int k : {1, 2, 4, 8})
    for (bool isTransposed : {false, true}) {
      checkProduct(GetParam(), {"fp16", "fp32", 1, 16, 16, k, "", 1e-6, false, isTransposed});
      checkProduct(GetParam(), {"bf16", "fp32", 1, 32, 64, k, "", 1e-6, true, isTransposed});
      checkProduct(GetParam(), {"i8", "i32", 1, 32, 32, k, "", 0, false, isTransposed});
    }
}

TEST_P(Dot, WithAccumulators) {
  checkProduct(GetParam(), {"fp16", "fp32", 1, 32, 32, 32, "", 1e-6, true});
  checkProduct(GetParam(), {"fp16", "fp32", 2, 16, 32, 32, "", 1e-6, true});
  checkProduct(GetParam(),
               {"bf16", "fp32", 1, 16, 16, 64, ", max_num_imprecise_acc=32", 1e-6, true});
  checkProduct(GetParam(), {"i8", "i32", 1, 32, 32, 32, "", 0, true});
  // The accumulator's type is the result's: fp16 is rounded once in the end, or in between.
  checkProduct(GetParam(), {"fp16", "fp16", 1, 32, 32, 32, ", out_dtype=tl.float16", 4e-3});
  checkProduct(GetParam(), {"fp16", "fp16", 1, 32, 32, 32, "", 4e-3, true});
}

TEST_P(Dot, OfInfinitiesAndNaN) {
  Array a = factors("fp16", 256, 1), b = factors("fp16", 256, 2), c("fp32", 256);
  a.set(3 * 16 + 5, INFINITY);
  a.set(7 * 16 + 2, NAN);
  ASSERT_EQ(runSource(R"(
@triton.jit
def kernel(a, b, c):
    at = tl.arange(0, 16)[:, None] * 16 + tl.arange(0, 16)[None, :]
    tl.store(c + at, tl.dot(tl.load(a + at), tl.load(b + at)))
)",
                      GetParam(), {a.argument("a"), b.argument("b"), c.argument("c")}),
            "");
  for (int i = 0; i < 16; ++i)
    for (int j = 0; j < 16; ++j) {
      long double value = c[i * 16 + j];
      ASSERT_EQ(std::isnan(value), i == 7) << i << ", " << j;
      ASSERT_EQ(std::isinf(value), i == 3) << i << ", " << j;
      if (i == 3)
        ASSERT_EQ(value > 0, b[5 * 16 + j] > 0);
    }
}

TEST_P(Dot, AddsUpImpreciselyAsManyAsAllowed) {
  // 128 products of 1/32 on a sum whose last place is 2: what is added to it at once decides.
  const int m = 64, n = 16, k = 128;
  const float start = 0x1p24f;
  Array a("fp8e4nv", m * k), b("fp8e4nv", k * n), c("fp32", m * n);
  for (size_t i = 0; i < a.count(); ++i)
    a.set(i, 1.0 / 32);
  for (size_t i = 0; i < b.count(); ++i)
    b.set(i, 1);
  // Of -1 the product is added, and nothing is said.
  for (int most : {0, 32, 64, 128, -1}) {
    for (size_t i = 0; i < c.count(); ++i)
      c.set(i, start);
    ASSERT_EQ(runSource(R"(
@triton.jit
def kernel(a, b, c, M: tl.constexpr, N: tl.constexpr, K: tl.constexpr, MOST: tl.constexpr):
    i = tl.arange(0, M)[:, None]
    j = tl.arange(0, N)[None, :]
    x = tl.load(a + i * K + tl.arange(0, K)[None, :])
    y = tl.load(b + tl.arange(0, K)[:, None] + j * K)
    at = c + i * N + j
    if MOST < 0:
        sum = tl.load(at) + tl.dot(x, y)
    else:
        sum = tl.dot(x, y, tl.load(at), max_num_imprecise_acc=MOST if MOST else None)
    tl.store(at, sum)
)",
                        GetParam(), {a.argument("a"), b.argument("b"), c.argument("c")},
                        {{"M", m}, {"N", n}, {"K", k}, {"MOST", most}}),
              "");
    for (int i = 0; i < m * n; ++i)
      if (std::string(GetParam()) == "emu:sm_90a")
        ASSERT_EQ(c[i], start + (most >= 64 || most < 0 ? 4 : 0)) << most << ", " << i;
      else
        ASSERT_NEAR(double(c[i]), start, 4) << most << ", " << i;
  }
}

/// Of factors and of the result, the step along k, and the error that a sum may have.
struct LoopTypes {
  const char *left, *right, *result;
  int step;
  double tolerance;
};
const LoopTypes loopTypes[] = {{"fp16", "fp16", "fp32", 16, 1e-4},
                               {"fp64", "fp64", "fp64", 16, 1e-12},
                               {"fp8e5", "fp8e4nv", "fp32", 64, 1e-4}};

void checkLoopWithMasks(const char *target, const LoopTypes &types) {
  // An odd inner extent, in steps, as every matrix product does it.
  const int m = 19, n = 37, k = 53;
  Array a = factors(types.left, m * k, 4), b = factors(types.right, k * n, 5),
        c(types.result, m * n);
  SourceOptions options;
  options.grid = {1, 3, 1};
  ASSERT_EQ(runSource(R"(
@triton.jit
def kernel(a, b, c, m, n, k, M: tl.constexpr, N: tl.constexpr, K: tl.constexpr):
    i = tl.arange(0, M)[:, None]
    j = tl.program_id(1) * N + tl.arange(0, N)[None, :]
    sum = tl.zeros((M, N), c.dtype.element_ty)
    for start in range(0, k, K):
        l = start + tl.arange(0, K)
        x = tl.load(a + i * k + l[None, :], mask=(i < m) & (l[None, :] < k), other=0.0)
        y = tl.load(b + l[:, None] * n + j, mask=(l[:, None] < k) & (j < n), other=0.0)
        sum = tl.dot(x, y, sum)
    tl.store(c + i * n + j, sum, mask=(i < m) & (j < n))
)",
                      target,
                      {a.argument("a"),
                       b.argument("b"),
                       c.argument("c"),
                       {"m", "i32", m},
                       {"n", "i32", n},
                       {"k", "i32", k}},
                      {{"M", 32}, {"N", 16}, {"K", types.step}}, options),
            "");
  for (int i = 0; i < m; ++i)
    for (int j = 0; j < n; ++j) {
      long double sum = 0;
      for (int l = 0; l < k; ++l)
        sum += a[i * k + l] * b[l * n + j];
      ASSERT_NEAR(double(c[i * n + j]), double(sum), types.tolerance) << i << ", " << j;
    }
}

TEST_P(Dot, OverALoopWithMasks) {
  for (const LoopTypes &types : loopTypes)
    checkLoopWithMasks(GetParam(), types);
}

void checkLoopWithStrides(const char *target, const LoopTypes &types) {
  // Nothing is known to lie side by side: elements are loaded one by one. Memory has both operands
  // along k here, each with a gap.
  const bool isHalf = NumberType::of(types.left).bits == 16;
  const int m = isHalf ? 128 : 64, n = m, k = 80, rowOfA = k + 1, columnOfB = k + 3;
  Array a = factors(types.left, m * rowOfA, 8), b = factors(types.right, n * columnOfB, 9),
        c(types.result, m * n);
  SourceOptions options;
  options.numWarps = 8;
  ASSERT_EQ(runSource(R"(
@triton.jit
def kernel(a, b, c, k, am, ak, bk, bn, M: tl.constexpr, N: tl.constexpr, K: tl.constexpr):
    i = tl.arange(0, M)[:, None]
    j = tl.arange(0, N)[None, :]
    sum = tl.zeros((M, N), c.dtype.element_ty)
    for start in range(0, k, K):
        l = start + tl.arange(0, K)
        x = tl.load(a + i * am + l[None, :] * ak, mask=l[None, :] < k, other=0.0)
        y = tl.load(b + l[:, None] * bk + j * bn, mask=l[:, None] < k, other=0.0)
        sum = tl.dot(x, y, sum)
    tl.store(c + i * N + j, sum)
)",
                      target,
                      {a.argument("a"),
                       b.argument("b"),
                       c.argument("c"),
                       {"k", "i32", k},
                       {"am", "i32", rowOfA},
                       {"ak", "i32", 1},
                       {"bk", "i32", 1},
                       {"bn", "i32", columnOfB}},
                      {{"M", m}, {"N", n}, {"K", 2 * types.step}}, options),
            "");
  for (int i = 0; i < m; ++i)
    for (int j = 0; j < n; ++j) {
      long double sum = 0;
      for (int l = 0; l < k; ++l)
        sum += a[i * rowOfA + l] * b[j * columnOfB + l];
      ASSERT_NEAR(double(c[i * n + j]), double(sum), types.tolerance) << i << ", " << j;
    }
}

TEST_P(Dot, OverALoopWithStrides) {
  for (const LoopTypes &types : loopTypes)
    checkLoopWithStrides(GetParam(), types);
}

TEST_P(Dot, OverALoopOfSingleElements) {
  // The operand in shared memory is one element, which all rows and columns read.
  const int n = 16, k = 32, trips = 3;
  Array a = factors("fp16", trips, 6), b = factors("fp16", k * n, 7), c("fp32", n * n);
  ASSERT_EQ(runSource(R"(
@triton.jit
def kernel(a, b, c, trips, N: tl.constexpr, K: tl.constexpr):
    j = tl.arange(0, N)
    one = tl.arange(0, 1)
    y = tl.load(b + tl.arange(0, K)[:, None] * N + j[None, :])
    sum = tl.zeros((N, N), tl.float32)
    for t in range(trips):
        x = tl.load(a + t + one[:, None] + one[None, :])
        sum = tl.dot(tl.broadcast_to(x, [N, K]), y, sum)
    tl.store(c + j[:, None] * N + j[None, :], sum)
)",
                      GetParam(),
                      {a.argument("a"), b.argument("b"), c.argument("c"), {"trips", "i32", trips}},
                      {{"N", n}, {"K", k}}),
            "");
  for (int i = 0; i < n * n; ++i) {
    long double sum = 0;
    for (int t = 0; t < trips; ++t)
      for (int l = 0; l < k; ++l)
        sum += a[t] * b[l * n + i % n];
    ASSERT_NEAR(double(c[i]), double(sum), 1e-4) << i;
  }
}

KILN_SOURCE_TESTS(Dot);
INSTANTIATE_TEST_SUITE_P(OfAmd, Dot,
                         ::testing::Values("emu:gfx90a", "emu:gfx950", "emu:gfx1100",
                                           "emu:gfx1201"),
                         sourceTargetName);

} // namespace
} // namespace kiln::testing

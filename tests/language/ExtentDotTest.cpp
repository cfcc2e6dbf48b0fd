// Products of tiles whose extents are not powers of two.

#include "tests/language/Numbers.h"

#include <cmath>

namespace kiln::testing {
namespace {

class ExtentDot : public SourceTest {};

/// C = A B by tiles of M x N x K over a matrix of `k` columns; k is no multiple of K.
const char *const matmul = R"(
@triton.jit
def kernel(a, b, c, k, M: tl.constexpr, N: tl.constexpr, K: tl.constexpr,
           PRECISION: tl.constexpr):
    m, n = tl.arange(0, M)[:, None], tl.arange(0, N)[None, :]
    i = tl.arange(0, K)
    acc = tl.zeros([M, N], tl.int32 if a.dtype.element_ty == tl.int8 else tl.float32)
    for start in range(0, k, K):
        inside = start + i < k
        x = tl.load(a + m * k + (start + i)[None, :], mask=inside[None, :], other=0)
        y = tl.load(b + (start + i)[:, None] * N + n, mask=inside[:, None], other=0)
        acc = tl.dot(x, y, acc, input_precision=PRECISION)
    tl.store(c + m * N + n, acc)
)";

struct Extents {
  int m, n, k, total;
};

void checkMatmul(const char *target, const std::string &type, const char *precision,
                 double tolerance, Extents e) {
  bool isInteger = type == "i8";
  Array a =
      uniformArray(type, size_t(e.m * e.total), 1, isInteger ? -100 : -1, isInteger ? 100 : 1);
  Array b =
      uniformArray(type, size_t(e.total * e.n), 2, isInteger ? -100 : -1, isInteger ? 100 : 1);
  Array c(isInteger ? "i32" : "fp32", size_t(e.m * e.n));
  ASSERT_EQ(runSource(matmul, target,
                      {a.argument("a"), b.argument("b"), c.argument("c"), {"k", "i32", e.total}},
                      {{"M", e.m}, {"N", e.n}, {"K", e.k}, {"PRECISION", precision}}),
            "");
  for (int m = 0; m < e.m; ++m)
    for (int n = 0; n < e.n; ++n) {
      long double sum = 0, magnitude = 0;
      for (int k = 0; k < e.total; ++k) {
        sum += a[m * e.total + k] * b[k * e.n + n];
        magnitude += std::fabs(a[m * e.total + k] * b[k * e.n + n]);
      }
      ASSERT_NEAR(double(c[m * e.n + n]), double(sum), tolerance * double(magnitude))
          << type << " " << e.m << "x" << e.n << "x" << e.k << " at " << m << ", " << n;
    }
}

TEST_P(ExtentDot, OfEveryOperandType) {
  Extents extents{48, 96, 40, 100};
  checkMatmul(GetParam(), "fp16", "ieee", 1e-6, extents);
  checkMatmul(GetParam(), "bf16", "ieee", 1e-6, extents);
  checkMatmul(GetParam(), "fp32", "tf32", 2e-3, extents);
  checkMatmul(GetParam(), "fp32", "ieee", 1e-6, extents);
  checkMatmul(GetParam(), "i8", "ieee", 0, extents);
}

TEST_P(ExtentDot, OfManyShapes) {
  for (Extents extents : {Extents{16, 16, 24, 48}, Extents{17, 33, 16, 40}, Extents{5, 3, 7, 20},
                          Extents{100, 48, 32, 64}, Extents{96, 80, 48, 96}})
    checkMatmul(GetParam(), "fp16", "ieee", 1e-6, extents);
}

TEST_P(ExtentDot, PaddingIsZeroWhateverItIsMadeOf) {
  // Operands that are infinite or NaN in padding: computed, transposed, reduced from.
  const char *source = R"(
@triton.jit
def kernel(a, b, c, M: tl.constexpr, N: tl.constexpr, K: tl.constexpr):
    m, n, k = tl.arange(0, M), tl.arange(0, N), tl.arange(0, K)
    x = tl.load(a + m[:, None] * K + k[None, :]) / (K - k)[None, :].to(tl.float32)
    y = tl.trans(tl.log((K - n[:, None] * 0 - k[None, :]).to(tl.float32))) + tl.load(b + k[:, None] * N + n[None, :])
    z = tl.dot(x.to(tl.float16), y.to(tl.float16))
    tl.store(c + m[:, None] * N + n[None, :], z)
)";
  int ms = 20, ns = 24, ks = 40;
  Array a = uniformArray("fp32", size_t(ms * ks), 3, -1, 1);
  Array b = uniformArray("fp32", size_t(ks * ns), 4, -1, 1);
  Array c("fp32", size_t(ms * ns));
  ASSERT_EQ(runSource(source, GetParam(), {a.argument("a"), b.argument("b"), c.argument("c")},
                      {{"M", ms}, {"N", ns}, {"K", ks}}),
            "");
  for (int m = 0; m < ms; ++m)
    for (int n = 0; n < ns; ++n) {
      double sum = 0;
      for (int k = 0; k < ks; ++k)
        sum +=
            double(a[m * ks + k]) / (ks - k) * (std::log(double(ks - k)) + double(b[k * ns + n]));
      ASSERT_NEAR(double(c[m * ns + n]), sum, 1e-2) << m << ", " << n;
    }
}

TEST_P(ExtentDot, BatchesAndChains) {
  // (A B) C of three matrices at once: the first product's padding is the second's K.
  const char *source = R"(
@triton.jit
def kernel(a, b, c, d, G: tl.constexpr, M: tl.constexpr, N: tl.constexpr, K: tl.constexpr):
    g = tl.arange(0, G)[:, None, None]
    m, n, k = tl.arange(0, M), tl.arange(0, N), tl.arange(0, K)
    x = tl.load(a + (g * M + m[None, :, None]) * K + k[None, None, :])
    y = tl.load(b + (g * K + k[None, :, None]) * N + n[None, None, :])
    z = tl.load(c + (g * N + n[None, :, None]) * K + k[None, None, :])
    w = tl.dot(tl.dot(x, y).to(tl.float16), z)
    tl.store(d + (g * M + m[None, :, None]) * K + k[None, None, :], w)
)";
  int gs = 3, ms = 16, ns = 20, ks = 24;
  Array a = uniformArray("fp16", size_t(gs * ms * ks), 5, -1, 1);
  Array b = uniformArray("fp16", size_t(gs * ks * ns), 6, -1, 1);
  Array c = uniformArray("fp16", size_t(gs * ns * ks), 7, -1, 1);
  Array d("fp32", size_t(gs * ms * ks));
  ASSERT_EQ(runSource(source, GetParam(),
                      {a.argument("a"), b.argument("b"), c.argument("c"), d.argument("d")},
                      {{"G", gs}, {"M", ms}, {"N", ns}, {"K", ks}}),
            "");
  for (int g = 0; g < gs; ++g)
    for (int m = 0; m < ms; ++m)
      for (int k = 0; k < ks; ++k) {
        double sum = 0;
        for (int n = 0; n < ns; ++n) {
          double inner = 0;
          for (int l = 0; l < ks; ++l)
            inner += double(a[(g * ms + m) * ks + l]) * double(b[(g * ks + l) * ns + n]);
          sum += inner * double(c[(g * ns + n) * ks + k]);
        }
        ASSERT_NEAR(double(d[(g * ms + m) * ks + k]), sum, 2e-2) << g << ", " << m << ", " << k;
      }
}

KILN_SOURCE_TESTS_ON_ALL(ExtentDot);

} // namespace
} // namespace kiln::testing

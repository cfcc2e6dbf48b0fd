// Products of tiles of which masks leave out most: heads of few dimensions, short sequences. All
// numbers are small integers, so that sums are exact.

#include "tests/language/ExactProduct.h"

namespace kiln::testing {
namespace {

class NarrowTile : public SourceTest {};

/// Attention's shape, its pointers moved by the loop, and what it stores in the end.
const std::string attention = R"(
@triton.jit
def kernel(pq, pk, pv, po, M, N, D: tl.constexpr, S: tl.constexpr, BM: tl.constexpr, BN: tl.constexpr, BD: tl.constexpr):
    i = tl.program_id(0) * BM + tl.arange(0, BM)
    j = tl.arange(0, BN)
    d = tl.arange(0, BD)
    q = tl.load(pq + i[:, None] * S + d[None, :], mask=(i[:, None] < M) & (d[None, :] < D), other=0.0)
    ks = pk + j[None, :] * S + d[:, None]
    vs = pv + j[:, None] * D + d[None, :]
    sum = tl.zeros((BM, BD), tl.float32)
    for n in range(0, N, BN):
        k = tl.load(ks, mask=(n + j[None, :] < N) & (d[:, None] < D), other=0.0)
        v = tl.load(vs, mask=(n + j[:, None] < N) & (d[None, :] < D), other=0.0)
        p = tl.minimum(tl.maximum(tl.dot(q, k), -4.0), 4.0)
        sum = sum * 0.5 + tl.dot(p.to(tl.float16), v)
        ks += BN * S
        vs += BN * D
    tl.store(po + i[:, None] * D + d[None, :], sum EXTRA, mask=(i[:, None] < M) & (d[None, :] < D))
)";

struct Shape {
  int dim, tile;
};

void check(const char *target, Shape shape, const std::string &extra = "", double factor = 1) {
  constexpr int m = 70, n = 101, blockM = 64, blockN = 32;
  std::string source = attention;
  source.replace(source.find("EXTRA"), 5, extra);
  ExactProduct product(m, n, shape.dim, /*transposed=*/true);
  Buffer<uint16_t> values(size_t(n) * shape.dim);
  Random random{unsigned(shape.dim)};
  for (size_t i = 0; i < values.count(); ++i)
    values[i] = ExactProduct::halfOf(int(random.below(5)) - 2);
  Buffer<float> out(size_t(m) * shape.dim);
  SourceOptions options;
  options.grid = {2, 1, 1};
  ASSERT_EQ(runSource(source, target,
                      {{"pq", "*fp16", product.a},
                       {"pk", "*fp16", product.b},
                       {"pv", "*fp16", values},
                       {"po", "*fp32", out},
                       {"M", "i32", m},
                       {"N", "i32", n}},
                      {{"D", shape.dim},
                       {"S", product.strideA},
                       {"BM", blockM},
                       {"BN", blockN},
                       {"BD", shape.tile}},
                      options),
            "");
  for (int i = 0; i < m; ++i)
    for (int d = 0; d < shape.dim; ++d) {
      double sum = 0;
      for (int first = 0; first < n; first += blockN) {
        sum *= 0.5;
        for (int l = first; l < std::min(first + blockN, n); ++l)
          sum += std::clamp(product.C(i, l), -4.0, 4.0) *
                 ExactProduct::valueOf(values[size_t(l) * shape.dim + d]);
      }
      ASSERT_EQ(double(out[size_t(i) * shape.dim + d]), sum * factor) << i << ", " << d;
    }
}

TEST_P(NarrowTile, HeadsOfFewDimensions) {
  for (Shape shape :
       {Shape{16, 64}, Shape{20, 128}, Shape{5, 32}, Shape{40, 64}, Shape{96, 128}, Shape{64, 64}})
    check(GetParam(), shape);
}

/// What wants all of the carried tile: a maximum of its rows, of which those left out are zero.
TEST_P(NarrowTile, WhatIsAlsoWantedAsAWhole) {
  check(GetParam(), {16, 64}, "+ tl.max(sum, 1)[:, None] - tl.max(sum, 1)[:, None]");
}

TEST_P(NarrowTile, ShortSequences) {
  const char *source = R"(
@triton.jit
def kernel(a, b, c, S: tl.constexpr, SA: tl.constexpr, D: tl.constexpr, B: tl.constexpr):
    i, j = tl.arange(0, B), tl.arange(0, D)
    sum = tl.zeros((B, D), tl.float32)
    for first in range(0, S, B):
        k = first + tl.arange(0, B)
        x = tl.load(a + i[:, None] * SA + k[None, :], mask=(i[:, None] < S) & (k[None, :] < S), other=0.0)
        y = tl.load(b + k[:, None] * D + j[None, :], mask=k[:, None] < S, other=0.0)
        sum += tl.dot(x, y)
    tl.store(c + i[:, None] * D + j[None, :], sum, mask=i[:, None] < S)
)";
  for (int length : {9, 16, 33}) {
    constexpr int dim = 32;
    ExactProduct product(length, dim, length, /*transposed=*/false);
    Buffer<float> out(size_t(length) * dim);
    ASSERT_EQ(runSource(source, GetParam(),
                        {{"a", "*fp16", product.a}, {"b", "*fp16", product.b}, {"c", "*fp32", out}},
                        {{"S", length}, {"SA", product.strideA}, {"D", dim}, {"B", 64}}),
              "");
    for (int i = 0; i < length; ++i)
      for (int j = 0; j < dim; ++j)
        ASSERT_EQ(double(out[i * dim + j]), product.C(i, j)) << i << ", " << j;
  }
}

INSTANTIATE_TEST_SUITE_P(, NarrowTile,
                         ::testing::Values("cpu", "emu:sm_90a", "emu:gfx90a", "emu:gfx942",
                                           "emu:gfx950", "emu:gfx1100", "emu:gfx1201"),
                         sourceTargetName);

} // namespace
} // namespace kiln::testing

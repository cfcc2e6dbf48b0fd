// Programs that the blocks of a cluster share (num_ctas), where nothing but the division matters:
// elementwise operations, reductions, transpositions, atomics, what one block does for all, and
// programs that stay on one block. Products are in DescriptorProductTest and PointerProductTest.

#include "tests/language/SourceKernel.h"

namespace kiln::testing {
namespace {

SourceOptions clusterOf(unsigned blocks, unsigned programs = 1) {
  SourceOptions options;
  options.numCtas = blocks;
  options.grid = {programs, 1, 1};
  return options;
}

class Cluster : public SourceTest {};

TEST_P(Cluster, OfElements) {
  constexpr int n = 1000;
  for (unsigned blocks : {2u, 4u, 8u}) {
    Buffer<float> x(n), y(n);
    for (int i = 0; i < n; ++i)
      x[i] = float(i % 37) - 18;
    ASSERT_EQ(runSource(R"(
@triton.jit
def kernel(p, q, n, N: tl.constexpr):
    i = tl.program_id(0) * N + tl.arange(0, N)
    x = tl.load(p + i, mask=i < n)
    tl.store(q + i, x * 2 + i, mask=i < n)
)",
                        GetParam(), {{"p", "*fp32", x}, {"q", "*fp32", y}, {"n", "i32", n}},
                        {{"N", 256}}, clusterOf(blocks, 4)),
              "");
    for (int i = 0; i < n; ++i)
      ASSERT_EQ(y[i], x[i] * 2 + i) << i << ", " << blocks << " blocks";
  }
}

/// Rows are divided for their sums and for the transposed tile, whose columns they are.
TEST_P(Cluster, OfRows) {
  constexpr int m = 61, n = 30;
  Buffer<int32_t> x(m * n), sums(m), turned(n * m);
  for (int i = 0; i < m * n; ++i)
    x[i] = i * 7 % 101;
  ASSERT_EQ(runSource(R"(
@triton.jit
def kernel(p, s, q, m, n, M: tl.constexpr, N: tl.constexpr):
    i = tl.arange(0, M)
    j = tl.arange(0, N)
    x = tl.load(p + i[:, None] * n + j[None, :], mask=(i[:, None] < m) & (j[None, :] < n), other=0)
    for k in range(3):
        x = x + k
    tl.store(s + i, tl.sum(tl.where(j[None, :] < n, x, 0), axis=1), mask=i < m)
    tl.store(q + j[:, None] * m + i[None, :], x.T, mask=(j[:, None] < n) & (i[None, :] < m))
)",
                      GetParam(),
                      {{"p", "*i32", x},
                       {"s", "*i32", sums},
                       {"q", "*i32", turned},
                       {"m", "i32", m},
                       {"n", "i32", n}},
                      {{"M", 64}, {"N", 32}}, clusterOf(4)),
            "");
  for (int i = 0; i < m; ++i) {
    int sum = 0;
    for (int j = 0; j < n; ++j) {
      sum += x[i * n + j] + 3;
      ASSERT_EQ(turned[j * m + i], x[i * n + j] + 3) << i << ", " << j;
    }
    ASSERT_EQ(sums[i], sum) << i;
  }
}

/// What has no axis the first block does alone; additions are each block's.
TEST_P(Cluster, OfAScalarAndAtomics) {
  Buffer<int32_t> count(1), sums(64);
  count[0] = 5;
  for (int i = 0; i < 64; ++i)
    sums[i] = i;
  ASSERT_EQ(runSource(R"(
@triton.jit
def kernel(c, s, N: tl.constexpr):
    i = tl.arange(0, N)
    tl.atomic_add(s + i, i + 1, sem="relaxed")
    tl.atomic_add(c, 1, sem="relaxed")
)",
                      GetParam(), {{"c", "*i32", count}, {"s", "*i32", sums}}, {{"N", 64}},
                      clusterOf(2, 3)),
            "");
  EXPECT_EQ(count[0], 8);
  for (int i = 0; i < 64; ++i)
    ASSERT_EQ(sums[i], i + 3 * (i + 1)) << i;
}

/// The subtiles of a tile, as the end of tutorial 09's loop stores them.
TEST_P(Cluster, OfSubtiles) {
  constexpr int m = 64, n = 32;
  Buffer<int32_t> left(m * n / 2), right(m * n / 2);
  ASSERT_EQ(runSource(R"(
@triton.jit
def kernel(p, q, M: tl.constexpr, N: tl.constexpr):
    i = tl.arange(0, M)
    x = i[:, None] * 100 + tl.arange(0, N)[None, :]
    x = tl.permute(tl.reshape(x, (M, 2, N // 2)), (0, 2, 1))
    a, b = tl.split(x)
    j = tl.arange(0, N // 2)
    tl.store(p + i[:, None] * (N // 2) + j[None, :], a)
    tl.store(q + i[:, None] * (N // 2) + j[None, :], b)
)",
                      GetParam(), {{"p", "*i32", left}, {"q", "*i32", right}}, {{"M", m}, {"N", n}},
                      clusterOf(2)),
            "");
  for (int i = 0; i < m; ++i)
    for (int j = 0; j < n / 2; ++j) {
      ASSERT_EQ(left[i * n / 2 + j], i * 100 + j);
      ASSERT_EQ(right[i * n / 2 + j], i * 100 + n / 2 + j);
    }
}

/// All that is read, and a result that all parts depend on: one block does all of it.
TEST_P(Cluster, ThatCannotBeDivided) {
  constexpr int n = 50;
  Buffer<float> x(n), y(n), z(n);
  for (int i = 0; i < n; ++i)
    x[i] = float(i % 7);
  ASSERT_EQ(runSource(R"(
@triton.jit
def kernel(p, q, r, n, N: tl.constexpr):
    i = tl.arange(0, N)
    x = tl.load(p + i, mask=i < n, other=0)
    tl.store(q + i, x - tl.sum(x), mask=i < n)
    tl.store(r + i, tl.load(q + n - 1 - i, mask=i < n), mask=i < n)
)",
                      GetParam(),
                      {{"p", "*fp32", x}, {"q", "*fp32", y}, {"r", "*fp32", z}, {"n", "i32", n}},
                      {{"N", 64}}, clusterOf(2)),
            "");
  float sum = 0;
  for (int i = 0; i < n; ++i)
    sum += x[i];
  for (int i = 0; i < n; ++i) {
    ASSERT_EQ(y[i], x[i] - sum);
    ASSERT_EQ(z[i], x[n - 1 - i] - sum);
  }
}

INSTANTIATE_TEST_SUITE_P(, Cluster, ::testing::Values("cpu", "emu:sm_90a"), sourceTargetName);

} // namespace
} // namespace kiln::testing

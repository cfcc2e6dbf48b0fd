// Tiles that several products multiply by, outside of loops or loaded ahead of one: where units
// read shared memory one buffer serves all, and where threads have too few registers each product
// reads what it needs. All numbers are exact: small integers, and sums of their products.

#include "tests/language/Matrix.h"

namespace kiln::testing {
namespace {

constexpr int rows = 64, maxTrips = 3;

/// X, Y and V have 64 rows, W is N x N; Z has a block of 64 rows for each iteration.
struct Memory {
  int N;
  Array x, y, v, w, z;
  Buffer<float> c, d;

  Memory(const std::string &type, int N)
      : N(N), x(type, rows * N), y(type, rows * N), v(type, rows * N), w(type, N * N),
        z(type, maxTrips * rows * N), c(size_t(rows) * N), d(size_t(N) * N) {
    Random random(5);
    for (Array *array : {&x, &y, &v, &w, &z})
      for (size_t i = 0; i < array->count(); ++i)
        array->set(i, int(random.below(3)) - 1);
  }
  Matrix X() const { return {x, 0, rows, N}; }
  Matrix Y() const { return {y, 0, rows, N}; }
  Matrix V() const { return {v, 0, rows, N}; }
  Matrix W() const { return {w, 0, N, N}; }
  Matrix Z(int block) const { return {z, block * rows * N, rows, N}; }

  std::vector<SourceArgument> arguments(int trips) const {
    return {x.argument("x"), y.argument("y"),   v.argument("v"),   w.argument("w"),
            z.argument("z"), {"c", "*fp32", c}, {"d", "*fp32", d}, {"trips", "i32", trips}};
  }
};

const std::string head = R"(
@triton.jit
def kernel(x, y, v, w, z, c, d, trips, N: tl.constexpr):
    i = tl.arange(0, 64)[:, None]
    k = tl.arange(0, N)[:, None]
    j = tl.arange(0, N)[None, :]
    described_x = tl.make_tensor_descriptor(x, [64, N], [N, 1], [64, N])
    described_y = tl.make_tensor_descriptor(y, [64, N], [N, 1], [64, N])
)";

/// As in a chunk of a linear attention's backward pass.
const std::string products = R"(
    p = tl.dot(X, tl.trans(Y))
    V = tl.load(v + i * N + j)
    W = tl.load(w + k * N + j)
    sum = tl.dot(p.to(X.dtype), V)
    sum = tl.dot(X, W, sum)
    other = tl.dot(tl.trans(X), Y)
    tl.store(c + i * N + j, sum)
    other = tl.dot(tl.trans(Y), V, other)
    other = tl.dot(tl.trans(W), W, other)
    tl.store(d + k * N + j, other)
)";
const std::string byDescriptors =
                      "\n    X = described_x.load([0, 0])\n    Y = described_y.load([0, 0])",
                  byPointers = "\n    X = tl.load(x + i * N + j)\n    Y = tl.load(y + i * N + j)";

/// X and Y are as wide as Z has rows; the tile that a thread multiplies by is the loop's.
const std::string loop = R"(
    e = tl.arange(0, 64)[None, :]
    X = tl.load(x + i * N + e)
    Y = tl.load(y + i * N + e)
    sum = tl.zeros((64, N), tl.float32)
    other = tl.zeros((64, N), tl.float32)
    for t in range(trips):
        Z = tl.load(z + (t * 64 + i) * N + j)
        sum = tl.dot(X, Z, sum)
        other = tl.dot(Y, Z, other)
    tl.store(c + i * N + j, sum)
    tl.store(d + i * N + j, other)
)";

class RepeatedOperand : public SourceTest {
protected:
  void check(const std::string &body, unsigned warps, int N, int trips,
             const std::string &type = "fp16") {
    SCOPED_TRACE(type + ", " + std::to_string(warps) + " warps, " + std::to_string(N) + body);
    SourceOptions options;
    options.numWarps = warps;
    Memory memory(type, N);
    SourceKernel kernel(head + body, GetParam(), memory.arguments(0), {{"N", N}}, options);
    ASSERT_EQ(kernel.run(memory.arguments(trips)), "");
    if (trips)
      expectLoop(memory, trips);
    else
      expectProducts(memory);
  }

private:
  static void expect(const Buffer<float> &got, const Matrix &sum) {
    for (int i = 0; i < sum.rows; ++i)
      for (int j = 0; j < sum.columns; ++j)
        ASSERT_EQ(got[i * sum.columns + j], sum(i, j)) << i << ", " << j;
  }
  static void expectProducts(const Memory &m) {
    expect(m.c, m.X() * m.Y().transposed() * m.V() + m.X() * m.W());
    expect(m.d,
           m.X().transposed() * m.Y() + m.Y().transposed() * m.V() + m.W().transposed() * m.W());
  }
  static void expectLoop(const Memory &m, int trips) {
    Matrix sum(rows, m.N), other(rows, m.N);
    for (int block = 0; block < trips; ++block) {
      sum = sum + m.X().part(0, 0, rows, rows) * m.Z(block);
      other = other + m.Y().part(0, 0, rows, rows) * m.Z(block);
    }
    expect(m.c, sum);
    expect(m.d, other);
  }
};

TEST_P(RepeatedOperand, StraightProducts) {
  for (int N : {64, 128}) {
    check(byDescriptors + products, /*warps=*/4, N, /*trips=*/0);
    check(byPointers + products, 4, N, 0);
  }
  check(byPointers + products, 2, 64, 0, "bf16");
}

/// Registers for the sums alone, or for less.
TEST_P(RepeatedOperand, LoadedAheadOfALoop) {
  check(loop, /*warps=*/2, /*N=*/128, maxTrips);
  check(loop, 1, 64, maxTrips);
  check(loop, 2, 128, 1, "bf16");
}

INSTANTIATE_TEST_SUITE_P(, RepeatedOperand,
                         ::testing::Values("cpu", "emu:sm_80", "emu:sm_90a", "emu:gfx942"),
                         sourceTargetName);

} // namespace
} // namespace kiln::testing

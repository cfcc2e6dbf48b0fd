#include "split_k_matmul.h"
#include "tests/kernels/Matrix.h"

using namespace kiln::test;

namespace {

class SplitKMatmul : public KernelTest {
protected:
  void run(Matrix a, Matrix b, Matrix c) {
    SCOPED_TRACE(testing::Message() << a.rows << " x " << b.columns << " x " << a.columns);
    Buffer<F16> as(a.size()), bs(b.size());
    Buffer<float> cs(c.size());
    as.fill([&](size_t) { return F16(random()); });
    bs.fill([&](size_t) { return F16(random()); });
    const float before = 0.5f;
    cs.fill([&](size_t) { return before; });
    ASSERT_KILN(split_k_matmul_f16(stream(), as.data(), bs.data(), cs.data(), c.rows, c.columns,
                                   a.columns, a.rowStride(), 1, b.rowStride(), b.columnStride(),
                                   c.rowStride(), 1));
    const Product product(as.data(), a, bs.data(), b);
    expectElements(cs.data(), c, 1e-4, [&](int i, int j) { return before + product(i, j); });
    expectUntouchedBetween(cs, c, before);
    EXPECT_TRUE(cs.guardsHold());
  }
};

TEST_P(SplitKMatmul, AddsPiecesOfAlignedOperands) {
  run({1, 1040}, {1040, 64, 0, true}, {1, 64});
  run({16, 2560}, {2560, 80, 16, true}, {16, 80, 16});
}

TEST_P(SplitKMatmul, MatchesForOddShapes) {
  run({3, 7}, {7, 5}, {3, 5});
  run({35, 1100, 1}, {1100, 66, 3}, {35, 66, 7});
}

KILN_INSTANTIATE(SplitKMatmul);

} // namespace

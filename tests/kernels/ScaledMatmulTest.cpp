#include "scaled_matmul.h"
#include "tests/kernels/Matrix.h"

using namespace kiln::test;

namespace {

/// B is stored N x K: K x N, transposed, as the reference sees it.
class ScaledMatmul : public KernelTest {
protected:
  void runRows(Matrix a, Matrix b, Matrix c) {
    Buffer<float> scaleA(a.rows), scaleB(b.columns);
    fill(scaleA, scaleB);
    run(
        a, b, c,
        [&](E4M3 *as, E4M3 *bs, BF16 *cs) {
          return row_scaled_matmul_f8e4m3(stream(), as, bs, scaleA.data(), scaleB.data(), cs,
                                          c.rows, c.columns, a.columns, a.rowStride(), 1,
                                          b.columnStride(), 1, c.rowStride(), 1);
        },
        [&](int i, int j, int) { return double(scaleA[i]) * double(scaleB[j]); });
  }

  void runBlocks(Matrix a, Matrix b, Matrix c) {
    const int groups = (a.columns + 127) / 128, blocks = (b.columns + 127) / 128;
    Buffer<float> scaleA(a.rows * groups), scaleB(blocks * groups);
    fill(scaleA, scaleB);
    run(
        a, b, c,
        [&](E4M3 *as, E4M3 *bs, BF16 *cs) {
          return block_scaled_matmul_f8e4m3(
              stream(), as, bs, scaleA.data(), scaleB.data(), cs, c.rows, c.columns, a.columns,
              a.rowStride(), 1, b.columnStride(), 1, c.rowStride(), 1, groups, 1, groups, 1);
        },
        [&](int i, int j, int k) {
          return double(scaleA[i * groups + k / 128]) * double(scaleB[j / 128 * groups + k / 128]);
        });
  }

private:
  void fill(Buffer<float> &a, Buffer<float> &b) {
    a.fill([&](size_t) { return random(0.25, 2); });
    b.fill([&](size_t) { return random(0.25, 2); });
  }

  template <typename Launch, typename Scale>
  void run(Matrix a, Matrix b, Matrix c, Launch launch, Scale scale) {
    SCOPED_TRACE(testing::Message() << a.rows << " x " << b.columns << " x " << a.columns);
    Buffer<E4M3> as(a.size()), bs(b.size());
    Buffer<BF16> cs(c.size());
    as.fill([&](size_t) { return E4M3(random()); });
    bs.fill([&](size_t) { return E4M3(random()); });
    const BF16 untouched(-99.f);
    cs.fill([&](size_t) { return untouched; });
    ASSERT_KILN(launch(as.data(), bs.data(), cs.data()));
    const std::vector<float> left = valuesOf(as), right = valuesOf(bs);
    expectElements(cs.data(), c, 8e-3, [&](int i, int j) {
      double sum = 0;
      for (int k = 0; k < a.columns; ++k)
        sum += scale(i, j, k) * double(left[a.at(i, k)]) * double(right[b.at(k, j)]);
      return sum;
    });
    expectUntouchedBetween(cs, c, untouched);
    EXPECT_TRUE(cs.guardsHold());
  }
};

TEST_P(ScaledMatmul, RowsAndColumns) {
  runRows({100, 160, 16}, {160, 144, 0, true}, {100, 144, 16});
  runRows({33, 70, 1}, {70, 66, 3, true}, {33, 66, 5});
}

TEST_P(ScaledMatmul, BlocksAlongK) {
  runBlocks({100, 272, 16}, {272, 144, 0, true}, {100, 144, 16});
  runBlocks({35, 131, 1}, {131, 130, 3, true}, {35, 130, 5});
}

KILN_INSTANTIATE(ScaledMatmul);

} // namespace

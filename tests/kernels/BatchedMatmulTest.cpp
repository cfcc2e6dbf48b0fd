#include "batched_matmul.h"
#include "tests/kernels/Matrix.h"

using namespace kiln::test;

namespace {

class BatchedMatmul : public KernelTest {
protected:
  /// The same B for all where `isShared`.
  void run(int batch, Matrix a, Matrix b, Matrix c, bool isShared = false) {
    SCOPED_TRACE(testing::Message() << a.rows << " x " << b.columns << " x " << a.columns);
    // Room between the matrices, in multiples of 16.
    const int64_t strideA = a.size() + 32, strideB = isShared ? 0 : b.size() + 16,
                  strideC = c.size() + 48;
    Buffer<F16> as(strideA * batch), bs(isShared ? b.size() : strideB * batch), cs(strideC * batch);
    as.fill([&](size_t) { return F16(random()); });
    bs.fill([&](size_t) { return F16(random()); });
    const F16 untouched(-99.f);
    cs.fill([&](size_t) { return untouched; });
    ASSERT_KILN(batched_matmul_f16(stream(), as.data(), bs.data(), cs.data(), c.rows, c.columns,
                                   a.columns, strideA, a.rowStride(), a.columnStride(), strideB,
                                   b.rowStride(), b.columnStride(), strideC, c.rowStride(),
                                   c.columnStride(), batch));
    for (int n = 0; n < batch; ++n) {
      expectElements(&cs[n * strideC], c, 2e-3, Product(&as[n * strideA], a, &bs[n * strideB], b));
      for (int64_t i = c.size(); i < strideC; ++i)
        ASSERT_EQ(cs[n * strideC + i].bits, untouched.bits) << n << ": " << i;
    }
    EXPECT_TRUE(cs.guardsHold());
  }
};

TEST_P(BatchedMatmul, MatchesForOddShapes) {
  run(3, {1, 1}, {1, 1}, {1, 1});
  run(2, {33, 70}, {70, 65}, {33, 65});
  run(3, {17, 20, 3, true}, {20, 41, 1, true}, {17, 41, 0, true});
}

TEST_P(BatchedMatmul, MatchesWhereEverythingIsAligned) {
  run(2, {100, 96}, {96, 144}, {100, 144});
  run(3, {64, 48, 16}, {48, 128}, {64, 128}, /*isShared=*/true);
}

TEST_P(BatchedMatmul, AnEmptyBatchIsASuccess) {
  EXPECT_KILN(batched_matmul_f16(stream(), nullptr, nullptr, nullptr, 8, 8, 8, 64, 8, 1, 64, 8, 1,
                                 64, 8, 1, 0));
}

KILN_INSTANTIATE(BatchedMatmul);

} // namespace

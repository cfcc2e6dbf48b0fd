#include "int4_matmul.h"
#include "tests/kernels/Matrix.h"

using namespace kiln::test;

namespace {

class Int4Matmul : public KernelTest {
protected:
  /// `launch` is called with A, B, scales, zero points, C.
  template <typename T, typename Launch>
  void run(int m, int n, int k, int padding, double tolerance, Launch launch) {
    SCOPED_TRACE(testing::Message() << m << " x " << n << " x " << k);
    Matrix a{m, k, padding}, b{(k + 1) / 2, n, padding}, scales{(k + 127) / 128, n, padding},
        c{m, n, padding};
    Buffer<T> as(a.size()), ss(scales.size()), zs(scales.size()), cs(c.size());
    Buffer<uint8_t> bs(b.size());
    as.fill([&](size_t) { return T(random()); });
    bs.fill([&](size_t) { return uint8_t(random(0, 256)); });
    ss.fill([&](size_t) { return T(random(0.02f, 0.2f)); });
    zs.fill([&](size_t) { return T(std::floor(random(4, 12))); });
    const T untouched(-99.f);
    cs.fill([&](size_t) { return untouched; });
    ASSERT_KILN(launch(as.data(), bs.data(), ss.data(), zs.data(), cs.data(), a, b, scales, c));
    const Matrix weights{k, n};
    std::vector<T> ws(weights.size());
    for (int l = 0; l < k; ++l)
      for (int j = 0; j < n; ++j) {
        int weight = bs[b.at(l / 2, j)] >> (l % 2 * 4) & 15;
        size_t group = scales.at(l / 128, j);
        // The kernel rounds each weight to A's type.
        ws[weights.at(l, j)] = T(float((weight - valueOf(zs[group])) * valueOf(ss[group])));
      }
    expectElements(cs.data(), c, tolerance, Product(as.data(), a, ws.data(), weights));
    expectUntouchedBetween(cs, c, untouched);
    EXPECT_TRUE(cs.guardsHold());
  }

  void runF16(int m, int n, int k, int padding) {
    run<F16>(m, n, k, padding, 2e-3,
             [&](F16 *as, uint8_t *bs, F16 *ss, F16 *zs, F16 *cs, Matrix a, Matrix b, Matrix scales,
                 Matrix c) {
               return int4_matmul_f16(stream(), as, bs, ss, zs, cs, m, n, k, a.rowStride(), 1,
                                      b.rowStride(), 1, scales.rowStride(), 1, c.rowStride(), 1);
             });
  }
};

TEST_P(Int4Matmul, MatchesForOddShapes) {
  runF16(1, 1, 1, 0);
  runF16(33, 70, 131, 3);
}

TEST_P(Int4Matmul, MatchesForFewAndForManyAlignedRows) {
  runF16(5, 144, 272, 16);
  runF16(100, 144, 160, 0);
}

TEST_P(Int4Matmul, InBF16) {
  run<BF16>(70, 128, 144, 16, 1e-2,
            [&](BF16 *as, uint8_t *bs, BF16 *ss, BF16 *zs, BF16 *cs, Matrix a, Matrix b,
                Matrix scales, Matrix c) {
              return int4_matmul_bf16(stream(), as, bs, ss, zs, cs, 70, 128, 144, a.rowStride(),
                                      b.rowStride(), scales.rowStride(), c.rowStride());
            });
}

KILN_INSTANTIATE(Int4Matmul);

} // namespace

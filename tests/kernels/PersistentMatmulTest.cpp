#include "persistent_matmul.h"
#include "tests/kernels/Matrix.h"

using namespace kiln::test;

namespace {

class PersistentMatmul : public KernelTest {
protected:
  void run(Matrix a, Matrix b, Matrix c, int programs) {
    SCOPED_TRACE(testing::Message() << a.rows << " x " << b.columns << " x " << a.columns << ", "
                                    << programs << " programs");
    Buffer<F16> as(a.size()), bs(b.size()), cs(c.size());
    as.fill([&](size_t) { return F16(random()); });
    bs.fill([&](size_t) { return F16(random()); });
    const F16 untouched(-99.f);
    cs.fill([&](size_t) { return untouched; });
    ASSERT_KILN(persistent_matmul_f16(stream(), as.data(), bs.data(), cs.data(), c.rows, c.columns,
                                      a.columns, a.rowStride(), 1, b.rowStride(), 1, c.rowStride(),
                                      1, programs));
    expectElements(cs.data(), c, 2e-3, Product(as.data(), a, bs.data(), b));
    expectUntouchedBetween(cs, c, untouched);
    EXPECT_TRUE(cs.guardsHold());
  }
};

TEST_P(PersistentMatmul, MatchesForAnyNumberOfPrograms) {
  for (int programs : {1, 2, 100})
    run({200, 80}, {80, 272}, {200, 272, 16}, programs);
}

TEST_P(PersistentMatmul, MatchesForOddShapes) {
  run({1, 1}, {1, 1}, {1, 1}, 1);
  run({130, 45, 1}, {45, 67, 3}, {130, 67, 5}, 2);
}

KILN_INSTANTIATE(PersistentMatmul);

} // namespace

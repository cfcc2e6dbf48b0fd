#include "grouped_matmul.h"
#include "tests/kernels/Matrix.h"

using namespace kiln::test;

namespace {

class GroupedMatmul : public KernelTest {
protected:
  /// Rows of each expert in turn; w is experts x N x K.
  void runExperts(const std::vector<int> &rows, int n, int k, int padding, int programs) {
    SCOPED_TRACE(testing::Message() << n << " x " << k << ", " << programs << " programs");
    Buffer<int32_t> offsets(rows.size() + 1);
    offsets[0] = 0;
    for (size_t e = 0; e < rows.size(); ++e)
      offsets[e + 1] = offsets[e] + rows[e];
    const int total = offsets[rows.size()];
    Matrix x{total, k, padding}, w{k, n, padding, true}, y{total, n, padding};
    const int64_t strideE = w.size();
    Buffer<F16> xs(x.size()), ws(strideE * rows.size()), ys(y.size());
    xs.fill([&](size_t) { return F16(random()); });
    ws.fill([&](size_t) { return F16(random()); });
    const F16 untouched(-99.f);
    ys.fill([&](size_t) { return untouched; });
    ASSERT_KILN(expert_matmul_f16(stream(), xs.data(), ws.data(), ys.data(), offsets.data(),
                                  int(rows.size()), n, k, x.rowStride(), 1, strideE,
                                  w.columnStride(), 1, y.rowStride(), 1, programs));
    std::vector<Product> products;
    for (size_t e = 0; e < rows.size(); ++e)
      products.emplace_back(xs.data(), x, &ws[e * strideE], w);
    expectElements(ys.data(), y, 2e-3, [&](int i, int j) {
      size_t e = 0;
      while (i >= offsets[e + 1])
        ++e;
      return products[e](i, j);
    });
    expectUntouchedBetween(ys, y, untouched);
    EXPECT_TRUE(ys.guardsHold());
  }
};

TEST_P(GroupedMatmul, ExpertsHaveAnyNumberOfRows) {
  for (int programs : {1, 3, 40})
    runExperts({70, 0, 1, 129}, 144, 64, 16, programs);
}

TEST_P(GroupedMatmul, ExpertsOfOddShapes) { runExperts({3, 66, 0, 20}, 67, 45, 3, 4); }

TEST_P(GroupedMatmul, TakesAListOfProblems) {
  struct Problem {
    Matrix a, b, c;
    Buffer<F16> as, bs, cs;
    Problem(int m, int n, int k)
        : a{m, k, 16}, b{k, n, 0}, c{m, n, 32}, as(a.size()), bs(b.size()), cs(c.size()) {}
  };
  Problem problems[] = {{1, 16, 16}, {130, 144, 80}, {64, 128, 128}};
  const F16 untouched(-99.f);
  Buffer<uint64_t> as(3), bs(3), cs(3);
  Buffer<int32_t> sizes(9), strides(9);
  for (int g = 0; g < 3; ++g) {
    Problem &one = problems[g];
    one.as.fill([&](size_t) { return F16(random()); });
    one.bs.fill([&](size_t) { return F16(random()); });
    one.cs.fill([&](size_t) { return untouched; });
    as[g] = reinterpret_cast<uintptr_t>(one.as.data());
    bs[g] = reinterpret_cast<uintptr_t>(one.bs.data());
    cs[g] = reinterpret_cast<uintptr_t>(one.cs.data());
    for (auto [at, size] : {std::pair(0, one.a.rows), {1, one.b.columns}, {2, one.a.columns}})
      sizes[3 * g + at] = size;
    for (auto [at, matrix] : {std::pair(0, one.a), {1, one.b}, {2, one.c}})
      strides[3 * g + at] = matrix.rowStride();
  }
  ASSERT_KILN(grouped_matmul_f16(stream(), as.data(), bs.data(), cs.data(), sizes.data(),
                                 strides.data(), 3, /*programs=*/2));
  for (Problem &one : problems) {
    expectElements(one.cs.data(), one.c, 2e-3, Product(one.as.data(), one.a, one.bs.data(), one.b));
    expectUntouchedBetween(one.cs, one.c, untouched);
    EXPECT_TRUE(one.cs.guardsHold());
  }
}

KILN_INSTANTIATE(GroupedMatmul);

} // namespace

#include "stream_k_matmul.h"
#include "tests/kernels/Matrix.h"

using namespace kiln::test;

namespace {

double identity(double x) { return x; }
double gelu(double x) {
  return 0.5 * x * (1 + std::tanh(0.7978845608028654 * (x + 0.044715 * x * x * x)));
}

class StreamKMatmul : public KernelTest {
protected:
  /// `launch` is called with a, b, bias, c, parts, flags; twice, and must give the same bits.
  template <typename T, typename Launch>
  void run(Matrix a, Matrix b, Matrix c, int programs, double (*activation)(double), bool hasBias,
           Launch launch) {
    SCOPED_TRACE(testing::Message() << a.rows << " x " << b.columns << " x " << a.columns << ", "
                                    << programs << " programs");
    Buffer<T> as(a.size()), bs(b.size()), bias(c.columns), cs(c.size()), again(c.size());
    for (Buffer<T> *buffer : {&as, &bs, &bias})
      buffer->fill([&](size_t) { return T(random()); });
    const T untouched(-99.f);
    const size_t largestTile = 128 * 256;
    Buffer<float> parts(2 * programs * largestTile);
    Buffer<int32_t> flags(programs);
    flags.fill([](size_t) { return 0; });
    for (Buffer<T> *result : {&cs, &again}) {
      result->fill([&](size_t) { return untouched; });
      ASSERT_KILN(launch(as.data(), bs.data(), bias.data(), result->data(), parts.data(),
                         flags.data(), programs));
    }
    EXPECT_EQ(std::memcmp(cs.data(), again.data(), cs.size() * sizeof(T)), 0);
    for (int program = 0; program < programs; ++program)
      EXPECT_EQ(flags[program], 0) << program;
    double tolerance = std::is_same_v<T, BF16> ? 1e-2 : 2e-3;
    const Product product(as.data(), a, bs.data(), b);
    expectElements(cs.data(), c, tolerance, [&](int i, int j) {
      double sum = product(i, j);
      return activation(hasBias ? sum + valueOf(bias[j]) : sum);
    });
    expectUntouchedBetween(cs, c, untouched);
    EXPECT_TRUE(cs.guardsHold() && parts.guardsHold() && flags.guardsHold());
  }

  void multiply(Matrix a, Matrix b, Matrix c, int programs) {
    run<F16>(a, b, c, programs, identity, /*hasBias=*/false,
             [&](F16 *as, F16 *bs, F16 *, F16 *cs, float *parts, int32_t *flags, int count) {
               return stream_k_matmul_f16(stream(), as, bs, cs, parts, flags, c.rows, c.columns,
                                          a.columns, a.rowStride(), 1, b.rowStride(),
                                          b.columnStride(), c.rowStride(), 1, count);
             });
  }
};

/// Tiles in full turns, tiles of two programs, tiles of many, and programs without work.
TEST_P(StreamKMatmul, MatchesForAnyNumberOfPrograms) {
  for (int programs : {1, 2, 3, 5, 20})
    multiply({200, 208}, {208, 272}, {200, 272, 16}, programs);
  multiply({70, 1040}, {1040, 80, 0, true}, {70, 80, 16}, 4);
}

TEST_P(StreamKMatmul, MatchesForOddShapes) {
  for (int programs : {1, 3})
    multiply({1, 1}, {1, 1}, {1, 1}, programs);
  multiply({130, 301, 1}, {301, 67, 3}, {130, 67, 5}, 4);
}

TEST_P(StreamKMatmul, IsTheBiasWhereThereIsNothingToAdd) {
  Matrix a{20, 0}, b{0, 48, 0, true}, c{20, 48};
  run<F16>(a, b, c, 3, gelu, /*hasBias=*/true,
           [&](F16 *as, F16 *bs, F16 *bias, F16 *cs, float *parts, int32_t *flags, int count) {
             return stream_k_linear_f16_gelu(stream(), as, bs, bias, cs, parts, flags, 20, 48, 0,
                                             16, 16, 48, count);
           });
}

TEST_P(StreamKMatmul, AddsABiasAndActivatesOnce) {
  Matrix a{150, 336, 16}, b{336, 144, 0, true}, c{150, 144};
  run<F16>(a, b, c, 5, gelu, /*hasBias=*/true,
           [&](F16 *as, F16 *bs, F16 *bias, F16 *cs, float *parts, int32_t *flags, int count) {
             return stream_k_linear_f16_gelu(stream(), as, bs, bias, cs, parts, flags, c.rows,
                                             c.columns, a.columns, a.rowStride(), b.columnStride(),
                                             c.rowStride(), count);
           });
}

TEST_P(StreamKMatmul, MatchesForBFloat16) {
  Matrix a{140, 272}, b{272, 144}, c{140, 144};
  run<BF16>(a, b, c, 3, identity, /*hasBias=*/false,
            [&](BF16 *as, BF16 *bs, BF16 *, BF16 *cs, float *parts, int32_t *flags, int count) {
              return stream_k_matmul_bf16(stream(), as, bs, cs, parts, flags, c.rows, c.columns,
                                          a.columns, a.rowStride(), b.rowStride(), 1, c.rowStride(),
                                          count);
            });
}

KILN_INSTANTIATE(StreamKMatmul);

} // namespace

#include "linear.h"
#include "tests/kernels/Matrix.h"

using namespace kiln::test;

namespace {

double identity(double x) { return x; }
double relu(double x) { return std::max(x, 0.0); }
double silu(double x) { return x / (1 + std::exp(-x)); }
double gelu(double x) {
  return 0.5 * x * (1 + std::tanh(0.7978845608028654 * (x + 0.044715 * x * x * x)));
}

class Linear : public KernelTest {
protected:
  /// `launch` is called with x, w, bias, y; w is K x N as the reference sees it.
  template <typename Launch>
  void run(Matrix x, Matrix w, Matrix y, double (*activation)(double), Launch launch) {
    SCOPED_TRACE(testing::Message() << x.rows << " x " << w.columns << " x " << x.columns);
    Buffer<F16> xs(x.size()), ws(w.size()), bias(y.columns), ys(y.size());
    for (Buffer<F16> *buffer : {&xs, &ws, &bias})
      buffer->fill([&](size_t) { return F16(random()); });
    const F16 untouched(-99.f);
    ys.fill([&](size_t) { return untouched; });
    ASSERT_KILN(launch(xs.data(), ws.data(), bias.data(), ys.data()));
    const Product product(xs.data(), x, ws.data(), w);
    expectElements(ys.data(), y, 2e-3,
                   [&](int i, int j) { return activation(product(i, j) + valueOf(bias[j])); });
    expectUntouchedBetween(ys, y, untouched);
    EXPECT_TRUE(ys.guardsHold());
  }

  void runOdd(int m, int n, int k, double (*activation)(double), decltype(&linear_f16) function) {
    Matrix x{m, k, 3}, w{k, n, 1, true}, y{m, n, 5};
    run(x, w, y, activation, [&](F16 *xs, F16 *ws, F16 *bias, F16 *ys) {
      return function(stream(), xs, ws, bias, ys, m, n, k, x.rowStride(), 1, w.columnStride(), 1,
                      y.rowStride(), 1);
    });
  }
};

TEST_P(Linear, MatchesForOddShapes) {
  for (auto [m, n, k] : {std::tuple(1, 1, 1), {7, 130, 33}, {70, 9, 100}})
    runOdd(m, n, k, identity, linear_f16);
  runOdd(65, 66, 31, gelu, linear_f16_gelu);
}

TEST_P(Linear, AppliesEachActivationToAlignedOperands) {
  const int m = 100, n = 144, k = 80;
  Matrix x{m, k, 16}, w{k, n, 0, true}, y{m, n, 32};
  auto of = [&](decltype(&linear_f16_relu) function) {
    return [this, function, x, w, y](F16 *xs, F16 *ws, F16 *bias, F16 *ys) {
      return function(stream(), xs, ws, bias, ys, m, n, k, x.rowStride(), w.columnStride(),
                      y.rowStride());
    };
  };
  run(x, w, y, relu, of(linear_f16_relu));
  run(x, w, y, silu, of(linear_f16_silu));
  auto ofAny = [&](decltype(&linear_f16) function) {
    return [this, function, x, w, y](F16 *xs, F16 *ws, F16 *bias, F16 *ys) {
      return function(stream(), xs, ws, bias, ys, m, n, k, x.rowStride(), 1, w.columnStride(), 1,
                      y.rowStride(), 1);
    };
  };
  run(x, w, y, identity, ofAny(linear_f16));
  run(x, w, y, gelu, ofAny(linear_f16_gelu));
}

KILN_INSTANTIATE(Linear);

} // namespace

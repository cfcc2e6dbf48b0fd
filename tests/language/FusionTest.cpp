// Products and the sums that take them (enable_fp_fusion): rounded twice where they may not be
// fused, against the host's own operations one by one.

#include "tests/language/MachineCode.h"

#include <random>

namespace kiln::testing {
namespace {

class Fusion : public SourceTest {
protected:
  /// Whether the target's own code runs, as LLVM fuses it.
  bool isOptimised() const {
    std::string target = GetParam();
    return target == "cpu" || (target.find("gfx") != std::string::npos && machineCodeRunner());
  }
};

constexpr const char *source = R"(
@triton.jit
def kernel(x_ptr, y_ptr, z_ptr, sum_ptr, difference_ptr, total_ptr, n, steps, N: tl.constexpr):
    i = tl.arange(0, N)
    x = tl.load(x_ptr + i, mask=i < n, other=0)
    y = tl.load(y_ptr + i, mask=i < n, other=0)
    z = tl.load(z_ptr + i, mask=i < n, other=0)
    tl.store(sum_ptr + i, x * y + z, mask=i < n)
    tl.store(difference_ptr + i, z - x * y, mask=i < n)
    for step in range(steps):
        z += x * y
        x = y - z * x
    tl.store(total_ptr + i, z, mask=i < n)
)";

/// Each operation rounds, whatever the compiler of this file would like to fuse.
template <typename T> T product(T x, T y) {
  volatile T rounded = x * y;
  return rounded;
}

template <typename T> void check(const char *target, const char *type, bool mayDiffer) {
  constexpr int n = 251, steps = 5;
  std::mt19937 random(7);
  std::uniform_real_distribution<T> numbers(-1, 1);
  Buffer<T> x(n), y(n), z(n), sum(n), difference(n), total(n);
  for (int i = 0; i < n; ++i) {
    x[i] = numbers(random);
    y[i] = numbers(random);
    // For a third what the product loses by rounding is all that is left.
    z[i] = i % 3 ? numbers(random) : -product(x[i], y[i]);
  }
  SourceOptions options;
  options.fusesProducts = mayDiffer;
  std::string pointer = std::string("*") + type;
  ASSERT_EQ(runSource(source, target,
                      {{"x_ptr", pointer, x},
                       {"y_ptr", pointer, y},
                       {"z_ptr", pointer, z},
                       {"sum_ptr", pointer, sum},
                       {"difference_ptr", pointer, difference},
                       {"total_ptr", pointer, total},
                       {"n", "i32", n},
                       {"steps", "i32", steps}},
                      {{"N", 256}}, options),
            "");
  int differences = 0;
  for (int i = 0; i < n; ++i) {
    T a = x[i], b = z[i], rounded = product(x[i], y[i]);
    for (int step = 0; step < steps; ++step) {
      b += product(a, y[i]);
      a = y[i] - product(b, a);
    }
    bool isSame = sum[i] == rounded + z[i] && difference[i] == z[i] - rounded && total[i] == b;
    EXPECT_TRUE(isSame || mayDiffer)
        << type << " " << i << ": " << sum[i] << ", " << difference[i] << ", " << total[i]
        << " for " << rounded + z[i] << ", " << z[i] - rounded << ", " << b;
    differences += !isSame;
  }
  if (mayDiffer) {
    EXPECT_GT(differences, n / 3);
  }
}

TEST_P(Fusion, IsNotWhereItMayNotBe) {
  check<float>(GetParam(), "fp32", false);
  check<double>(GetParam(), "fp64", false);
}

TEST_P(Fusion, IsWhereItMayBe) {
  if (!isOptimised())
    GTEST_SKIP() << "emulated without optimisations";
  check<float>(GetParam(), "fp32", true);
  check<double>(GetParam(), "fp64", true);
}
KILN_SOURCE_TESTS_ON_ALL(Fusion);

} // namespace
} // namespace kiln::testing

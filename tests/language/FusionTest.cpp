// Products and the sums that take them (enable_fp_fusion): rounded twice where they may not be
// fused, against the host's own operations one by one.

#include "tests/language/MachineCode.h"

namespace kiln::testing {
namespace {

class Fusion : public SourceTest {};

/// On targets whose own code runs: what is emulated is not optimised, and nothing of it fused.
class FusionByDefault : public SourceTest {};

constexpr const char *source = R"(
@triton.jit
def kernel(x_ptr, y_ptr, z_ptr, sum_ptr, difference_ptr, half_ptr, total_ptr, n, steps, N: tl.constexpr):
    i = tl.arange(0, N)
    x = tl.load(x_ptr + i, mask=i < n, other=0).to(z_ptr.dtype.element_ty)
    y = tl.load(y_ptr + i, mask=i < n, other=0).to(z_ptr.dtype.element_ty)
    z = tl.load(z_ptr + i, mask=i < n, other=0)
    tl.store(sum_ptr + i, x * y + z, mask=i < n)
    tl.store(difference_ptr + i, y - x * z, mask=i < n)
    tl.store(half_ptr + i, (x * y + z).to(tl.float16), mask=i < n)
    a = y
    for step in range(steps):
        z += a * y
        a = y - z * a
    tl.store(total_ptr + i, z, mask=i < n)
)";

/// Each operation rounds, whatever the compiler of this file would like to fuse.
template <typename T> T product(T x, T y) {
  volatile T rounded = x * y;
  return rounded;
}

template <typename T>
void check(const char *target, const char *type, bool isOfHalves, bool mayDiffer) {
  constexpr int n = 1003, steps = 5;
  Random random(7);
  Buffer<T> x(n), y(n), z(n), sum(n), difference(n), total(n);
  Buffer<uint16_t> halves(n), half(n, 1);
  for (int i = 0; i < n; ++i) {
    // Of magnitudes from 1/2 to 1.
    unsigned fraction = random.below(1024), sign = random.below(2);
    halves[i] = sign << 15 | 0x3800 | fraction;
    x[i] = isOfHalves ? T(sign ? -1 : 1) * (1024 + fraction) / 2048 : T(random.next());
    y[i] = T(random.next()) * 4096;
    // For a third what the product loses by rounding is all that is left.
    z[i] = i % 3 ? T(random.next()) * 4096 : -product(x[i], y[i]);
  }
  SourceOptions options;
  options.fusesProducts = mayDiffer;
  std::string pointer = std::string("*") + type;
  SourceArgument first("x_ptr", pointer, x);
  if (isOfHalves)
    first = SourceArgument("x_ptr", "*fp16", halves);
  ASSERT_EQ(runSource(source, target,
                      {first,
                       {"y_ptr", pointer, y},
                       {"z_ptr", pointer, z},
                       {"sum_ptr", pointer, sum},
                       {"difference_ptr", pointer, difference},
                       {"half_ptr", "*fp16", half},
                       {"total_ptr", pointer, total},
                       {"n", "i32", n},
                       {"steps", "i32", steps}},
                      {{"N", 1024}}, options),
            "");
  int differences = 0;
  for (int i = 0; i < n; ++i) {
    T a = y[i], b = z[i];
    T asked[] = {product(x[i], y[i]) + z[i], y[i] - product(x[i], z[i])};
    for (int step = 0; step < steps; ++step) {
      b += product(a, y[i]);
      a = y[i] - product(b, a);
    }
    bool isSame = sum[i] == asked[0] && difference[i] == asked[1] && total[i] == b &&
                  (i % 3 || uint16_t(half[i] << 1) == 0);
    EXPECT_TRUE(isSame || mayDiffer)
        << type << " " << i << ": " << sum[i] << ", " << difference[i] << ", " << total[i]
        << " for " << asked[0] << ", " << asked[1] << ", " << b;
    differences += !isSame;
  }
  if (mayDiffer) {
    EXPECT_GT(differences, n / 3);
  }
}

void checkAll(const char *target, bool mayDiffer) {
  check<float>(target, "fp32", false, mayDiffer);
  check<float>(target, "fp32", true, mayDiffer);
  check<double>(target, "fp64", false, mayDiffer);
}

TEST_P(Fusion, IsNotWhereItMayNotBe) { checkAll(GetParam(), false); }

TEST_P(FusionByDefault, IsWhereItMayBe) { checkAll(GetParam(), true); }

std::vector<const char *> targetsOfOwnCode() {
  if (machineCodeRunner())
    return {"emu:gfx942", "emu:gfx1100"};
  return {"cpu"};
}

KILN_SOURCE_TESTS_ON_ALL(Fusion);
INSTANTIATE_TEST_SUITE_P(, FusionByDefault, ::testing::ValuesIn(targetsOfOwnCode()),
                         sourceTargetName);

} // namespace
} // namespace kiln::testing

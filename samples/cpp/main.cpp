// A C++ program: a fused matrix product with a plan, chosen and loaded once and run many times.

#include "matmul.h"
#include <algorithm>
#include <cmath>
#include <cstdio>
#include <cstring>
#include <stdexcept>
#include <vector>

namespace {

void check(kiln_status status) {
  if (status != KILN_SUCCESS)
    throw std::runtime_error(kiln_last_error());
}

// Small integers are exact in half precision: no rounding to think about below.
kiln_fp16 half(int value) {
  if (value == 0)
    return 0;
  int exponent = std::ilogb(std::abs(value));
  return kiln_fp16((value < 0 ? 0x8000 : 0) + (exponent + 15) * 1024 +
                   ((std::abs(value) << (10 - exponent)) - 1024));
}

} // namespace

int main() try {
  const int m = 65, n = 48, k = 100;
  std::vector<kiln_fp16> a(m * k), b(k * n), c(m * n);
  auto elementA = [](int i, int l) { return (i * 7 + l) % 5 - 2; };
  auto elementB = [](int l, int j) { return (l + j * 3) % 4 - 1; };
  for (int i = 0; i < m; ++i)
    for (int l = 0; l < k; ++l)
      a[i * k + l] = half(elementA(i, l));
  for (int l = 0; l < k; ++l)
    for (int j = 0; j < n; ++j)
      b[l * n + j] = half(elementB(l, j));

  matmul_f16_relu_plan plan;
  check(matmul_f16_relu_plan_init(&plan, kiln_cpu_stream(nullptr), a.data(), b.data(), c.data(), m,
                                  n, k, k, 1, n, 1, n, 1));
  for (int run = 0; run < 3; ++run)
    check(matmul_f16_relu_run(&plan, a.data(), b.data(), c.data(), m, n, k, k, 1, n, 1, n, 1));

  int wrong = 0;
  for (int i = 0; i < m; ++i)
    for (int j = 0; j < n; ++j) {
      int sum = 0;
      for (int l = 0; l < k; ++l)
        sum += elementA(i, l) * elementB(l, j);
      wrong += c[i * n + j] != half(std::max(sum, 0));
    }
  std::printf("matmul_f16_relu %d x %d x %d: %d of %d elements are wrong\n", m, n, k, wrong, m * n);
  return wrong != 0;
} catch (const std::exception &error) {
  std::fprintf(stderr, "%s\n", error.what());
  return 1;
}

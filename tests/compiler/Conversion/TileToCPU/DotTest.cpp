// Matrix products: all types, odd shapes, masks, strides; sums carried by a loop.

#include "tests/compiler/Conversion/TileToCPU/GuardedArray.h"
#include "tests/compiler/Conversion/TileToCPU/KernelRunner.h"
#include "tests/compiler/Conversion/TileToCPU/KernelText.h"
#include <cmath>
#include <gtest/gtest.h>

using namespace kiln::test;

namespace {

using bf16 = BF16;
using f16 = _Float16;

enum class Layout { RowMajor, Transposed, TransposedB };

template <typename In, typename Out>
void checkMatmul(const CompiledKernel &kernel, const MatmulShape &tile, int m, int n, int k,
                 Layout layout, double tolerance) {
  std::mt19937 random(m * 31 + n * 7 + k);
  double range = std::is_integral_v<In> ? 100 : 1;
  GuardedArray<In> a(size_t(m) * k, random, -range, range), b(size_t(k) * n, random, -range, range);
  int cm = n + 3;
  GuardedArray<Out> c(size_t(m) * cm);
  bool turnA = layout == Layout::Transposed, turnB = layout != Layout::RowMajor;
  int am = turnA ? 1 : k, ak = turnA ? m : 1, bk = turnB ? 1 : n, bn = turnB ? k : 1;
  uint32_t gridN = (n + tile.n - 1) / tile.n, gridM = (m + tile.m - 1) / tile.m;
  kernel.launch({gridN, gridM, 1},
                {a.parameter(), b.parameter(), c.parameter(), &m, &n, &k, &am, &ak, &bk, &bn, &cm});
  for (int i = 0; i != m; ++i)
    for (int j = 0; j != cm; ++j) {
      double sum = 0, magnitude = 1e-3;
      for (int l = 0; j < n && l != k; ++l) {
        double product = double(a[i * am + l * ak]) * double(b[l * bk + j * bn]);
        sum += product;
        magnitude += std::abs(product);
      }
      ASSERT_NEAR(double(c[i * cm + j]), sum, tolerance * magnitude)
          << i << ", " << j << " of " << m << "x" << n;
    }
  EXPECT_TRUE(c.guardsIntact());
}

template <typename In, typename Out> void checkShapes(const MatmulShape &tile, double tolerance) {
  CompiledKernel kernel(matmulText(tile)), unit(matmulText(tile, UnitStrides::RowMajor)),
      column(matmulText(tile, UnitStrides::ColumnMajorB));
  for (auto [m, n, k] : {std::tuple(1, 1, 1), std::tuple(7, 127, 1), std::tuple(65, 33, 70),
                         std::tuple(64, 64, 64)}) {
    checkMatmul<In, Out>(kernel, tile, m, n, k, Layout::RowMajor, tolerance);
    checkMatmul<In, Out>(kernel, tile, m, n, k, Layout::Transposed, tolerance);
    checkMatmul<In, Out>(unit, tile, m, n, k, Layout::RowMajor, tolerance);
    checkMatmul<In, Out>(column, tile, m, n, k, Layout::TransposedB, tolerance);
  }
}

TEST(Dot, F32) { checkShapes<float, float>({64, 64, 32}, 1e-6); }
TEST(Dot, F64) { checkShapes<double, double>({32, 64, 16, "f64", "f64"}, 1e-14); }
TEST(Dot, F16) { checkShapes<f16, float>({64, 32, 32, "f16", "f32"}, 1e-6); }
TEST(Dot, F16SumsInF16) { checkShapes<f16, f16>({16, 16, 16, "f16", "f16"}, 4e-3); }
TEST(Dot, BF16) { checkShapes<bf16, float>({32, 32, 64, "bf16", "f32"}, 1e-6); }
TEST(Dot, I8) { checkShapes<int8_t, int32_t>({32, 64, 32, "i8", "i32", "0"}, 0); }

TEST(Dot, SmallTiles) {
  checkShapes<float, float>({1, 16, 4}, 1e-6);
  checkShapes<float, float>({16, 1, 8}, 1e-6);
  checkShapes<float, float>({2, 2, 2}, 1e-6);
  checkShapes<float, float>({4, 8, 1}, 1e-6);
  checkShapes<float, float>({128, 16, 16}, 1e-6);
}

TEST(Dot, NarrowerMachines) {
  for (unsigned bits : {128, 256}) {
    kiln::CPUOptions options;
    options.vectorBits = bits;
    options.hasFMA = bits == 256;
    MatmulShape tile{32, 32, 16};
    CompiledKernel kernel(matmulText(tile), options, bits == 256 ? "x86-64-v3" : "x86-64-v2");
    checkMatmul<float, float>(kernel, tile, 50, 70, 33, Layout::RowMajor, 1e-6);
  }
}

TEST(Dot, OperandsThatAreAlsoTheSums) {
  // x = x * x + x, three times, the last product being read by the next; and a batch of two.
  CompiledKernel kernel(R"(
func.func @square(%p: !tile.ptr<f32>) attributes {tile.kernel} {
  %i = tile.arange 0, 2048 : tensor<2048xi32>
  %s = tile.splat %p : !tile.ptr<f32> -> tensor<2048x!tile.ptr<f32>>
  %q = tile.addptr %s, %i : tensor<2048x!tile.ptr<f32>>, tensor<2048xi32>
  %flat = tile.load %q : (tensor<2048x!tile.ptr<f32>>) -> tensor<2048xf32>
  %x0 = tile.reshape %flat : tensor<2048xf32> -> tensor<2x32x32xf32>
  %zero = arith.constant 0 : i32
  %one = arith.constant 1 : i32
  %three = arith.constant 3 : i32
  %r = scf.for %k = %zero to %three step %one iter_args(%x = %x0) -> (tensor<2x32x32xf32>) : i32 {
    %y = tile.dot %x, %x, %x : (tensor<2x32x32xf32>, tensor<2x32x32xf32>, tensor<2x32x32xf32>) -> tensor<2x32x32xf32>
    scf.yield %y : tensor<2x32x32xf32>
  }
  %back = tile.reshape %r : tensor<2x32x32xf32> -> tensor<2048xf32>
  tile.store %q, %back : (tensor<2048x!tile.ptr<f32>>, tensor<2048xf32>) -> ()
  func.return
})");
  std::mt19937 random(8);
  GuardedArray<float> x(2048, random, -0.2, 0.2);
  std::vector<double> expected(x.data(), x.data() + 2048);
  for (int step = 0; step != 3; ++step) {
    std::vector<double> old = expected;
    for (int at = 0; at != 2048; ++at)
      for (int l = 0; l != 32; ++l)
        expected[at] += old[at / 32 * 32 + l] * old[at / 1024 * 1024 + l * 32 + at % 32];
  }
  kernel.launch({1, 1, 1}, {x.parameter()});
  for (int at = 0; at != 2048; ++at)
    ASSERT_NEAR(x[at], expected[at], 1e-4);
}

TEST(Dot, ProductsAddedToSums) {
  // Attention's pattern: sums = sums * factor + a * b, the product starting from zero.
  CompiledKernel kernel(R"(
func.func @rescale(%p: !tile.ptr<f32>, %q: !tile.ptr<f32>) attributes {tile.kernel} {
  %i = tile.arange 0, 256 : tensor<256xi32>
  %s = tile.splat %p : !tile.ptr<f32> -> tensor<256x!tile.ptr<f32>>
  %pp = tile.addptr %s, %i : tensor<256x!tile.ptr<f32>>, tensor<256xi32>
  %t = tile.splat %q : !tile.ptr<f32> -> tensor<256x!tile.ptr<f32>>
  %qq = tile.addptr %t, %i : tensor<256x!tile.ptr<f32>>, tensor<256xi32>
  %flat = tile.load %pp : (tensor<256x!tile.ptr<f32>>) -> tensor<256xf32>
  %a = tile.reshape %flat : tensor<256xf32> -> tensor<16x16xf32>
  %zeros = arith.constant dense<0.0> : tensor<16x16xf32>
  %half = arith.constant dense<0.5> : tensor<16x16xf32>
  %c0 = arith.constant 0 : i32
  %c1 = arith.constant 1 : i32
  %c3 = arith.constant 3 : i32
  %r = scf.for %k = %c0 to %c3 step %c1 iter_args(%sums = %zeros) -> (tensor<16x16xf32>) : i32 {
    %product = tile.dot %a, %a, %zeros : (tensor<16x16xf32>, tensor<16x16xf32>, tensor<16x16xf32>) -> tensor<16x16xf32>
    %scaled = arith.mulf %sums, %half : tensor<16x16xf32>
    %next = arith.addf %scaled, %product : tensor<16x16xf32>
    scf.yield %next : tensor<16x16xf32>
  }
  %back = tile.reshape %r : tensor<16x16xf32> -> tensor<256xf32>
  tile.store %qq, %back : (tensor<256x!tile.ptr<f32>>, tensor<256xf32>) -> ()
  func.return
})");
  // a, b in panels, and one array of sums.
  EXPECT_EQ(kernel.arenaBytes(), 3 * 1024);
  std::mt19937 random(8);
  GuardedArray<float> x(256, random), y(256);
  kernel.launch({1, 1, 1}, {x.parameter(), y.parameter()});
  for (int i = 0; i != 256; ++i) {
    double product = 0;
    for (int l = 0; l != 16; ++l)
      product += double(x[i / 16 * 16 + l]) * double(x[l * 16 + i % 16]);
    EXPECT_NEAR(y[i], product * 1.75, 1e-5);
  }
}

TEST(Dot, OperandsPackedForALoopInABranch) {
  // Both loops read %a from outside; the first may not run.
  CompiledKernel kernel(R"(
func.func @branches(%p: !tile.ptr<f32>, %q: !tile.ptr<f32>, %flag: i1) attributes {tile.kernel} {
  %i = tile.arange 0, 256 : tensor<256xi32>
  %s = tile.splat %p : !tile.ptr<f32> -> tensor<256x!tile.ptr<f32>>
  %pp = tile.addptr %s, %i : tensor<256x!tile.ptr<f32>>, tensor<256xi32>
  %t = tile.splat %q : !tile.ptr<f32> -> tensor<256x!tile.ptr<f32>>
  %qq = tile.addptr %t, %i : tensor<256x!tile.ptr<f32>>, tensor<256xi32>
  %flat = tile.load %pp : (tensor<256x!tile.ptr<f32>>) -> tensor<256xf32>
  %a = tile.reshape %flat : tensor<256xf32> -> tensor<16x16xf32>
  %zeros = arith.constant dense<0.0> : tensor<16x16xf32>
  %c0 = arith.constant 0 : i32
  %c1 = arith.constant 1 : i32
  %c2 = arith.constant 2 : i32
  %first = scf.if %flag -> (tensor<16x16xf32>) {
    %r = scf.for %k = %c0 to %c2 step %c1 iter_args(%sums = %zeros) -> (tensor<16x16xf32>) : i32 {
      %d = tile.dot %a, %a, %sums : (tensor<16x16xf32>, tensor<16x16xf32>, tensor<16x16xf32>) -> tensor<16x16xf32>
      scf.yield %d : tensor<16x16xf32>
    }
    scf.yield %r : tensor<16x16xf32>
  } else {
    scf.yield %zeros : tensor<16x16xf32>
  }
  %r = scf.for %k = %c0 to %c2 step %c1 iter_args(%sums = %first) -> (tensor<16x16xf32>) : i32 {
    %d = tile.dot %a, %a, %sums : (tensor<16x16xf32>, tensor<16x16xf32>, tensor<16x16xf32>) -> tensor<16x16xf32>
    scf.yield %d : tensor<16x16xf32>
  }
  %back = tile.reshape %r : tensor<16x16xf32> -> tensor<256xf32>
  tile.store %qq, %back : (tensor<256x!tile.ptr<f32>>, tensor<256xf32>) -> ()
  func.return
})");
  for (bool flag : {false, true}) {
    std::mt19937 random(8);
    GuardedArray<float> x(256, random), y(256);
    kernel.launch({1, 1, 1}, {x.parameter(), y.parameter(), &flag});
    for (int i = 0; i != 256; ++i) {
      double product = 0;
      for (int l = 0; l != 16; ++l)
        product += double(x[i / 16 * 16 + l]) * double(x[l * 16 + i % 16]);
      EXPECT_NEAR(y[i], product * (flag ? 4 : 2), 1e-4);
    }
  }
}

TEST(Dot, LargeTilesCompileQuickly) {
  CompiledKernel small(matmulText({32, 32, 32})), large(matmulText({256, 128, 64}));
  EXPECT_LT(large.compileSeconds, 2);
  EXPECT_LT(large.irInstructions, small.irInstructions * 2);
  checkMatmul<float, float>(large, {256, 128, 64}, 300, 130, 70, Layout::RowMajor, 1e-6);
}

} // namespace

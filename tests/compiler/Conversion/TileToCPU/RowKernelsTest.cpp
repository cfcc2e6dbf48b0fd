// Row-wise kernels: vector add, softmax, layer norm.

#include "tests/compiler/Conversion/TileToCPU/GuardedArray.h"
#include "tests/compiler/Conversion/TileToCPU/KernelRunner.h"
#include <cmath>
#include <gtest/gtest.h>

using namespace kiln::test;

namespace {

constexpr int oddSizes[] = {1, 7, 127, 1000, 4097};

TEST(RowKernels, VectorAdd) {
  CompiledKernel kernel(R"(
func.func @add(%x: !tile.ptr<f32>, %y: !tile.ptr<f32>, %z: !tile.ptr<f32>, %n: i32) attributes {tile.kernel} {
  %c = arith.constant 256 : i32
  %pid = tile.program_id 0 : i32
  %start = arith.muli %pid, %c : i32
  %range = tile.arange 0, 256 : tensor<256xi32>
  %s = tile.splat %start : i32 -> tensor<256xi32>
  %offs = arith.addi %s, %range : tensor<256xi32>
  %ns = tile.splat %n : i32 -> tensor<256xi32>
  %mask = arith.cmpi slt, %offs, %ns : tensor<256xi32>
  %xs = tile.splat %x : !tile.ptr<f32> -> tensor<256x!tile.ptr<f32>>
  %xp = tile.addptr %xs, %offs : tensor<256x!tile.ptr<f32>>, tensor<256xi32>
  %ys = tile.splat %y : !tile.ptr<f32> -> tensor<256x!tile.ptr<f32>>
  %yp = tile.addptr %ys, %offs : tensor<256x!tile.ptr<f32>>, tensor<256xi32>
  %zs = tile.splat %z : !tile.ptr<f32> -> tensor<256x!tile.ptr<f32>>
  %zp = tile.addptr %zs, %offs : tensor<256x!tile.ptr<f32>>, tensor<256xi32>
  %a = tile.load %xp mask %mask : (tensor<256x!tile.ptr<f32>>, tensor<256xi1>) -> tensor<256xf32>
  %b = tile.load %yp mask %mask : (tensor<256x!tile.ptr<f32>>, tensor<256xi1>) -> tensor<256xf32>
  %r = arith.addf %a, %b : tensor<256xf32>
  tile.store %zp, %r mask %mask : (tensor<256x!tile.ptr<f32>>, tensor<256xf32>, tensor<256xi1>) -> ()
  func.return
})");
  std::mt19937 random(1);
  for (int n : oddSizes) {
    GuardedArray<float> x(n, random), y(n, random), z(n);
    kernel.launch({uint32_t(n + 255) / 256, 1, 1},
                  {x.parameter(), y.parameter(), z.parameter(), &n});
    for (int i = 0; i != n; ++i)
      ASSERT_EQ(z[i], x[i] + y[i]) << i << " of " << n;
    EXPECT_TRUE(z.guardsIntact());
  }
}

TEST(RowKernels, SoftmaxInPlaceAndNot) {
  CompiledKernel kernel(R"(
func.func @softmax(%out: !tile.ptr<f32>, %in: !tile.ptr<f32>, %stride: i32, %n: i32) attributes {tile.kernel} {
  %pid = tile.program_id 0 : i32
  %row = arith.muli %pid, %stride : i32
  %offs = tile.arange 0, 8192 : tensor<8192xi32>
  %ns = tile.splat %n : i32 -> tensor<8192xi32>
  %mask = arith.cmpi slt, %offs, %ns : tensor<8192xi32>
  %inrow = tile.addptr %in, %row : !tile.ptr<f32>, i32
  %ins = tile.splat %inrow : !tile.ptr<f32> -> tensor<8192x!tile.ptr<f32>>
  %inp = tile.addptr %ins, %offs : tensor<8192x!tile.ptr<f32>>, tensor<8192xi32>
  %ninf = arith.constant dense<0xFF800000> : tensor<8192xf32>
  %x = tile.load %inp mask %mask other %ninf : (tensor<8192x!tile.ptr<f32>>, tensor<8192xi1>, tensor<8192xf32>) -> tensor<8192xf32>
  %max = tile.reduce (%x) axis 0 : (tensor<8192xf32>) -> f32 {
  ^bb0(%l: f32, %r: f32):
    %m = arith.maxnumf %l, %r : f32
    tile.yield %m : f32
  }
  %maxs = tile.splat %max : f32 -> tensor<8192xf32>
  %d = arith.subf %x, %maxs : tensor<8192xf32>
  %e = math.exp %d : tensor<8192xf32>
  %sum = tile.reduce (%e) axis 0 : (tensor<8192xf32>) -> f32 {
  ^bb0(%l: f32, %r: f32):
    %m = arith.addf %l, %r : f32
    tile.yield %m : f32
  }
  %sums = tile.splat %sum : f32 -> tensor<8192xf32>
  %q = arith.divf %e, %sums : tensor<8192xf32>
  %outrow = tile.addptr %out, %row : !tile.ptr<f32>, i32
  %outs = tile.splat %outrow : !tile.ptr<f32> -> tensor<8192x!tile.ptr<f32>>
  %outp = tile.addptr %outs, %offs : tensor<8192x!tile.ptr<f32>>, tensor<8192xi32>
  tile.store %outp, %q mask %mask : (tensor<8192x!tile.ptr<f32>>, tensor<8192xf32>, tensor<8192xi1>) -> ()
  func.return
})");
  std::mt19937 random(2);
  for (int n : oddSizes)
    for (bool inPlace : {false, true}) {
      int rows = 3, stride = n + 5;
      GuardedArray<float> in(rows * stride, random, -8, 8), out(rows * stride);
      std::vector<float> original(in.data(), in.data() + rows * stride);
      GuardedArray<float> &result = inPlace ? in : out;
      kernel.launch({3, 1, 1}, {result.parameter(), in.parameter(), &stride, &n});
      for (int row = 0; row != rows; ++row) {
        double max = -INFINITY, sum = 0;
        for (int i = 0; i != n; ++i)
          max = std::max<double>(max, original[row * stride + i]);
        for (int i = 0; i != n; ++i)
          sum += std::exp(original[row * stride + i] - max);
        for (int i = 0; i != stride; ++i) {
          double untouched = inPlace ? original[row * stride + i] : 0;
          double expected = i < n ? std::exp(original[row * stride + i] - max) / sum : untouched;
          ASSERT_NEAR(result[row * stride + i], expected, 1e-6 * std::abs(expected))
              << i << " of " << n;
        }
      }
      EXPECT_TRUE(result.guardsIntact());
    }
}

} // namespace

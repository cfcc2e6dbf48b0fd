// Row-wise kernels: fused softmax and layer norm, with masks and odd sizes.

#include "tests/compiler/Conversion/TileGPUToLLVM/KernelRunner.h"
#include "tests/compiler/Conversion/TileGPUToLLVM/Numbers.h"

namespace kiln::testing {
namespace {

class Normalization : public ::testing::TestWithParam<const char *> {};

/// One program normalises a row of N elements with stride S.
const char *const softmax = R"(
func.func @softmax(%x: !tile.ptr<f32> {tile.divisibility = 16 : i32}, %o: !tile.ptr<f32> {tile.divisibility = 16 : i32},
                   %S: i32, %N: i32) attributes {tile.kernel, tile.num_warps = 4 : i32} {
  %pid = tile.program_id 0 : i32
  %row = arith.muli %pid, %S : i32
  %xr = tile.addptr %x, %row : !tile.ptr<f32>, i32
  %or = tile.addptr %o, %row : !tile.ptr<f32>, i32
  %r = tile.arange 0, 1024 : tensor<1024xi32>
  %ns = tile.splat %N : i32 -> tensor<1024xi32>
  %m = arith.cmpi slt, %r, %ns : tensor<1024xi32>
  %low = arith.constant dense<0xFF800000> : tensor<1024xf32>
  %xs = tile.splat %xr : !tile.ptr<f32> -> tensor<1024x!tile.ptr<f32>>
  %xp = tile.addptr %xs, %r : tensor<1024x!tile.ptr<f32>>, tensor<1024xi32>
  %v = tile.load %xp mask %m other %low : (tensor<1024x!tile.ptr<f32>>, tensor<1024xi1>, tensor<1024xf32>) -> tensor<1024xf32>
  %max = tile.reduce (%v) axis 0 : (tensor<1024xf32>) -> f32 {
  ^bb0(%a: f32, %b: f32):
    %t = arith.maxnumf %a, %b : f32
    tile.yield %t : f32
  }
  %maxs = tile.splat %max : f32 -> tensor<1024xf32>
  %d = arith.subf %v, %maxs : tensor<1024xf32>
  %e = math.exp %d : tensor<1024xf32>
  %sum = tile.reduce (%e) axis 0 : (tensor<1024xf32>) -> f32 {
  ^bb0(%a: f32, %b: f32):
    %t = arith.addf %a, %b : f32
    tile.yield %t : f32
  }
  %sums = tile.splat %sum : f32 -> tensor<1024xf32>
  %q = arith.divf %e, %sums fastmath<arcp> : tensor<1024xf32>
  %os = tile.splat %or : !tile.ptr<f32> -> tensor<1024x!tile.ptr<f32>>
  %op = tile.addptr %os, %r : tensor<1024x!tile.ptr<f32>>, tensor<1024xi32>
  tile.store %op, %q mask %m : (tensor<1024x!tile.ptr<f32>>, tensor<1024xf32>, tensor<1024xi1>) -> ()
  return
})";

TEST_P(Normalization, Softmax) {
  CompiledKernel kernel(softmax, GetParam());
  ASSERT_EQ(kernel.errors, "");
  for (int n : {1, 7, 127, 1000}) {
    int rows = 3, stride = n + 5;
    Buffer<float> x(rows * stride), out(rows * stride, -7);
    Random random(n);
    for (int i = 0; i < rows * stride; ++i)
      x[i] = 10 * random.next();
    kernel.use(x);
    kernel.use(out);
    ASSERT_EQ(kernel.run({x.argument(), out.argument(), uint64_t(stride), uint64_t(n)},
                         {uint32_t(rows), 1, 1}),
              "");
    for (int row = 0; row < rows; ++row) {
      double sum = 0;
      for (int i = 0; i < n; ++i)
        sum += std::exp(double(x[row * stride + i]));
      for (int i = 0; i < stride; ++i) {
        double expected = i < n ? std::exp(double(x[row * stride + i])) / sum : -7;
        ASSERT_NEAR(out[row * stride + i], expected, 2e-6) << row << ", " << i << " of " << n;
      }
    }
  }
}

/// One program normalises a row of f16 in blocks of 256 columns, in loops: mean and variance by a
/// reduction of two values, then a second pass.
const char *const layerNorm = R"(
func.func @layer_norm(%x: !tile.ptr<f16>, %w: !tile.ptr<f32>, %o: !tile.ptr<f16>, %N: i32)
    attributes {tile.kernel, tile.num_warps = 4 : i32} {
  %zero = arith.constant 0 : i32
  %block = arith.constant 256 : i32
  %pid = tile.program_id 0 : i32
  %row = arith.muli %pid, %N : i32
  %xr = tile.addptr %x, %row : !tile.ptr<f16>, i32
  %or = tile.addptr %o, %row : !tile.ptr<f16>, i32
  %r = tile.arange 0, 256 : tensor<256xi32>
  %ns = tile.splat %N : i32 -> tensor<256xi32>
  %zf = arith.constant dense<0.0> : tensor<256xf32>
  %zh = arith.constant dense<0.0> : tensor<256xf16>
  %xs = tile.splat %xr : !tile.ptr<f16> -> tensor<256x!tile.ptr<f16>>
  %sums:2 = scf.for %k = %zero to %N step %block iter_args(%s0 = %zf, %q0 = %zf) -> (tensor<256xf32>, tensor<256xf32>) : i32 {
    %ks = tile.splat %k : i32 -> tensor<256xi32>
    %c = arith.addi %ks, %r : tensor<256xi32>
    %m = arith.cmpi slt, %c, %ns : tensor<256xi32>
    %p = tile.addptr %xs, %c : tensor<256x!tile.ptr<f16>>, tensor<256xi32>
    %h = tile.load %p mask %m other %zh : (tensor<256x!tile.ptr<f16>>, tensor<256xi1>, tensor<256xf16>) -> tensor<256xf16>
    %v = arith.extf %h : tensor<256xf16> to tensor<256xf32>
    %s1 = arith.addf %s0, %v : tensor<256xf32>
    %vv = arith.mulf %v, %v : tensor<256xf32>
    %q1 = arith.addf %q0, %vv : tensor<256xf32>
    scf.yield %s1, %q1 : tensor<256xf32>, tensor<256xf32>
  }
  %sum, %squares = tile.reduce (%sums#0, %sums#1) axis 0 : (tensor<256xf32>, tensor<256xf32>) -> (f32, f32) {
  ^bb0(%a: f32, %b: f32, %c: f32, %d: f32):
    %t = arith.addf %a, %c : f32
    %u = arith.addf %b, %d : f32
    tile.yield %t, %u : f32, f32
  }
  %n = arith.sitofp %N : i32 to f32
  %mean = arith.divf %sum, %n : f32
  %ms = arith.divf %squares, %n : f32
  %mm = arith.mulf %mean, %mean : f32
  %var = arith.subf %ms, %mm : f32
  %eps = arith.constant 1.0e-5 : f32
  %ve = arith.addf %var, %eps : f32
  %rstd = math.rsqrt %ve : f32
  %means = tile.splat %mean : f32 -> tensor<256xf32>
  %rstds = tile.splat %rstd : f32 -> tensor<256xf32>
  %os = tile.splat %or : !tile.ptr<f16> -> tensor<256x!tile.ptr<f16>>
  %wsp = tile.splat %w : !tile.ptr<f32> -> tensor<256x!tile.ptr<f32>>
  scf.for %k = %zero to %N step %block : i32 {
    %ks = tile.splat %k : i32 -> tensor<256xi32>
    %c = arith.addi %ks, %r : tensor<256xi32>
    %m = arith.cmpi slt, %c, %ns : tensor<256xi32>
    %p = tile.addptr %xs, %c : tensor<256x!tile.ptr<f16>>, tensor<256xi32>
    %h = tile.load %p mask %m other %zh : (tensor<256x!tile.ptr<f16>>, tensor<256xi1>, tensor<256xf16>) -> tensor<256xf16>
    %wp = tile.addptr %wsp, %c : tensor<256x!tile.ptr<f32>>, tensor<256xi32>
    %wv = tile.load %wp mask %m : (tensor<256x!tile.ptr<f32>>, tensor<256xi1>) -> tensor<256xf32>
    %v = arith.extf %h : tensor<256xf16> to tensor<256xf32>
    %d = arith.subf %v, %means : tensor<256xf32>
    %y = arith.mulf %d, %rstds : tensor<256xf32>
    %z = arith.mulf %y, %wv : tensor<256xf32>
    %t = arith.truncf %z : tensor<256xf32> to tensor<256xf16>
    %op = tile.addptr %os, %c : tensor<256x!tile.ptr<f16>>, tensor<256xi32>
    tile.store %op, %t mask %m : (tensor<256x!tile.ptr<f16>>, tensor<256xf16>, tensor<256xi1>) -> ()
  }
  return
})";

TEST_P(Normalization, LayerNorm) {
  CompiledKernel kernel(layerNorm, GetParam());
  ASSERT_EQ(kernel.errors, "");
  for (int n : {7, 127, 1000}) {
    int rows = 2;
    Buffer<uint16_t> x(rows * n), out(rows * n);
    Buffer<float> w(n);
    Random random(n);
    for (int i = 0; i < rows * n; ++i)
      x[i] = encode(random.next(), Format::F16);
    for (int i = 0; i < n; ++i)
      w[i] = random.next();
    kernel.use(x);
    kernel.use(w);
    kernel.use(out);
    ASSERT_EQ(kernel.run({x.argument(), w.argument(), out.argument(), uint64_t(n)},
                         {uint32_t(rows), 1, 1}),
              "");
    for (int row = 0; row < rows; ++row) {
      double sum = 0, squares = 0;
      for (int i = 0; i < n; ++i)
        sum += decode(x[row * n + i], Format::F16);
      for (int i = 0; i < n; ++i)
        squares += std::pow(decode(x[row * n + i], Format::F16) - sum / n, 2);
      for (int i = 0; i < n; ++i) {
        double y =
            (decode(x[row * n + i], Format::F16) - sum / n) / std::sqrt(squares / n + 1e-5) * w[i];
        ASSERT_NEAR(decode(out[row * n + i], Format::F16), y, 2e-3) << row << ", " << i;
      }
    }
  }
}

INSTANTIATE_TEST_SUITE_P(AllTargets, Normalization, ::testing::ValuesIn(testTargets), targetName);

} // namespace
} // namespace kiln::testing

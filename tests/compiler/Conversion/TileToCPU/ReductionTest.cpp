// Reductions and scans: argmax, layer norm, cumulative sums; every axis; combiners that do not
// commute.

#include "tests/compiler/Conversion/TileToCPU/GuardedArray.h"
#include "tests/compiler/Conversion/TileToCPU/KernelRunner.h"
#include "tests/compiler/Conversion/TileToCPU/KernelText.h"
#include <cmath>
#include <gtest/gtest.h>

using namespace kiln::test;

namespace {

// Loads an R x C matrix with row stride C as %x, of element type ${t}.
constexpr const char *loadMatrix = R"(
  %ri = tile.arange 0, ${R} : tensor<${R}xi32>
  %ci = tile.arange 0, ${C} : tensor<${C}xi32>
  %rc = tile.expand_dims %ri, 1 : tensor<${R}xi32> -> tensor<${R}x1xi32>
  %cr = tile.expand_dims %ci, 0 : tensor<${C}xi32> -> tensor<1x${C}xi32>
  %cc = arith.constant dense<${C}> : tensor<${R}x1xi32>
  %ro = arith.muli %rc, %cc : tensor<${R}x1xi32>
  %rb = tile.broadcast %ro : tensor<${R}x1xi32> -> tensor<${R}x${C}xi32>
  %cb = tile.broadcast %cr : tensor<1x${C}xi32> -> tensor<${R}x${C}xi32>
  %off = arith.addi %rb, %cb : tensor<${R}x${C}xi32>
  %ps = tile.splat %in : !tile.ptr<${t}> -> tensor<${R}x${C}x!tile.ptr<${t}>>
  %p = tile.addptr %ps, %off : tensor<${R}x${C}x!tile.ptr<${t}>>, tensor<${R}x${C}xi32>
  %x = tile.load %p : (tensor<${R}x${C}x!tile.ptr<${t}>>) -> tensor<${R}x${C}x${t}>
)";

std::string argmaxText(int rows, int columns, int axis) {
  return fillIn(R"(
func.func @argmax(%in: !tile.ptr<f32>, %values: !tile.ptr<f32>, %places: !tile.ptr<i32>) attributes {tile.kernel} {)" +
                    std::string(loadMatrix) + R"(
  %index = tile.broadcast ${index} : ${indexType} -> tensor<${R}x${C}xi32>
  %r:2 = tile.reduce (%x, %index) axis ${axis} : (tensor<${R}x${C}xf32>, tensor<${R}x${C}xi32>) -> (tensor<${N}xf32>, tensor<${N}xi32>) {
  ^bb0(%lv: f32, %li: i32, %rv: f32, %rri: i32):
    %gt = arith.cmpf ogt, %lv, %rv : f32
    %eq = arith.cmpf oeq, %lv, %rv : f32
    %lt = arith.cmpi slt, %li, %rri : i32
    %tie = arith.andi %eq, %lt : i1
    %left = arith.ori %gt, %tie : i1
    %v = arith.select %left, %lv, %rv : f32
    %i = arith.select %left, %li, %rri : i32
    tile.yield %v, %i : f32, i32
  }
  %o = tile.arange 0, ${N} : tensor<${N}xi32>
  %vs = tile.splat %values : !tile.ptr<f32> -> tensor<${N}x!tile.ptr<f32>>
  %vp = tile.addptr %vs, %o : tensor<${N}x!tile.ptr<f32>>, tensor<${N}xi32>
  tile.store %vp, %r#0 : (tensor<${N}x!tile.ptr<f32>>, tensor<${N}xf32>) -> ()
  %is = tile.splat %places : !tile.ptr<i32> -> tensor<${N}x!tile.ptr<i32>>
  %ip = tile.addptr %is, %o : tensor<${N}x!tile.ptr<i32>>, tensor<${N}xi32>
  tile.store %ip, %r#1 : (tensor<${N}x!tile.ptr<i32>>, tensor<${N}xi32>) -> ()
  func.return
})",
                {{"R", std::to_string(rows)},
                 {"C", std::to_string(columns)},
                 {"axis", std::to_string(axis)},
                 {"t", "f32"},
                 {"N", std::to_string(axis == 0 ? columns : rows)},
                 {"index", axis == 0 ? "%rc" : "%cr"},
                 {"indexType", axis == 0 ? "tensor<" + std::to_string(rows) + "x1xi32>"
                                         : "tensor<1x" + std::to_string(columns) + "xi32>"}});
}

TEST(Reduction, ArgmaxAlongEitherAxis) {
  for (std::pair<int, int> shape :
       {std::pair(8, 128), std::pair(64, 4), std::pair(1, 32), std::pair(32, 1), std::pair(2, 2)})
    for (int axis : {0, 1}) {
      int rows = shape.first, columns = shape.second;
      CompiledKernel kernel(argmaxText(rows, columns, axis));
      std::mt19937 random(rows + axis);
      GuardedArray<float> in(rows * columns), values(128);
      GuardedArray<int32_t> places(128);
      for (int i = 0; i != rows * columns; ++i)
        in[i] = float(random() % 10); // many ties
      kernel.launch({1, 1, 1}, {in.parameter(), values.parameter(), places.parameter()});
      int count = axis == 0 ? columns : rows, length = axis == 0 ? rows : columns;
      for (int i = 0; i != count; ++i) {
        auto at = [&](int j) { return axis == 0 ? in[j * columns + i] : in[i * columns + j]; };
        int best = 0;
        for (int j = 1; j < length; ++j)
          if (at(j) > at(best))
            best = j;
        EXPECT_EQ(values[i], at(best));
        EXPECT_EQ(places[i], best) << rows << "x" << columns << " axis " << axis;
      }
    }
}

TEST(Reduction, LayerNormOfF16Rows) {
  CompiledKernel kernel(R"(
func.func @norm(%in: !tile.ptr<f16>, %out: !tile.ptr<f16>, %w: !tile.ptr<f16>, %b: !tile.ptr<f16>, %n: i32, %eps: f32) attributes {tile.kernel} {
  %pid = tile.program_id 0 : i32
  %row = arith.muli %pid, %n : i32
  %i = tile.arange 0, 1024 : tensor<1024xi32>
  %ns = tile.splat %n : i32 -> tensor<1024xi32>
  %m = arith.cmpi slt, %i, %ns : tensor<1024xi32>
  %inr = tile.addptr %in, %row : !tile.ptr<f16>, i32
  %ins = tile.splat %inr : !tile.ptr<f16> -> tensor<1024x!tile.ptr<f16>>
  %inp = tile.addptr %ins, %i : tensor<1024x!tile.ptr<f16>>, tensor<1024xi32>
  %zero = arith.constant dense<0.0> : tensor<1024xf16>
  %x16 = tile.load %inp mask %m other %zero : (tensor<1024x!tile.ptr<f16>>, tensor<1024xi1>, tensor<1024xf16>) -> tensor<1024xf16>
  %x = arith.extf %x16 : tensor<1024xf16> to tensor<1024xf32>
  %sum = tile.reduce (%x) axis 0 : (tensor<1024xf32>) -> f32 {
  ^bb0(%l: f32, %r: f32):
    %a = arith.addf %l, %r : f32
    tile.yield %a : f32
  }
  %nf = arith.sitofp %n : i32 to f32
  %mean = arith.divf %sum, %nf : f32
  %means = tile.splat %mean : f32 -> tensor<1024xf32>
  %d0 = arith.subf %x, %means : tensor<1024xf32>
  %z = arith.constant dense<0.0> : tensor<1024xf32>
  %d = arith.select %m, %d0, %z : tensor<1024xi1>, tensor<1024xf32>
  %sq = arith.mulf %d, %d : tensor<1024xf32>
  %var = tile.reduce (%sq) axis 0 : (tensor<1024xf32>) -> f32 {
  ^bb0(%l: f32, %r: f32):
    %a = arith.addf %l, %r : f32
    tile.yield %a : f32
  }
  %v1 = arith.divf %var, %nf : f32
  %v2 = arith.addf %v1, %eps : f32
  %rstd = math.rsqrt %v2 : f32
  %rs = tile.splat %rstd : f32 -> tensor<1024xf32>
  %ws = tile.splat %w : !tile.ptr<f16> -> tensor<1024x!tile.ptr<f16>>
  %wp = tile.addptr %ws, %i : tensor<1024x!tile.ptr<f16>>, tensor<1024xi32>
  %w16 = tile.load %wp mask %m : (tensor<1024x!tile.ptr<f16>>, tensor<1024xi1>) -> tensor<1024xf16>
  %bs = tile.splat %b : !tile.ptr<f16> -> tensor<1024x!tile.ptr<f16>>
  %bp = tile.addptr %bs, %i : tensor<1024x!tile.ptr<f16>>, tensor<1024xi32>
  %b16 = tile.load %bp mask %m : (tensor<1024x!tile.ptr<f16>>, tensor<1024xi1>) -> tensor<1024xf16>
  %w32 = arith.extf %w16 : tensor<1024xf16> to tensor<1024xf32>
  %b32 = arith.extf %b16 : tensor<1024xf16> to tensor<1024xf32>
  %s = arith.mulf %d, %rs : tensor<1024xf32>
  %sw = arith.mulf %s, %w32 : tensor<1024xf32>
  %y = arith.addf %sw, %b32 : tensor<1024xf32>
  %y16 = arith.truncf %y : tensor<1024xf32> to tensor<1024xf16>
  %or = tile.addptr %out, %row : !tile.ptr<f16>, i32
  %os = tile.splat %or : !tile.ptr<f16> -> tensor<1024x!tile.ptr<f16>>
  %op = tile.addptr %os, %i : tensor<1024x!tile.ptr<f16>>, tensor<1024xi32>
  tile.store %op, %y16 mask %m : (tensor<1024x!tile.ptr<f16>>, tensor<1024xf16>, tensor<1024xi1>) -> ()
  func.return
})");
  std::mt19937 random(4);
  for (int n : {1, 7, 127, 1000}) {
    int rows = 3;
    float eps = 1e-5f;
    GuardedArray<_Float16> in(rows * n, random, -2, 5), out(rows * n), w(n, random), b(n, random);
    kernel.launch({3, 1, 1},
                  {in.parameter(), out.parameter(), w.parameter(), b.parameter(), &n, &eps});
    for (int row = 0; row != rows; ++row) {
      double mean = 0, variance = 0;
      for (int i = 0; i != n; ++i)
        mean += double(in[row * n + i]) / n;
      for (int i = 0; i != n; ++i)
        variance += std::pow(double(in[row * n + i]) - mean, 2) / n;
      for (int i = 0; i != n; ++i) {
        double expected =
            (double(in[row * n + i]) - mean) / std::sqrt(variance + eps) * double(w[i]) +
            double(b[i]);
        ASSERT_NEAR(double(out[row * n + i]), expected, 4e-3) << i << " of " << n;
      }
    }
    EXPECT_TRUE(out.guardsIntact());
  }
}

std::string scanText(int axis, bool reverse) {
  return fillIn("func.func @scan(%in: !tile.ptr<i32>) attributes {tile.kernel} {" +
                    std::string(loadMatrix) + R"(
  %s = tile.scan (%x) axis ${axis} ${reverse} : (tensor<${R}x${C}xi32>) -> tensor<${R}x${C}xi32> {
  ^bb0(%l: i32, %r: i32):
    %a = arith.addi %l, %r : i32
    tile.yield %a : i32
  }
  tile.store %p, %s : (tensor<${R}x${C}x!tile.ptr<i32>>, tensor<${R}x${C}xi32>) -> ()
  func.return
})",
                {{"R", "8"},
                 {"C", "64"},
                 {"t", "i32"},
                 {"axis", std::to_string(axis)},
                 {"reverse", reverse ? "reverse" : ""}});
}

TEST(Scan, CumulativeSumsInPlace) {
  for (int axis : {0, 1})
    for (bool reverse : {false, true}) {
      CompiledKernel kernel(scanText(axis, reverse));
      GuardedArray<int32_t> x(8 * 64);
      std::vector<int32_t> expected;
      for (int i = 0; i != 8 * 64; ++i)
        expected.push_back(x[i] = i * 7 % 31);
      int stride = axis == 0 ? 64 : 1, length = axis == 0 ? 8 : 64;
      for (int i = 0; i != 8 * 64; ++i) {
        int number = reverse ? 8 * 64 - 1 - i : i, place = number / stride % length;
        bool first = reverse ? place == length - 1 : place == 0;
        if (!first)
          expected[number] += expected[number + (reverse ? stride : -stride)];
      }
      kernel.launch({1, 1, 1}, {x.parameter()});
      for (int i = 0; i != 8 * 64; ++i)
        ASSERT_EQ(x[i], expected[i]) << "axis " << axis << " reverse " << reverse;
    }
}

TEST(Reduction, SameBitsEveryTime) {
  CompiledKernel one(softmaxText(1024)), two(softmaxText(1024));
  std::mt19937 random(7);
  int n = 1000;
  GuardedArray<float> in(n, random), a(n), b(n);
  one.launch({1, 1, 1}, {a.parameter(), in.parameter(), &n, &n});
  two.launch({1, 1, 1}, {b.parameter(), in.parameter(), &n, &n});
  EXPECT_EQ(std::memcmp(a.data(), b.data(), n * 4), 0);
}

} // namespace

// Tensors and scalars through scf.if, scf.for and scf.while, on real memory.

#include "tests/compiler/Conversion/TileToCPU/GuardedArray.h"
#include "tests/compiler/Conversion/TileToCPU/KernelRunner.h"
#include "tests/compiler/Conversion/TileToCPU/KernelText.h"
#include <cmath>
#include <gtest/gtest.h>
#include <tuple>

using namespace kiln::test;

namespace {

TEST(ControlFlow, LoopThatSwapsItsTensors) {
  // Fibonacci in every lane: (a, b) = (b, a + b).
  CompiledKernel kernel(R"(
func.func @fibonacci(%x: !tile.ptr<i32>, %n: i32) attributes {tile.kernel} {
  %i = tile.arange 0, 32 : tensor<32xi32>
  %xs = tile.splat %x : !tile.ptr<i32> -> tensor<32x!tile.ptr<i32>>
  %p = tile.addptr %xs, %i : tensor<32x!tile.ptr<i32>>, tensor<32xi32>
  %one = arith.constant dense<1> : tensor<32xi32>
  %c0 = arith.constant 0 : i32
  %c1 = arith.constant 1 : i32
  %r:3 = scf.for %k = %c0 to %n step %c1 iter_args(%a = %i, %b = %one, %s = %c0) -> (tensor<32xi32>, tensor<32xi32>, i32) : i32 {
    %sum = arith.addi %a, %b : tensor<32xi32>
    %t = arith.addi %s, %k : i32
    scf.yield %b, %sum, %t : tensor<32xi32>, tensor<32xi32>, i32
  }
  %ss = tile.splat %r#2 : i32 -> tensor<32xi32>
  %v = arith.addi %r#0, %ss : tensor<32xi32>
  tile.store %p, %v : (tensor<32x!tile.ptr<i32>>, tensor<32xi32>) -> ()
  func.return
})");
  for (int n : {0, 1, 2, 7}) {
    GuardedArray<int32_t> x(32);
    kernel.launch({1, 1, 1}, {x.parameter(), &n});
    for (int i = 0; i != 32; ++i) {
      int a = i, b = 1;
      for (int k = 0; k != n; ++k)
        std::tie(a, b) = std::pair(b, a + b);
      EXPECT_EQ(x[i], a + n * (n - 1) / 2);
    }
  }
}

TEST(ControlFlow, PureSwap) {
  CompiledKernel kernel(R"(
func.func @swaps(%x: !tile.ptr<i32>, %n: i32) attributes {tile.kernel} {
  %i = tile.arange 0, 32 : tensor<32xi32>
  %j = tile.arange 100, 132 : tensor<32xi32>
  %sq = arith.muli %i, %i : tensor<32xi32>
  %c0 = arith.constant 0 : i32
  %c1 = arith.constant 1 : i32
  %xs = tile.splat %x : !tile.ptr<i32> -> tensor<32x!tile.ptr<i32>>
  %p = tile.addptr %xs, %i : tensor<32x!tile.ptr<i32>>, tensor<32xi32>
  %r:2 = scf.for %k = %c0 to %n step %c1 iter_args(%a = %sq, %b = %j) -> (tensor<32xi32>, tensor<32xi32>) : i32 {
    scf.yield %b, %a : tensor<32xi32>, tensor<32xi32>
  }
  tile.store %p, %r#0 : (tensor<32x!tile.ptr<i32>>, tensor<32xi32>) -> ()
  func.return
})");
  for (int n : {0, 1, 2, 3}) {
    GuardedArray<int32_t> x(32);
    kernel.launch({1, 1, 1}, {x.parameter(), &n});
    for (int i = 0; i != 32; ++i)
      EXPECT_EQ(x[i], n % 2 ? 100 + i : i * i);
  }
}

TEST(ControlFlow, WhileWithTensorsAndBreakCondition) {
  // Newton's square root in all lanes until the largest change is small; counts the steps.
  CompiledKernel kernel(R"(
func.func @newton(%x: !tile.ptr<f32>, %steps: !tile.ptr<i32>) attributes {tile.kernel} {
  %i = tile.arange 0, 64 : tensor<64xi32>
  %xs = tile.splat %x : !tile.ptr<f32> -> tensor<64x!tile.ptr<f32>>
  %p = tile.addptr %xs, %i : tensor<64x!tile.ptr<f32>>, tensor<64xi32>
  %v = tile.load %p : (tensor<64x!tile.ptr<f32>>) -> tensor<64xf32>
  %half = arith.constant dense<0.5> : tensor<64xf32>
  %c0 = arith.constant 0 : i32
  %c1 = arith.constant 1 : i32
  %big = arith.constant 1.0 : f32
  %tiny = arith.constant 1.0e-5 : f32
  %r:3 = scf.while (%g = %v, %n = %c0, %change = %big) : (tensor<64xf32>, i32, f32) -> (tensor<64xf32>, i32, f32) {
    %go = arith.cmpf ogt, %change, %tiny : f32
    scf.condition(%go) %g, %n, %change : tensor<64xf32>, i32, f32
  } do {
  ^bb0(%g: tensor<64xf32>, %n: i32, %change: f32):
    %q = arith.divf %v, %g : tensor<64xf32>
    %s = arith.addf %g, %q : tensor<64xf32>
    %next = arith.mulf %s, %half : tensor<64xf32>
    %d = arith.subf %next, %g : tensor<64xf32>
    %ad = math.absf %d : tensor<64xf32>
    %m = tile.reduce (%ad) axis 0 : (tensor<64xf32>) -> f32 {
    ^bb0(%l: f32, %rr: f32):
      %mm = arith.maximumf %l, %rr : f32
      tile.yield %mm : f32
    }
    %n1 = arith.addi %n, %c1 : i32
    scf.yield %next, %n1, %m : tensor<64xf32>, i32, f32
  }
  tile.store %p, %r#0 : (tensor<64x!tile.ptr<f32>>, tensor<64xf32>) -> ()
  tile.store %steps, %r#1 : (!tile.ptr<i32>, i32) -> ()
  func.return
})");
  std::mt19937 random(5);
  GuardedArray<float> x(64, random, 1, 50);
  GuardedArray<int32_t> steps(1);
  std::vector<float> before(x.data(), x.data() + 64);
  kernel.launch({1, 1, 1}, {x.parameter(), steps.parameter()});
  for (int i = 0; i != 64; ++i)
    EXPECT_NEAR(x[i], std::sqrt(before[i]), 1e-5);
  EXPECT_GT(steps[0], 3);
  EXPECT_LT(steps[0], 12);
}

TEST(ControlFlow, BranchMergesTensorsPointersAndMasks) {
  CompiledKernel kernel(R"(
func.func @merge(%x: !tile.ptr<i32>, %y: !tile.ptr<i32>, %flag: i1) attributes {tile.kernel} {
  %i = tile.arange 0, 64 : tensor<64xi32>
  %xs = tile.splat %x : !tile.ptr<i32> -> tensor<64x!tile.ptr<i32>>
  %xp = tile.addptr %xs, %i : tensor<64x!tile.ptr<i32>>, tensor<64xi32>
  %ys = tile.splat %y : !tile.ptr<i32> -> tensor<64x!tile.ptr<i32>>
  %yp = tile.addptr %ys, %i : tensor<64x!tile.ptr<i32>>, tensor<64xi32>
  %limit = arith.constant dense<10> : tensor<64xi32>
  %r:4 = scf.if %flag -> (tensor<64x!tile.ptr<i32>>, tensor<64xi1>, tensor<64xi32>, i32) {
    %m = arith.cmpi slt, %i, %limit : tensor<64xi32>
    %v = tile.load %xp : (tensor<64x!tile.ptr<i32>>) -> tensor<64xi32>
    %c = arith.constant 7 : i32
    scf.yield %yp, %m, %v, %c : tensor<64x!tile.ptr<i32>>, tensor<64xi1>, tensor<64xi32>, i32
  } else {
    %m = arith.cmpi sge, %i, %limit : tensor<64xi32>
    %v = tile.load %yp : (tensor<64x!tile.ptr<i32>>) -> tensor<64xi32>
    %c = arith.constant 9 : i32
    scf.yield %xp, %m, %v, %c : tensor<64x!tile.ptr<i32>>, tensor<64xi1>, tensor<64xi32>, i32
  }
  %cs = tile.splat %r#3 : i32 -> tensor<64xi32>
  %w = arith.addi %r#2, %cs : tensor<64xi32>
  tile.store %r#0, %w mask %r#1 : (tensor<64x!tile.ptr<i32>>, tensor<64xi32>, tensor<64xi1>) -> ()
  func.return
})");
  for (bool flag : {false, true}) {
    GuardedArray<int32_t> x(64), y(64);
    for (int i = 0; i != 64; ++i) {
      x[i] = i;
      y[i] = 1000 + i;
    }
    kernel.launch({1, 1, 1}, {x.parameter(), y.parameter(), &flag});
    for (int i = 0; i != 64; ++i) {
      EXPECT_EQ(y[i], flag && i < 10 ? i + 7 : 1000 + i);
      EXPECT_EQ(x[i], !flag && i >= 10 ? 1000 + i + 9 : i);
    }
  }
}

TEST(ControlFlow, NestedLoopsThatMovePointers) {
  // Sums a matrix by columns of 16 and rows of 4, both pointers moved by the loops.
  CompiledKernel kernel(R"(
func.func @sum(%x: !tile.ptr<f32>, %y: !tile.ptr<f32>, %rows: i32, %columns: i32) attributes {tile.kernel} {
  %i = tile.arange 0, 16 : tensor<16xi32>
  %xs = tile.splat %x : !tile.ptr<f32> -> tensor<16x!tile.ptr<f32>>
  %p0 = tile.addptr %xs, %i : tensor<16x!tile.ptr<f32>>, tensor<16xi32>
  %zero = arith.constant dense<0.0> : tensor<16xf32>
  %c0 = arith.constant 0 : i32
  %c1 = arith.constant 1 : i32
  %c16 = arith.constant 16 : i32
  %step = arith.constant dense<16> : tensor<16xi32>
  %tail = arith.remsi %columns, %c16 : i32
  %tails = tile.splat %tail : i32 -> tensor<16xi32>
  %ci = tile.splat %columns : i32 -> tensor<16xi32>
  %r:2 = scf.for %row = %c0 to %rows step %c1 iter_args(%acc = %zero, %p = %p0) -> (tensor<16xf32>, tensor<16x!tile.ptr<f32>>) : i32 {
    %q:2 = scf.for %column = %c0 to %columns step %c16 iter_args(%a = %acc, %pp = %p) -> (tensor<16xf32>, tensor<16x!tile.ptr<f32>>) : i32 {
      %left = arith.subi %columns, %column : i32
      %lefts = tile.splat %left : i32 -> tensor<16xi32>
      %m = arith.cmpi slt, %i, %lefts : tensor<16xi32>
      %v = tile.load %pp mask %m other %zero : (tensor<16x!tile.ptr<f32>>, tensor<16xi1>, tensor<16xf32>) -> tensor<16xf32>
      %s = arith.addf %a, %v : tensor<16xf32>
      %n = tile.addptr %pp, %step : tensor<16x!tile.ptr<f32>>, tensor<16xi32>
      scf.yield %s, %n : tensor<16xf32>, tensor<16x!tile.ptr<f32>>
    }
    %next = tile.addptr %p, %ci : tensor<16x!tile.ptr<f32>>, tensor<16xi32>
    scf.yield %q#0, %next : tensor<16xf32>, tensor<16x!tile.ptr<f32>>
  }
  %ys = tile.splat %y : !tile.ptr<f32> -> tensor<16x!tile.ptr<f32>>
  %yp = tile.addptr %ys, %i : tensor<16x!tile.ptr<f32>>, tensor<16xi32>
  tile.store %yp, %r#0 : (tensor<16x!tile.ptr<f32>>, tensor<16xf32>) -> ()
  func.return
})");
  // The moved pointers take no array: only the sums do.
  EXPECT_LE(kernel.arenaBytes(), 256);
  std::mt19937 random(6);
  for (auto [rows, columns] : {std::pair(1, 1), std::pair(3, 100), std::pair(7, 16)}) {
    GuardedArray<float> x(rows * columns, random), y(16);
    kernel.launch({1, 1, 1}, {x.parameter(), y.parameter(), &rows, &columns});
    for (int lane = 0; lane != 16; ++lane) {
      double sum = 0;
      for (int row = 0; row != rows; ++row)
        for (int column = lane; column < columns; column += 16)
          sum += x[row * columns + column];
      EXPECT_NEAR(y[lane], sum, 1e-5);
    }
  }
}

TEST(ControlFlow, PointersMovedByDifferentSteps) {
  // The step differs between lanes, but not between iterations.
  CompiledKernel kernel(R"(
func.func @strides(%x: !tile.ptr<i32>, %y: !tile.ptr<i32>, %n: i32) attributes {tile.kernel} {
  %i = tile.arange 0, 8 : tensor<8xi32>
  %xs = tile.splat %x : !tile.ptr<i32> -> tensor<8x!tile.ptr<i32>>
  %zero = arith.constant dense<0> : tensor<8xi32>
  %c0 = arith.constant 0 : i32
  %c1 = arith.constant 1 : i32
  %r:2 = scf.for %k = %c0 to %n step %c1 iter_args(%acc = %zero, %p = %xs) -> (tensor<8xi32>, tensor<8x!tile.ptr<i32>>) : i32 {
    %v = tile.load %p : (tensor<8x!tile.ptr<i32>>) -> tensor<8xi32>
    %s = arith.addi %acc, %v : tensor<8xi32>
    %next = tile.addptr %p, %i : tensor<8x!tile.ptr<i32>>, tensor<8xi32>
    scf.yield %s, %next : tensor<8xi32>, tensor<8x!tile.ptr<i32>>
  }
  %last = tile.load %r#1 : (tensor<8x!tile.ptr<i32>>) -> tensor<8xi32>
  %both = arith.addi %r#0, %last : tensor<8xi32>
  %ys = tile.splat %y : !tile.ptr<i32> -> tensor<8x!tile.ptr<i32>>
  %yp = tile.addptr %ys, %i : tensor<8x!tile.ptr<i32>>, tensor<8xi32>
  tile.store %yp, %both : (tensor<8x!tile.ptr<i32>>, tensor<8xi32>) -> ()
  func.return
})");
  GuardedArray<int32_t> x(64), y(8);
  for (int i = 0; i != 64; ++i)
    x[i] = i * i;
  int n = 5;
  kernel.launch({1, 1, 1}, {x.parameter(), y.parameter(), &n});
  for (int lane = 0; lane != 8; ++lane) {
    int sum = 0;
    for (int k = 0; k <= n; ++k)
      sum += x[k * lane];
    EXPECT_EQ(y[lane], sum);
  }
}

} // namespace

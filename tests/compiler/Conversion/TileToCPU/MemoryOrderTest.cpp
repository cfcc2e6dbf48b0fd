// Loads and stores through the same memory keep their order: in-place kernels.

#include "tests/compiler/Conversion/TileToCPU/GuardedArray.h"
#include "tests/compiler/Conversion/TileToCPU/KernelRunner.h"
#include "tests/compiler/Conversion/TileToCPU/KernelText.h"
#include <cmath>
#include <gtest/gtest.h>

using namespace kiln::test;

namespace {

TEST(MemoryOrder, RotaryEmbeddingInPlace) {
  // One instance per position; a tile of 4 heads x 32 pairs. x1' = x1 cos - x2 sin, x2' = x2 cos +
  // x1 sin.
  for (std::string type : {"f32", "bf16", "f16"}) {
    CompiledKernel kernel(fillIn(
        R"(
func.func @rotary(%x: !tile.ptr<${t}>, %cos: !tile.ptr<f32>, %sin: !tile.ptr<f32>, %heads: i32, %half: i32) attributes {tile.kernel} {
  %pid = tile.program_id 0 : i32
  %two = arith.constant 2 : i32
  %dim = arith.muli %half, %two : i32
  %row = arith.muli %heads, %dim : i32
  %start = arith.muli %pid, %row : i32
  %base = tile.addptr %x, %start : !tile.ptr<${t}>, i32
  %h = tile.arange 0, 4 : tensor<4xi32>
  %hc = tile.expand_dims %h, 1 : tensor<4xi32> -> tensor<4x1xi32>
  %d = tile.arange 0, 32 : tensor<32xi32>
  %dr = tile.expand_dims %d, 0 : tensor<32xi32> -> tensor<1x32xi32>
  %dims = tile.splat %dim : i32 -> tensor<4x1xi32>
  %ho = arith.muli %hc, %dims : tensor<4x1xi32>
  %hb = tile.broadcast %ho : tensor<4x1xi32> -> tensor<4x32xi32>
  %db = tile.broadcast %dr : tensor<1x32xi32> -> tensor<4x32xi32>
  %off1 = arith.addi %hb, %db : tensor<4x32xi32>
  %halfs = tile.splat %half : i32 -> tensor<4x32xi32>
  %off2 = arith.addi %off1, %halfs : tensor<4x32xi32>
  %bases = tile.splat %base : !tile.ptr<${t}> -> tensor<4x32x!tile.ptr<${t}>>
  %p1 = tile.addptr %bases, %off1 : tensor<4x32x!tile.ptr<${t}>>, tensor<4x32xi32>
  %p2 = tile.addptr %bases, %off2 : tensor<4x32x!tile.ptr<${t}>>, tensor<4x32xi32>
  %hs = tile.splat %heads : i32 -> tensor<4x1xi32>
  %mh = arith.cmpi slt, %hc, %hs : tensor<4x1xi32>
  %halfr = tile.splat %half : i32 -> tensor<1x32xi32>
  %md = arith.cmpi slt, %dr, %halfr : tensor<1x32xi32>
  %mhb = tile.broadcast %mh : tensor<4x1xi1> -> tensor<4x32xi1>
  %mdb = tile.broadcast %md : tensor<1x32xi1> -> tensor<4x32xi1>
  %m = arith.andi %mhb, %mdb : tensor<4x32xi1>
  %halfrow = arith.muli %pid, %half : i32
  %hrs = tile.splat %halfrow : i32 -> tensor<1x32xi32>
  %co = arith.addi %hrs, %dr : tensor<1x32xi32>
  %cs = tile.splat %cos : !tile.ptr<f32> -> tensor<1x32x!tile.ptr<f32>>
  %cp = tile.addptr %cs, %co : tensor<1x32x!tile.ptr<f32>>, tensor<1x32xi32>
  %ss = tile.splat %sin : !tile.ptr<f32> -> tensor<1x32x!tile.ptr<f32>>
  %sp = tile.addptr %ss, %co : tensor<1x32x!tile.ptr<f32>>, tensor<1x32xi32>
  %c1 = tile.load %cp mask %md : (tensor<1x32x!tile.ptr<f32>>, tensor<1x32xi1>) -> tensor<1x32xf32>
  %s1 = tile.load %sp mask %md : (tensor<1x32x!tile.ptr<f32>>, tensor<1x32xi1>) -> tensor<1x32xf32>
  %c = tile.broadcast %c1 : tensor<1x32xf32> -> tensor<4x32xf32>
  %s = tile.broadcast %s1 : tensor<1x32xf32> -> tensor<4x32xf32>
  %x1 = tile.load %p1 mask %m : (tensor<4x32x!tile.ptr<${t}>>, tensor<4x32xi1>) -> tensor<4x32x${t}>
  %x2 = tile.load %p2 mask %m : (tensor<4x32x!tile.ptr<${t}>>, tensor<4x32xi1>) -> tensor<4x32x${t}>
  ${widen1}
  ${widen2}
  %a = arith.mulf %w1, %c : tensor<4x32xf32>
  %b = arith.mulf %w2, %s : tensor<4x32xf32>
  %o1 = arith.subf %a, %b : tensor<4x32xf32>
  %e = arith.mulf %w2, %c : tensor<4x32xf32>
  %f = arith.mulf %w1, %s : tensor<4x32xf32>
  %o2 = arith.addf %e, %f : tensor<4x32xf32>
  ${narrow1}
  tile.store %p1, %n1 mask %m : (tensor<4x32x!tile.ptr<${t}>>, tensor<4x32x${t}>, tensor<4x32xi1>) -> ()
  ${narrow2}
  tile.store %p2, %n2 mask %m : (tensor<4x32x!tile.ptr<${t}>>, tensor<4x32x${t}>, tensor<4x32xi1>) -> ()
  func.return
})",
        {{"widen1", type == "f32" ? "%w1 = tile.hint %x1 : tensor<4x32xf32>"
                                  : "%w1 = arith.extf %x1 : tensor<4x32x${t}> to tensor<4x32xf32>"},
         {"widen2", type == "f32" ? "%w2 = tile.hint %x2 : tensor<4x32xf32>"
                                  : "%w2 = arith.extf %x2 : tensor<4x32x${t}> to tensor<4x32xf32>"},
         {"narrow1", type == "f32"
                         ? "%n1 = tile.hint %o1 : tensor<4x32xf32>"
                         : "%n1 = arith.truncf %o1 : tensor<4x32xf32> to tensor<4x32x${t}>"},
         {"narrow2", type == "f32"
                         ? "%n2 = tile.hint %o2 : tensor<4x32xf32>"
                         : "%n2 = arith.truncf %o2 : tensor<4x32xf32> to tensor<4x32x${t}>"},
         {"t", type}}));
    auto check = [&](auto element, double tolerance) {
      using T = decltype(element);
      for (int half : {1, 7, 31, 32}) {
        int heads = 3, positions = 5, dim = 2 * half;
        std::mt19937 random(half);
        GuardedArray<T> x(positions * heads * dim, random);
        GuardedArray<float> cos(positions * half, random), sin(positions * half, random);
        std::vector<T> before(x.data(), x.data() + positions * heads * dim);
        kernel.launch({uint32_t(positions), 1, 1},
                      {x.parameter(), cos.parameter(), sin.parameter(), &heads, &half});
        for (int row = 0; row != positions * heads; ++row)
          for (int d = 0; d != half; ++d) {
            double x1 = before[row * dim + d], x2 = before[row * dim + half + d];
            double c = cos[row / heads * half + d], s = sin[row / heads * half + d];
            EXPECT_NEAR(double(x[row * dim + d]), x1 * c - x2 * s, tolerance);
            EXPECT_NEAR(double(x[row * dim + half + d]), x2 * c + x1 * s, tolerance);
          }
        EXPECT_TRUE(x.guardsIntact());
      }
    };
    if (type == "f32")
      check(float(), 1e-6);
    else if (type == "bf16")
      check(BF16(), 1e-2);
    else
      check(_Float16(), 2e-3);
  }
}

TEST(MemoryOrder, ReversalInPlace) {
  CompiledKernel kernel(R"(
func.func @reverse(%x: !tile.ptr<i32>) attributes {tile.kernel} {
  %i = tile.arange 0, 64 : tensor<64xi32>
  %last = arith.constant dense<63> : tensor<64xi32>
  %j = arith.subi %last, %i : tensor<64xi32>
  %xs = tile.splat %x : !tile.ptr<i32> -> tensor<64x!tile.ptr<i32>>
  %from = tile.addptr %xs, %i : tensor<64x!tile.ptr<i32>>, tensor<64xi32>
  %to = tile.addptr %xs, %j : tensor<64x!tile.ptr<i32>>, tensor<64xi32>
  %v = tile.load %from : (tensor<64x!tile.ptr<i32>>) -> tensor<64xi32>
  tile.store %to, %v : (tensor<64x!tile.ptr<i32>>, tensor<64xi32>) -> ()
  func.return
})");
  GuardedArray<int32_t> x(64);
  for (int i = 0; i != 64; ++i)
    x[i] = i;
  kernel.launch({1, 1, 1}, {x.parameter()});
  for (int i = 0; i != 64; ++i)
    EXPECT_EQ(x[i], 63 - i);
}

TEST(MemoryOrder, PermutationThroughTheSamePointers) {
  // The element stored at an index is not the one loaded there, although the pointers are the same
  // value.
  CompiledKernel kernel(R"(
func.func @permute(%x: !tile.ptr<i32>) attributes {tile.kernel} {
  %i = tile.arange 0, 256 : tensor<256xi32>
  %xs = tile.splat %x : !tile.ptr<i32> -> tensor<256x!tile.ptr<i32>>
  %p = tile.addptr %xs, %i : tensor<256x!tile.ptr<i32>>, tensor<256xi32>
  %v = tile.load %p : (tensor<256x!tile.ptr<i32>>) -> tensor<256xi32>
  %m = tile.reshape %v : tensor<256xi32> -> tensor<16x16xi32>
  %t = tile.trans %m, [1, 0] : tensor<16x16xi32> -> tensor<16x16xi32>
  %w = tile.reshape %t : tensor<16x16xi32> -> tensor<256xi32>
  tile.store %p, %w : (tensor<256x!tile.ptr<i32>>, tensor<256xi32>) -> ()
  func.return
})");
  GuardedArray<int32_t> x(256);
  for (int i = 0; i != 256; ++i)
    x[i] = i;
  kernel.launch({1, 1, 1}, {x.parameter()});
  for (int i = 0; i != 256; ++i)
    EXPECT_EQ(x[i], i % 16 * 16 + i / 16);
}

TEST(MemoryOrder, RepeatedAddressesAreReadBeforeTheyAreWritten) {
  // Each pair of elements shares an address: both read the old value.
  CompiledKernel kernel(R"(
func.func @pairs(%x: !tile.ptr<i32>) attributes {tile.kernel} {
  %i = tile.arange 0, 64 : tensor<64xi32>
  %four = arith.constant dense<32> : tensor<64xi32>
  %o = arith.remsi %i, %four : tensor<64xi32>
  %one = arith.constant dense<1> : tensor<64xi32>
  %xs = tile.splat %x : !tile.ptr<i32> -> tensor<64x!tile.ptr<i32>>
  %p = tile.addptr %xs, %o : tensor<64x!tile.ptr<i32>>, tensor<64xi32>
  %v = tile.load %p : (tensor<64x!tile.ptr<i32>>) -> tensor<64xi32>
  %w = arith.addi %v, %one : tensor<64xi32>
  tile.store %p, %w : (tensor<64x!tile.ptr<i32>>, tensor<64xi32>) -> ()
  func.return
})");
  GuardedArray<int32_t> x(32);
  kernel.launch({1, 1, 1}, {x.parameter()});
  for (int i = 0; i != 32; ++i)
    EXPECT_EQ(x[i], 1);
}

TEST(MemoryOrder, SwapOfTwoArrays) {
  CompiledKernel kernel(R"(
func.func @swap(%x: !tile.ptr<f32>, %y: !tile.ptr<f32>, %n: i32) attributes {tile.kernel} {
  %i = tile.arange 0, 128 : tensor<128xi32>
  %ns = tile.splat %n : i32 -> tensor<128xi32>
  %m = arith.cmpi slt, %i, %ns : tensor<128xi32>
  %xs = tile.splat %x : !tile.ptr<f32> -> tensor<128x!tile.ptr<f32>>
  %xp = tile.addptr %xs, %i : tensor<128x!tile.ptr<f32>>, tensor<128xi32>
  %ys = tile.splat %y : !tile.ptr<f32> -> tensor<128x!tile.ptr<f32>>
  %yp = tile.addptr %ys, %i : tensor<128x!tile.ptr<f32>>, tensor<128xi32>
  %a = tile.load %xp mask %m : (tensor<128x!tile.ptr<f32>>, tensor<128xi1>) -> tensor<128xf32>
  %b = tile.load %yp mask %m : (tensor<128x!tile.ptr<f32>>, tensor<128xi1>) -> tensor<128xf32>
  tile.store %xp, %b mask %m : (tensor<128x!tile.ptr<f32>>, tensor<128xf32>, tensor<128xi1>) -> ()
  tile.store %yp, %a mask %m : (tensor<128x!tile.ptr<f32>>, tensor<128xf32>, tensor<128xi1>) -> ()
  func.return
})");
  std::mt19937 random(3);
  int n = 100;
  GuardedArray<float> x(n, random), y(n, random);
  std::vector<float> oldX(x.data(), x.data() + n), oldY(y.data(), y.data() + n);
  kernel.launch({1, 1, 1}, {x.parameter(), y.parameter(), &n});
  for (int i = 0; i != n; ++i) {
    EXPECT_EQ(x[i], oldY[i]);
    EXPECT_EQ(y[i], oldX[i]);
  }
  EXPECT_TRUE(x.guardsIntact() && y.guardsIntact());
}

TEST(MemoryOrder, OverlapOfDifferentArguments) {
  // z = x shifted by a few elements: the loads all come first.
  CompiledKernel kernel(vectorAddText(256));
  for (int shift : {-300, -17, -1, 0, 1, 5, 255, 256}) {
    std::vector<float> memory(2000);
    for (int i = 0; i != 2000; ++i)
      memory[i] = float(i);
    std::vector<float> expected = memory;
    int n = 250, at = 600;
    for (int i = 0; i != n; ++i)
      expected[at + shift + i] = memory[at + i] * 2;
    float *x = &memory[at], *z = x + shift;
    kernel.launch({1, 1, 1}, {&x, &x, &z, &n});
    EXPECT_EQ(memory, expected) << shift;
  }
}

} // namespace

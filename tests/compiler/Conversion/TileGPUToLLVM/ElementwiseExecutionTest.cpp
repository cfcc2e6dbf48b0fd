// Elementwise kernels, run on the block interpreter.

#include "tests/compiler/Conversion/TileGPUToLLVM/KernelRunner.h"
#include "gtest/gtest.h"

namespace kiln::testing {
namespace {

class Execution : public ::testing::TestWithParam<const char *> {};

const char *const vectorAdd = R"(
func.func @add(%x: !tile.ptr<f32> {tile.divisibility = 16 : i32}, %y: !tile.ptr<f32> {tile.divisibility = 16 : i32},
               %o: !tile.ptr<f32> {tile.divisibility = 16 : i32}, %n: i32)
    attributes {tile.kernel, tile.num_warps = 4 : i32} {
  %pid = tile.program_id 0 : i32
  %c = arith.constant 1024 : i32
  %b = arith.muli %pid, %c : i32
  %bs = tile.splat %b : i32 -> tensor<1024xi32>
  %r = tile.arange 0, 1024 : tensor<1024xi32>
  %off = arith.addi %bs, %r : tensor<1024xi32>
  %ns = tile.splat %n : i32 -> tensor<1024xi32>
  %m = arith.cmpi slt, %off, %ns : tensor<1024xi32>
  %xs = tile.splat %x : !tile.ptr<f32> -> tensor<1024x!tile.ptr<f32>>
  %xp = tile.addptr %xs, %off : tensor<1024x!tile.ptr<f32>>, tensor<1024xi32>
  %xv = tile.load %xp mask %m : (tensor<1024x!tile.ptr<f32>>, tensor<1024xi1>) -> tensor<1024xf32>
  %ys = tile.splat %y : !tile.ptr<f32> -> tensor<1024x!tile.ptr<f32>>
  %yp = tile.addptr %ys, %off : tensor<1024x!tile.ptr<f32>>, tensor<1024xi32>
  %yv = tile.load %yp mask %m : (tensor<1024x!tile.ptr<f32>>, tensor<1024xi1>) -> tensor<1024xf32>
  %s = arith.addf %xv, %yv : tensor<1024xf32>
  %os = tile.splat %o : !tile.ptr<f32> -> tensor<1024x!tile.ptr<f32>>
  %op = tile.addptr %os, %off : tensor<1024x!tile.ptr<f32>>, tensor<1024xi32>
  tile.store %op, %s mask %m : (tensor<1024x!tile.ptr<f32>>, tensor<1024xf32>, tensor<1024xi1>) -> ()
  return
})";

TEST_P(Execution, VectorAddOfOddSizes) {
  for (int n : {1, 7, 127, 1000, 4097}) {
    CompiledKernel kernel(vectorAdd, GetParam());
    ASSERT_EQ(kernel.errors, "");
    Buffer<float> x(n), y(n), out(n);
    Random random(n);
    for (int i = 0; i < n; ++i) {
      x[i] = random.next();
      y[i] = random.next();
    }
    kernel.use(x);
    kernel.use(y);
    kernel.use(out);
    ASSERT_EQ(kernel.run({x.argument(), y.argument(), out.argument(), uint64_t(n)},
                         {uint32_t(n + 1023) / 1024, 1, 1}),
              "");
    for (int i = 0; i < n; ++i)
      ASSERT_EQ(out[i], x[i] + y[i]) << "element " << i << " of " << n;
  }
}

TEST_P(Execution, WideAccessesWhereFactsAllow) {
  std::string source = vectorAdd;
  source.replace(source.find("%n: i32"), 7, "%n: i32 {tile.divisibility = 16 : i32}");
  CompiledKernel kernel(source, GetParam());
  ASSERT_EQ(kernel.errors, "");
  Buffer<float> x(1040, 1), y(1040, 2), out(1040);
  kernel.use(x);
  kernel.use(y);
  kernel.use(out);
  ASSERT_EQ(kernel.run({x.argument(), y.argument(), out.argument(), 1040}, {2, 1, 1}), "");
  EXPECT_EQ(kernel.interpreter().counts.widestAccess, 16u);
  EXPECT_EQ(out[1039], 3);
}

INSTANTIATE_TEST_SUITE_P(AllTargets, Execution, ::testing::ValuesIn(testTargets), targetName);

} // namespace
} // namespace kiln::testing

// Atomics while instances run on several threads.

#include "tests/compiler/Conversion/TileToCPU/GuardedArray.h"
#include "tests/compiler/Conversion/TileToCPU/KernelRunner.h"
#include "tests/compiler/Conversion/TileToCPU/KernelText.h"
#include <gtest/gtest.h>
#include <numeric>

using namespace kiln::test;

namespace {

constexpr unsigned threads = 4;
constexpr uint32_t instances = 500;

std::string tensorAtomicText(const std::string &kind, const std::string &type,
                             const std::string &one) {
  return fillIn(R"(
func.func @count(%x: !tile.ptr<${t}>, %n: i32) attributes {tile.kernel} {
  %i = tile.arange 0, 16 : tensor<16xi32>
  %four = arith.constant dense<4> : tensor<16xi32>
  %o = arith.remsi %i, %four : tensor<16xi32>
  %ns = tile.splat %n : i32 -> tensor<16xi32>
  %m = arith.cmpi slt, %i, %ns : tensor<16xi32>
  %xs = tile.splat %x : !tile.ptr<${t}> -> tensor<16x!tile.ptr<${t}>>
  %p = tile.addptr %xs, %o : tensor<16x!tile.ptr<${t}>>, tensor<16xi32>
  %one = arith.constant dense<${one}> : tensor<16x${t}>
  %old = tile.atomic_rmw <${kind}> %p, %one mask %m : (tensor<16x!tile.ptr<${t}>>, tensor<16x${t}>, tensor<16xi1>) -> tensor<16x${t}>
  func.return
})",
                {{"t", type}, {"kind", kind}, {"one", one}});
}

template <typename T>
void checkCounts(const std::string &kind, const std::string &type, const std::string &one) {
  CompiledKernel kernel(tensorAtomicText(kind, type, one));
  GuardedArray<T> x(4);
  int n = 14; // elements 0 and 1 are met four times by an instance, 2 and 3 three times
  kernel.launchThreaded({instances, 1, 1}, {x.parameter(), &n}, threads);
  for (int i = 0; i != 4; ++i)
    EXPECT_EQ(double(x[i]), instances * (i < 2 ? 4.0 : 3.0)) << type;
  EXPECT_TRUE(x.guardsIntact());
}

TEST(Atomics, TensorAdditionsDoNotGetLost) {
  checkCounts<int32_t>("add", "i32", "1");
  checkCounts<int64_t>("add", "i64", "1");
  checkCounts<float>("fadd", "f32", "1.0");
  checkCounts<double>("fadd", "f64", "1.0");
  checkCounts<_Float16>("fadd", "f16", "1.0"); // exact up to 2048
}

TEST(Atomics, OldValuesAreTheTickets) {
  CompiledKernel kernel(R"(
func.func @ticket(%counter: !tile.ptr<i32>, %seen: !tile.ptr<i32>) attributes {tile.kernel} {
  %one = arith.constant 1 : i32
  %ticket = tile.atomic_rmw <add> %counter, %one : (!tile.ptr<i32>, i32) -> i32
  %p = tile.addptr %seen, %ticket : !tile.ptr<i32>, i32
  %old = tile.load %p : (!tile.ptr<i32>) -> i32
  %new = arith.addi %old, %one : i32
  tile.store %p, %new : (!tile.ptr<i32>, i32) -> ()
  func.return
})");
  GuardedArray<int32_t> counter(1), seen(instances);
  kernel.launchThreaded({instances, 1, 1}, {counter.parameter(), seen.parameter()}, threads);
  EXPECT_EQ(counter[0], int(instances));
  for (uint32_t i = 0; i != instances; ++i)
    EXPECT_EQ(seen[i], 1);
}

TEST(Atomics, LockByCompareAndSwap) {
  // Each instance adds to a plain array while it holds the lock.
  CompiledKernel kernel(R"(
func.func @lock(%lock: !tile.ptr<i32>, %x: !tile.ptr<f32>) attributes {tile.kernel} {
  %zero = arith.constant 0 : i32
  %one = arith.constant 1 : i32
  scf.while : () -> () {
    %old = tile.atomic_cas %lock, %zero, %one : (!tile.ptr<i32>, i32, i32) -> i32
    %busy = arith.cmpi ne, %old, %zero : i32
    scf.condition(%busy)
  } do {
    scf.yield
  }
  %i = tile.arange 0, 64 : tensor<64xi32>
  %xs = tile.splat %x : !tile.ptr<f32> -> tensor<64x!tile.ptr<f32>>
  %p = tile.addptr %xs, %i : tensor<64x!tile.ptr<f32>>, tensor<64xi32>
  %v = tile.load %p : (tensor<64x!tile.ptr<f32>>) -> tensor<64xf32>
  %c = arith.constant dense<1.0> : tensor<64xf32>
  %w = arith.addf %v, %c : tensor<64xf32>
  tile.store %p, %w : (tensor<64x!tile.ptr<f32>>, tensor<64xf32>) -> ()
  tile.barrier
  %free = tile.atomic_rmw <xchg> %lock, %zero : (!tile.ptr<i32>, i32) -> i32
  func.return
})");
  GuardedArray<int32_t> lock(1);
  GuardedArray<float> x(64);
  kernel.launchThreaded({instances, 1, 1}, {lock.parameter(), x.parameter()}, threads);
  for (int i = 0; i != 64; ++i)
    EXPECT_EQ(x[i], float(instances));
}

TEST(Atomics, OtherKinds) {
  auto run = [](const std::string &kind, int start, const std::string &operand) {
    CompiledKernel kernel(fillIn(R"(
func.func @one(%x: !tile.ptr<i32>, %y: !tile.ptr<i32>) attributes {tile.kernel} {
  %c = arith.constant ${c} : i32
  %old = tile.atomic_rmw <${kind}> %x, %c : (!tile.ptr<i32>, i32) -> i32
  tile.store %y, %old : (!tile.ptr<i32>, i32) -> ()
  func.return
})",
                                 {{"kind", kind}, {"c", operand}}));
    GuardedArray<int32_t> x(1), old(1);
    x[0] = start;
    kernel.launch({1, 1, 1}, {x.parameter(), old.parameter()});
    EXPECT_EQ(old[0], start) << kind;
    return x[0];
  };
  EXPECT_EQ(run("and", 12, "10"), 8);
  EXPECT_EQ(run("or", 12, "10"), 14);
  EXPECT_EQ(run("xor", 12, "10"), 6);
  EXPECT_EQ(run("smax", -1, "10"), 10);
  EXPECT_EQ(run("umax", -1, "10"), -1);
  EXPECT_EQ(run("smin", -1, "10"), -1);
  EXPECT_EQ(run("umin", -1, "10"), 10);
  EXPECT_EQ(run("xchg", 5, "10"), 10);
}

} // namespace

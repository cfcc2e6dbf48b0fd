// Scalar arguments of every type, conversions, division in lanes that nobody reads, booleans in
// memory, and what cannot be lowered.

#include "tests/compiler/Conversion/TileToCPU/GuardedArray.h"
#include "tests/compiler/Conversion/TileToCPU/KernelRunner.h"
#include "tests/compiler/Conversion/TileToCPU/KernelText.h"
#include "tests/compiler/Conversion/TileToCPU/Reference.h"
#include "llvm/ADT/APFloat.h"
#include <cmath>
#include <cstring>
#include <gtest/gtest.h>
#include <limits>

using namespace kiln::test;

namespace {

TEST(Types, ScalarArguments) {
  auto check = [](const std::string &type, auto value) {
    CompiledKernel kernel(fillIn(R"(
func.func @keep(%out: !tile.ptr<${t}>, %v: ${t}, %yes: i1) attributes {tile.kernel} {
  tile.store %out, %v mask %yes : (!tile.ptr<${t}>, ${t}, i1) -> ()
  func.return
})",
                                 {{"t", type}}));
    GuardedArray<decltype(value)> out(1);
    bool yes = false;
    kernel.launch({1, 1, 1}, {out.parameter(), &value, &yes});
    EXPECT_FALSE(std::memcmp(out.data(), &value, sizeof value) == 0) << type;
    yes = true;
    kernel.launch({1, 1, 1}, {out.parameter(), &value, &yes});
    EXPECT_EQ(std::memcmp(out.data(), &value, sizeof value), 0) << type;
    EXPECT_TRUE(out.guardsIntact());
  };
  check("i8", int8_t(-5));
  check("i16", int16_t(-500));
  check("i32", int32_t(-50000));
  check("i64", -(int64_t(5) << 40));
  check("f16", _Float16(1.5));
  check("bf16", BF16(2.5));
  check("f32", 3.25f);
  check("f64", 1e100);
}

TEST(Types, DivisionDoesNotTrapInMaskedLanes) {
  for (std::string op : {"arith.divsi", "arith.divui", "arith.remsi", "arith.remui"}) {
    auto check = [&](const std::string &type, auto zero) {
      using T = decltype(zero);
      CompiledKernel kernel(fillIn(R"(
func.func @divide(%x: !tile.ptr<${t}>, %y: !tile.ptr<${t}>) attributes {tile.kernel} {
  %i = tile.arange 0, 64 : tensor<64xi32>
  %xs = tile.splat %x : !tile.ptr<${t}> -> tensor<64x!tile.ptr<${t}>>
  %xp = tile.addptr %xs, %i : tensor<64x!tile.ptr<${t}>>, tensor<64xi32>
  %ys = tile.splat %y : !tile.ptr<${t}> -> tensor<64x!tile.ptr<${t}>>
  %yp = tile.addptr %ys, %i : tensor<64x!tile.ptr<${t}>>, tensor<64xi32>
  %a = tile.load %xp : (tensor<64x!tile.ptr<${t}>>) -> tensor<64x${t}>
  %b = tile.load %yp : (tensor<64x!tile.ptr<${t}>>) -> tensor<64x${t}>
  %zero = arith.constant dense<0> : tensor<64x${t}>
  %m = arith.cmpi ne, %b, %zero : tensor<64x${t}>
  %q = ${op} %a, %b : tensor<64x${t}>
  tile.store %xp, %q mask %m : (tensor<64x!tile.ptr<${t}>>, tensor<64x${t}>, tensor<64xi1>) -> ()
  func.return
})",
                                   {{"t", type}, {"op", op}}));
      std::mt19937_64 random(9);
      GuardedArray<T> x(64), y(64);
      for (int i = 0; i != 64; ++i) {
        x[i] = T(random());
        y[i] = i % 3 == 0 ? T(0) : i % 3 == 1 ? T(random()) : T(random() % 7 + 1);
        if (y[i] == T(-1))
          y[i] = 3;
      }
      x[0] = std::numeric_limits<T>::min();
      y[0] = T(-1); // overflows: anything but a trap
      std::vector<T> before(x.data(), x.data() + 64);
      kernel.launch({1, 1, 1}, {x.parameter(), y.parameter()});
      using U = std::make_unsigned_t<T>;
      for (int i = 1; i != 64; ++i) {
        T a = before[i], b = y[i], expected = a;
        if (b != 0)
          expected = op == "arith.divsi"   ? T(a / b)
                     : op == "arith.remsi" ? T(a % b)
                     : op == "arith.divui" ? T(U(a) / U(b))
                                           : T(U(a) % U(b));
        EXPECT_EQ(x[i], expected) << op << " " << type << " " << int64_t(a) << ", " << int64_t(b);
      }
    };
    check("i8", int8_t());
    check("i16", int16_t());
    check("i32", int32_t());
    check("i64", int64_t());
  }
}

TEST(Types, BooleansInMemoryAndMixedConversions) {
  CompiledKernel kernel(R"(
func.func @mixed(%flags: !tile.ptr<i8>, %h: !tile.ptr<f16>, %d: !tile.ptr<f64>, %l: !tile.ptr<i64>) attributes {tile.kernel} {
  %i = tile.arange 0, 32 : tensor<32xi32>
  %fs = tile.splat %flags : !tile.ptr<i8> -> tensor<32x!tile.ptr<i8>>
  %fp = tile.addptr %fs, %i : tensor<32x!tile.ptr<i8>>, tensor<32xi32>
  %f8 = tile.load %fp : (tensor<32x!tile.ptr<i8>>) -> tensor<32xi8>
  %z8 = arith.constant dense<0> : tensor<32xi8>
  %f = arith.cmpi ne, %f8, %z8 : tensor<32xi8>
  %hs = tile.splat %h : !tile.ptr<f16> -> tensor<32x!tile.ptr<f16>>
  %hp = tile.addptr %hs, %i : tensor<32x!tile.ptr<f16>>, tensor<32xi32>
  %hv = tile.load %hp mask %f : (tensor<32x!tile.ptr<f16>>, tensor<32xi1>) -> tensor<32xf16>
  %hd = arith.extf %hv : tensor<32xf16> to tensor<32xf64>
  %fi = arith.uitofp %f : tensor<32xi1> to tensor<32xf64>
  %ii = arith.sitofp %i : tensor<32xi32> to tensor<32xf64>
  %one = arith.constant dense<-1> : tensor<32xi8>
  %zd = arith.constant dense<0.0> : tensor<32xf64>
  %hsel = arith.select %f, %hd, %zd : tensor<32xi1>, tensor<32xf64>
  %s0 = arith.addf %hsel, %fi : tensor<32xf64>
  %s = arith.addf %s0, %ii : tensor<32xf64>
  %ds = tile.splat %d : !tile.ptr<f64> -> tensor<32x!tile.ptr<f64>>
  %dp = tile.addptr %ds, %i : tensor<32x!tile.ptr<f64>>, tensor<32xi32>
  tile.store %dp, %s : (tensor<32x!tile.ptr<f64>>, tensor<32xf64>) -> ()
  %any = tile.reduce (%f) axis 0 : (tensor<32xi1>) -> i1 {
  ^bb0(%a: i1, %b: i1):
    %o = arith.ori %a, %b : i1
    tile.yield %o : i1
  }
  %anys = tile.splat %any : i1 -> tensor<32xi1>
  %both = arith.xori %f, %anys : tensor<32xi1>
  %back = arith.extui %both : tensor<32xi1> to tensor<32xi8>
  tile.store %fp, %back : (tensor<32x!tile.ptr<i8>>, tensor<32xi8>) -> ()
  %wide = arith.extsi %one : tensor<32xi8> to tensor<32xi64>
  %iw = arith.extui %i : tensor<32xi32> to tensor<32xi64>
  %c40 = arith.constant dense<40> : tensor<32xi64>
  %sh = arith.shli %iw, %c40 : tensor<32xi64>
  %lv = arith.addi %wide, %sh : tensor<32xi64>
  %ls = tile.splat %l : !tile.ptr<i64> -> tensor<32x!tile.ptr<i64>>
  %lp = tile.addptr %ls, %i : tensor<32x!tile.ptr<i64>>, tensor<32xi32>
  tile.store %lp, %lv : (tensor<32x!tile.ptr<i64>>, tensor<32xi64>) -> ()
  func.return
})");
  for (bool any : {false, true}) {
    std::mt19937 random(11);
    GuardedArray<int8_t> flags(32);
    GuardedArray<_Float16> h(32, random);
    GuardedArray<double> d(32);
    GuardedArray<int64_t> l(32);
    std::vector<bool> set;
    for (int i = 0; i != 32; ++i) {
      set.push_back(any && i % 3 == 0);
      flags[i] = set[i] ? 1 : 0;
    }
    kernel.launch({1, 1, 1}, {flags.parameter(), h.parameter(), d.parameter(), l.parameter()});
    for (int i = 0; i != 32; ++i) {
      EXPECT_DOUBLE_EQ(d[i], (set[i] ? double(h[i]) + 1 : 0) + i);
      EXPECT_EQ(flags[i], set[i] != any);
      EXPECT_EQ(l[i], (int64_t(i) << 40) - 1);
    }
  }
}

TEST(Types, PointersInMemory) {
  // Grouped kernels load the addresses of their matrices.
  CompiledKernel kernel(R"(
func.func @grouped(%table: !tile.ptr<!tile.ptr<f32>>) attributes {tile.kernel} {
  %pid = tile.program_id 0 : i32
  %slot = tile.addptr %table, %pid : !tile.ptr<!tile.ptr<f32>>, i32
  %base = tile.load %slot : (!tile.ptr<!tile.ptr<f32>>) -> !tile.ptr<f32>
  %i = tile.arange 0, 16 : tensor<16xi32>
  %bs = tile.splat %base : !tile.ptr<f32> -> tensor<16x!tile.ptr<f32>>
  %p = tile.addptr %bs, %i : tensor<16x!tile.ptr<f32>>, tensor<16xi32>
  %v = tile.load %p : (tensor<16x!tile.ptr<f32>>) -> tensor<16xf32>
  %w = arith.addf %v, %v : tensor<16xf32>
  tile.store %p, %w : (tensor<16x!tile.ptr<f32>>, tensor<16xf32>) -> ()
  func.return
})");
  std::mt19937 random(1);
  GuardedArray<float> a(16, random), b(16, random);
  std::vector<float> before(b.data(), b.data() + 16);
  std::vector<float *> table = {a.data(), b.data()};
  float **address = table.data();
  kernel.launch({2, 1, 1}, {&address});
  for (int i = 0; i != 16; ++i)
    EXPECT_EQ(b[i], before[i] * 2);
}

TEST(Types, EveryEightBitFloat) {
  // To f32 and back: all 256 codes, against LLVM's own arithmetic.
  for (auto [type, semantics] : {std::pair("f8E4M3FN", &llvm::APFloat::Float8E4M3FN()),
                                 std::pair("f8E5M2", &llvm::APFloat::Float8E5M2()),
                                 std::pair("f8E4M3FNUZ", &llvm::APFloat::Float8E4M3FNUZ()),
                                 std::pair("f8E5M2FNUZ", &llvm::APFloat::Float8E5M2FNUZ())}) {
    CompiledKernel kernel(fillIn(R"(
func.func @convert(%x: !tile.ptr<${t}>, %y: !tile.ptr<f32>) attributes {tile.kernel} {
  %i = tile.arange 0, 256 : tensor<256xi32>
  %xs = tile.splat %x : !tile.ptr<${t}> -> tensor<256x!tile.ptr<${t}>>
  %xp = tile.addptr %xs, %i : tensor<256x!tile.ptr<${t}>>, tensor<256xi32>
  %ys = tile.splat %y : !tile.ptr<f32> -> tensor<256x!tile.ptr<f32>>
  %yp = tile.addptr %ys, %i : tensor<256x!tile.ptr<f32>>, tensor<256xi32>
  %v = tile.load %xp : (tensor<256x!tile.ptr<${t}>>) -> tensor<256x${t}>
  %w = arith.extf %v : tensor<256x${t}> to tensor<256xf32>
  tile.store %yp, %w : (tensor<256x!tile.ptr<f32>>, tensor<256xf32>) -> ()
  %third = arith.constant dense<1.34> : tensor<256xf32>
  %s = arith.mulf %w, %third : tensor<256xf32>
  %n = tile.narrow %s : tensor<256xf32> to tensor<256x${t}>
  tile.store %xp, %n : (tensor<256x!tile.ptr<${t}>>, tensor<256x${t}>) -> ()
  func.return
})",
                                 {{"t", type}}));
    GuardedArray<uint8_t> x(256);
    GuardedArray<float> y(256);
    for (int code = 0; code != 256; ++code)
      x[code] = uint8_t(code);
    kernel.launch({1, 1, 1}, {x.parameter(), y.parameter()});
    bool inexact;
    llvm::APFloat largest = llvm::APFloat::getLargest(*semantics);
    for (int code = 0; code != 256; ++code) {
      llvm::APFloat exact(*semantics, llvm::APInt(8, code));
      exact.convert(llvm::APFloat::IEEEsingle(), llvm::APFloat::rmNearestTiesToEven, &inexact);
      uint32_t bits;
      std::memcpy(&bits, y.data() + code, 4);
      EXPECT_EQ(bits, exact.bitcastToAPInt().getZExtValue()) << type << " " << code;
      if (exact.isNaN()) {
        EXPECT_TRUE(llvm::APFloat(*semantics, llvm::APInt(8, x[code])).isNaN())
            << type << " " << code;
        continue;
      }
      llvm::APFloat back(y[code] * 1.34f);
      back.convert(*semantics, llvm::APFloat::rmNearestTiesToEven, &inexact);
      if (!back.isFinite()) {
        back = largest;
        if (y[code] < 0)
          back.changeSign();
      }
      EXPECT_EQ(int(x[code]), int(back.bitcastToAPInt().getZExtValue())) << type << " " << code;
    }
  }
}

TEST(Unsupported, IsALocatedError) {
  std::string errors = loweringErrors(R"(
func.func @k(%p: !tile.ptr<f8E4M3FN>) attributes {tile.kernel} {
  %v = tile.load %p : (!tile.ptr<f8E4M3FN>) -> f8E4M3FN
  %w = arith.addf %v, %v : f8E4M3FN
  tile.store %p, %w : (!tile.ptr<f8E4M3FN>, f8E4M3FN) -> ()
  func.return
})");
  EXPECT_NE(errors.find("'arith.addf' on 8-bit floats is not supported on the cpu target"),
            std::string::npos)
      << errors;
  EXPECT_NE(loweringErrors("func.func @k() { func.return }").find("expected a kernel"),
            std::string::npos);
}

} // namespace

// Control flow around tensors, scalars, shapes, atomics and small floats.

#include "tests/compiler/Conversion/TileGPUToLLVM/KernelRunner.h"
#include "tests/compiler/Conversion/TileGPUToLLVM/Numbers.h"

namespace kiln::testing {
namespace {

class Programs : public ::testing::TestWithParam<const char *> {};

std::string kernel(const std::string &parameters, const std::string &body) {
  return "func.func @kernel(" + parameters +
         ") attributes {tile.kernel, tile.num_warps = 4 : i32} {\n" + body + "\n  return\n}\n";
}

/// Pointers %NAMEp to 256 elements from %NAME on.
std::string pointers(const std::string &name, const std::string &type) {
  std::string tile = "tensor<256x!tile.ptr<" + type + ">>";
  return "%" + name + "s = tile.splat %" + name + " : !tile.ptr<" + type + "> -> " + tile + "\n%" +
         name + "p = tile.addptr %" + name + "s, %r : " + tile + ", tensor<256xi32>\n";
}
const char *const range = "%r = tile.arange 0, 256 : tensor<256xi32>\n";

TEST_P(Programs, IfOnAScalarArgument) {
  CompiledKernel k(kernel("%flag: i1, %x: !tile.ptr<i32>, %o: !tile.ptr<i32>",
                          range + pointers("x", "i32") + pointers("o", "i32") + R"(
  %a = tile.load %xp : (tensor<256x!tile.ptr<i32>>) -> tensor<256xi32>
  %b = scf.if %flag -> (tensor<256xi32>) {
    %s = arith.addi %a, %r : tensor<256xi32>
    scf.yield %s : tensor<256xi32>
  } else {
    scf.yield %a : tensor<256xi32>
  }
  tile.store %op, %b : (tensor<256x!tile.ptr<i32>>, tensor<256xi32>) -> ())"),
                   GetParam());
  ASSERT_EQ(k.errors, "");
  for (uint64_t flag : {0, 1}) {
    Buffer<int32_t> x(256, 5), out(256);
    k.use(x);
    k.use(out);
    ASSERT_EQ(k.run({flag, x.argument(), out.argument()}), "");
    for (int i = 0; i < 256; ++i)
      ASSERT_EQ(out[i], flag ? 5 + i : 5);
  }
}

TEST_P(Programs, WhileUntilASumIsLarge) {
  CompiledKernel k(kernel("%o: !tile.ptr<i32>, %limit: i32", range + pointers("o", "i32") + R"(
  %zero = arith.constant dense<0> : tensor<256xi32>
  %z = arith.constant 0 : i32
  %w:2 = scf.while (%v = %zero, %total = %z) : (tensor<256xi32>, i32) -> (tensor<256xi32>, i32) {
    %c = arith.cmpi slt, %total, %limit : i32
    scf.condition(%c) %v, %total : tensor<256xi32>, i32
  } do {
  ^bb0(%v: tensor<256xi32>, %total: i32):
    %n = arith.addi %v, %r : tensor<256xi32>
    %s = tile.reduce (%n) axis 0 : (tensor<256xi32>) -> i32 {
    ^bb0(%l: i32, %u: i32):
      %t = arith.addi %l, %u : i32
      tile.yield %t : i32
    }
    scf.yield %n, %s : tensor<256xi32>, i32
  }
  tile.store %op, %w#0 : (tensor<256x!tile.ptr<i32>>, tensor<256xi32>) -> ())"),
                   GetParam());
  ASSERT_EQ(k.errors, "");
  Buffer<int32_t> out(256);
  k.use(out);
  // Each round adds 255 * 128 = 32640 to the sum.
  ASSERT_EQ(k.run({out.argument(), 100000}), "");
  for (int i = 0; i < 256; ++i)
    ASSERT_EQ(out[i], 4 * i);
}

TEST_P(Programs, GridCoordinates) {
  CompiledKernel k(kernel("%o: !tile.ptr<i32>", R"(
  %x = tile.program_id 0 : i32
  %y = tile.program_id 1 : i32
  %z = tile.program_id 2 : i32
  %nx = tile.num_programs 0 : i32
  %ny = tile.num_programs 1 : i32
  %nz = tile.num_programs 2 : i32
  %a = arith.muli %z, %ny : i32
  %b = arith.addi %a, %y : i32
  %c = arith.muli %b, %nx : i32
  %index = arith.addi %c, %x : i32
  %value = arith.addi %index, %nz : i32
  %p = tile.addptr %o, %index : !tile.ptr<i32>, i32
  tile.store %p, %value : (!tile.ptr<i32>, i32) -> ())"),
                   GetParam());
  ASSERT_EQ(k.errors, "");
  Buffer<int32_t> out(24, -1);
  k.use(out);
  ASSERT_EQ(k.run({out.argument()}, {2, 3, 4}), "");
  for (int i = 0; i < 24; ++i)
    ASSERT_EQ(out[i], i + 4);
}

TEST_P(Programs, TransposeAndReshape) {
  CompiledKernel k(kernel("%x: !tile.ptr<i32>, %o: !tile.ptr<i32>", R"(
  %r = tile.arange 0, 512 : tensor<512xi32>
  %xs = tile.splat %x : !tile.ptr<i32> -> tensor<512x!tile.ptr<i32>>
  %xp = tile.addptr %xs, %r : tensor<512x!tile.ptr<i32>>, tensor<512xi32>
  %v = tile.load %xp : (tensor<512x!tile.ptr<i32>>) -> tensor<512xi32>
  %m = tile.reshape %v : tensor<512xi32> -> tensor<16x32xi32>
  %t = tile.trans %m, [1, 0] : tensor<16x32xi32> -> tensor<32x16xi32>
  %f = tile.reshape %t : tensor<32x16xi32> -> tensor<512xi32>
  %os = tile.splat %o : !tile.ptr<i32> -> tensor<512x!tile.ptr<i32>>
  %op = tile.addptr %os, %r : tensor<512x!tile.ptr<i32>>, tensor<512xi32>
  tile.store %op, %f : (tensor<512x!tile.ptr<i32>>, tensor<512xi32>) -> ())"),
                   GetParam());
  ASSERT_EQ(k.errors, "");
  Buffer<int32_t> x(512), out(512);
  for (int i = 0; i < 512; ++i)
    x[i] = i;
  k.use(x);
  k.use(out);
  ASSERT_EQ(k.run({x.argument(), out.argument()}), "");
  for (int i = 0; i < 512; ++i)
    ASSERT_EQ(out[i], i % 16 * 32 + i / 16);
}

TEST_P(Programs, AtomicsHappenOncePerElement) {
  // 32 elements on more threads than that: the rest hold duplicates.
  CompiledKernel k(kernel("%x: !tile.ptr<i32>, %o: !tile.ptr<i32>", R"(
  %r = tile.arange 0, 32 : tensor<32xi32>
  %xs = tile.splat %x : !tile.ptr<i32> -> tensor<32x!tile.ptr<i32>>
  %xp = tile.addptr %xs, %r : tensor<32x!tile.ptr<i32>>, tensor<32xi32>
  %one = arith.constant dense<3> : tensor<32xi32>
  %c = arith.constant dense<30> : tensor<32xi32>
  %m = arith.cmpi slt, %r, %c : tensor<32xi32>
  %old = tile.atomic_rmw <add> %xp, %one mask %m : (tensor<32x!tile.ptr<i32>>, tensor<32xi32>, tensor<32xi1>) -> tensor<32xi32>
  %os = tile.splat %o : !tile.ptr<i32> -> tensor<32x!tile.ptr<i32>>
  %op = tile.addptr %os, %r : tensor<32x!tile.ptr<i32>>, tensor<32xi32>
  tile.store %op, %old mask %m : (tensor<32x!tile.ptr<i32>>, tensor<32xi32>, tensor<32xi1>) -> ())"),
                   GetParam());
  ASSERT_EQ(k.errors, "");
  Buffer<int32_t> x(32), out(32, -1);
  for (int i = 0; i < 32; ++i)
    x[i] = 100 * i;
  k.use(x);
  k.use(out);
  ASSERT_EQ(k.run({x.argument(), out.argument()}), "");
  for (int i = 0; i < 32; ++i) {
    ASSERT_EQ(x[i], 100 * i + (i < 30 ? 3 : 0));
    ASSERT_EQ(out[i], i < 30 ? 100 * i : -1);
  }
}

TEST_P(Programs, ScalarAtomicsReachEveryThread) {
  // A counter gives each program its number, which all its threads use.
  CompiledKernel k(kernel("%counter: !tile.ptr<i32>, %o: !tile.ptr<i32>", range +
                                                                              pointers("o", "i32") +
                                                                              R"(
  %one = arith.constant 1 : i32
  %n = tile.atomic_rmw <add> %counter, %one : (!tile.ptr<i32>, i32) -> i32
  %size = arith.constant 256 : i32
  %start = arith.muli %n, %size : i32
  %starts = tile.splat %start : i32 -> tensor<256xi32>
  %q = tile.addptr %op, %starts : tensor<256x!tile.ptr<i32>>, tensor<256xi32>
  %ns = tile.splat %n : i32 -> tensor<256xi32>
  tile.store %q, %ns : (tensor<256x!tile.ptr<i32>>, tensor<256xi32>) -> ()
  %four = arith.constant 4 : i32
  %forty = arith.constant 40 : i32
  %last = tile.atomic_cas %counter, %four, %forty : (!tile.ptr<i32>, i32, i32) -> i32)"),
                   GetParam());
  ASSERT_EQ(k.errors, "");
  Buffer<int32_t> counter(1), out(1024, -1);
  k.use(counter);
  k.use(out);
  ASSERT_EQ(k.run({counter.argument(), out.argument()}, {4, 1, 1}), "");
  EXPECT_EQ(counter[0], 40);
  for (int i = 0; i < 1024; ++i)
    ASSERT_EQ(out[i], i / 256);
}

TEST_P(Programs, FloatAtomicsInAnyFormat) {
  for (auto [type, format] :
       {std::make_pair("f16", Format::F16), std::make_pair("bf16", Format::BF16),
        std::make_pair("f32", Format::F32), std::make_pair("f64", Format::F64)}) {
    std::string t = type, tile = "tensor<256x!tile.ptr<" + t + ">>";
    CompiledKernel k(
        kernel("%x: !tile.ptr<" + t + ">", range + pointers("x", t) +
                                               "%c = arith.constant dense<1.5> : tensor<256x" + t +
                                               ">\n%u = tile.atomic_rmw <fadd> %xp, %c : (" + tile +
                                               ", tensor<256x" + t + ">) -> tensor<256x" + t + ">"),
        GetParam());
    ASSERT_EQ(k.errors, "");
    Buffer<uint64_t> x(256);
    unsigned bytes = formatBytes(format);
    for (int i = 0; i < 256; ++i) {
      uint64_t bits = encode(i % 32, format);
      std::memcpy(reinterpret_cast<char *>(x.data()) + i * bytes, &bits, bytes);
    }
    k.use(x);
    ASSERT_EQ(k.run({x.argument()}), "");
    for (int i = 0; i < 256; ++i) {
      uint64_t bits = 0;
      std::memcpy(&bits, reinterpret_cast<char *>(x.data()) + i * bytes, bytes);
      ASSERT_EQ(decode(bits, format), i % 32 + 1.5) << t << " " << i;
    }
  }
}

/// The value of an 8-bit float by its definition.
double smallFloat(unsigned bits, unsigned mantissa, int bias, bool fnuz, bool infinite) {
  unsigned exponent = (bits & 0x7F) >> mantissa, fraction = bits & ((1 << mantissa) - 1);
  double sign = bits & 0x80 ? -1 : 1;
  if (fnuz && bits == 0x80)
    return NAN;
  if (infinite && exponent == 31)
    return fraction ? NAN : sign * INFINITY;
  if (!fnuz && !infinite && (bits & 0x7F) == 0x7F)
    return NAN;
  double magnitude = exponent
                         ? std::ldexp(fraction + (1 << mantissa), int(exponent) - bias - mantissa)
                         : std::ldexp(fraction, 1 - bias - int(mantissa));
  return sign * magnitude;
}

TEST_P(Programs, SmallFloats) {
  struct Kind {
    const char *type;
    unsigned mantissa;
    int bias;
    bool fnuz, infinite;
    double largest;
  };
  for (const Kind &kind :
       {Kind{"f8E4M3FN", 3, 7, false, false, 448}, Kind{"f8E5M2", 2, 15, false, true, 57344},
        Kind{"f8E4M3FNUZ", 3, 8, true, false, 240},
        Kind{"f8E5M2FNUZ", 2, 16, true, false, 57344}}) {
    std::string t = kind.type;
    CompiledKernel k(
        kernel("%x: !tile.ptr<" + t + ">, %w: !tile.ptr<f32>, %y: !tile.ptr<f32>, %o: !tile.ptr<" +
                   t + ">",
               range + pointers("x", t) + pointers("w", "f32") + pointers("y", "f32") +
                   pointers("o", t) + "%a = tile.load %xp : (tensor<256x!tile.ptr<" + t +
                   ">>) -> tensor<256x" + t + ">\n%b = arith.extf %a : tensor<256x" + t +
                   "> to tensor<256xf32>\ntile.store %wp, %b : (tensor<256x!tile.ptr<f32>>, "
                   "tensor<256xf32>) -> ()\n%c = tile.load %yp : (tensor<256x!tile.ptr<f32>>) -> "
                   "tensor<256xf32>\n%d = tile.narrow %c : tensor<256xf32> to tensor<256x" +
                   t + ">\ntile.store %op, %d : (tensor<256x!tile.ptr<" + t + ">>, tensor<256x" +
                   t + ">) -> ()"),
        GetParam());
    ASSERT_EQ(k.errors, "");
    Buffer<uint8_t> x(256), out(256);
    Buffer<float> w(256), y(256);
    Random random(7);
    for (int i = 0; i < 256; ++i) {
      x[i] = i;
      y[i] = float(random.next() * std::ldexp(1.0, int(random.below(40)) - 22));
    }
    y[0] = NAN;
    y[1] = INFINITY;
    k.use(x);
    k.use(w);
    k.use(y);
    k.use(out);
    ASSERT_EQ(k.run({x.argument(), w.argument(), y.argument(), out.argument()}), "");
    auto value = [&](unsigned bits) {
      return smallFloat(bits, kind.mantissa, kind.bias, kind.fnuz, kind.infinite);
    };
    for (int i = 0; i < 256; ++i) {
      if (std::isnan(value(i)))
        ASSERT_TRUE(std::isnan(w[i])) << t << " " << i;
      else
        ASSERT_EQ(w[i], value(i)) << t << " " << i;
    }
    ASSERT_TRUE(std::isnan(value(out[0]))) << t;
    for (int i = 1; i < 256; ++i) {
      // No representable number is nearer.
      double wanted = std::fmin(std::fmax(y[i], -kind.largest), kind.largest);
      double error = std::fabs(value(out[i]) - wanted), best = INFINITY;
      for (int bits = 0; bits < 256; ++bits)
        best = std::fmin(best, std::fabs(value(bits) - wanted));
      ASSERT_EQ(error, best) << t << " of " << y[i] << " gave " << value(out[i]);
    }
  }
}

INSTANTIATE_TEST_SUITE_P(AllTargets, Programs, ::testing::ValuesIn(testTargets), targetName);

} // namespace
} // namespace kiln::testing

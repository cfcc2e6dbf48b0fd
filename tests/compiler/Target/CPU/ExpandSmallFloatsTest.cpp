//===- ExpandSmallFloatsTest.cpp - f16 and bf16 on processors without them -----===//
//
// Each kernel is compiled for each x86-64 level, its object searched for library
// calls, and, where this machine has the level, run against the conversion written
// out in the plainest way.
//
//===----------------------------------------------------------------------===//

#include "compiler/Target/CPU/HostObjectReader.h"
#include "tests/compiler/Target/CPU/LoadedObject.h"
#include "tests/compiler/Target/EveryScalarKernel.h"
#include "llvm/ADT/APFloat.h"
#include "llvm/ADT/bit.h"
#include "llvm/Support/FormatVariadic.h"
#include <cmath>
#include <random>

using namespace kiln;
using namespace kiln::testing;

namespace {

/// for (i = 0; i < n; i += width) out[i] = BODY(in[i]), in vectors of `width`, or scalars for 1.
/// BODY computes %r of OUT from %v of IN.
std::string loop(llvm::StringRef in, llvm::StringRef out, unsigned width, llvm::StringRef body) {
  auto type = [&](llvm::StringRef scalar) {
    return width == 1 ? scalar.str() : llvm::formatv("<{0} x {1}>", width, scalar).str();
  };
  std::string text = R"(
define void @k(ptr %params, ptr %id, ptr %num, ptr %arena) {
  %p1 = getelementptr ptr, ptr %params, i64 1
  %p2 = getelementptr ptr, ptr %params, i64 2
  %xp = load ptr, ptr %params
  %x = load ptr, ptr %xp
  %yp = load ptr, ptr %p1
  %y = load ptr, ptr %yp
  %np = load ptr, ptr %p2
  %n = load i32, ptr %np
  br label %loop
loop:
  %i = phi i32 [ 0, %0 ], [ %next, %loop ]
  %xi = getelementptr $in, ptr %x, i32 %i
  %yi = getelementptr $out, ptr %y, i32 %i
  %v = load $IN, ptr %xi, align 1
  $body
  store $OUT %r, ptr %yi, align 1
  %next = add i32 %i, $width
  %more = icmp slt i32 %next, %n
  br i1 %more, label %loop, label %done
done:
  ret void
}
)";
  auto replace = [&](llvm::StringRef name, const std::string &by) {
    for (size_t at; (at = text.find(name)) != std::string::npos;)
      text.replace(at, name.size(), by);
  };
  replace("$body", body.str());
  replace("$in", in.str());
  replace("$out", out.str());
  replace("$IN", type(in));
  replace("$OUT", type(out));
  replace("$width", std::to_string(width));
  return text;
}

bool runsHere(const TargetInfo &info) {
  TargetInfo host = target("cpu");
  return info.name == "cpu" ||
         (info.llvmTriple == host.llvmTriple && info.archNumber <= host.archNumber);
}

/// Compiles for `info`, checks that no library call is left, runs if this machine can.
template <typename In, typename Out>
std::vector<Out> compute(const std::string &text, const TargetInfo &info, std::vector<In> in) {
  KernelFacts facts;
  facts.symbol = "k";
  DeviceBinary binary = emitted(emitText(text, facts, info));
  auto object = readHostObject(llvm::StringRef(binary.bytes.data(), binary.bytes.size()));
  if (!object) {
    ADD_FAILURE() << llvm::toString(object.takeError());
    return {};
  }
  EXPECT_EQ(object->undefined, std::vector<std::string>{}) << info.name;
  if (!runsHere(info))
    return {};
  std::vector<Out> out(in.size());
  In *x = in.data();
  Out *y = out.data();
  int32_t n = static_cast<int32_t>(in.size());
  LoadedObject(binary).run({&x, &y, &n});
  return out;
}

const llvm::fltSemantics &semantics(bool half) {
  return half ? llvm::APFloat::IEEEhalf() : llvm::APFloat::BFloat();
}

/// The reference: LLVM's arbitrary-precision floats.
uint16_t narrowed(double value, bool half) {
  llvm::APFloat result(value);
  bool inexact;
  result.convert(semantics(half), llvm::APFloat::rmNearestTiesToEven, &inexact);
  return static_cast<uint16_t>(result.bitcastToAPInt().getZExtValue());
}

double widened(uint16_t bits, bool half) {
  llvm::APFloat value(semantics(half), llvm::APInt(16, bits));
  bool inexact;
  value.convert(llvm::APFloat::IEEEdouble(), llvm::APFloat::rmNearestTiesToEven, &inexact);
  return value.convertToDouble();
}

bool isNaN(uint16_t bits, bool half) { return std::isnan(widened(bits, half)); }
bool isQuiet(uint16_t bits, bool half) { return bits & (half ? 0x0200 : 0x0040); }

std::vector<uint16_t> allPatterns() {
  std::vector<uint16_t> patterns(65536);
  for (unsigned i = 0; i != 65536; ++i)
    patterns[i] = static_cast<uint16_t>(i);
  return patterns;
}

/// Every small value, its neighbours and the midpoints between two of them, in f32 and beside;
/// specials; and random bits. Padded to a multiple of 16.
template <typename Wide> std::vector<Wide> trickyValues(bool half) {
  using Limits = std::numeric_limits<Wide>;
  std::vector<Wide> values = {
      Limits::infinity(),  -Limits::infinity(),    Limits::max(), -Limits::max(),
      Limits::min(),       Limits::denorm_min(),   Wide(0),       Wide(-0.0),
      Limits::quiet_NaN(), Limits::signaling_NaN()};
  for (unsigned bits = 0; bits < 65535; bits += bits % 97 == 0 ? 1 : 7) {
    double value = widened(static_cast<uint16_t>(bits), half),
           above = widened(static_cast<uint16_t>(bits + 1), half);
    if (!std::isfinite(value) || !std::isfinite(above))
      continue;
    Wide middle = static_cast<Wide>((value + above) / 2);
    for (Wide center : {static_cast<Wide>(value), middle})
      for (Wide near : {center, std::nextafter(center, Limits::infinity()),
                        std::nextafter(center, -Limits::infinity())})
        values.push_back(near);
  }
  std::mt19937_64 random(7);
  for (unsigned i = 0; i != 20000; ++i) {
    Wide value;
    uint64_t bits = random();
    std::memcpy(&value, &bits, sizeof value);
    values.push_back(value);
  }
  values.resize(values.size() / 16 * 16);
  return values;
}

struct Case {
  const char *target;
  unsigned width;
};

void PrintTo(const Case &value, std::ostream *os) { *os << value.target << " x " << value.width; }

std::string caseName(const ::testing::TestParamInfo<Case> &info) {
  std::string name = std::string(info.param.target) + "_x" + std::to_string(info.param.width);
  for (char &c : name)
    if (!isalnum(c))
      c = '_';
  return name;
}

class SmallFloats : public ::testing::TestWithParam<Case> {
protected:
  TargetInfo info = target(GetParam().target);
  unsigned width = GetParam().width;
  std::string type(const char *scalar) {
    return width == 1 ? scalar : llvm::formatv("<{0} x {1}>", width, scalar).str();
  }

  template <typename Wide> void checkTruncation(const char *wide, const char *small) {
    bool half = small[0] == 'h';
    auto in = trickyValues<Wide>(half);
    auto out = compute<Wide, uint16_t>(
        loop(wide, small, width, "%r = fptrunc " + type(wide) + " %v to " + type(small)), info, in);
    unsigned wrong = 0;
    for (size_t i = 0; i != out.size() && wrong < 5; ++i) {
      uint16_t expected = narrowed(in[i], half);
      bool good =
          std::isnan(in[i]) ? isNaN(out[i], half) && isQuiet(out[i], half) : out[i] == expected;
      if (!good) {
        ++wrong;
        ADD_FAILURE() << wide << " " << in[i] << " to " << small << ": expected " << std::hex
                      << expected << ", got " << out[i];
      }
    }
  }

  template <typename Wide> void checkExtension(const char *small, const char *wide) {
    bool half = small[0] == 'h';
    auto in = allPatterns();
    auto out = compute<uint16_t, Wide>(
        loop(small, wide, width, "%r = fpext " + type(small) + " %v to " + type(wide)), info, in);
    unsigned wrong = 0;
    for (size_t i = 0; i != out.size() && wrong < 5; ++i) {
      Wide expected = static_cast<Wide>(widened(in[i], half));
      bool good = std::isnan(expected)
                      ? std::isnan(out[i]) && std::signbit(out[i]) == (in[i] >> 15 != 0)
                      : out[i] == expected && std::signbit(out[i]) == std::signbit(expected);
      if (!good) {
        ++wrong;
        ADD_FAILURE() << small << " " << std::hex << in[i] << " to " << wide << ": expected "
                      << expected << ", got " << out[i];
      }
    }
  }
};

TEST_P(SmallFloats, ExtendEveryPattern) {
  checkExtension<float>("half", "float");
  checkExtension<double>("half", "double");
  checkExtension<float>("bfloat", "float");
  checkExtension<double>("bfloat", "double");
}

TEST_P(SmallFloats, TruncateF32) {
  checkTruncation<float>("float", "half");
  checkTruncation<float>("float", "bfloat");
}

TEST_P(SmallFloats, TruncateF64RoundsOnce) {
  checkTruncation<double>("double", "half");
  checkTruncation<double>("double", "bfloat");
}

TEST_P(SmallFloats, ArithmeticRoundsOnce) {
  for (const char *small : {"half", "bfloat"}) {
    bool half = small[0] == 'h';
    std::mt19937 random(3);
    auto in = allPatterns();
    std::shuffle(in.begin(), in.end(), random);
    // v * v + v, with a rounding after each step.
    std::string body = llvm::formatv("%s = fmul {0} %v, %v\n  %r = fadd {0} %s, %v", type(small));
    auto out = compute<uint16_t, uint16_t>(loop(small, small, width, body), info, in);
    for (size_t i = 0; i != out.size(); ++i) {
      double v = widened(in[i], half);
      double square = widened(narrowed(v * v, half), half);
      uint16_t expected = narrowed(square + v, half);
      if (isNaN(expected, half))
        ASSERT_TRUE(isNaN(out[i], half)) << std::hex << in[i];
      else
        ASSERT_EQ(out[i], expected) << small << " " << std::hex << in[i];
    }
  }
}

TEST_P(SmallFloats, IntegersRoundOnce) {
  std::vector<int64_t> in;
  std::mt19937_64 random(5);
  for (unsigned i = 0; i != 20000; ++i)
    in.push_back(static_cast<int64_t>(random()) >> (random() % 64));
  for (int shift = 0; shift != 63; ++shift)
    for (int64_t offset : {-1, 0, 1}) {
      in.push_back((int64_t(1) << shift) + offset);
      in.push_back((int64_t(257) << std::min(shift, 54)) + offset);
    }
  in.resize(in.size() / 16 * 16);
  for (const char *small : {"half", "bfloat"}) {
    bool half = small[0] == 'h';
    std::string body = llvm::formatv("%r = sitofp {0} %v to {1}", type("i64"), type(small));
    auto out = compute<int64_t, uint16_t>(loop("i64", small, width, body), info, in);
    for (size_t i = 0; i != out.size(); ++i) {
      llvm::APFloat expected(semantics(half));
      expected.convertFromAPInt(llvm::APInt(64, static_cast<uint64_t>(in[i])), true,
                                llvm::APFloat::rmNearestTiesToEven);
      ASSERT_EQ(out[i], expected.bitcastToAPInt().getZExtValue()) << small << " " << in[i];
    }
  }
}

TEST_P(SmallFloats, ComparesSelectsAndSigns) {
  for (const char *small : {"half", "bfloat"}) {
    bool half = small[0] == 'h';
    std::string body = llvm::formatv(R"(
  %minus = fneg {0} %v
  %c = fcmp olt {0} %v, %minus
  %r = select {1} %c, {0} %minus, {0} %v)",
                                     type(small), type("i1"));
    auto in = allPatterns();
    auto out = compute<uint16_t, uint16_t>(loop(small, small, width, body), info, in);
    for (size_t i = 0; i != out.size(); ++i) {
      bool negative = widened(in[i], half) < 0;
      ASSERT_EQ(out[i], negative ? in[i] & 0x7fff : in[i]) << small;
    }
  }
}

TEST_P(SmallFloats, IntrinsicsNeedNoLibrary) {
  for (const char *small : {"half", "bfloat"}) {
    bool half = small[0] == 'h';
    std::string suffix = half ? "f16" : "bf16";
    if (width != 1)
      suffix = "v" + std::to_string(width) + suffix;
    std::string body = llvm::formatv(R"(
  %a = call {0} @llvm.fabs.{1}({0} %v)
  %b = call {0} @llvm.sqrt.{1}({0} %a)
  %d = call {0} @llvm.maxnum.{1}({0} %b, {0} %v)
  %r = call {0} @llvm.copysign.{1}({0} %d, {0} %v))",
                                     type(small), suffix);
    std::string text = loop(small, small, width, body);
    for (const char *name : {"fabs", "sqrt"})
      text += llvm::formatv("declare {0} @llvm.{2}.{1}({0})\n", type(small), suffix, name);
    for (const char *name : {"maxnum", "copysign"})
      text += llvm::formatv("declare {0} @llvm.{2}.{1}({0}, {0})\n", type(small), suffix, name);
    auto in = allPatterns();
    auto out = compute<uint16_t, uint16_t>(text, info, in);
    for (size_t i = 0; i != out.size(); ++i) {
      double v = widened(in[i], half);
      if (std::isnan(v))
        continue;
      double root = widened(narrowed(std::sqrt(std::fabs(v)), half), half);
      ASSERT_EQ(out[i], narrowed(std::copysign(std::fmax(root, v), v), half))
          << small << " " << std::hex << in[i];
    }
  }
}

TEST_P(SmallFloats, MovingLanesNeedsNoLibrary) {
  if (width == 1)
    return; // lanes are what this is about
  for (const char *small : {"half", "bfloat"}) {
    bool half = small[0] == 'h';
    std::string suffix = "v" + std::to_string(width) + (half ? "f16" : "bf16");
    // Even lanes come reversed through a masked store and load, odd ones are the first lane; a phi
    // and a scalar insertion are on the way.
    std::string reversed, even;
    for (unsigned lane = 0; lane != width; ++lane) {
      reversed += (lane ? ", i32 " : "i32 ") + std::to_string(width - 1 - lane);
      even += lane % 2 ? ", i1 false" : lane ? ", i1 true" : "i1 true";
    }
    std::string body = llvm::formatv(R"(
  %reversed = shufflevector {0} %v, {0} poison, <{1} x i32> <{2}>
  %first = extractelement {0} %v, i32 0
  %inserted = insertelement {0} poison, {3} %first, i32 0
  %splat = shufflevector {0} %inserted, {0} poison, <{1} x i32> zeroinitializer
  call void @llvm.masked.store.{4}.p0({0} %reversed, ptr %yi, i32 2, <{1} x i1> <{5}>)
  %odd = icmp slt i32 %i, 0
  br i1 %odd, label %never, label %join
never:
  br label %join
join:
  %which = phi {0} [ %splat, %loop ], [ %v, %never ]
  %r = call {0} @llvm.masked.load.{4}.p0(ptr %yi, i32 2, <{1} x i1> <{5}>, {0} %which))",
                                     type(small), width, reversed, small, suffix, even);
    std::string text = loop(small, small, width, body);
    text.replace(text.find("%next, %loop ]"), 14, "%next, %join ]");
    text += llvm::formatv("declare void @llvm.masked.store.{1}.p0({0}, ptr, i32, <{2} x i1>)\n"
                          "declare {0} @llvm.masked.load.{1}.p0(ptr, i32, <{2} x i1>, {0})\n",
                          type(small), suffix, width);
    auto in = allPatterns();
    auto out = compute<uint16_t, uint16_t>(text, info, in);
    for (size_t i = 0; i != out.size(); ++i) {
      size_t lane = i % width, base = i - lane;
      ASSERT_EQ(out[i], in[lane % 2 ? base : base + width - 1 - lane]) << small << " " << i;
    }
  }
}

INSTANTIATE_TEST_SUITE_P(Targets, SmallFloats,
                         ::testing::Values(Case{"cpu:x86-64-v2", 1}, Case{"cpu:x86-64-v2", 8},
                                           Case{"cpu:x86-64-v2", 16}, Case{"cpu:x86-64-v3", 1},
                                           Case{"cpu:x86-64-v3", 8}, Case{"cpu:x86-64-v3", 16},
                                           Case{"cpu:x86-64-v4", 1}, Case{"cpu:x86-64-v4", 16},
                                           Case{"cpu:aarch64", 1}, Case{"cpu:aarch64", 8},
                                           Case{"cpu", 1}, Case{"cpu", 16}),
                         caseName);

TEST(ExpandSmallFloats, AtomicAdd) {
  const char *text = R"(
define void @k(ptr %params, ptr %id, ptr %num, ptr %arena) {
  %old = atomicrmw fadd ptr %arena, half 0xH3C00 monotonic
  %p2 = getelementptr i8, ptr %arena, i64 2
  %old2 = atomicrmw fmax ptr %p2, bfloat 0xR4000 monotonic
  ret void
})";
  for (const char *name : {"cpu:x86-64-v2", "cpu:x86-64-v4", "cpu:aarch64", "cpu"}) {
    KernelFacts facts;
    facts.symbol = "k";
    TargetInfo info = target(name);
    DeviceBinary binary = emitted(emitText(text, facts, info));
    if (!runsHere(info))
      continue;
    uint16_t memory[2] = {0x4000 /* 2 */, 0x3f80 /* 1 */};
    LoadedObject(binary).run({}, memory);
    EXPECT_EQ(memory[0], 0x4200 /* 3 */);
    EXPECT_EQ(memory[1], 0x4000 /* 2 */);
  }
}

} // namespace

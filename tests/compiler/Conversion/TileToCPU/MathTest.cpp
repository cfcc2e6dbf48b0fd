// Functions on vectors against double precision, over their whole range, in units in the last
// place.

#include "tests/compiler/Conversion/TileToCPU/GuardedArray.h"
#include "tests/compiler/Conversion/TileToCPU/KernelRunner.h"
#include "tests/compiler/Conversion/TileToCPU/KernelText.h"
#include <cmath>
#include <functional>
#include <gtest/gtest.h>
#include <limits>

using namespace kiln::test;

namespace {

constexpr float infinity = std::numeric_limits<float>::infinity();

std::string unaryText(const std::string &operation, const std::string &type) {
  return fillIn(R"(
func.func @unary(%x: !tile.ptr<${t}>, %y: !tile.ptr<${t}>, %n: i32) attributes {tile.kernel} {
  %c = arith.constant 128 : i32
  %pid = tile.program_id 0 : i32
  %start = arith.muli %pid, %c : i32
  %range = tile.arange 0, 128 : tensor<128xi32>
  %s = tile.splat %start : i32 -> tensor<128xi32>
  %offs = arith.addi %s, %range : tensor<128xi32>
  %ns = tile.splat %n : i32 -> tensor<128xi32>
  %mask = arith.cmpi slt, %offs, %ns : tensor<128xi32>
  %xs = tile.splat %x : !tile.ptr<${t}> -> tensor<128x!tile.ptr<${t}>>
  %xp = tile.addptr %xs, %offs : tensor<128x!tile.ptr<${t}>>, tensor<128xi32>
  %ys = tile.splat %y : !tile.ptr<${t}> -> tensor<128x!tile.ptr<${t}>>
  %yp = tile.addptr %ys, %offs : tensor<128x!tile.ptr<${t}>>, tensor<128xi32>
  %a = tile.load %xp mask %mask : (tensor<128x!tile.ptr<${t}>>, tensor<128xi1>) -> tensor<128x${t}>
  %r = ${op} %a : tensor<128x${t}>
  tile.store %yp, %r mask %mask : (tensor<128x!tile.ptr<${t}>>, tensor<128x${t}>, tensor<128xi1>) -> ()
  func.return
})",
                {{"t", type}, {"op", operation}});
}

template <typename T>
std::vector<T> apply(const std::string &operation, const std::string &type,
                     const std::vector<T> &inputs, kiln::CPUOptions options = hostOptions()) {
  CompiledKernel kernel(unaryText(operation, type), options);
  std::vector<T> in = inputs, out(inputs.size());
  T *x = in.data(), *y = out.data();
  int n = in.size();
  kernel.launch({uint32_t(n + 127) / 128, 1, 1}, {&x, &y, &n});
  return out;
}

struct Interval {
  double low, high;
};

/// The largest error over random arguments in the intervals.
double worstError(const std::string &operation, const std::function<double(double)> &exact,
                  const std::vector<Interval> &intervals,
                  kiln::CPUOptions options = hostOptions()) {
  std::mt19937 random(1);
  std::vector<float> inputs;
  for (Interval interval : intervals)
    for (int i = 0; i != 20000; ++i)
      inputs.push_back(
          float(std::uniform_real_distribution<double>(interval.low, interval.high)(random)));
  std::vector<float> outputs = apply(operation, "f32", inputs, options);
  double worst = 0;
  for (size_t i = 0; i != inputs.size(); ++i) {
    double expected = exact(inputs[i]);
    float nearest = std::abs(float(expected));
    double ulp = std::max<double>(std::nextafter(nearest, infinity) - nearest, 1.4e-45);
    double error = std::isinf(nearest) ? (outputs[i] == float(expected) ? 0 : 1e9)
                                       : std::abs(outputs[i] - expected) / ulp;
    if (error > worst && error > 4)
      ADD_FAILURE() << operation << "(" << inputs[i] << ") = " << outputs[i] << ", expected "
                    << expected;
    worst = std::max(worst, error);
  }
  testing::Test::RecordProperty(operation, std::to_string(worst));
  return worst;
}

TEST(MathFunctions, AreAccurate) {
  EXPECT_LE(worstError("math.exp", [](double x) { return std::exp(x); },
                       {{-1, 1}, {-87, 88.7}, {-103, -87}}),
            2);
  EXPECT_LE(worstError("math.exp2", [](double x) { return std::exp2(x); },
                       {{-1, 1}, {-126, 127.9}, {-148, -126}}),
            2);
  EXPECT_LE(worstError("math.log", [](double x) { return std::log(x); },
                       {{0.5, 2}, {1e-38, 1e-30}, {1e-44, 1e-39}, {1, 1e30}}),
            2);
  EXPECT_LE(worstError("math.log2", [](double x) { return std::log2(x); },
                       {{0.5, 2}, {1e-38, 1e-30}, {1, 1e30}}),
            3);
  EXPECT_LE(worstError("math.tanh", [](double x) { return std::tanh(x); },
                       {{-1, 1}, {-20, 20}, {-1e-3, 1e-3}}),
            3);
  EXPECT_LE(worstError("math.erf", [](double x) { return std::erf(x); },
                       {{-1, 1}, {-6, 6}, {-1e-3, 1e-3}}),
            2);
  EXPECT_LE(worstError("math.sin", [](double x) { return std::sin(x); },
                       {{-4, 4}, {-1000, 1000}, {-1e6, 1e6}}),
            2);
  EXPECT_LE(worstError("math.cos", [](double x) { return std::cos(x); },
                       {{-4, 4}, {-1000, 1000}, {-1e6, 1e6}}),
            2);
  EXPECT_LE(worstError("math.sqrt", [](double x) { return std::sqrt(x); }, {{0, 1}, {1, 1e30}}), 1);
  EXPECT_LE(
      worstError("math.rsqrt", [](double x) { return 1 / std::sqrt(x); }, {{1e-3, 1}, {1, 1e30}}),
      2);
  EXPECT_LE(
      worstError("math.log1p", [](double x) { return std::log1p(x); }, {{-0.5, 1}, {1, 1e30}}), 2);
  EXPECT_LE(worstError("math.atan", [](double x) { return std::atan(x); }, {{-5, 5}}), 2);
}

struct UnaryFunction {
  const char *operation;
  double (*exact)(double);
  std::vector<Interval> intervals;
};

/// All that are formulas in vectors.
const UnaryFunction formulas[] = {
    {"math.expm1", std::expm1, {{-1, 1}, {-30, 88}, {-1e-6, 1e-6}}},
    {"math.log10", std::log10, {{0.5, 2}, {1e-44, 1e-39}, {1, 1e30}}},
    {"math.tan", std::tan, {{-1.5, 1.5}, {-1000, 1000}, {-1e9, 1e9}, {1e30, 1e38}}},
    {"math.asin", std::asin, {{-1, 1}, {-1e-3, 1e-3}}},
    {"math.acos", std::acos, {{-1, 1}, {0.99, 1}}},
    {"math.atan", std::atan, {{-5, 5}, {-1e30, 1e30}}},
    {"math.sinh", std::sinh, {{-1, 1}, {-89, 89}}},
    {"math.cosh", std::cosh, {{-1, 1}, {-89, 89}}},
    {"math.asinh", std::asinh, {{-1, 1}, {-1e30, 1e30}}},
    {"math.acosh", std::acosh, {{1, 2}, {1, 1e30}}},
    {"math.atanh", std::atanh, {{-1, 1}, {-1e-3, 1e-3}}},
    {"math.erfc", std::erfc, {{-3, 3}, {0, 10}}},
    {"math.cbrt", std::cbrt, {{-8, 8}, {-1e30, 1e30}, {1e-44, 1e-39}}},
    {"math.sin", std::sin, {{-1e9, 1e9}, {1e30, 1e38}}},
    {"math.cos", std::cos, {{-1e9, 1e9}, {1e30, 1e38}}},
    {"math.exp", std::exp, {{-103, 88.7}}},
    {"math.log1p", std::log1p, {{-0.999, 1}, {1, 1e30}}},
};

TEST(MathFunctions, FormulasWithAndWithoutFusedMultiplyAdds) {
  for (const UnaryFunction &function : formulas) {
    EXPECT_LE(worstError(function.operation, function.exact, function.intervals), 4);
    kiln::CPUOptions apart = hostOptions();
    apart.hasFMA = false;
    EXPECT_LE(worstError(function.operation, function.exact, function.intervals, apart), 4)
        << "without fused multiply-adds";
  }
}

TEST(MathFunctions, SpecialValues) {
  std::vector<float> x = {0.0f, -0.0f,  infinity, -infinity, NAN,    -1.0f,
                          1.0f, 200.0f, -200.0f,  1e-40f,    -1e-40f};
  auto check = [&](const char *operation, float (*exact)(float)) {
    std::vector<float> y = apply<float>(operation, "f32", x);
    for (size_t i = 0; i != x.size(); ++i) {
      float expected = exact(x[i]);
      if (std::isnan(expected))
        EXPECT_TRUE(std::isnan(y[i])) << operation << "(" << x[i] << ") = " << y[i];
      else if (std::isinf(expected))
        EXPECT_EQ(y[i], expected) << operation << "(" << x[i] << ")";
      else
        EXPECT_NEAR(y[i], expected, 1e-6 * std::abs(expected)) << operation << "(" << x[i] << ")";
      if (expected == 0)
        EXPECT_EQ(std::signbit(y[i]), std::signbit(expected)) << operation << "(" << x[i] << ")";
    }
  };
  check("math.exp", std::exp);
  check("math.exp2", std::exp2);
  check("math.log", std::log);
  check("math.log2", std::log2);
  check("math.tanh", std::tanh);
  check("math.erf", std::erf);
  check("math.sin", std::sin);
  check("math.cos", std::cos);
  check("math.expm1", std::expm1);
  check("math.log10", std::log10);
  check("math.log1p", std::log1p);
  check("math.tan", std::tan);
  check("math.asin", std::asin);
  check("math.acos", std::acos);
  check("math.atan", std::atan);
  check("math.sinh", std::sinh);
  check("math.cosh", std::cosh);
  check("math.asinh", std::asinh);
  check("math.acosh", std::acosh);
  check("math.atanh", std::atanh);
  check("math.erfc", std::erfc);
  check("math.cbrt", std::cbrt);
}

TEST(MathFunctions, OtherTypes) {
  std::mt19937 random(1);
  std::uniform_real_distribution<double> distribution(-3, 3);
  std::vector<double> wide;
  std::vector<_Float16> half;
  std::vector<BF16> brain;
  for (int i = 0; i != 1000; ++i) {
    wide.push_back(distribution(random));
    half.push_back(_Float16(distribution(random)));
    brain.push_back(BF16(distribution(random)));
  }
  std::vector<double> a = apply("math.exp", "f64", wide);
  std::vector<_Float16> b = apply("math.exp", "f16", half);
  std::vector<BF16> c = apply("math.tanh", "bf16", brain);
  for (int i = 0; i != 1000; ++i) {
    EXPECT_DOUBLE_EQ(a[i], std::exp(wide[i]));
    EXPECT_NEAR(double(b[i]), std::exp(double(half[i])), std::exp(double(half[i])) * 5e-4);
    EXPECT_NEAR(double(c[i]), std::tanh(double(brain[i])),
                std::abs(std::tanh(double(brain[i]))) * 4e-3);
  }
}

TEST(MathFunctions, BFloatRoundingKeepsNaN) {
  std::vector<BF16> in(3);
  in[0].bits = 0x7fff; // a NaN whose lower half would carry into the sign if rounded
  in[1].bits = 0x7f80;
  in[2].bits = 0xff80;
  std::vector<BF16> out = apply("math.absf", "bf16", in);
  EXPECT_TRUE(std::isnan(double(out[0])));
  EXPECT_EQ(double(out[1]), infinity);
  EXPECT_EQ(double(out[2]), infinity);
}

} // namespace

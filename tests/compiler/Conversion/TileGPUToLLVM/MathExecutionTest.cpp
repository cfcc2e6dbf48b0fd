// Elementary functions against the C library in double precision.

#include "tests/compiler/Conversion/TileGPUToLLVM/KernelRunner.h"
#include "tests/compiler/Conversion/TileGPUToLLVM/Numbers.h"

namespace kiln::testing {
namespace {

struct Function {
  const char *name;
  double (*reference)(double);
  double low, high;
  double tolerance;     ///< relative, or absolute below 1e-3
  bool isDouble = true; ///< exists in f64
};

std::string kernelText(const std::string &name, const std::string &type) {
  std::string tensor = "tensor<512x" + type + ">", pointers = "tensor<512x!tile.ptr<" + type + ">>";
  return "func.func @map(%x: !tile.ptr<" + type + ">, %o: !tile.ptr<" + type +
         ">) attributes {tile.kernel, tile.num_warps = 4 : i32} {\n"
         "%r = tile.arange 0, 512 : tensor<512xi32>\n"
         "%xs = tile.splat %x : !tile.ptr<" +
         type + "> -> " + pointers +
         "\n"
         "%xp = tile.addptr %xs, %r : " +
         pointers +
         ", tensor<512xi32>\n"
         "%v = tile.load %xp : (" +
         pointers + ") -> " + tensor +
         "\n"
         "%f = math." +
         name + " %v : " + tensor +
         "\n"
         "%os = tile.splat %o : !tile.ptr<" +
         type + "> -> " + pointers +
         "\n"
         "%op = tile.addptr %os, %r : " +
         pointers +
         ", tensor<512xi32>\n"
         "tile.store %op, %f : (" +
         pointers + ", " + tensor + ") -> ()\n  return\n}\n";
}

const Function functions[] = {
    {"exp", std::exp, -80, 80, 4e-6},
    {"exp2", std::exp2, -100, 100, 1e-6},
    {"expm1", std::expm1, -2, 2, 1e-6},
    {"log", std::log, 1e-6, 50, 1e-6},
    {"log", std::log, 0.5, 2, 1e-6},
    {"log2", std::log2, 1e-6, 50, 1e-6},
    {"log10", std::log10, 1e-6, 50, 1e-6},
    {"log1p", std::log1p, -0.9, 3, 1e-6},
    {"sqrt", std::sqrt, 0, 100, 1e-6},
    {"rsqrt", [](double x) { return 1 / std::sqrt(x); }, 0.01, 100, 1e-6},
    {"cbrt", std::cbrt, -100, 100, 1e-6},
    {"sin", std::sin, -1000, 1000, 1e-6},
    {"cos", std::cos, -1000, 1000, 1e-6},
    {"tan", std::tan, -1.5, 1.5, 1e-6},
    {"sinh", std::sinh, -10, 10, 2e-6},
    {"cosh", std::cosh, -10, 10, 2e-6},
    {"tanh", std::tanh, -12, 12, 1e-6},
    {"asinh", std::asinh, -50, 50, 1e-6},
    {"acosh", std::acosh, 1, 50, 2e-6},
    {"atanh", std::atanh, -0.99, 0.99, 2e-6},
    {"atan", std::atan, -20, 20, 1e-6, false},
    {"asin", std::asin, -1, 1, 2e-6, false},
    {"acos", std::acos, -1, 1, 2e-6, false},
    {"erf", std::erf, -5, 5, 1e-6, false},
};

template <typename T> void check(const Function &function, const char *type, double tolerance) {
  CompiledKernel kernel(kernelText(function.name, type), "cuda:sm_80");
  ASSERT_EQ(kernel.errors, "");
  Buffer<T> x(512), out(512);
  for (int i = 0; i < 512; ++i)
    x[i] = T(function.low + (function.high - function.low) * i / 511);
  kernel.use(x);
  kernel.use(out);
  ASSERT_EQ(kernel.run({x.argument(), out.argument()}), "");
  for (int i = 0; i < 512; ++i) {
    double expected = function.reference(x[i]);
    EXPECT_NEAR(out[i], expected, tolerance * std::max(std::fabs(expected), 1e-3))
        << function.name << "(" << x[i] << ")";
  }
}

TEST(Math, SinglePrecision) {
  for (const Function &function : functions)
    check<float>(function, "f32", function.tolerance);
}

TEST(Math, DoublePrecision) {
  for (const Function &function : functions)
    if (function.isDouble)
      check<double>(function, "f64", 2e-13);
}

TEST(Math, EndsOfTheDomain) {
  struct Case {
    const char *name;
    float x, expected;
  };
  const float infinity = INFINITY;
  for (const Case &test :
       {Case{"log", 0, -infinity}, Case{"log", infinity, infinity}, Case{"log", -1, NAN},
        Case{"exp", -infinity, 0}, Case{"exp", infinity, infinity}, Case{"tanh", infinity, 1},
        Case{"tanh", -infinity, -1}, Case{"erf", infinity, 1}, Case{"log1p", infinity, infinity},
        Case{"atan", infinity, 1.5707964f}, Case{"sin", NAN, NAN},
        Case{"log2", 1e-40f, std::log2(1e-40f)}}) {
    CompiledKernel kernel(kernelText(test.name, "f32"), "hip:gfx1100");
    ASSERT_EQ(kernel.errors, "");
    Buffer<float> x(512, test.x), out(512);
    kernel.use(x);
    kernel.use(out);
    ASSERT_EQ(kernel.run({x.argument(), out.argument()}), "");
    if (std::isnan(test.expected))
      EXPECT_TRUE(std::isnan(out[0])) << test.name << "(" << test.x << ") = " << out[0];
    else
      EXPECT_FLOAT_EQ(out[0], test.expected) << test.name << "(" << test.x << ")";
  }
}

TEST(Math, Powers) {
  std::string source = kernelText("exp", "f32");
  source.replace(source.find("math.exp %v"), 11, "math.powf %v, %v");
  CompiledKernel kernel(source, "hip:gfx942");
  ASSERT_EQ(kernel.errors, "");
  Buffer<float> x(512), out(512);
  for (int i = 0; i < 512; ++i)
    x[i] = i < 8 ? float(i - 4) : 0.02f * i;
  kernel.use(x);
  kernel.use(out);
  ASSERT_EQ(kernel.run({x.argument(), out.argument()}), "");
  for (int i = 0; i < 512; ++i) {
    double expected = std::pow(double(x[i]), double(x[i]));
    EXPECT_NEAR(out[i], expected, 4e-6 * std::fabs(expected)) << x[i];
  }
}

} // namespace
} // namespace kiln::testing

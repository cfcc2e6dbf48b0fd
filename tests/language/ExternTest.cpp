// tl.extern_elementwise: symbols of libdevice and OCML, as libraries around Triton wrap them.

#include "tests/language/Numbers.h"

#include <cmath>

namespace kiln::testing {
namespace {

KILN_COVERS("tl.extern_elementwise");

class Extern : public SourceTest {};

/// The results of `entries`, each "{(types): (symbol, type)}" of one or two arguments, for x and y.
std::string source(const std::string &entries, const std::string &call) {
  return R"(
from triton.language import core

@core.extern
def wrapped(a, b, _semantic=None):
    args = [a] if b is None else [a, b]
    return core.extern_elementwise("libdevice", "", args, )" +
         entries + R"(, is_pure=True, _semantic=_semantic)

@triton.jit
def kernel(x, y, z, N: tl.constexpr):
    i = tl.arange(0, N)
    tl.store(z + i, )" +
         call + ")\n";
}

template <typename T>
void run(const char *target, const std::string &entries, const std::string &call,
         const Buffer<float> &x, const Buffer<float> &y, const char *type, Buffer<T> &z) {
  ASSERT_EQ(runSource(source(entries, call), target,
                      {{"x", "*fp32", x}, {"y", "*fp32", y}, {"z", type, z}}, {{"N", 32}}),
            "")
      << entries;
}

TEST_P(Extern, KnowsSymbols) {
  Buffer<float> x(32), y(32), z(32);
  for (int i = 0; i < 32; ++i) {
    x[size_t(i)] = 0.25f + float(i) / 16;
    y[size_t(i)] = 1.5f - float(i) / 8;
  }
  struct {
    const char *symbol;
    bool isBinary;
    float (*reference)(float, float);
  } functions[] = {
      {"__nv_expf", false, [](float a, float) { return std::exp(a); }},
      {"__nv_fast_logf", false, [](float a, float) { return std::log(a); }},
      {"__nv_powf", true, [](float a, float b) { return std::pow(a, b); }},
      {"__nv_fmaxf", true, [](float a, float b) { return std::fmax(a, b); }},
      {"__nv_fadd_rn", true, [](float a, float b) { return a + b; }},
      {"__nv_fsub_rn", true, [](float a, float b) { return a - b; }},
      {"__nv_cyl_bessel_i0f", false, [](float a, float) { return std::cyl_bessel_i(0.0f, a); }},
      {"__nv_fabsf", false, [](float a, float) { return std::fabs(a); }},
      {"__ocml_sqrt_f32", false, [](float a, float) { return std::sqrt(a); }},
      {"__ocml_j0_f32", false, [](float a, float) { return float(::j0(a)); }},
      {"__ocml_i0_f32", false, [](float a, float) { return std::cyl_bessel_i(0.0f, a); }},
      {"__ocml_native_exp_f32", false, [](float a, float) { return std::exp(a); }},
      {"llvm.rint.f32", false, [](float a, float) { return std::nearbyint(a); }},
      {"llvm.floor.f32", false, [](float a, float) { return std::floor(a); }},
  };
  for (const auto &[symbol, isBinary, reference] : functions) {
    std::string types =
        isBinary ? "(core.dtype('fp32'), core.dtype('fp32'))" : "(core.dtype('fp32'),)";
    std::string entries = "{" + types + ": ('" + symbol + "', core.dtype('fp32'))}";
    std::string second = isBinary ? "tl.load(y + i)" : "None";
    run(GetParam(), entries, "wrapped(tl.load(x + i), " + second + ")", x, y, "*fp32", z);
    for (size_t i = 0; i < 32; ++i) {
      float expected = reference(x[i], y[i]);
      EXPECT_NEAR(z[i], expected, 1e-5f * (1 + std::fabs(expected))) << symbol << " of " << x[i];
    }
  }
}

TEST_P(Extern, GivesTheDeclaredType) {
  Buffer<float> x(32), y(32);
  Buffer<int32_t> z(32);
  for (int i = 0; i < 32; ++i)
    x[size_t(i)] = i % 3 == 0 ? NAN : float(i);
  // The entry is chosen by the types.
  run(GetParam(),
      "{(core.dtype('fp64'),): ('__nv_isnand', core.dtype('int32')), (core.dtype('fp32'),): "
      "('__nv_isnanf', core.dtype('int32'))}",
      "wrapped(tl.load(x + i), None) + wrapped(tl.load(x + i).to(tl.float64), None)", x, y, "*i32",
      z);
  for (size_t i = 0; i < 32; ++i)
    EXPECT_EQ(z[i], i % 3 == 0 ? 2 : 0);
}

std::string errorOf(const std::string &entries) {
  Buffer<float> x(32), y(32), z(32);
  SourceKernel kernel(source(entries, "wrapped(tl.load(x + i), None)"), "cpu",
                      {{"x", "*fp32", x}, {"y", "*fp32", y}, {"z", "*fp32", z}}, {{"N", 32}});
  return kernel.errors();
}

TEST(ExternErrors, RefusesWhatItDoesNotKnow) {
  EXPECT_NE(errorOf("{(core.dtype('fp32'),): ('__nv_nosuchf', core.dtype('fp32'))}")
                .find("expected a function of libdevice or OCML that Kiln has, got '__nv_nosuchf'"),
            std::string::npos);
  EXPECT_NE(errorOf("{(core.dtype('fp32'),): ('nvshmem_quiet', core.dtype('fp32'))}")
                .find("got 'nvshmem_quiet'"),
            std::string::npos);
  EXPECT_NE(errorOf("{(core.dtype('int32'),): ('__nv_abs', core.dtype('int32'))}")
                .find("expected arguments of types (int32), got (fp32)"),
            std::string::npos);
  EXPECT_NE(errorOf("3").find("arg_type_symbol_dict"), std::string::npos);
}

KILN_SOURCE_TESTS(Extern);

} // namespace
} // namespace kiln::testing

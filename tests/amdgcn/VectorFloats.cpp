// Arithmetic of floats in all lanes.
#include "tests/amdgcn/Extremes.h"
#include "tests/amdgcn/Operations.h"
#include "tests/amdgcn/Scalars.h"

namespace kiln::amdgcn {
namespace {

template <typename Value> Value middle(Value a, Value b, Value c) {
  if (std::isnan(a) || std::isnan(b) || std::isnan(c))
    return smaller(smaller(a, b), c);
  return larger(smaller(a, b), smaller(larger(a, b), c));
}

/// Rounded once where the value is f32 or f64; of halves the product is exact.
template <typename Value> Value fused(Value a, Value b, Value c) { return std::fma(a, b, c); }

/// Exponentials and logarithms take and give no subnormal f32. Reciprocals do: V_DIV_SCALE relies
/// on it.
float withoutSubnormals(float value) {
  return std::fpclassify(value) == FP_SUBNORMAL ? std::copysign(0.f, value) : value;
}

template <typename T> void addCommon(OperationTable &table, const std::string &type) {
  auto name = [&](const char *operation) { return std::string("v_") + operation + "_" + type; };
  table[name("add")] = binary<T>([](auto a, auto b) { return a + b; });
  table[name("mul")] = binary<T>([](auto a, auto b) { return a * b; });
  for (const char *one : {"max", "max_num"})
    table[name(one)] = binary<T>([](auto a, auto b) { return larger(a, b); });
  for (const char *one : {"min", "min_num"})
    table[name(one)] = binary<T>([](auto a, auto b) { return smaller(a, b); });
  table[name("maximum")] = binary<T>([](auto a, auto b) { return maximum(a, b); });
  table[name("minimum")] = binary<T>([](auto a, auto b) { return minimum(a, b); });
  table[name("fma")] = ternary<T>([](auto a, auto b, auto c) { return fused(a, b, c); });
  table[name("floor")] = unary<T>([](auto a) { return std::floor(a); });
  table[name("ceil")] = unary<T>([](auto a) { return std::ceil(a); });
  table[name("trunc")] = unary<T>([](auto a) { return std::trunc(a); });
  table[name("rndne")] = unary<T>([](auto a) { return std::nearbyint(a); });
  table[name("fract")] = unary<T>([](auto a) { return a - std::floor(a); });
  table[name("frexp_mant")] = unary<T>([](auto a) {
    int exponent;
    return std::isfinite(a) ? std::frexp(a, &exponent) : a;
  });
}

/// Of f16 and f32, which VOP2 has more of.
template <typename T> void addShort(OperationTable &table, const std::string &type) {
  auto name = [&](const char *operation) { return std::string("v_") + operation + "_" + type; };
  table[name("sub")] = binary<T>([](auto a, auto b) { return a - b; });
  table[name("subrev")] = binary<T>([](auto a, auto b) { return b - a; });
  for (const char *one : {"fmac", "fmac_legacy"})
    table[name(one)] = accumulating<T>([](auto a, auto b, auto c) { return fused(a, b, c); });
  for (const char *one : {"fmaak", "fmamk"})
    table[name(one)] = ternary<T>([](auto a, auto b, auto c) { return fused(a, b, c); });
  for (const char *one : {"max3", "max3_num"})
    table[name(one)] = ternary<T>([](auto a, auto b, auto c) { return larger(larger(a, b), c); });
  for (const char *one : {"min3", "min3_num"})
    table[name(one)] = ternary<T>([](auto a, auto b, auto c) { return smaller(smaller(a, b), c); });
  for (const char *one : {"med3", "med3_num"})
    table[name(one)] = ternary<T>([](auto a, auto b, auto c) { return middle(a, b, c); });
  for (const char *one : {"maxmin", "maxmin_num"})
    table[name(one)] = ternary<T>([](auto a, auto b, auto c) { return smaller(larger(a, b), c); });
  for (const char *one : {"minmax", "minmax_num"})
    table[name(one)] = ternary<T>([](auto a, auto b, auto c) { return larger(smaller(a, b), c); });
  for (const char *one : {"maximum3"})
    table[name(one)] = ternary<T>([](auto a, auto b, auto c) { return maximum(maximum(a, b), c); });
  for (const char *one : {"minimum3"})
    table[name(one)] = ternary<T>([](auto a, auto b, auto c) { return minimum(minimum(a, b), c); });
  for (const char *one : {"minimummaximum"})
    table[name(one)] = ternary<T>([](auto a, auto b, auto c) { return maximum(minimum(a, b), c); });
  for (const char *one : {"maximumminimum"})
    table[name(one)] = ternary<T>([](auto a, auto b, auto c) { return minimum(maximum(a, b), c); });
}

/// Of lanes, and GFX12's of one value in scalar registers.
template <typename T, typename Function>
void addOfEither(OperationTable &table, const std::string &name, Function function) {
  table["v_" + name] = unary<T>(function);
  table["v_s_" + name] = [function](Wave &wave, const Instruction &in) {
    writeScalarFloat<T>(wave, in, function(readScalarFloat<T>(wave, in[1])));
  };
}

void addTranscendental(OperationTable &table) {
  addOfEither<float>(table, "exp_f32", [](float a) {
    return withoutSubnormals(float(std::exp2(double(withoutSubnormals(a)))));
  });
  addOfEither<float>(table, "log_f32", [](float a) {
    return withoutSubnormals(float(std::log2(double(withoutSubnormals(a)))));
  });
  addOfEither<float>(table, "rcp_f32", [](float a) { return 1 / a; });
  addOfEither<float>(table, "rsq_f32",
                     [](float a) { return float(1 / std::sqrt(double(withoutSubnormals(a)))); });
  addOfEither<float>(table, "sqrt_f32", [](float a) { return std::sqrt(withoutSubnormals(a)); });
  addOfEither<Half>(table, "exp_f16", [](double a) { return std::exp2(a); });
  addOfEither<Half>(table, "log_f16", [](double a) { return std::log2(a); });
  addOfEither<Half>(table, "rcp_f16", [](double a) { return 1 / a; });
  addOfEither<Half>(table, "rsq_f16", [](double a) { return 1 / std::sqrt(a); });
  addOfEither<Half>(table, "sqrt_f16", [](double a) { return std::sqrt(a); });
  table["v_rcp_f64"] = unary<double>([](double a) { return 1 / a; });
  table["v_rsq_f64"] = unary<double>([](double a) { return 1 / std::sqrt(a); });
  table["v_sqrt_f64"] = unary<double>([](double a) { return std::sqrt(a); });
  table["v_rcp_iflag_f32"] = unary<float>([](float a) { return 1 / a; });
  constexpr double turn = 6.283185307179586;
  table["v_sin_f32"] = unary<float>([](float a) { return float(std::sin(a * turn)); });
  table["v_cos_f32"] = unary<float>([](float a) { return float(std::cos(a * turn)); });
}

void addExponents(OperationTable &table) {
  table["v_ldexp_f32"] =
      binary<float, float, int32_t>([](float a, int32_t b) { return std::ldexp(a, b); });
  table["v_ldexp_f64"] =
      binary<double, double, int32_t>([](double a, int32_t b) { return std::ldexp(a, b); });
  table["v_frexp_exp_i32_f32"] = unary<int32_t, float>([](float a) {
    int exponent = 0;
    if (std::isfinite(a))
      std::frexp(a, &exponent);
    return exponent;
  });
  table["v_frexp_exp_i32_f64"] = unary<int32_t, double>([](double a) {
    int exponent = 0;
    if (std::isfinite(a))
      std::frexp(a, &exponent);
    return exponent;
  });
}

/// GFX90A's product and sum are rounded apart, and know no subnormal numbers.
void addUnfused(OperationTable &table) {
  auto apart = [](float a, float b, float c) {
    float product = withoutSubnormals(withoutSubnormals(a) * withoutSubnormals(b));
    return withoutSubnormals(product + withoutSubnormals(c));
  };
  for (const char *one : {"v_mad_f32", "v_madak_f32", "v_madmk_f32"})
    table[one] = ternary<float>(apart);
  table["v_mac_f32"] = accumulating<float>(apart);
}

/// Sums of products of two halves each.
void addDots(OperationTable &table) {
  auto dot = [](uint32_t a, uint32_t b, float c) {
    return float(double(halfValue(a)) * halfValue(b) +
                 double(halfValue(a >> 16)) * halfValue(b >> 16) + c);
  };
  table["v_dot2_f32_f16"] = ternary<float, uint32_t, uint32_t, float>(dot);
  for (const char *one : {"v_dot2c_f32_f16", "v_dot2acc_f32_f16"})
    table[one] = [dot](Wave &wave, const Instruction &in) {
      LaneValues<uint32_t> a = read<uint32_t>(wave, in, {1, 0}),
                           b = read<uint32_t>(wave, in, {2, 1});
      LaneValues<float> c = read<float>(wave, in, {0, 2});
      for (unsigned lane = 0; lane != wave.numLanes; ++lane)
        c[lane] = dot(a[lane], b[lane], c[lane]);
      write<float>(wave, in, 2, c);
    };
}

} // namespace

void addVectorFloats(OperationTable &table) {
  addCommon<float>(table, "f32");
  addCommon<Half>(table, "f16");
  addCommon<double>(table, "f64");
  addShort<float>(table, "f32");
  addShort<Half>(table, "f16");
  table["v_fmac_f64"] =
      accumulating<double>([](double a, double b, double c) { return fused(a, b, c); });
  addTranscendental(table);
  addExponents(table);
  addUnfused(table);
  addDots(table);
}

} // namespace kiln::amdgcn

// Arithmetic of floats in scalar registers, which GFX12 has.
#include "tests/amdgcn/Extremes.h"
#include "tests/amdgcn/Operations.h"
#include "tests/amdgcn/Scalars.h"

namespace kiln::amdgcn {
namespace {

template <typename T, typename Function> Operation one(Function function) {
  return [=](Wave &wave, const Instruction &in) {
    writeScalarFloat<T>(wave, in, function(readScalarFloat<T>(wave, in[1])));
  };
}

template <typename T, typename Function> Operation two(Function function) {
  return [=](Wave &wave, const Instruction &in) {
    writeScalarFloat<T>(wave, in,
                        function(readScalarFloat<T>(wave, in[1]), readScalarFloat<T>(wave, in[2])));
  };
}

/// a·b + c, rounded once: the last is the destination, or one of three sources.
template <typename T> Operation fused(size_t last) {
  return [=](Wave &wave, const Instruction &in) {
    writeScalarFloat<T>(wave, in,
                        std::fma(readScalarFloat<T>(wave, in[1]), readScalarFloat<T>(wave, in[2]),
                                 readScalarFloat<T>(wave, in[last])));
  };
}

template <typename T> void addArithmetic(OperationTable &table, const std::string &type) {
  auto add = [&](const char *name, Operation operation) {
    table[std::string("s_") + name + "_" + type] = std::move(operation);
  };
  add("add", two<T>([](auto a, auto b) { return a + b; }));
  add("sub", two<T>([](auto a, auto b) { return a - b; }));
  add("mul", two<T>([](auto a, auto b) { return a * b; }));
  for (const char *name : {"max", "max_num"})
    add(name, two<T>([](auto a, auto b) { return larger(a, b); }));
  for (const char *name : {"min", "min_num"})
    add(name, two<T>([](auto a, auto b) { return smaller(a, b); }));
  add("maximum", two<T>([](auto a, auto b) { return maximum(a, b); }));
  add("minimum", two<T>([](auto a, auto b) { return minimum(a, b); }));
  add("fmac", fused<T>(0));
  for (const char *name : {"fmaak", "fmamk"})
    add(name, fused<T>(3));
  add("ceil", one<T>([](auto a) { return std::ceil(a); }));
  add("floor", one<T>([](auto a) { return std::floor(a); }));
  add("trunc", one<T>([](auto a) { return std::trunc(a); }));
  add("rndne", one<T>([](auto a) { return std::nearbyint(a); }));
}

template <typename T> void addComparisons(OperationTable &table, const std::string &type) {
  auto add = [&](const char *name, auto function) {
    table[std::string("s_cmp_") + name + "_" + type] = [=](Wave &wave, const Instruction &in) {
      wave.scc = function(readScalarFloat<T>(wave, in[0]), readScalarFloat<T>(wave, in[1]));
    };
  };
  add("lt", [](auto a, auto b) { return a < b; });
  add("le", [](auto a, auto b) { return a <= b; });
  add("gt", [](auto a, auto b) { return a > b; });
  add("ge", [](auto a, auto b) { return a >= b; });
  add("eq", [](auto a, auto b) { return a == b; });
  add("lg", [](auto a, auto b) { return a < b || a > b; });
  add("o", [](auto a, auto b) { return !std::isunordered(a, b); });
  add("u", [](auto a, auto b) { return std::isunordered(a, b); });
  add("nlt", [](auto a, auto b) { return !(a < b); });
  add("nle", [](auto a, auto b) { return !(a <= b); });
  add("ngt", [](auto a, auto b) { return !(a > b); });
  add("nge", [](auto a, auto b) { return !(a >= b); });
  add("neq", [](auto a, auto b) { return !(a == b); });
  add("nlg", [](auto a, auto b) { return !(a < b || a > b); });
}

template <typename T, typename Integer> Operation fromInteger() {
  return [](Wave &wave, const Instruction &in) {
    writeScalarFloat<T>(wave, in, typename LaneType<T>::Value(readScalar<Integer>(wave, in[1])));
  };
}

/// What is too large for the integer becomes its nearest, a NaN 0.
template <typename Integer> void toInteger(Wave &wave, const Instruction &in) {
  using Limits = std::numeric_limits<Integer>;
  double value = readScalarFloat<float>(wave, in[1]);
  value = std::isnan(value)
              ? 0
              : std::fmin(std::fmax(value, double(Limits::min())), double(Limits::max()));
  writeScalar<Integer>(wave, in[0], Integer(value));
}

void addScalarConversions(OperationTable &table) {
  table["s_cvt_f32_u32"] = fromInteger<float, uint32_t>();
  table["s_cvt_f32_i32"] = fromInteger<float, int32_t>();
  table["s_cvt_u32_f32"] = toInteger<uint32_t>;
  table["s_cvt_i32_f32"] = toInteger<int32_t>;
  table["s_cvt_f16_f32"] = [](Wave &wave, const Instruction &in) {
    writeScalarFloat<Half>(wave, in, readScalarFloat<float>(wave, in[1]));
  };
  table["s_cvt_f32_f16"] = [](Wave &wave, const Instruction &in) {
    writeScalarFloat<float>(wave, in, float(readScalarFloat<Half>(wave, in[1])));
  };
  table["s_cvt_hi_f32_f16"] = [](Wave &wave, const Instruction &in) {
    writeScalarFloat<float>(wave, in, halfValue(readScalar<uint32_t>(wave, in[1]) >> 16));
  };
}

} // namespace

void addScalarFloats(OperationTable &table) {
  addArithmetic<float>(table, "f32");
  addArithmetic<Half>(table, "f16");
  addComparisons<float>(table, "f32");
  addComparisons<Half>(table, "f16");
  addScalarConversions(table);
}

} // namespace kiln::amdgcn

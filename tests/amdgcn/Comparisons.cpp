// Comparisons of lanes, which give masks, and choices by masks.
#include "tests/amdgcn/Lanes.h"
#include "tests/amdgcn/Operations.h"

namespace kiln::amdgcn {
namespace {

/// Of GFX9 also V_CMPX has a mask as its destination; later ones set EXEC alone.
template <typename A, typename B, typename Function>
Operation comparison(bool setsExec, Function function) {
  return [=](Wave &wave, const Instruction &in) {
    bool hasDestination = !setsExec || wave.surroundings.generation == Generation::Gfx9;
    size_t first = hasDestination ? 1 : 0;
    LaneValues<A> a = read<A>(wave, in, {first, 0});
    LaneValues<B> b = read<B>(wave, in, {first + 1, 1});
    uint64_t mask = 0;
    for (unsigned lane = 0; lane != wave.numLanes; ++lane)
      if (wave.isActive(lane) && function(a[lane], b[lane]))
        mask |= uint64_t(1) << lane;
    if (hasDestination)
      wave.setMask(in[0].index, mask);
    if (setsExec)
      wave.setMask(ExecLow, mask);
  };
}

template <typename A, typename B = A, typename Function>
void add(OperationTable &table, const std::string &name, Function function) {
  table["v_cmp_" + name] = comparison<A, B>(false, function);
  table["v_cmpx_" + name] = comparison<A, B>(true, function);
}

template <typename T> void addOrdered(OperationTable &table, const std::string &type) {
  add<T>(table, "lt_" + type, [](auto a, auto b) { return a < b; });
  add<T>(table, "le_" + type, [](auto a, auto b) { return a <= b; });
  add<T>(table, "gt_" + type, [](auto a, auto b) { return a > b; });
  add<T>(table, "ge_" + type, [](auto a, auto b) { return a >= b; });
  add<T>(table, "eq_" + type, [](auto a, auto b) { return a == b; });
}

template <typename T> void addFloats(OperationTable &table, const std::string &type) {
  addOrdered<T>(table, type);
  add<T>(table, "lg_" + type, [](auto a, auto b) { return a < b || a > b; });
  add<T>(table, "o_" + type, [](auto a, auto b) { return !std::isunordered(a, b); });
  add<T>(table, "u_" + type, [](auto a, auto b) { return std::isunordered(a, b); });
  add<T>(table, "nge_" + type, [](auto a, auto b) { return !(a >= b); });
  add<T>(table, "nlg_" + type, [](auto a, auto b) { return !(a < b || a > b); });
  add<T>(table, "ngt_" + type, [](auto a, auto b) { return !(a > b); });
  add<T>(table, "nle_" + type, [](auto a, auto b) { return !(a <= b); });
  add<T>(table, "neq_" + type, [](auto a, auto b) { return !(a == b); });
  add<T>(table, "nlt_" + type, [](auto a, auto b) { return !(a < b); });
}

template <typename T> void addIntegers(OperationTable &table, const std::string &type) {
  addOrdered<T>(table, type);
  add<T>(table, "ne_" + type, [](T a, T b) { return a != b; });
}

/// Bits of the class mask: signalling and quiet NaN, then from -infinity to infinity.
template <typename Value> bool hasClass(Value value, uint32_t mask) {
  if (std::isnan(value))
    return mask & 3;
  bool isNegative = std::signbit(value);
  switch (std::fpclassify(value)) {
  case FP_INFINITE:
    return mask >> (isNegative ? 2 : 9) & 1;
  case FP_NORMAL:
    return mask >> (isNegative ? 3 : 8) & 1;
  case FP_SUBNORMAL:
    return mask >> (isNegative ? 4 : 7) & 1;
  default:
    return mask >> (isNegative ? 5 : 6) & 1;
  }
}

/// The second source in the lanes of the mask: VCC where there is none among the operands.
template <typename T> void choose(Wave &wave, const Instruction &in) {
  LaneValues<T> a = read<T>(wave, in, {1, 0}), b = read<T>(wave, in, {2, 1});
  uint64_t mask = wave.mask(in.operands.size() > 3 ? in[3].index : uint16_t(VccLow));
  for (unsigned lane = 0; lane != wave.numLanes; ++lane)
    if (mask >> lane & 1)
      a[lane] = b[lane];
  // The mask is no source of 16 bits: what op_sel says of the destination stands behind three.
  write<T>(wave, in, 3, a);
}

// --- sums with carries ---

/// dst, carry out, a, b and the carry in where it is used.
template <typename Function> Operation carrying(bool usesCarry, Function function) {
  return [=](Wave &wave, const Instruction &in) {
    LaneValues<uint32_t> a = read<uint32_t>(wave, in, {2, 0});
    LaneValues<uint32_t> b = read<uint32_t>(wave, in, {3, 1});
    uint64_t carries = usesCarry ? wave.mask(in[4].index) : 0, mask = 0;
    for (unsigned lane = 0; lane != wave.numLanes; ++lane) {
      uint64_t value = function(uint64_t(a[lane]), uint64_t(b[lane]), carries >> lane & 1);
      a[lane] = uint32_t(value);
      if (value >> 32 && wave.isActive(lane))
        mask |= uint64_t(1) << lane;
    }
    write<uint32_t>(wave, in, 2, a);
    if (in[1].isScalar())
      wave.setMask(in[1].index, mask);
  };
}

/// V_MAD_U64_U32 dst, carry out, a, b, c.
template <typename T, typename Narrow> void multiplyAdd(Wave &wave, const Instruction &in) {
  LaneValues<Narrow> a = read<Narrow>(wave, in, {2, 0}), b = read<Narrow>(wave, in, {3, 1});
  LaneValues<uint64_t> c = read<uint64_t>(wave, in, {4, 2});
  uint64_t mask = 0;
  for (unsigned lane = 0; lane != wave.numLanes; ++lane) {
    uint64_t product = uint64_t(T(a[lane]) * T(b[lane])), value = product + c[lane];
    if (value < product && wave.isActive(lane))
      mask |= uint64_t(1) << lane;
    c[lane] = value;
  }
  write<uint64_t>(wave, in, 3, c);
  if (in[1].isScalar())
    wave.setMask(in[1].index, mask);
}

} // namespace

void addComparisons(OperationTable &table) {
  addFloats<float>(table, "f32");
  addFloats<Half>(table, "f16");
  addFloats<double>(table, "f64");
  addIntegers<int16_t>(table, "i16");
  addIntegers<uint16_t>(table, "u16");
  addIntegers<int32_t>(table, "i32");
  addIntegers<uint32_t>(table, "u32");
  addIntegers<int64_t>(table, "i64");
  addIntegers<uint64_t>(table, "u64");
  add<uint16_t, uint32_t>(table, "class_f16", [](uint16_t bits, uint32_t mask) {
    // Subnormal as halves, which other types hold as normal numbers.
    bool isSubnormal = !(bits & 0x7c00) && bits & 0x3ff;
    return isSubnormal ? mask >> (bits & 0x8000 ? 4 : 7) & 1 : hasClass(halfValue(bits), mask);
  });
  add<float, uint32_t>(table, "class_f32", hasClass<float>);
  add<double, uint32_t>(table, "class_f64", hasClass<double>);
  table["v_cndmask_b32"] = choose<uint32_t>;
  table["v_cndmask_b16"] = choose<uint16_t>;
}

void addCarries(OperationTable &table) {
  auto add = [](uint64_t a, uint64_t b, uint64_t carry) { return a + b + carry; };
  auto subtract = [](uint64_t a, uint64_t b, uint64_t carry) { return a - b - carry; };
  auto reversed = [](uint64_t a, uint64_t b, uint64_t carry) { return b - a - carry; };
  table["v_add_co_u32"] = carrying(false, add);
  table["v_sub_co_u32"] = carrying(false, subtract);
  table["v_subrev_co_u32"] = carrying(false, reversed);
  for (const char *one : {"v_addc_co_u32", "v_add_co_ci_u32"})
    table[one] = carrying(true, add);
  for (const char *one : {"v_subb_co_u32", "v_sub_co_ci_u32"})
    table[one] = carrying(true, subtract);
  for (const char *one : {"v_subbrev_co_u32", "v_subrev_co_ci_u32"})
    table[one] = carrying(true, reversed);
  for (const char *one : {"v_mad_u64_u32", "v_mad_co_u64_u32"})
    table[one] = multiplyAdd<uint64_t, uint32_t>;
  for (const char *one : {"v_mad_i64_i32", "v_mad_co_i64_i32"})
    table[one] = multiplyAdd<int64_t, int32_t>;
}

} // namespace kiln::amdgcn

#include "tests/amdgcn/DataTypes.h"
#include "tests/amdgcn/Lanes.h"
#include <algorithm>

namespace kiln::amdgcn {
namespace {

using U64 = uint64_t;

template <typename T> T of(U64 bits) {
  if constexpr (sizeof(T) == 8)
    return bitsAs<T>(bits);
  else
    return bitsAs<T>(uint32_t(bits));
}

template <typename T> U64 bitsOf(T value) {
  if constexpr (sizeof(T) == 8)
    return bitsAs<U64>(value);
  else
    return bitsAs<uint32_t>(value);
}

template <typename T> U64 sum(U64 a, U64 b, U64) { return bitsOf<T>(of<T>(a) + of<T>(b)); }
template <typename T> U64 difference(U64 a, U64 b, U64) { return bitsOf<T>(of<T>(a) - of<T>(b)); }
template <typename T> U64 least(U64 a, U64 b, U64) {
  return bitsOf<T>(std::min<T>(of<T>(a), of<T>(b)));
}
template <typename T> U64 most(U64 a, U64 b, U64) {
  return bitsOf<T>(std::max<T>(of<T>(a), of<T>(b)));
}
template <typename T> U64 leastFloat(U64 a, U64 b, U64) {
  return bitsOf<T>(std::fmin(of<T>(a), of<T>(b)));
}
template <typename T> U64 mostFloat(U64 a, U64 b, U64) {
  return bitsOf<T>(std::fmax(of<T>(a), of<T>(b)));
}
U64 conjunction(U64 a, U64 b, U64) { return a & b; }
U64 disjunction(U64 a, U64 b, U64) { return a | b; }
U64 exclusive(U64 a, U64 b, U64) { return a ^ b; }
U64 exchanged(U64, U64 b, U64) { return b; }
U64 exchangedIfEqual(U64 a, U64 b, U64 compared) { return a == compared ? b : a; }
U64 sumOfHalves(U64 a, U64 b, U64) {
  uint32_t low = halfBits(double(halfValue(uint32_t(a))) + halfValue(uint32_t(b)));
  uint32_t high = halfBits(double(halfValue(uint32_t(a >> 16))) + halfValue(uint32_t(b >> 16)));
  return low | high << 16;
}
U64 sumOfBfloats(U64 a, U64 b, U64) {
  auto value = [](U64 bits) { return bfloatFormat.decode(uint32_t(bits) & 0xffff); };
  return bfloatFormat.encode(value(a) + value(b)) |
         bfloatFormat.encode(value(a >> 16) + value(b >> 16)) << 16;
}

} // namespace

const std::vector<AtomicType> atomicTypes = {
    {"add", "add_u32", 4, false, sum<uint32_t>},
    {"add_x2", "add_u64", 8, false, sum<U64>},
    {"sub", "sub_u32", 4, false, difference<uint32_t>},
    {"sub_x2", "sub_u64", 8, false, difference<U64>},
    {"smin", "min_i32", 4, false, least<int32_t>},
    {"smin_x2", "min_i64", 8, false, least<int64_t>},
    {"umin", "min_u32", 4, false, least<uint32_t>},
    {"umin_x2", "min_u64", 8, false, least<U64>},
    {"smax", "max_i32", 4, false, most<int32_t>},
    {"smax_x2", "max_i64", 8, false, most<int64_t>},
    {"umax", "max_u32", 4, false, most<uint32_t>},
    {"umax_x2", "max_u64", 8, false, most<U64>},
    {"and", "and_b32", 4, false, conjunction},
    {"and_x2", "and_b64", 8, false, conjunction},
    {"or", "or_b32", 4, false, disjunction},
    {"or_x2", "or_b64", 8, false, disjunction},
    {"xor", "xor_b32", 4, false, exclusive},
    {"xor_x2", "xor_b64", 8, false, exclusive},
    {"swap", "swap_b32", 4, false, exchanged},
    {"swap_x2", "swap_b64", 8, false, exchanged},
    {"cmpswap", "cmpswap_b32", 4, true, exchangedIfEqual},
    {"cmpswap_x2", "cmpswap_b64", 8, true, exchangedIfEqual},
    {"add_f32", "add_f32", 4, false, sum<float>},
    {"add_f64", "add_f64", 8, false, sum<double>},
    {"min_f64", "min_f64", 8, false, leastFloat<double>},
    {"max_f64", "max_f64", 8, false, mostFloat<double>},
    {"fmin", "min_f32", 4, false, leastFloat<float>},
    {"fmax", "max_f32", 4, false, mostFloat<float>},
    {"min_num_f32", "min_num_f32", 4, false, leastFloat<float>},
    {"max_num_f32", "max_num_f32", 4, false, mostFloat<float>},
    {"pk_add_f16", "pk_add_f16", 4, false, sumOfHalves},
    {"pk_add_bf16", "pk_add_bf16", 4, false, sumOfBfloats},
};

void takeData(Wave &wave, Access &access, const Operand &operand, unsigned to, unsigned registers,
              Operand::Half half) {
  if (!operand.isVector())
    throw Fault("expected vector registers as data");
  bool isHigh = half == Operand::Half::High || operand.half == Operand::Half::High;
  for (unsigned i = 0; i != registers; ++i) {
    access.data[to + i] = wave.vector(operand.index + i, operand.half);
    if (isHigh)
      for (uint32_t &word : access.data[to + i])
        word >>= 16;
  }
}

} // namespace kiln::amdgcn

// Arithmetic of integers and bits in all lanes.
#include "tests/amdgcn/Lanes.h"
#include "tests/amdgcn/Operations.h"
#include <algorithm>

namespace kiln::amdgcn {
namespace {

template <typename T> T saturated(int64_t value) {
  return T(
      std::clamp<int64_t>(value, std::numeric_limits<T>::min(), std::numeric_limits<T>::max()));
}

/// Sums and differences, which `clamp` saturates.
template <typename T, typename Function> Operation sum(Function function) {
  return [function](Wave &wave, const Instruction &in) {
    LaneValues<T> a = read<T>(wave, in, {1, 0}), b = read<T>(wave, in, {2, 1}), result;
    for (unsigned lane = 0; lane != wave.numLanes; ++lane) {
      int64_t value = function(int64_t(a[lane]), int64_t(b[lane]));
      result[lane] = in.clamps ? saturated<T>(value) : T(value);
    }
    write<T>(wave, in, 2, result);
  };
}

int32_t low24(int32_t value) { return int32_t(uint32_t(value) << 8) >> 8; }
uint32_t lowUnsigned24(uint32_t value) { return value & 0xffffff; }

/// V_PERM_B32: each byte of the selector picks one of the eight of {a, b}, a sign or a constant.
uint32_t permutedBytes(uint32_t a, uint32_t b, uint32_t selector) {
  uint64_t both = uint64_t(a) << 32 | b;
  uint32_t result = 0;
  for (int i = 0; i != 4; ++i) {
    uint32_t select = selector >> (8 * i) & 0xff, byte;
    if (select < 8)
      byte = uint32_t(both >> (8 * select)) & 0xff;
    else if (select < 12)
      byte = both >> (16 * (select - 8) + 15) & 1 ? 0xff : 0;
    else
      byte = select == 12 ? 0 : 0xff;
    result |= byte << (8 * i);
  }
  return result;
}

template <typename T> T bitTable(T a, T b, T c, int64_t table) {
  T result = 0;
  for (int i = 0; i != 8; ++i)
    if (table >> i & 1)
      result |= (i & 4 ? a : T(~a)) & (i & 2 ? b : T(~b)) & (i & 1 ? c : T(~c));
  return result;
}

template <typename T> Operation bitTables() {
  return [](Wave &wave, const Instruction &in) {
    LaneValues<T> a = read<T>(wave, in, {1, 0}), b = read<T>(wave, in, {2, 1}),
                  c = read<T>(wave, in, {3, 2});
    for (unsigned lane = 0; lane != wave.numLanes; ++lane)
      a[lane] = bitTable<T>(a[lane], b[lane], c[lane], in.bitTable);
    write<T>(wave, in, 3, a);
  };
}

template <typename T> void addSums(OperationTable &table, std::vector<std::string> suffixes) {
  for (const std::string &suffix : suffixes) {
    table["v_add_" + suffix] = sum<T>([](int64_t a, int64_t b) { return a + b; });
    table["v_sub_" + suffix] = sum<T>([](int64_t a, int64_t b) { return a - b; });
    table["v_subrev_" + suffix] = sum<T>([](int64_t a, int64_t b) { return b - a; });
  }
}

template <typename T> void addOrder(OperationTable &table, const std::string &type) {
  table["v_max_" + type] = binary<T>([](T a, T b) { return std::max(a, b); });
  table["v_min_" + type] = binary<T>([](T a, T b) { return std::min(a, b); });
  table["v_max3_" + type] = ternary<T>([](T a, T b, T c) { return std::max({a, b, c}); });
  table["v_min3_" + type] = ternary<T>([](T a, T b, T c) { return std::min({a, b, c}); });
  table["v_maxmin_" + type] = ternary<T>([](T a, T b, T c) { return std::min(std::max(a, b), c); });
  table["v_minmax_" + type] = ternary<T>([](T a, T b, T c) { return std::max(std::min(a, b), c); });
  table["v_med3_" + type] = ternary<T>(
      [](T a, T b, T c) { return std::max(std::min(a, b), std::min(std::max(a, b), c)); });
}

/// Shifts have the amount first.
template <typename T, typename Signed> void addShifts(OperationTable &table, std::string bits) {
  constexpr uint32_t mask = 8 * sizeof(T) - 1;
  {
    const std::string &suffix = bits;
    table["v_lshlrev_b" + suffix] = binary<T, std::conditional_t<sizeof(T) == 8, uint32_t, T>, T>(
        [](auto n, T a) { return T(a << (n & mask)); });
    table["v_lshrrev_b" + suffix] = binary<T, std::conditional_t<sizeof(T) == 8, uint32_t, T>, T>(
        [](auto n, T a) { return T(a >> (n & mask)); });
    table["v_ashrrev_i" + suffix] = binary<T, std::conditional_t<sizeof(T) == 8, uint32_t, T>, T>(
        [](auto n, T a) { return T(Signed(a) >> (n & mask)); });
  }
}

template <typename T> void addBits(OperationTable &table, const std::string &type) {
  table["v_and_" + type] = binary<T>([](T a, T b) { return T(a & b); });
  table["v_or_" + type] = binary<T>([](T a, T b) { return T(a | b); });
  table["v_xor_" + type] = binary<T>([](T a, T b) { return T(a ^ b); });
  table["v_not_" + type] = unary<T>([](T a) { return T(~a); });
  table["v_mov_" + type] = unary<T>([](T a) { return a; });
}

void addFused(OperationTable &table) {
  using U = uint32_t;
  table["v_xnor_b32"] = binary<U>([](U a, U b) { return ~(a ^ b); });
  table["v_lshl_add_u32"] = ternary<U>([](U a, U b, U c) { return (a << (b & 31)) + c; });
  table["v_add_lshl_u32"] = ternary<U>([](U a, U b, U c) { return (a + b) << (c & 31); });
  table["v_lshl_or_b32"] = ternary<U>([](U a, U b, U c) { return (a << (b & 31)) | c; });
  table["v_and_or_b32"] = ternary<U>([](U a, U b, U c) { return (a & b) | c; });
  table["v_or3_b32"] = ternary<U>([](U a, U b, U c) { return a | b | c; });
  table["v_xor3_b32"] = ternary<U>([](U a, U b, U c) { return a ^ b ^ c; });
  table["v_add3_u32"] = ternary<U>([](U a, U b, U c) { return a + b + c; });
  table["v_xad_u32"] = ternary<U>([](U a, U b, U c) { return (a ^ b) + c; });
  table["v_lshl_add_u64"] = ternary<uint64_t, uint64_t, uint32_t, uint64_t>(
      [](uint64_t a, U b, uint64_t c) { return (a << (b & 7)) + c; });
  table["v_bfi_b32"] = ternary<U>([](U a, U b, U c) { return (a & b) | (~a & c); });
  table["v_bfe_u32"] = ternary<U>([](U a, U b, U c) {
    U width = c & 31;
    return width ? (a >> (b & 31)) & ((1u << width) - 1) : 0;
  });
  table["v_bfe_i32"] = ternary<U>([](U a, U b, U c) {
    U width = c & 31, field = a >> (b & 31);
    return width ? U(int32_t(field << (32 - width)) >> (32 - width)) : 0;
  });
  table["v_bfm_b32"] = binary<U>([](U a, U b) { return ((1u << (a & 31)) - 1) << (b & 31); });
  table["v_alignbit_b32"] =
      ternary<U>([](U a, U b, U c) { return U((uint64_t(a) << 32 | b) >> (c & 31)); });
  table["v_alignbyte_b32"] =
      ternary<U>([](U a, U b, U c) { return U((uint64_t(a) << 32 | b) >> (8 * (c & 3))); });
  table["v_perm_b32"] = ternary<U>(permutedBytes);
  table["v_bitop3_b32"] = bitTables<uint32_t>();
  table["v_bitop3_b16"] = bitTables<uint16_t>();
}

template <typename A, typename B> int32_t dotOfBytes(int32_t a, int32_t b, int32_t c) {
  for (int i = 0; i != 4; ++i)
    c = int32_t(uint32_t(c) + uint32_t(A(a >> (8 * i)) * B(b >> (8 * i))));
  return c;
}

void addProducts(OperationTable &table) {
  using U = uint32_t;
  using I = int32_t;
  table["v_mul_lo_u32"] = binary<U>([](U a, U b) { return a * b; });
  table["v_mul_hi_u32"] = binary<U>([](U a, U b) { return U(uint64_t(a) * b >> 32); });
  table["v_mul_hi_i32"] = binary<I>([](I a, I b) { return I(int64_t(a) * b >> 32); });
  table["v_mul_u32_u24"] = binary<U>([](U a, U b) { return lowUnsigned24(a) * lowUnsigned24(b); });
  table["v_mul_hi_u32_u24"] =
      binary<U>([](U a, U b) { return U(uint64_t(lowUnsigned24(a)) * lowUnsigned24(b) >> 32); });
  table["v_mul_i32_i24"] = binary<I>([](I a, I b) { return I(U(low24(a)) * U(low24(b))); });
  table["v_mul_hi_i32_i24"] =
      binary<I>([](I a, I b) { return I(int64_t(low24(a)) * low24(b) >> 32); });
  table["v_mad_u32_u24"] =
      ternary<U>([](U a, U b, U c) { return lowUnsigned24(a) * lowUnsigned24(b) + c; });
  table["v_mad_i32_i24"] =
      ternary<I>([](I a, I b, I c) { return I(U(low24(a)) * U(low24(b)) + U(c)); });
  for (const char *one : {"v_mul_lo_u16"})
    table[one] = binary<uint16_t>([](uint16_t a, uint16_t b) { return uint16_t(U(a) * b); });
  for (const char *one : {"v_mad_u16", "v_mad_legacy_u16"})
    table[one] = ternary<uint16_t>(
        [](uint16_t a, uint16_t b, uint16_t c) { return uint16_t(U(a) * b + c); });
  table["v_mad_u32_u16"] =
      ternary<U, uint16_t, uint16_t, U>([](uint16_t a, uint16_t b, U c) { return U(a) * b + c; });
  table["v_mad_i32_i16"] = ternary<I, int16_t, int16_t, I>(
      [](int16_t a, int16_t b, I c) { return I(U(I(a) * I(b)) + U(c)); });
  table["v_dot4_i32_i8"] = ternary<I>(dotOfBytes<int8_t, int8_t>);
  table["v_dot4_u32_u8"] = ternary<I>(dotOfBytes<uint8_t, uint8_t>);
  table["v_dot4c_i32_i8"] = accumulating<I>(dotOfBytes<int8_t, int8_t>);
  // Signed where neg_lo says so.
  table["v_dot4_i32_iu8"] = [](Wave &wave, const Instruction &in) {
    LaneValues<I> a = read<I>(wave, in, {1, 0}), b = read<I>(wave, in, {2, 1}),
                  c = read<I>(wave, in, {3, 2});
    auto *dot = in.negLow[0]
                    ? (in.negLow[1] ? dotOfBytes<int8_t, int8_t> : dotOfBytes<int8_t, uint8_t>)
                    : (in.negLow[1] ? dotOfBytes<uint8_t, int8_t> : dotOfBytes<uint8_t, uint8_t>);
    for (unsigned lane = 0; lane != wave.numLanes; ++lane)
      c[lane] = dot(a[lane], b[lane], c[lane]);
    write<I>(wave, in, 3, c);
  };
}

void addCounts(OperationTable &table) {
  using U = uint32_t;
  table["v_bfrev_b32"] = unary<U>([](U a) { return __builtin_bitreverse32(a); });
  table["v_bcnt_u32_b32"] = binary<U>([](U a, U b) { return U(__builtin_popcount(a)) + b; });
  for (const char *one : {"v_ffbl_b32", "v_ctz_i32_b32"})
    table[one] = unary<U>([](U a) { return a ? U(__builtin_ctz(a)) : ~0u; });
  for (const char *one : {"v_ffbh_u32", "v_clz_i32_u32"})
    table[one] = unary<U>([](U a) { return a ? U(__builtin_clz(a)) : ~0u; });
  for (const char *one : {"v_ffbh_i32", "v_cls_i32"})
    table[one] = unary<U>([](U a) {
      U other = int32_t(a) < 0 ? ~a : a;
      return other ? U(__builtin_clz(other)) : ~0u;
    });
}

} // namespace

void addVectorIntegers(OperationTable &table) {
  addSums<uint32_t>(table, {"u32", "nc_u32"});
  addSums<int32_t>(table, {"i32", "nc_i32"});
  addSums<uint16_t>(table, {"u16", "nc_u16"});
  addSums<int16_t>(table, {"i16", "nc_i16"});
  addOrder<uint32_t>(table, "u32");
  addOrder<int32_t>(table, "i32");
  addOrder<uint16_t>(table, "u16");
  addOrder<int16_t>(table, "i16");
  addShifts<uint32_t, int32_t>(table, "32");
  addShifts<uint64_t, int64_t>(table, "64");
  addShifts<uint16_t, int16_t>(table, "16");
  addBits<uint32_t>(table, "b32");
  addBits<uint16_t>(table, "b16");
  table["v_mov_b64"] = unary<uint64_t>([](uint64_t a) { return a; });
  addFused(table);
  addProducts(table);
  addCounts(table);
}

} // namespace kiln::amdgcn

// Arithmetic of scalar registers.
#include "tests/amdgcn/Operations.h"
#include "tests/amdgcn/Scalars.h"
#include <algorithm>

namespace kiln::amdgcn {
namespace {

using U = uint32_t;
using I = int32_t;
using U64 = uint64_t;

/// What SCC becomes: nothing, or whether the result is not 0.
enum class Scc : uint8_t { Stays, NotZero };

template <typename R, typename A = R, typename Function> Operation one(Scc scc, Function function) {
  return [=](Wave &wave, const Instruction &in) {
    R result = function(readScalar<A>(wave, in[1]));
    writeScalar<R>(wave, in[0], result);
    if (scc == Scc::NotZero)
      wave.scc = result != 0;
  };
}

template <typename R, typename A = R, typename B = A, typename Function>
Operation two(Scc scc, Function function) {
  return [=](Wave &wave, const Instruction &in) {
    R result = function(readScalar<A>(wave, in[1]), readScalar<B>(wave, in[2]));
    writeScalar<R>(wave, in[0], result);
    if (scc == Scc::NotZero)
      wave.scc = result != 0;
  };
}

/// SCC is the carry, which is bit 32.
template <typename Function> Operation unsignedSum(Function function) {
  return [=](Wave &wave, const Instruction &in) {
    U64 result =
        function(U64(readScalar<U>(wave, in[1])), U64(readScalar<U>(wave, in[2])), U64(wave.scc));
    writeScalar<U>(wave, in[0], U(result));
    wave.scc = result >> 32 != 0;
  };
}

/// SCC is the overflow.
template <typename Function> Operation signedSum(Function function) {
  return [=](Wave &wave, const Instruction &in) {
    int64_t result =
        function(int64_t(readScalar<I>(wave, in[1])), int64_t(readScalar<I>(wave, in[2])));
    writeScalar<I>(wave, in[0], I(result));
    wave.scc = result != I(result);
  };
}

/// SCC says whether the first was taken.
template <typename T, typename Function> Operation choice(Function takesFirst) {
  return [=](Wave &wave, const Instruction &in) {
    T a = readScalar<T>(wave, in[1]), b = readScalar<T>(wave, in[2]);
    bool first = takesFirst(a, b);
    writeScalar<T>(wave, in[0], first ? a : b);
    wave.scc = first;
  };
}

template <typename T> void select(Wave &wave, const Instruction &in) {
  writeScalar<T>(wave, in[0], readScalar<T>(wave, in[wave.scc ? 1 : 2]));
}

template <typename T> void addBits(OperationTable &table, const std::string &type) {
  auto add = [&](const char *name, Operation operation) {
    table[std::string("s_") + name + "_" + type] = std::move(operation);
  };
  constexpr U mask = 8 * sizeof(T) - 1;
  add("and", two<T>(Scc::NotZero, [](T a, T b) { return a & b; }));
  add("or", two<T>(Scc::NotZero, [](T a, T b) { return a | b; }));
  add("xor", two<T>(Scc::NotZero, [](T a, T b) { return a ^ b; }));
  add("nand", two<T>(Scc::NotZero, [](T a, T b) { return ~(a & b); }));
  add("nor", two<T>(Scc::NotZero, [](T a, T b) { return ~(a | b); }));
  add("xnor", two<T>(Scc::NotZero, [](T a, T b) { return ~(a ^ b); }));
  for (const char *name : {"andn2", "and_not1"})
    add(name, two<T>(Scc::NotZero, [](T a, T b) { return a & ~b; }));
  for (const char *name : {"orn2", "or_not1"})
    add(name, two<T>(Scc::NotZero, [](T a, T b) { return a | ~b; }));
  add("lshl", two<T, T, U>(Scc::NotZero, [=](T a, U n) { return T(a << (n & mask)); }));
  add("lshr", two<T, T, U>(Scc::NotZero, [=](T a, U n) { return T(a >> (n & mask)); }));
  add("not", one<T>(Scc::NotZero, [](T a) { return T(~a); }));
  add("mov", one<T>(Scc::Stays, [](T a) { return a; }));
  add("cmov", [](Wave &wave, const Instruction &in) {
    if (wave.scc)
      writeScalar<T>(wave, in[0], readScalar<T>(wave, in[1]));
  });
  add("cselect", select<T>);
}

void addSums(OperationTable &table) {
  for (const char *name : {"s_add_u32", "s_add_co_u32"})
    table[name] = unsignedSum([](U64 a, U64 b, U64) { return a + b; });
  for (const char *name : {"s_addc_u32", "s_add_co_ci_u32"})
    table[name] = unsignedSum([](U64 a, U64 b, U64 carry) { return a + b + carry; });
  for (const char *name : {"s_sub_u32", "s_sub_co_u32"})
    table[name] = unsignedSum([](U64 a, U64 b, U64) { return a - b; });
  for (const char *name : {"s_subb_u32", "s_sub_co_ci_u32"})
    table[name] = unsignedSum([](U64 a, U64 b, U64 carry) { return a - b - carry; });
  for (const char *name : {"s_add_i32", "s_add_co_i32"})
    table[name] = signedSum([](int64_t a, int64_t b) { return a + b; });
  for (const char *name : {"s_sub_i32", "s_sub_co_i32"})
    table[name] = signedSum([](int64_t a, int64_t b) { return a - b; });
  for (const char *name : {"s_add_u64", "s_add_nc_u64"})
    table[name] = two<U64>(Scc::Stays, [](U64 a, U64 b) { return a + b; });
  for (const char *name : {"s_sub_u64", "s_sub_nc_u64"})
    table[name] = two<U64>(Scc::Stays, [](U64 a, U64 b) { return a - b; });
  for (U n = 1; n != 5; ++n)
    table["s_lshl" + std::to_string(n) + "_add_u32"] =
        unsignedSum([=](U64 a, U64 b, U64) { return (a << n) + b; });
}

void addProducts(OperationTable &table) {
  for (const char *name : {"s_mul_i32"})
    table[name] = two<U>(Scc::Stays, [](U a, U b) { return a * b; });
  table["s_mul_hi_u32"] = two<U>(Scc::Stays, [](U a, U b) { return U(U64(a) * b >> 32); });
  table["s_mul_hi_i32"] = two<I>(Scc::Stays, [](I a, I b) { return I(int64_t(a) * b >> 32); });
  table["s_mul_u64"] = two<U64>(Scc::Stays, [](U64 a, U64 b) { return a * b; });
}

void addOrder(OperationTable &table) {
  table["s_min_i32"] = choice<I>([](I a, I b) { return a < b; });
  table["s_max_i32"] = choice<I>([](I a, I b) { return a > b; });
  table["s_min_u32"] = choice<U>([](U a, U b) { return a < b; });
  table["s_max_u32"] = choice<U>([](U a, U b) { return a > b; });
  table["s_abs_i32"] = one<I>(Scc::NotZero, [](I a) { return a < 0 ? I(0 - U(a)) : a; });
  table["s_absdiff_i32"] = two<I>(Scc::NotZero, [](I a, I b) {
    I difference = I(U(a) - U(b));
    return difference < 0 ? I(0 - U(difference)) : difference;
  });
}

void addFields(OperationTable &table) {
  // The second source has the first bit, and from bit 16 the number of bits.
  table["s_bfe_u32"] = two<U>(Scc::NotZero, [](U a, U b) {
    U width = std::min<U>(b >> 16 & 0x7f, 32);
    return width == 0 ? 0 : a >> (b & 31) & U((U64(1) << width) - 1);
  });
  table["s_bfe_i32"] = two<I, U>(Scc::NotZero, [](U a, U b) {
    U width = std::min<U>(b >> 16 & 0x7f, 32), field = a >> (b & 31);
    return width == 0 ? 0 : I(field << (32 - width)) >> (32 - width);
  });
  table["s_bfe_u64"] = two<U64, U64, U>(Scc::NotZero, [](U64 a, U b) {
    U width = b >> 16 & 0x7f;
    U64 field = a >> (b & 63);
    return width >= 64 ? field : field & ((U64(1) << width) - 1);
  });
  table["s_bfe_i64"] = two<int64_t, U64, U>(Scc::NotZero, [](U64 a, U b) {
    U width = std::min<U>(b >> 16 & 0x7f, 64);
    U64 field = a >> (b & 63);
    return width == 0 ? 0 : int64_t(field << (64 - width)) >> (64 - width);
  });
  table["s_bfm_b32"] =
      two<U>(Scc::Stays, [](U a, U b) { return ((1u << (a & 31)) - 1) << (b & 31); });
  table["s_ashr_i32"] = two<I, I, U>(Scc::NotZero, [](I a, U n) { return a >> (n & 31); });
  table["s_ashr_i64"] =
      two<int64_t, int64_t, U>(Scc::NotZero, [](int64_t a, U n) { return a >> (n & 63); });
  for (const char *name : {"s_pack_ll_b32_b16"})
    table[name] = two<U>(Scc::Stays, [](U a, U b) { return (a & 0xffff) | b << 16; });
  table["s_pack_lh_b32_b16"] =
      two<U>(Scc::Stays, [](U a, U b) { return (a & 0xffff) | (b & 0xffff0000); });
  table["s_pack_hh_b32_b16"] =
      two<U>(Scc::Stays, [](U a, U b) { return a >> 16 | (b & 0xffff0000); });
  table["s_sext_i32_i8"] = one<I>(Scc::Stays, [](I a) { return I(int8_t(a)); });
  table["s_sext_i32_i16"] = one<I>(Scc::Stays, [](I a) { return I(int16_t(a)); });
  table["s_brev_b32"] = one<U>(Scc::Stays, [](U a) { return __builtin_bitreverse32(a); });
  table["s_bcnt1_i32_b32"] = one<U>(Scc::NotZero, [](U a) { return U(__builtin_popcount(a)); });
  table["s_bcnt1_i32_b64"] =
      one<U, U64>(Scc::NotZero, [](U64 a) { return U(__builtin_popcountll(a)); });
  for (const char *name : {"s_ff1_i32_b32", "s_ctz_i32_b32"})
    table[name] = one<U>(Scc::Stays, [](U a) { return a ? U(__builtin_ctz(a)) : ~0u; });
  for (const char *name : {"s_ff1_i32_b64", "s_ctz_i32_b64"})
    table[name] = one<U, U64>(Scc::Stays, [](U64 a) { return a ? U(__builtin_ctzll(a)) : ~0u; });
  for (const char *name : {"s_flbit_i32_b32", "s_clz_i32_u32"})
    table[name] = one<U>(Scc::Stays, [](U a) { return a ? U(__builtin_clz(a)) : ~0u; });
  for (const char *name : {"s_flbit_i32_b64", "s_clz_i32_u64"})
    table[name] = one<U, U64>(Scc::Stays, [](U64 a) { return a ? U(__builtin_clzll(a)) : ~0u; });
  for (const char *name : {"s_flbit_i32", "s_cls_i32"})
    table[name] = one<U, I>(Scc::Stays, [](I a) {
      U other = U(a < 0 ? ~a : a);
      return other ? U(__builtin_clz(other)) : ~0u;
    });
  table["s_bitset1_b32"] = [](Wave &wave, const Instruction &in) {
    writeScalar<U>(wave, in[0],
                   readScalar<U>(wave, in[0]) | 1u << (readScalar<U>(wave, in[1]) & 31));
  };
  table["s_bitset0_b32"] = [](Wave &wave, const Instruction &in) {
    writeScalar<U>(wave, in[0],
                   readScalar<U>(wave, in[0]) & ~(1u << (readScalar<U>(wave, in[1]) & 31)));
  };
}

/// A constant of 16 bits, which is signed.
I shortConstant(const Instruction &in) { return int16_t(in[1].integer); }

void addShortConstants(OperationTable &table) {
  table["s_movk_i32"] = [](Wave &wave, const Instruction &in) {
    writeScalar<I>(wave, in[0], shortConstant(in));
  };
  for (const char *name : {"s_addk_i32", "s_addk_co_i32"})
    table[name] = [](Wave &wave, const Instruction &in) {
      int64_t sum = int64_t(readScalar<I>(wave, in[0])) + shortConstant(in);
      writeScalar<I>(wave, in[0], I(sum));
      wave.scc = sum != I(sum);
    };
  table["s_mulk_i32"] = [](Wave &wave, const Instruction &in) {
    writeScalar<U>(wave, in[0], readScalar<U>(wave, in[0]) * U(shortConstant(in)));
  };
}

/// dst = EXEC, and EXEC changes.
template <typename Function> Operation saveExec(Function function) {
  return [=](Wave &wave, const Instruction &in) {
    bool isWide = wave.numLanes == 64;
    U64 value = isWide ? readScalar<U64>(wave, in[1]) : readScalar<U>(wave, in[1]);
    U64 exec = wave.exec(), changed = function(value, exec);
    if (isWide)
      writeScalar<U64>(wave, in[0], exec);
    else
      writeScalar<U>(wave, in[0], U(exec));
    wave.setMask(ExecLow, isWide ? changed : U(changed));
    wave.scc = wave.exec() != 0;
  };
}

void addSaveExec(OperationTable &table) {
  for (const std::string &type : {std::string("b32"), std::string("b64")}) {
    table["s_and_saveexec_" + type] = saveExec([](U64 a, U64 exec) { return a & exec; });
    table["s_or_saveexec_" + type] = saveExec([](U64 a, U64 exec) { return a | exec; });
    table["s_xor_saveexec_" + type] = saveExec([](U64 a, U64 exec) { return a ^ exec; });
    for (const char *name : {"s_andn2_saveexec_", "s_and_not1_saveexec_"})
      table[name + type] = saveExec([](U64 a, U64 exec) { return a & ~exec; });
    for (const char *name : {"s_andn1_saveexec_", "s_and_not0_saveexec_"})
      table[name + type] = saveExec([](U64 a, U64 exec) { return ~a & exec; });
  }
}

} // namespace

void addScalarArithmetic(OperationTable &table) {
  addBits<U>(table, "b32");
  addBits<U64>(table, "b64");
  addSums(table);
  addProducts(table);
  addOrder(table);
  addFields(table);
  addShortConstants(table);
  addSaveExec(table);
}

} // namespace kiln::amdgcn

// The types in the names of loads and stores.
#ifndef KILN_TESTS_AMDGCN_DATATYPES_H
#define KILN_TESTS_AMDGCN_DATATYPES_H

#include "tests/amdgcn/Instruction.h"

namespace kiln::amdgcn {

struct DataType {
  /// As GFX9 and as later generations name it: behind "global_load_" and the like.
  const char *old, *name;
  uint32_t bytes;
  bool isSigned = false;
  /// Of a load the half that it fills; of a store the one that it takes.
  Operand::Half half = Operand::Half::Whole;
};

inline constexpr DataType loadTypes[] = {
    {"ubyte", "u8", 1},
    {"sbyte", "i8", 1, true},
    {"ushort", "u16", 2},
    {"sshort", "i16", 2, true},
    {"dword", "b32", 4},
    {"dwordx2", "b64", 8},
    {"dwordx3", "b96", 12},
    {"dwordx4", "b128", 16},
    {"short_d16", "d16_b16", 2, false, Operand::Half::Low},
    {"short_d16_hi", "d16_hi_b16", 2, false, Operand::Half::High},
    {"ubyte_d16", "d16_u8", 1, false, Operand::Half::Low},
    {"ubyte_d16_hi", "d16_hi_u8", 1, false, Operand::Half::High},
    {"sbyte_d16", "d16_i8", 1, true, Operand::Half::Low},
    {"sbyte_d16_hi", "d16_hi_i8", 1, true, Operand::Half::High}};

inline constexpr DataType storeTypes[] = {
    {"byte", "b8", 1},
    {"short", "b16", 2},
    {"dword", "b32", 4},
    {"dwordx2", "b64", 8},
    {"dwordx3", "b96", 12},
    {"dwordx4", "b128", 16},
    {"short_d16_hi", "d16_hi_b16", 2, false, Operand::Half::High},
    {"byte_d16_hi", "d16_hi_b8", 1, false, Operand::Half::High}};

/// Atomic operations by their names on GFX9 and later.
struct AtomicType {
  const char *old, *name;
  uint32_t bytes;
  bool compares;
  uint64_t (*combine)(uint64_t old, uint64_t value, uint64_t compared);
};
extern const std::vector<AtomicType> atomicTypes;

/// Puts the registers of a store's data into an access: from `first` on so many.
struct Access;
void takeData(Wave &wave, Access &access, const Operand &operand, unsigned to, unsigned registers,
              Operand::Half half);

} // namespace kiln::amdgcn

#endif // KILN_TESTS_AMDGCN_DATATYPES_H

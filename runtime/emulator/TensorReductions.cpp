#include "runtime/emulator/TensorReductions.h"

#include "runtime/emulator/MatrixNumbers.h"
#include "runtime/kiln.h"
#include <algorithm>

namespace kiln::emulator {
namespace {

float fromBFloat(uint16_t bits) { return asFloat(uint32_t(bits) << 16); }

/// To nearest even.
uint16_t toBFloat(float value) {
  uint32_t bits = bitsOfFloat(value);
  return std::isnan(value) ? 0x7fff : uint16_t((bits + 0x7fff + (bits >> 16 & 1)) >> 16);
}

/// Other blocks reduce there too, on other threads of the host.
template <typename Word, typename Combine>
void update(void *memory, const void *value, Combine combine) {
  auto *word = static_cast<Word *>(memory);
  Word with = stored<Word>(value, 0), before = __atomic_load_n(word, __ATOMIC_RELAXED), after;
  do
    after = combine(before, with);
  while (
      !__atomic_compare_exchange_n(word, &before, after, true, __ATOMIC_RELAXED, __ATOMIC_RELAXED));
}

template <typename Number> Number combineFloats(uint32_t operation, Number a, Number b) {
  switch (operation) {
  case KILN_EMU_BOX_MIN:
    return std::fmin(a, b);
  case KILN_EMU_BOX_MAX:
    return std::fmax(a, b);
  default:
    return a + b;
  }
}

/// Sums wrap around.
template <typename Number> Number combineIntegers(uint32_t operation, Number a, Number b) {
  switch (operation) {
  case KILN_EMU_BOX_MIN:
    return std::min(a, b);
  case KILN_EMU_BOX_MAX:
    return std::max(a, b);
  case KILN_EMU_BOX_AND:
    return a & b;
  case KILN_EMU_BOX_OR:
    return a | b;
  case KILN_EMU_BOX_XOR:
    return a ^ b;
  default:
    return Number(std::make_unsigned_t<Number>(a) + std::make_unsigned_t<Number>(b));
  }
}

template <typename Number>
void reduceIntegers(uint32_t operation, void *memory, const void *value) {
  update<Number>(memory, value,
                 [=](Number a, Number b) { return combineIntegers(operation, a, b); });
}

/// Floats whose bits are words.
template <typename Word, typename Read, typename Write>
void reduceFloats(uint32_t operation, void *memory, const void *value, Read read, Write write) {
  update<Word>(memory, value,
               [&](Word a, Word b) { return write(combineFloats(operation, read(a), read(b))); });
}

template <typename To, typename From> To bitsAs(From from) {
  To to;
  static_assert(sizeof to == sizeof from);
  std::memcpy(&to, &from, sizeof to);
  return to;
}

} // namespace

// PTX ISA, "cp.reduce.async.bulk.tensor" and, for the types, "cp.reduce.async.bulk".
bool isReduction(uint32_t operation, uint32_t element) {
  switch (element) {
  case KILN_TENSOR_U32:
  case KILN_TENSOR_I32:
  case KILN_TENSOR_U64:
  case KILN_TENSOR_I64:
    return operation >= KILN_EMU_BOX_ADD && operation <= KILN_EMU_BOX_XOR;
  case KILN_TENSOR_F16:
  case KILN_TENSOR_BF16:
    return operation >= KILN_EMU_BOX_ADD && operation <= KILN_EMU_BOX_MAX;
  case KILN_TENSOR_F32:
  case KILN_TENSOR_F64:
    return operation == KILN_EMU_BOX_ADD;
  default:
    return false;
  }
}

void reduce(uint32_t operation, uint32_t element, void *memory, const void *value) {
  switch (element) {
  case KILN_TENSOR_U32:
    return reduceIntegers<uint32_t>(operation, memory, value);
  case KILN_TENSOR_I32:
    return reduceIntegers<int32_t>(operation, memory, value);
  case KILN_TENSOR_U64:
    return reduceIntegers<uint64_t>(operation, memory, value);
  case KILN_TENSOR_I64:
    return reduceIntegers<int64_t>(operation, memory, value);
  case KILN_TENSOR_F16:
    return reduceFloats<uint16_t>(operation, memory, value, fromHalf, toHalf);
  case KILN_TENSOR_BF16:
    return reduceFloats<uint16_t>(operation, memory, value, fromBFloat, toBFloat);
  case KILN_TENSOR_F32:
    return reduceFloats<uint32_t>(operation, memory, value, asFloat, bitsOfFloat);
  default:
    return reduceFloats<uint64_t>(operation, memory, value, bitsAs<double, uint64_t>,
                                  bitsAs<uint64_t, double>);
  }
}

} // namespace kiln::emulator

#include "compiler/Driver/Verify/NativeCall.h"
#include <cstring>
#include <utility>

namespace kiln {

bool NativeCall::isPossible() {
#if defined(__linux__) && (defined(__x86_64__) || defined(__aarch64__))
  return true;
#else
  return false;
#endif
}

/// Words beyond the stack's are counted, for call() to see.
void NativeCall::addToStack(uint64_t word) {
  if (numWords < stackWords)
    stack[numWords] = word;
  ++numWords;
}

void NativeCall::addInteger(uint64_t value) {
  if (numIntegers < integerRegisters)
    integers[numIntegers++] = value;
  else
    addToStack(value);
}

void NativeCall::addFloat(uint64_t bits) {
  if (numFloats < floatRegisters)
    std::memcpy(&floats[numFloats++], &bits, sizeof bits);
  else
    addToStack(bits);
}

/// Two words, which are in registers both or neither; functions take it first.
void NativeCall::addStream(kiln_stream stream) {
  static_assert(sizeof(kiln_stream) == 16);
  uint64_t words[2];
  std::memcpy(words, &stream, sizeof words);
  bool fits = numIntegers + 2 <= integerRegisters;
  for (uint64_t word : words)
    if (fits)
      addInteger(word);
    else
      addToStack(word);
}

/// System V has copies of large structures on the stack, AAPCS64 their addresses.
void NativeCall::addTensor(const kiln_tensor &tensor) {
#if defined(__aarch64__)
  addInteger(reinterpret_cast<uintptr_t>(&tensors.emplace_back(tensor)));
#else
  static_assert(sizeof(kiln_tensor) % 8 == 0);
  uint64_t words[sizeof(kiln_tensor) / 8];
  std::memcpy(words, &tensor, sizeof words);
  for (uint64_t word : words)
    addToStack(word);
#endif
}

namespace {

template <size_t> using Word = uint64_t;
template <size_t> using Double = double;

template <size_t... Integers, size_t... Floats, size_t... Words>
int callWith(void *function, const uint64_t *integers, const double *floats, const uint64_t *stack,
             std::index_sequence<Integers...>, std::index_sequence<Floats...>,
             std::index_sequence<Words...>) {
  using Function = int (*)(Word<Integers>..., Double<Floats>..., Word<Words>...);
  return reinterpret_cast<Function>(function)(integers[Integers]..., floats[Floats]...,
                                              stack[Words]...);
}

} // namespace

std::optional<int> NativeCall::call(void *function) const {
  if (numWords > stackWords)
    return std::nullopt;
  return callWith(function, integers.data(), floats.data(), stack.data(),
                  std::make_index_sequence<integerRegisters>(),
                  std::make_index_sequence<floatRegisters>(),
                  std::make_index_sequence<stackWords>());
}

} // namespace kiln

// Calls of C functions whose parameters are known at run time only, as the functions of a library
// that was built elsewhere.
//
// On x86-64 (System V) and on aarch64 (AAPCS64, Linux) integers and floats each have registers of
// their own, and what no longer fits stands on the stack, a word each, in order. So one function
// type, with all registers and many words, calls every function: each parameter is put where its
// function will look, and what the function does not have is never read. libffi does the same for
// more machines, and would be one more library to link.

#ifndef KILN_COMPILER_DRIVER_VERIFY_NATIVECALL_H
#define KILN_COMPILER_DRIVER_VERIFY_NATIVECALL_H

#include "runtime/kiln.h"
#include <array>
#include <deque>
#include <optional>

namespace kiln {

class NativeCall {
public:
  /// Whether this machine's way to call is known.
  static bool isPossible();

  /// An integer or a pointer, extended to 64 bits as its type says.
  void addInteger(uint64_t value);
  /// A float or a double, its bits the lowest.
  void addFloat(uint64_t bits);
  void addStream(kiln_stream stream);
  void addTensor(const kiln_tensor &tensor);

  /// The result of a function that returns an int; empty where the arguments take more of the stack
  /// than is there for them.
  std::optional<int> call(void *function) const;

private:
  void addToStack(uint64_t word);

#if defined(__aarch64__)
  static constexpr size_t integerRegisters = 8;
#else
  static constexpr size_t integerRegisters = 6;
#endif
  static constexpr size_t floatRegisters = 8;
  /// More than twenty tensors.
  static constexpr size_t stackWords = 256;

  std::array<uint64_t, integerRegisters> integers = {};
  /// Their bits: a function that takes a float looks at the lower half.
  std::array<double, floatRegisters> floats = {};
  std::array<uint64_t, stackWords> stack = {};
  size_t numIntegers = 0, numFloats = 0, numWords = 0;
  /// Those that are passed by their address.
  std::deque<kiln_tensor> tensors;
};

} // namespace kiln

#endif

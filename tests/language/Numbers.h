// The element types of the language as data, and arrays of them whose type is known at run time:
// for tests that go over tables of types.

#ifndef KILN_TESTS_LANGUAGE_NUMBERS_H
#define KILN_TESTS_LANGUAGE_NUMBERS_H

#include "tests/language/SourceKernel.h"

namespace kiln::testing {

/// An element type by its name in signatures: "i1", "u16", "bf16", "fp8e4nv". long double holds
/// every value of all of them.
struct NumberType {
  enum Kind : uint8_t { Bool, Signed, Unsigned, Float };
  std::string name;
  /// As an attribute of triton.language: "float16".
  std::string language;
  Kind kind;
  unsigned bits;
  //--- Floats ---
  unsigned mantissa = 0;
  int minExponent = 0;
  uint64_t maxFinite = 0;
  /// 0: the format has no infinity.
  uint64_t infinity = 0;
  uint64_t nan = 0;
  /// The formats without -0 have their NaN there.
  bool hasNegativeZero = true;

  static const NumberType &of(const std::string &name);

  bool isFloat() const { return kind == Float; }
  size_t bytes() const { return (bits + 7) / 8; }
  long double decode(uint64_t code) const;
  /// Floats: rounds to the nearest, ties to even; beyond the largest, infinity (or NaN). Integers:
  /// drops the fraction and the upper bits.
  uint64_t encode(long double value) const;
  /// The distance between neighbours at `value`.
  long double ulp(long double value) const;
  /// The ends and corners of the type: zeros, ones, extremes, denormals, infinities, NaN.
  std::vector<uint64_t> edges() const;
};

/// Every name that NumberType::of knows, of floats with 16 bits and more, of 8-bit floats, of
/// integers (without i1).
inline const std::vector<std::string> floatTypes = {"fp16", "bf16", "fp32", "fp64"};
inline const std::vector<std::string> float8Types = {"fp8e5", "fp8e4nv", "fp8e4b8", "fp8e5b16"};
inline const std::vector<std::string> integerTypes = {"i8", "i16", "i32", "i64",
                                                      "u8", "u16", "u32", "u64"};

class Array {
public:
  Array(const std::string &type, size_t count)
      : numberType(&NumberType::of(type)), memory(count * numberType->bytes()) {}

  const NumberType &type() const { return *numberType; }
  size_t count() const { return memory.count() / numberType->bytes(); }
  uint64_t bits(size_t index) const;
  void setBits(size_t index, uint64_t code);
  long double operator[](size_t index) const { return numberType->decode(bits(index)); }
  void set(size_t index, long double value) { setBits(index, numberType->encode(value)); }
  /// The argument `name` that points to it.
  SourceArgument argument(const std::string &name) const {
    return {name, "*" + numberType->name, memory};
  }

private:
  const NumberType *numberType;
  Buffer<uint8_t> memory;
};

/// The type's edges, then random numbers: half of them within `range`, half of any magnitude
/// (floats may be infinite or NaN then). `finite` leaves out what is not finite.
Array mixedArray(const std::string &type, size_t count, uint64_t seed, double range = 10,
                 bool finite = false);
/// Random numbers of [low, high).
Array uniformArray(const std::string &type, size_t count, uint64_t seed, double low, double high);

/// How far `code` is from `expected`, in units of the last place of the type. NaN for NaN is 0, as
/// is an infinity for its like or for what rounds to it; a zero of the other sign is far.
long double ulpsBetween(const NumberType &type, uint64_t code, long double expected);

/// An expression of x, y, z and w, and the type that its value is stored as.
struct Expression {
  std::string text, resultType;
};

/// Evaluates expressions for every element of the inputs x, y, z, w (as many as there are, of equal
/// counts): as tensors, several programs with a masked end; or on scalars, one program for each
/// element. Empty after an error, which is a failure of the test.
std::vector<Array> evaluate(const std::string &target, const std::vector<Expression> &expressions,
                            const std::vector<Array> &inputs, bool scalars = false);

/// The value of an element from those of the inputs.
using Reference = long double (*)(const long double *x);
/// The same in integers, of which the result takes as many low bits as it has.
using IntegerReference = __int128 (*)(const __int128 *x);

/// Holds the elements against a reference, within `ulps`; `what` is for messages.
void expectClose(const Array &result, const std::vector<Array> &inputs, Reference reference,
                 double ulps, const std::string &what);
void expectEqual(const Array &result, const std::vector<Array> &inputs, IntegerReference reference,
                 const std::string &what);

struct FloatCheck {
  Expression expression;
  Reference reference;
  double ulps = 0;
};
struct IntegerCheck {
  Expression expression;
  IntegerReference reference;
};
/// Evaluates all on tensors and on scalars and holds them against their references.
void checkElementwise(const std::string &target, const std::vector<Array> &inputs,
                      const std::vector<FloatCheck> &checks);
void checkElementwise(const std::string &target, const std::vector<Array> &inputs,
                      const std::vector<IntegerCheck> &checks);

} // namespace kiln::testing

#endif // KILN_TESTS_LANGUAGE_NUMBERS_H

// Triton's types: element types with signedness, pointers, and blocks of them.
//
// MLIR's integers are signless and its tensors do not know what a pointer's pointee was in Python,
// so Sema carries these beside every mlir::Value and picks signed or unsigned operations by them.
#ifndef KILN_COMPILER_SEMA_VALUES_DTYPE_H
#define KILN_COMPILER_SEMA_VALUES_DTYPE_H

#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/SmallVector.h"
#include "llvm/ADT/StringRef.h"

#include <cstdint>
#include <optional>
#include <string>

namespace mlir {
class MLIRContext;
class Type;
} // namespace mlir

namespace kiln::sema {

enum class Scalar : uint8_t {
  Void,
#define KILN_ELEMENT_TYPE(NAME, ...) NAME,
#include "runtime/element_types.def"
};

enum class ScalarClass : uint8_t { Void, Bool, Signed, Unsigned, Float };

/// What of a float's bit patterns is no number (runtime/element_types.def).
enum class FloatSpecials : uint8_t { IEEE, Ones, Zero, None };

/// How a float type of so many bits has its numbers.
struct FloatFormat {
  unsigned bits, mantissaBits;
  int bias;
  FloatSpecials specials;

  /// Of finite numbers, and of normal ones.
  int largestExponent() const;
  int smallestExponent() const { return 1 - bias; }
  double largest() const;
  double smallestNormal() const;
  /// From 1 to the next number.
  double epsilon() const;
};

/// Python integers, wide enough for every constant that a kernel can use. Arithmetic is checked.
using Int = __int128;
std::string toString(Int value);

/// An element type, or a pointer to one (`depth` stars), perhaps one that is never written through.
struct DType {
  Scalar scalar = Scalar::Void;
  uint8_t depth = 0;
  bool isConst = false;

  constexpr DType() = default;
  constexpr DType(Scalar scalar, uint8_t depth = 0, bool isConst = false)
      : scalar(scalar), depth(depth), isConst(isConst) {}

  friend bool operator==(DType a, DType b) {
    return a.scalar == b.scalar && a.depth == b.depth && a.isConst == b.isConst;
  }
  friend bool operator!=(DType a, DType b) { return !(a == b); }

  bool isPointer() const { return depth != 0; }
  DType getPointee() const { return {scalar, uint8_t(depth - 1), isConst && depth > 1}; }
  DType getPointerTo() const { return {scalar, uint8_t(depth + 1)}; }

  ScalarClass getClass() const;
  bool isBool() const { return *this == DType(Scalar::Int1); }
  bool isSigned() const { return getClass() == ScalarClass::Signed; }
  /// Booleans count as unsigned, as they do in Triton.
  bool isUnsigned() const;
  bool isInt() const { return isSigned() || isUnsigned(); }
  bool isFloat() const { return getClass() == ScalarClass::Float; }
  bool isFP8() const { return isFloat() && getBits() == 8; }
  bool is(Scalar other) const { return depth == 0 && scalar == other; }
  /// Bits of a value; 64 for a pointer.
  unsigned getBits() const;
  /// Of a float.
  FloatFormat getFloatFormat() const;
  /// The range of an integer type.
  Int getMin() const;
  Int getMax() const;

  /// "fp16", "*fp16", "*kfp16".
  std::string str() const;
  /// Null for void. fp8e4b15, which MLIR lacks, is i8: arithmetic on it goes by way of fp16.
  mlir::Type toMLIR(mlir::MLIRContext *context) const;
};

/// Accepts "fp16", "float16", "i32", "int32", "u8", "f32", "bool", and stars before any of them,
/// behind which a k says that the pointer is not written through.
std::optional<DType> parseDType(llvm::StringRef text);
/// Of what NumPy and PyTorch call "float16" or "float8_e4m3fn".
std::optional<DType> parseArrayDType(llvm::StringRef name);
DType getIntType(unsigned bits, bool isSigned);
/// Name of every element type as an attribute of triton.language.
llvm::ArrayRef<llvm::StringRef> getDTypeNames();

/// A scalar (no shape) or a block.
struct TensorType {
  DType dtype;
  llvm::SmallVector<int64_t, 4> shape;

  TensorType() = default;
  TensorType(DType dtype, llvm::ArrayRef<int64_t> shape = {}) : dtype(dtype), shape(shape) {}
  TensorType(Scalar scalar) : dtype(scalar) {}

  friend bool operator==(const TensorType &a, const TensorType &b) {
    return a.dtype == b.dtype && a.shape == b.shape;
  }
  friend bool operator!=(const TensorType &a, const TensorType &b) { return !(a == b); }

  bool isBlock() const { return !shape.empty(); }
  int64_t getNumElements() const;
  TensorType with(DType element) const { return {element, shape}; }
  TensorType with(llvm::ArrayRef<int64_t> newShape) const { return {dtype, newShape}; }

  /// Of the questions `is_fp16()`, `is_int_signed()` …; empty for another name.
  std::optional<bool> answer(llvm::StringRef name) const;
  /// "fp32[16, 32]"; "fp32" for a scalar.
  std::string str() const;
  mlir::Type toMLIR(mlir::MLIRContext *context) const;
};

/// "[16, 32]".
std::string shapeToString(llvm::ArrayRef<int64_t> shape);

/// Triton's own limit (TRITON_MAX_TENSOR_NUMEL): beyond it a kernel has lost track of its tile, and
/// a back end would take minutes to find that out.
inline constexpr int64_t maxTensorElements = 1 << 20;
/// The elements of a tensor of this shape once each extent is a power of two, as on GPUs; at most
/// maxTensorElements + 1. Extents are positive.
int64_t paddedElements(llvm::ArrayRef<int64_t> shape);

} // namespace kiln::sema

#endif // KILN_COMPILER_SEMA_VALUES_DTYPE_H

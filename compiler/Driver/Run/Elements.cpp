#include "compiler/Driver/Run/Elements.h"
#include "compiler/Basic/ByteFloats.h"
#include "llvm/ADT/APFloat.h"
#include "llvm/ADT/APSInt.h"
#include "llvm/Support/MathExtras.h"
#include <cmath>

namespace kiln {
namespace {

const llvm::fltSemantics *semanticsOf(ElementType type) {
  switch (type) {
#define KILN_LLVM_FLOAT(NAME, SEMANTICS, MLIR)                                                     \
  case ElementType::NAME:                                                                          \
    return &llvm::APFloat::SEMANTICS();
#include "runtime/element_types.def"
  default:
    return nullptr;
  }
}

} // namespace

std::string npyTypeOf(ElementType type) {
  unsigned bytes = elementBytes(type);
  std::string order = bytes == 1 ? "|" : "<", digits = std::to_string(bytes);
  switch (elementClass(type)) {
  case ElementClass::Bool:
    return order + "b" + digits;
  case ElementClass::Signed:
    return order + "i" + digits;
  case ElementClass::Unsigned:
    return order + "u" + digits;
  case ElementClass::Float:
    return order + (bytes == 1 || type == ElementType::BF16 ? "u" : "f") + digits;
  }
  return "";
}

std::optional<uint64_t> elementOf(ElementType type, double value) {
  unsigned bytes = elementBytes(type);
  if (elementClass(type) == ElementClass::Float) {
    const llvm::fltSemantics *semantics = semanticsOf(type);
    if (!semantics)
      return std::nullopt;
    if (bytes == 1)
      return narrowToByteFloat(llvm::APFloat(float(value)), *semantics)
          .bitcastToAPInt()
          .getZExtValue();
    llvm::APFloat rounded(value);
    bool losesInfo = false;
    rounded.convert(*semantics, llvm::APFloat::rmNearestTiesToEven, &losesInfo);
    return rounded.bitcastToAPInt().getZExtValue();
  }
  if (elementClass(type) == ElementClass::Bool)
    return value != 0 && !std::isnan(value);
  llvm::APSInt integer(8 * bytes, elementClass(type) == ElementClass::Unsigned);
  bool isExact = false;
  if (!std::isnan(value))
    llvm::APFloat(value).convertToInteger(integer, llvm::APFloat::rmTowardZero, &isExact);
  return integer.getZExtValue();
}

/// Four bits of exponent, three of fraction, and neither infinity nor NaN.
static double fp8e4b15(uint64_t bits) {
  int exponent = int(bits >> 3 & 15), fraction = int(bits & 7);
  double size =
      exponent ? std::ldexp(8 + fraction, exponent - 15 - 3) : std::ldexp(fraction, 1 - 15 - 3);
  return bits >> 7 & 1 ? -size : size;
}

double numberOf(ElementType type, uint64_t bits) {
  unsigned width = 8 * elementBytes(type);
  switch (elementClass(type)) {
  case ElementClass::Bool:
  case ElementClass::Unsigned:
    return double(bits);
  case ElementClass::Signed:
    return double(llvm::SignExtend64(bits, width));
  case ElementClass::Float:
    break;
  }
  const llvm::fltSemantics *semantics = semanticsOf(type);
  if (!semantics)
    return fp8e4b15(bits);
  llvm::APFloat value(*semantics, llvm::APInt(width, bits));
  bool losesInfo = false;
  value.convert(llvm::APFloat::IEEEdouble(), llvm::APFloat::rmNearestTiesToEven, &losesInfo);
  return value.convertToDouble();
}

} // namespace kiln

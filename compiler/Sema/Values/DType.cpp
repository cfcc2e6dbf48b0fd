#include "compiler/Sema/Values/DType.h"

#include "compiler/Dialect/Tile/Tile.h"

#include "llvm/Support/ErrorHandling.h"
#include "llvm/Support/MathExtras.h"

#include <algorithm>
#include <cmath>

namespace kiln::sema {
namespace {

struct ScalarInfo {
  llvm::StringLiteral specName, synonym, languageName, arrayName;
  ScalarClass scalarClass;
  unsigned bits;
};

constexpr ScalarInfo infos[] = {
    {"void", "void", "void", "", ScalarClass::Void, 0},
#define KILN_ELEMENT_TYPE(NAME, SPEC, SYNONYM, LANGUAGE, CLASS, BITS, KIND, ARRAY, ...)            \
  {SPEC, SYNONYM, LANGUAGE, ARRAY, ScalarClass::CLASS, BITS},
#include "runtime/element_types.def"
};

const ScalarInfo &infoOf(Scalar scalar) { return infos[static_cast<size_t>(scalar)]; }

mlir::Type floatToMLIR(Scalar scalar, mlir::MLIRContext *context) {
  switch (scalar) {
#define KILN_LLVM_FLOAT(NAME, SEMANTICS, MLIR)                                                     \
  case Scalar::NAME:                                                                               \
    return mlir::MLIR##Type::get(context);
#include "runtime/element_types.def"
  case Scalar::FP8E4B15: // its bits: Sema converts
    return mlir::IntegerType::get(context, 8);
  default:
    return {};
  }
}

} // namespace

std::string toString(Int value) {
  if (value == 0)
    return "0";
  bool negative = value < 0;
  auto rest =
      negative ? -static_cast<unsigned __int128>(value) : static_cast<unsigned __int128>(value);
  std::string text;
  for (; rest; rest /= 10)
    text += char('0' + int(rest % 10));
  if (negative)
    text += '-';
  std::reverse(text.begin(), text.end());
  return text;
}

ScalarClass DType::getClass() const {
  return depth ? ScalarClass::Void : infoOf(scalar).scalarClass;
}

bool DType::isUnsigned() const {
  return getClass() == ScalarClass::Unsigned || getClass() == ScalarClass::Bool;
}

unsigned DType::getBits() const { return depth ? 64 : infoOf(scalar).bits; }

FloatFormat DType::getFloatFormat() const {
  switch (scalar) {
#define KILN_FLOAT_FORMAT(NAME, MANTISSA, BIAS, SPECIALS)                                          \
  case Scalar::NAME:                                                                               \
    return {getBits(), MANTISSA, BIAS, FloatSpecials::SPECIALS};
#include "runtime/element_types.def"
  default:
    llvm_unreachable("expected a float");
  }
}

int FloatFormat::largestExponent() const {
  int largest = (1 << (bits - 1 - mantissaBits)) - 1 - bias;
  return specials == FloatSpecials::IEEE ? largest - 1 : largest;
}

double FloatFormat::largest() const {
  double mantissa = 2 - (specials == FloatSpecials::Ones ? 2 : 1) * epsilon();
  return std::ldexp(mantissa, largestExponent());
}

double FloatFormat::smallestNormal() const { return std::ldexp(1.0, smallestExponent()); }
double FloatFormat::epsilon() const { return std::ldexp(1.0, -int(mantissaBits)); }

Int DType::getMin() const { return isSigned() ? -(Int(1) << (getBits() - 1)) : Int(0); }
Int DType::getMax() const { return (Int(1) << (getBits() - (isSigned() ? 1 : 0))) - 1; }

std::string DType::str() const {
  const ScalarInfo &info = infoOf(scalar);
  llvm::StringRef name = info.scalarClass == ScalarClass::Float ? info.specName : info.languageName;
  return std::string(depth, '*') + (isConst ? "k" : "") + name.str();
}

mlir::Type DType::toMLIR(mlir::MLIRContext *context) const {
  if (isPointer()) {
    // Booleans in memory are bytes.
    DType pointee = getPointee();
    mlir::Type element = (pointee.isBool() ? DType(Scalar::Int8) : pointee).toMLIR(context);
    return element ? tile::PtrType::get(element) : mlir::Type();
  }
  if (isInt())
    return mlir::IntegerType::get(context, getBits());
  return floatToMLIR(scalar, context);
}

std::optional<DType> parseDType(llvm::StringRef text) {
  uint8_t depth = 0;
  while (text.consume_front("*"))
    ++depth;
  bool isConst = depth > 0 && text.consume_front("k");
  text.consume_front("tl.");
  for (auto [index, info] : llvm::enumerate(infos))
    if (text == info.specName || text == info.synonym || text == info.languageName)
      return DType(static_cast<Scalar>(index), depth, isConst);
  // What else Triton reads in annotations.
  static constexpr std::pair<llvm::StringLiteral, Scalar> synonyms[] = {
      {"u1", Scalar::Int1},     {"B", Scalar::Int1},       {"half", Scalar::FP16},
      {"bfloat", Scalar::BF16}, {"float", Scalar::FP32},   {"double", Scalar::FP64},
      {"fp8", Scalar::FP8E4NV}, {"fp8e4", Scalar::FP8E4NV}};
  for (auto [name, scalar] : synonyms)
    if (text == name)
      return DType(scalar, depth, isConst);
  return std::nullopt;
}

std::optional<DType> parseArrayDType(llvm::StringRef name) {
  for (auto [index, info] : llvm::enumerate(infos))
    if (!name.empty() && name == info.arrayName)
      return DType(static_cast<Scalar>(index));
  return std::nullopt;
}

DType getIntType(unsigned bits, bool isSigned) {
  switch (bits) {
  case 8:
    return isSigned ? Scalar::Int8 : Scalar::UInt8;
  case 16:
    return isSigned ? Scalar::Int16 : Scalar::UInt16;
  case 32:
    return isSigned ? Scalar::Int32 : Scalar::UInt32;
  case 64:
    return isSigned ? Scalar::Int64 : Scalar::UInt64;
  case 1:
    return Scalar::Int1;
  default:
    return Scalar::Void;
  }
}

llvm::ArrayRef<llvm::StringRef> getDTypeNames() {
  static const std::vector<llvm::StringRef> names = [] {
    std::vector<llvm::StringRef> all;
    for (const ScalarInfo &info : infos)
      all.push_back(info.languageName);
    return all;
  }();
  return names;
}

int64_t TensorType::getNumElements() const {
  int64_t count = 1;
  for (int64_t extent : shape)
    count *= extent;
  return count;
}

std::string shapeToString(llvm::ArrayRef<int64_t> shape) {
  std::string text = "[";
  for (auto [index, extent] : llvm::enumerate(shape))
    text += (index ? ", " : "") + std::to_string(extent);
  return text + "]";
}

std::string TensorType::str() const {
  return dtype.str() + (isBlock() ? shapeToString(shape) : std::string());
}

std::optional<bool> TensorType::answer(llvm::StringRef name) const {
  if (name == "is_block")
    return isBlock();
  if (name == "is_ptr")
    return dtype.isPointer() && !isBlock();
  if (name == "is_const")
    return dtype.isConst && !isBlock();
  if (name == "is_void")
    return dtype.is(Scalar::Void);
  if (name == "is_floating" || name == "is_standard_floating")
    return dtype.isFloat() && (name == "is_floating" || dtype.getBits() > 8);
  if (name == "is_int")
    return dtype.isInt();
  if (name == "is_int_signed")
    return dtype.isSigned();
  if (name == "is_int_unsigned")
    return dtype.isUnsigned();
  if (name == "is_bool")
    return dtype.isBool();
  if (name == "is_fp8")
    return dtype.isFP8();
  if (name.consume_front("is_"))
    if (std::optional<DType> wanted = parseDType(name))
      return dtype == *wanted;
  return std::nullopt;
}

mlir::Type TensorType::toMLIR(mlir::MLIRContext *context) const {
  mlir::Type element = dtype.toMLIR(context);
  return element && isBlock() ? mlir::RankedTensorType::get(shape, element) : element;
}

int64_t paddedElements(llvm::ArrayRef<int64_t> shape) {
  int64_t elements = 1;
  for (int64_t extent : shape) {
    if (extent > maxTensorElements)
      return maxTensorElements + 1;
    elements *= int64_t(llvm::PowerOf2Ceil(uint64_t(extent)));
    if (elements > maxTensorElements)
      return maxTensorElements + 1;
  }
  return elements;
}

} // namespace kiln::sema

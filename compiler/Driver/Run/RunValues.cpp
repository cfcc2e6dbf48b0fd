#include "compiler/Driver/Run/RunValues.h"
#include "compiler/Basic/ByteFloats.h"
#include "compiler/Basic/NameSuggestion.h"
#include "compiler/Basic/RegularFile.h"
#include "compiler/Driver/Run/Npy.h"
#include "llvm/ADT/APFloat.h"
#include "llvm/ADT/APInt.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/MathExtras.h"
#include <cmath>
#include <cstring>
#include <utility>

namespace kiln {
namespace {

/// The most bytes of an array: a slip of the keyboard should not take the machine down.
constexpr uint64_t maxArrayBytes = uint64_t(1) << 36;

const llvm::fltSemantics *semanticsOf(ElementType type) {
  switch (type) {
  case ElementType::FP8E4NV:
    return &llvm::APFloat::Float8E4M3FN();
  case ElementType::FP8E4B8:
    return &llvm::APFloat::Float8E4M3FNUZ();
  case ElementType::FP8E5:
    return &llvm::APFloat::Float8E5M2();
  case ElementType::FP8E5B16:
    return &llvm::APFloat::Float8E5M2FNUZ();
  case ElementType::FP16:
    return &llvm::APFloat::IEEEhalf();
  case ElementType::BF16:
    return &llvm::APFloat::BFloat();
  case ElementType::FP32:
    return &llvm::APFloat::IEEEsingle();
  case ElementType::FP64:
    return &llvm::APFloat::IEEEdouble();
  default:
    return nullptr;
  }
}

uint64_t lowBytes(uint64_t bits, unsigned bytes) {
  return bytes == 8 ? bits : bits & ((uint64_t(1) << (8 * bytes)) - 1);
}

/// Steele, Lea and Flood, "Fast splittable pseudorandom number generators" (2014).
class SplitMix64 {
public:
  explicit SplitMix64(uint64_t state) : state(state) {}
  uint64_t next() {
    uint64_t z = state += 0x9e3779b97f4a7c15;
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9;
    z = (z ^ (z >> 27)) * 0x94d049bb133111eb;
    return z ^ (z >> 31);
  }
  /// In [0, 1), a multiple of 2^-53.
  double uniform() { return double(next() >> 11) * 0x1p-53; }
  /// Near a standard normal deviate: twelve uniform ones, less six. Exact sums, so that the bytes
  /// depend on no machine's logarithm; nothing lies beyond 6 standard deviations.
  double normal() {
    double sum = -6;
    for (int i = 0; i < 12; ++i)
      sum += uniform();
    return sum;
  }

private:
  uint64_t state;
};

/// FNV-1a: an argument's numbers do not depend on the order of the flags.
uint64_t hashOf(llvm::StringRef text) {
  uint64_t hash = 0xcbf29ce484222325;
  for (char c : text)
    hash = (hash ^ uint8_t(c)) * 0x100000001b3;
  return hash;
}

std::shared_ptr<char> allocate(size_t bytes) {
  constexpr size_t page = 4096;
  void *memory = std::aligned_alloc(page, llvm::alignTo(std::max<size_t>(bytes, 1), page));
  return std::shared_ptr<char>(static_cast<char *>(memory), std::free);
}

/// "normal(128, 64, std=2)" in parts.
struct GeneratorCall {
  llvm::StringRef name;
  std::vector<int64_t> shape;
  /// full's value, arange's start and step, or the keywords of uniform and normal.
  std::optional<double> first, second;
};

/// Calls `visit(i, place)` for each element of the array: its number and its place, in elements.
template <typename Visit> void forElements(const RunArray &array, Visit visit) {
  std::vector<int64_t> index(array.shape.size());
  int64_t count = 1, place = 0;
  for (int64_t extent : array.shape)
    count *= extent;
  for (int64_t i = 0; i < count; ++i) {
    visit(i, place);
    for (size_t axis = index.size(); axis-- > 0;) {
      place += array.strides[axis];
      if (++index[axis] < array.shape[axis])
        break;
      place -= array.strides[axis] * std::exchange(index[axis], 0);
    }
  }
}

class ValueReader {
public:
  ValueReader(llvm::StringRef name, const ArgumentType &type, uint64_t seed,
              DiagnosticEngine &diagnostics)
      : name(name), type(type), seed(seed), diagnostics(diagnostics) {}

  std::optional<RunValue> scalar(llvm::StringRef text) {
    RunValue value;
    double real = 0;
    if (elementClass(type.element) != ElementClass::Float) {
      if (auto bits = integer(text)) {
        value.bits = *bits;
        return value;
      }
      return expected("a value of type " + type.spelling(), text);
    }
    if (text.getAsDouble(real))
      return expected("a value of type " + type.spelling(), text);
    auto bits = elementOf(type.element, real);
    if (!bits)
      return expected("another type than " + type.spelling() + ", which values cannot be made for",
                      text);
    value.bits = *bits;
    return value;
  }

  std::optional<RunValue> file(llvm::StringRef path) {
    auto contents = readRegularFile(path, maxArrayBytes);
    if (!contents) {
      diagnostics.report(DiagKind::DriverCannotRead, DiagPlace(), path,
                         contents.getError().message());
      return std::nullopt;
    }
    auto array = readNpy((*contents)->getBuffer());
    if (!array) {
      diagnostics.report(DiagKind::DriverArrayFile, DiagPlace(path),
                         llvm::toString(array.takeError()));
      return std::nullopt;
    }
    if (!holds(array->descr)) {
      diagnostics.report(DiagKind::DriverArrayType, DiagPlace(path), name, type.spelling(),
                         npyTypeOf(type.element), array->descr);
      return std::nullopt;
    }
    RunValue value = make(array->shape, array->data.size());
    if (!value.array->data)
      return tooLarge();
    std::memcpy(value.array->data.get(), array->data.data(), array->data.size());
    value.file = path.str();
    return value;
  }

  std::optional<RunValue> generated(llvm::StringRef text) {
    auto call = parseCall(text);
    if (!call)
      return std::nullopt;
    uint64_t count = 1;
    bool overflows = false;
    for (int64_t extent : call->shape) {
      bool overflowed = false;
      count = llvm::SaturatingMultiply(count, uint64_t(extent), &overflowed);
      overflows |= overflowed;
    }
    unsigned size = elementBytes(type.element);
    if (overflows || count > maxArrayBytes / size)
      return tooLarge();
    RunValue value = make(call->shape, count * size);
    if (!value.array->data)
      return tooLarge();
    if (!elementOf(type.element, 0))
      return expected("a .npy file, as no numbers can be made of type " + type.spelling(), text);
    SplitMix64 random(seed ^ hashOf(name));
    for (uint64_t i = 0; i < count; ++i) {
      uint64_t bits = *elementOf(type.element, number(*call, i, random));
      std::memcpy(value.array->data.get() + i * size, &bits, size);
    }
    return value;
  }

  /// `value`, whose elements lie one after the other, with the strides that `text` lists. What lies
  /// between them has all bits set: a NaN in every float type.
  std::optional<RunValue> strided(const RunValue &value, llvm::StringRef text) {
    const RunArray &dense = *value.array;
    RunArray array;
    array.shape = dense.shape;
    llvm::SmallVector<llvm::StringRef> items;
    text.split(items, ',');
    uint64_t last = 0;
    bool isEmpty = llvm::is_contained(array.shape, 0), overflows = false;
    for (auto [axis, item] : llvm::enumerate(items)) {
      int64_t stride = 0;
      if (item.trim().getAsInteger(10, stride) || stride < 0 || items.size() != array.shape.size())
        return expected("one stride for each axis, in elements", text);
      array.strides.push_back(stride);
      bool overflowed = false;
      last = llvm::SaturatingMultiplyAdd(uint64_t(std::max<int64_t>(array.shape[axis] - 1, 0)),
                                         uint64_t(stride), last, &overflowed);
      overflows |= overflowed;
    }
    unsigned size = elementBytes(type.element);
    if (overflows || last >= maxArrayBytes / size)
      return tooLarge();
    array.bytes = isEmpty ? 0 : (last + 1) * size;
    array.data = allocate(array.bytes);
    if (!array.data)
      return tooLarge();
    std::memset(array.data.get(), 0xff, array.bytes);
    forElements(array, [&](int64_t i, int64_t place) {
      std::memcpy(array.data.get() + place * size, dense.data.get() + i * size, size);
    });
    RunValue result;
    result.bits = reinterpret_cast<uintptr_t>(array.data.get());
    result.array = std::move(array);
    result.file = value.file;
    return result;
  }

private:
  std::nullopt_t expected(const llvm::Twine &what, llvm::StringRef got,
                          const llvm::Twine &hint = "") {
    auto &report = diagnostics.report(DiagKind::DriverArgumentValue, DiagPlace(), name, what, got);
    if (!hint.isTriviallyEmpty())
      report.withHint(hint);
    return std::nullopt;
  }

  std::nullopt_t tooLarge() {
    diagnostics.report(DiagKind::DriverArrayTooLarge, DiagPlace(), name);
    return std::nullopt;
  }

  std::optional<uint64_t> integer(llvm::StringRef text) {
    unsigned bytes = elementBytes(type.element), width = 8 * bytes;
    if (elementClass(type.element) == ElementClass::Bool) {
      if (text.equals_insensitive("true") || text == "1")
        return 1;
      if (text.equals_insensitive("false") || text == "0")
        return 0;
      return std::nullopt;
    }
    if (elementClass(type.element) == ElementClass::Unsigned) {
      uint64_t value = 0;
      if (text.getAsInteger(0, value) || !llvm::isUIntN(width, value))
        return std::nullopt;
      return value;
    }
    int64_t value = 0;
    if (text.getAsInteger(0, value) || !llvm::isIntN(width, value))
      return std::nullopt;
    return lowBytes(uint64_t(value), bytes);
  }

  /// Whether a file's elements are this type's: by name, or as plain bytes of the same size where
  /// NumPy has no name.
  bool holds(llvm::StringRef descr) const {
    std::string own = npyTypeOf(type.element);
    if (descr == own)
      return true;
    bool isNamed = own[1] == 'f' || elementClass(type.element) != ElementClass::Float;
    if (!isNamed && descr.drop_front(1) == "V" + own.substr(2))
      return true;
    // One byte has no order: "<i1" is "|i1".
    return elementBytes(type.element) == 1 && descr.drop_front(1) == llvm::StringRef(own).substr(1);
  }

  static RunValue make(std::vector<int64_t> shape, size_t bytes) {
    RunValue value;
    value.array = RunArray{std::move(shape), bytes, {}, allocate(bytes)};
    value.bits = reinterpret_cast<uintptr_t>(value.array->data.get());
    return value;
  }

  /// The shape's extents, in parentheses of their own or not, then numbers and keywords.
  std::optional<GeneratorCall> parseCall(llvm::StringRef text) {
    static const llvm::StringRef known[] = {"arange",  "full",  "normal",  "ones",
                                            "randint", "randn", "uniform", "zeros"};
    size_t open = text.find('(');
    llvm::StringRef callee = text.take_front(open).trim();
    if (open == llvm::StringRef::npos || !text.ends_with(")"))
      return expected("an array", text,
                      "@FILE.npy, zeros(…), ones(…), full((…), value), arange(n), uniform(…), "
                      "randint(…) or normal(…)");
    GeneratorCall call;
    if (!llvm::is_contained(known, callee))
      return expected("a generator", callee, suggestName(callee, known));
    call.name = callee == "randn" ? "normal" : callee;
    llvm::StringRef inside = text.slice(open + 1, text.size() - 1).trim();
    bool isTuple = inside.consume_front("(");
    llvm::StringRef extents = inside, others;
    if (isTuple) {
      std::tie(extents, others) = inside.split(')');
      others = others.ltrim();
      if (extents.size() == inside.size() || (!others.empty() && !others.consume_front(",")))
        return expected("a shape in parentheses", text);
    } else if (callee == "full") {
      // full(n, value)
      std::tie(extents, others) = inside.split(',');
    }
    return parseShape(extents, others, text, call) && parseNumbers(others, text, call)
               ? std::optional(call)
               : std::nullopt;
  }

  /// Extents up to the first keyword, which stays in `others`.
  bool parseShape(llvm::StringRef extents, llvm::StringRef &others, llvm::StringRef text,
                  GeneratorCall &call) {
    while (!extents.trim().empty()) {
      auto [item, after] = extents.split(',');
      if (item.contains('=') && others.empty()) {
        others = extents;
        break;
      }
      int64_t extent = 0;
      if (item.trim().getAsInteger(10, extent) || extent < 0) {
        expected("extents that are whole numbers", text);
        return false;
      }
      call.shape.push_back(extent);
      extents = after;
    }
    if (call.shape.empty() || (call.name == "arange" && call.shape.size() != 1)) {
      expected(call.name == "arange" ? "one extent" : "a shape", text);
      return false;
    }
    return true;
  }

  bool parseNumbers(llvm::StringRef others, llvm::StringRef text, GeneratorCall &call) {
    bool isUniform = call.name == "uniform" || call.name == "randint";
    llvm::StringRef firstName = isUniform               ? "low"
                                : call.name == "normal" ? "mean"
                                : call.name == "arange" ? "start"
                                                        : "value";
    llvm::StringRef secondName = isUniform               ? "high"
                                 : call.name == "normal" ? "std"
                                 : call.name == "arange" ? "step"
                                                         : "";
    while (!others.trim().empty()) {
      auto [item, after] = others.split(',');
      auto [key, number] = item.split('=');
      bool isPlain = number.empty() && call.name == "full" && !call.first;
      double value = 0;
      if ((isPlain ? key : number).trim().getAsDouble(value) || call.name == "zeros" ||
          call.name == "ones" ||
          (!isPlain && key.trim() != firstName && key.trim() != secondName)) {
        expected("numbers that '" + call.name + "' takes", text);
        return false;
      }
      (isPlain || key.trim() == firstName ? call.first : call.second) = value;
      others = after;
    }
    if (call.name == "full" && !call.first) {
      expected("a value", text, "full((128, 64), 0.5)");
      return false;
    }
    return true;
  }

  double number(const GeneratorCall &call, uint64_t index, SplitMix64 &random) const {
    bool isFloat = elementClass(type.element) == ElementClass::Float;
    if (call.name == "full")
      return *call.first;
    if (call.name == "arange")
      return call.first.value_or(0) + double(index) * call.second.value_or(1);
    if (call.name == "normal")
      return call.first.value_or(0) + call.second.value_or(1) * random.normal();
    if (call.name == "uniform" || call.name == "randint") {
      bool isWhole = !isFloat || call.name == "randint";
      double low = call.first.value_or(0);
      double value = low + (call.second.value_or(isWhole ? 100 : 1) - low) * random.uniform();
      return isWhole ? std::floor(value) : value;
    }
    return call.name == "ones" ? 1 : 0;
  }

  llvm::StringRef name;
  const ArgumentType &type;
  uint64_t seed;
  DiagnosticEngine &diagnostics;
};

} // namespace

std::string elementsOf(const RunArray &array, unsigned elementBytes) {
  if (array.strides.empty())
    return std::string(array.data.get(), array.bytes);
  std::string bytes;
  forElements(array, [&](int64_t, int64_t place) {
    bytes.append(array.data.get() + place * elementBytes, elementBytes);
  });
  return bytes;
}

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

std::optional<RunValue> readRunValue(llvm::StringRef name, const ArgumentType &type,
                                     llvm::StringRef text, uint64_t seed,
                                     DiagnosticEngine &diagnostics) {
  ValueReader reader(name, type, seed, diagnostics);
  text = text.trim();
  if (!type.isPointer())
    return reader.scalar(text);
  constexpr llvm::StringLiteral view = ".strided(";
  size_t place = text.ends_with(")") ? text.rfind(view) : llvm::StringRef::npos;
  llvm::StringRef strides;
  if (place != llvm::StringRef::npos) {
    strides = text.drop_front(place + view.size()).drop_back();
    text = text.take_front(place);
  }
  auto value = text.consume_front("@") ? reader.file(text) : reader.generated(text);
  return value && place != llvm::StringRef::npos ? reader.strided(*value, strides) : value;
}

} // namespace kiln

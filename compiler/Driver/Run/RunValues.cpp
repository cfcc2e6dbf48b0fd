#include "compiler/Driver/Run/RunValues.h"
#include "compiler/Basic/RegularFile.h"
#include "compiler/Driver/Run/Elements.h"
#include "compiler/Driver/Run/Generators.h"
#include "compiler/Driver/Run/Npy.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/MathExtras.h"
#include <cstring>
#include <utility>

namespace kiln {
namespace {

/// The most bytes of an array: a slip of the keyboard should not take the machine down.
constexpr uint64_t maxArrayBytes = uint64_t(1) << 36;

uint64_t lowBytes(uint64_t bits, unsigned bytes) {
  return bytes == 8 ? bits : bits & ((uint64_t(1) << (8 * bytes)) - 1);
}

std::shared_ptr<char> allocate(size_t bytes) {
  constexpr size_t page = 4096;
  void *memory = std::aligned_alloc(page, llvm::alignTo(std::max<size_t>(bytes, 1), page));
  return std::shared_ptr<char>(static_cast<char *>(memory), std::free);
}

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
      : name(name), type(type), seed(seed), diagnostics(diagnostics), mistakes(name, diagnostics) {}

  std::optional<RunValue> scalar(llvm::StringRef text) {
    RunValue value;
    double real = 0;
    if (elementClass(type.element) != ElementClass::Float) {
      if (auto bits = integer(text)) {
        value.bits = *bits;
        return value;
      }
      return mistakes.expected("a value of type " + type.spelling(), text);
    }
    if (text.getAsDouble(real))
      return mistakes.expected("a value of type " + type.spelling(), text);
    auto bits = elementOf(type.element, real);
    if (!bits)
      return mistakes.expected(
          "another type than " + type.spelling() + ", which values cannot be made for", text);
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
      return mistakes.tooLarge();
    std::memcpy(value.array->data.get(), array->data.data(), array->data.size());
    value.file = path.str();
    return value;
  }

  std::optional<RunValue> generated(llvm::StringRef text) {
    auto call = parseGenerator(text, mistakes);
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
      return mistakes.tooLarge();
    RunValue value = make(call->shape, count * size);
    if (!value.array->data)
      return mistakes.tooLarge();
    if (!elementOf(type.element, 0))
      return mistakes.expected("a .npy file, as no numbers can be made of type " + type.spelling(),
                               text);
    bool isFloat = elementClass(type.element) == ElementClass::Float;
    NumberGenerator numbers(*call, isFloat, name, seed);
    for (uint64_t i = 0; i < count; ++i) {
      uint64_t bits = *elementOf(type.element, numbers.next());
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
        return mistakes.expected("one stride for each axis, in elements", text);
      array.strides.push_back(stride);
      bool overflowed = false;
      last = llvm::SaturatingMultiplyAdd(uint64_t(std::max<int64_t>(array.shape[axis] - 1, 0)),
                                         uint64_t(stride), last, &overflowed);
      overflows |= overflowed;
    }
    unsigned size = elementBytes(type.element);
    if (overflows || last >= maxArrayBytes / size)
      return mistakes.tooLarge();
    array.bytes = isEmpty ? 0 : (last + 1) * size;
    array.data = allocate(array.bytes);
    if (!array.data)
      return mistakes.tooLarge();
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

  llvm::StringRef name;
  const ArgumentType &type;
  uint64_t seed;
  DiagnosticEngine &diagnostics;
  ValueMistakes mistakes;
};

} // namespace

std::optional<RunArray> makeByteArray(llvm::StringRef bytes) {
  RunArray array{{int64_t(bytes.size())}, bytes.size(), {}, allocate(bytes.size())};
  if (!array.data)
    return std::nullopt;
  std::memcpy(array.data.get(), bytes.data(), bytes.size());
  return array;
}

std::string elementsOf(const RunArray &array, unsigned elementBytes) {
  if (array.strides.empty())
    return std::string(array.data.get(), array.bytes);
  std::string bytes;
  forElements(array, [&](int64_t, int64_t place) {
    bytes.append(array.data.get() + place * elementBytes, elementBytes);
  });
  return bytes;
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

// The header of a .npy file is a Python dictionary in text form, of three known keys:
//   {'descr': '<f4', 'fortran_order': False, 'shape': (3, 4), }

#include "compiler/Driver/Run/Npy.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/Endian.h"
#include "llvm/Support/MathExtras.h"
#include <optional>

namespace kiln {
namespace {

constexpr llvm::StringLiteral magic("\x93NUMPY");

llvm::Error wrong(const llvm::Twine &message) { return llvm::createStringError(message); }

/// Reads the dictionary.
class HeaderReader {
public:
  explicit HeaderReader(llvm::StringRef text) : rest(text) {}

  llvm::Error read(NpyArray &array) {
    bool hasDescr = false, hasOrder = false, hasShape = false, isFortran = false;
    if (!take("{"))
      return malformed();
    while (!take("}")) {
      auto key = quoted();
      if (!key || !take(":"))
        return malformed();
      if (*key == "descr") {
        if (rest.ltrim().starts_with("["))
          return wrong("the elements are structured");
        auto value = quoted();
        hasDescr = value.has_value();
        array.descr = value.value_or("").str();
      } else if (*key == "fortran_order") {
        isFortran = take("True");
        hasOrder = isFortran || take("False");
      } else if (*key == "shape") {
        hasShape = shape(array.shape);
      } else {
        return malformed();
      }
      if (!take(",") && !rest.ltrim().starts_with("}"))
        return malformed();
    }
    if (!hasDescr || !hasOrder || !hasShape)
      return malformed();
    return isFortran ? wrong("the elements are in Fortran order; numpy.ascontiguousarray gives C "
                             "order")
                     : llvm::Error::success();
  }

private:
  static llvm::Error malformed() { return wrong("the header is malformed"); }

  bool take(llvm::StringRef token) {
    rest = rest.ltrim();
    return rest.consume_front(token);
  }

  std::optional<llvm::StringRef> quoted() {
    rest = rest.ltrim();
    if (rest.empty() || (rest[0] != '\'' && rest[0] != '"'))
      return std::nullopt;
    size_t end = rest.find(rest[0], 1);
    if (end == llvm::StringRef::npos)
      return std::nullopt;
    llvm::StringRef text = rest.slice(1, end);
    rest = rest.drop_front(end + 1);
    return text;
  }

  bool shape(std::vector<int64_t> &extents) {
    if (!take("("))
      return false;
    while (!take(")")) {
      uint64_t extent = 0;
      rest = rest.ltrim();
      if (rest.consumeInteger(10, extent) || extent > INT64_MAX)
        return false;
      extents.push_back(int64_t(extent));
      if (!take(",") && !rest.ltrim().starts_with(")"))
        return false;
    }
    return true;
  }

  llvm::StringRef rest;
};

/// "<f4" is of 4 bytes. Empty for text that is no element type.
std::optional<uint64_t> elementSize(llvm::StringRef descr) {
  uint64_t size = 0;
  if (descr.size() < 3 || !llvm::StringRef("<>|=").contains(descr[0]) || !llvm::isAlpha(descr[1]) ||
      descr.drop_front(2).getAsInteger(10, size) || size == 0 || size > 4096)
    return std::nullopt;
  return size;
}

} // namespace

llvm::Expected<NpyArray> readNpy(llvm::StringRef bytes) {
  if (!bytes.consume_front(magic))
    return wrong("not a .npy file");
  if (bytes.size() < 6)
    return wrong("the file is cut short: its header is not whole");
  unsigned major = uint8_t(bytes[0]);
  if (major < 1 || major > 3)
    return wrong("version " + llvm::Twine(major) + " of the format is not known");
  size_t start = major == 1 ? 4 : 6;
  size_t length = major == 1 ? llvm::support::endian::read16le(bytes.data() + 2)
                             : llvm::support::endian::read32le(bytes.data() + 2);
  if (bytes.size() - start < length)
    return wrong("the file is cut short: its header is not whole");
  NpyArray array;
  if (llvm::Error error = HeaderReader(bytes.substr(start, length)).read(array))
    return std::move(error);
  auto size = elementSize(array.descr);
  if (!size)
    return wrong("elements of '" + array.descr + "' are not known");
  uint64_t expected = *size;
  bool overflows = false;
  for (int64_t extent : array.shape) {
    bool overflowed = false;
    expected = llvm::SaturatingMultiply(expected, uint64_t(extent), &overflowed);
    overflows |= overflowed;
  }
  array.data = bytes.drop_front(start + length);
  if (overflows || array.data.size() < expected)
    return wrong("the file is cut short: its shape needs " + llvm::Twine(expected) +
                 " bytes, got " + llvm::Twine(array.data.size()));
  if (array.data.size() > expected)
    return wrong("the file has " + llvm::Twine(array.data.size() - expected) +
                 " bytes more than its shape needs");
  return array;
}

std::string writeNpy(llvm::StringRef descr, llvm::ArrayRef<int64_t> shape, llvm::StringRef data) {
  std::string header = "{'descr': '" + descr.str() + "', 'fortran_order': False, 'shape': (";
  for (auto [index, extent] : llvm::enumerate(shape))
    header += (index ? ", " : "") + std::to_string(extent);
  header += shape.size() == 1 ? ",), }" : "), }";
  // Magic, version and length are ten bytes; the elements start at a multiple of 64.
  header.append(63 - (10 + header.size()) % 64, ' ');
  header += '\n';
  std::string file = magic.str();
  file += {'\1', '\0', char(header.size() & 0xff), char(header.size() >> 8)};
  return file + header + data.str();
}

} // namespace kiln

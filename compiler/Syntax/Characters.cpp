// Characters beyond ASCII.
#include "compiler/Syntax/Characters.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/ConvertUTF.h"
#include "llvm/Support/Endian.h"

#include <string>

namespace kiln {

DecodedCharacter decodeCharacter(llvm::StringRef text) {
  auto byte = [&](size_t i) { return static_cast<uint32_t>(static_cast<unsigned char>(text[i])); };
  auto tail = [&](size_t i) { return i < text.size() ? byte(i) & 0x3F : 0; };
  if (byte(0) < 0x80)
    return {byte(0), 1};
  if (byte(0) < 0xE0)
    return {(byte(0) & 0x1F) << 6 | tail(1), 2};
  if (byte(0) < 0xF0)
    return {(byte(0) & 0x0F) << 12 | tail(1) << 6 | tail(2), 3};
  return {(byte(0) & 0x07) << 18 | tail(1) << 12 | tail(2) << 6 | tail(3), 4};
}

size_t findInvalidUtf8(llvm::StringRef text) {
  const auto *begin = reinterpret_cast<const llvm::UTF8 *>(text.data());
  const llvm::UTF8 *position = begin;
  const llvm::UTF8 *end = begin + text.size();
  while (position != end) {
    if (*position < 0x80) { // nearly all of a source
      // Eight at a time, as far as they go.
      constexpr uint64_t highBits = 0x8080808080808080;
      while (end - position >= 8 && !(llvm::support::endian::read64le(position) & highBits))
        position += 8;
      if (position != end && *position < 0x80)
        ++position;
      continue;
    }
    unsigned length = llvm::getNumBytesForUTF8(*position);
    if (length > static_cast<size_t>(end - position) ||
        !llvm::isLegalUTF8Sequence(position, position + length))
      return position - begin;
    position += length;
  }
  return llvm::StringRef::npos;
}

void appendUtf8(std::string &out, uint32_t codePoint) {
  auto tail = [&](int shift) { out += static_cast<char>(0x80 | ((codePoint >> shift) & 0x3F)); };
  if (codePoint < 0x80) {
    out += static_cast<char>(codePoint);
  } else if (codePoint < 0x800) {
    out += static_cast<char>(0xC0 | codePoint >> 6);
    tail(0);
  } else if (codePoint < 0x10000) {
    out += static_cast<char>(0xE0 | codePoint >> 12);
    tail(6), tail(0);
  } else {
    out += static_cast<char>(0xF0 | codePoint >> 18);
    tail(12), tail(6), tail(0);
  }
}

namespace {
struct CharacterRange {
  uint32_t first, last;
};
} // namespace

/// Blocks without letters, in order.
static constexpr CharacterRange notInNames[] = {
    {0x80, 0xA9},       {0xAB, 0xB4},       {0xB6, 0xB6},        {0xB8, 0xB9},     {0xBB, 0xBF},
    {0xD7, 0xD7},       {0xF7, 0xF7},       {0x2000, 0x203E},    {0x2041, 0x2053}, {0x2055, 0x2070},
    {0x2190, 0x2BFF},   {0x2E00, 0x2E7F},   {0x3000, 0x3004},    {0x3008, 0x3020}, {0xD800, 0xF8FF},
    {0xFE10, 0xFE1F},   {0xFE30, 0xFE32},   {0xFE35, 0xFE4C},    {0xFE50, 0xFE6F}, {0xFEFF, 0xFF0F},
    {0xFF1A, 0xFF20},   {0xFF3B, 0xFF3E},   {0xFF40, 0xFF40},    {0xFF5B, 0xFF65}, {0xFFE0, 0xFFFF},
    {0x1F000, 0x1FAFF}, {0xE0000, 0xE00FF}, {0xF0000, 0x10FFFF},
};

bool isNameStart(uint32_t codePoint) {
  if (codePoint < 0x80)
    return codePoint == '_' || llvm::isAlpha(static_cast<char>(codePoint));
  // Combining marks continue a name; so does the middle dot.
  if ((codePoint >= 0x300 && codePoint <= 0x36F) || codePoint == 0xB7)
    return false;
  return isNameContinue(codePoint);
}

bool isNameContinue(uint32_t codePoint) {
  if (codePoint < 0x80)
    return codePoint == '_' || llvm::isAlnum(static_cast<char>(codePoint));
  return llvm::none_of(notInNames, [&](CharacterRange range) {
    return codePoint >= range.first && codePoint <= range.last;
  });
}

llvm::StringRef findLookalike(uint32_t codePoint) {
  switch (codePoint) {
  case 0xA0: // No-break space, and the typographic blanks.
  case 0x2002:
  case 0x2003:
  case 0x2009:
  case 0x200B:
  case 0x202F:
  case 0x3000:
  case 0xFEFF:
    return " ";
  case 0x2018:
  case 0x2019:
    return "'";
  case 0x201C:
  case 0x201D:
    return "\"";
  case 0x2010:
  case 0x2011:
  case 0x2012:
  case 0x2013:
  case 0x2014:
  case 0x2212:
    return "-";
  case 0xD7:
  case 0x2217:
    return "*";
  case 0xF7:
  case 0x2215:
    return "/";
  case 0x2264:
    return "<=";
  case 0x2265:
    return ">=";
  case 0x2260:
    return "!=";
  case 0x2192:
    return "->";
  case 0x2026:
    return "...";
  case 0xFF08:
    return "(";
  case 0xFF09:
    return ")";
  case 0xFF0C:
    return ",";
  case 0xFF1A:
    return ":";
  case 0xFF1D:
    return "=";
  default:
    return "";
  }
}

} // namespace kiln

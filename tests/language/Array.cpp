#include "tests/language/Array.h"

#include <cstddef>

namespace kiln::testing {
namespace {

constexpr size_t zoneBytes = 64;
constexpr uint8_t zoneByte = 0xA5;

} // namespace

GuardedMemory::GuardedMemory(size_t bytes) : storage(bytes + 3 * zoneBytes, zoneByte), size(bytes) {
  auto address = reinterpret_cast<uintptr_t>(storage.data());
  start =
      reinterpret_cast<uint8_t *>((address + zoneBytes - 1) / zoneBytes * zoneBytes + zoneBytes);
  std::memset(start, 0, size);
}

std::string GuardedMemory::overrun() const {
  for (std::ptrdiff_t i = -std::ptrdiff_t(zoneBytes); i < 0; ++i)
    if (start[i] != zoneByte)
      return "byte " + std::to_string(i);
  for (size_t i = size; i < size + zoneBytes; ++i)
    if (start[i] != zoneByte)
      return "byte " + std::to_string(i) + " of " + std::to_string(size);
  return "";
}

} // namespace kiln::testing

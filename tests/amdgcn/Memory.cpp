#include "tests/amdgcn/Memory.h"
#include "tests/amdgcn/Instruction.h"
#include "llvm/Support/MathExtras.h"
#include <sstream>

namespace kiln::amdgcn {

void Allocations::add(const void *start, uint64_t bytes, bool isWritable) {
  uint64_t address = reinterpret_cast<uintptr_t>(start);
  ranges[address] = {address, address + bytes, isWritable};
  last = {};
}

void Allocations::remove(const void *start) {
  ranges.erase(reinterpret_cast<uintptr_t>(start));
  last = {};
}

bool Allocations::holds(uint64_t address, uint64_t bytes, bool isStore) const {
  auto isIn = [&](const Range &range) {
    return address >= range.start && address + bytes <= range.end && (range.isWritable || !isStore);
  };
  if (isIn(last))
    return true;
  auto next = ranges.upper_bound(address);
  if (next == ranges.begin() || !isIn(std::prev(next)->second))
    return false;
  last = std::prev(next)->second;
  return true;
}

bool Allocations::holdsLoad(uint64_t address, uint64_t bytes) const {
  // LLVM widens loads to what is aligned as a whole and so lies in one page: its first byte counts.
  // Of three words that is so where four would be aligned.
  if (address % llvm::PowerOf2Ceil(bytes) != 0)
    return holds(address, bytes, false);
  // Loads that other units' stores are to be seen by have no more than 8 bytes: two are one of 16.
  bool isUpperHalf = bytes == 8 && address % 16 == 8;
  return holds(address, 1, false) || (isUpperHalf && holds(address - 8, 1, false));
}

void Allocations::check(uint64_t address, uint64_t bytes, bool isStore) const {
  if (isStore ? holds(address, bytes, true) : holdsLoad(address, bytes))
    return;
  auto next = ranges.upper_bound(address);
  std::ostringstream text;
  text << (isStore ? "store to " : "load from ") << std::hex << std::showbase << address << std::dec
       << ", " << bytes << " bytes, where no allocation is";
  if (next != ranges.begin()) {
    const Range &before = std::prev(next)->second;
    text << " (" << int64_t(address - before.start) << " bytes behind the start of one of "
         << before.end - before.start << " bytes" << (before.isWritable ? "" : ", only read")
         << ")";
  }
  throw Fault(text.str());
}

} // namespace kiln::amdgcn

#include "tests/amdgcn/Memory.h"
#include "tests/amdgcn/Instruction.h"
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

void Allocations::check(uint64_t address, uint64_t bytes, bool isStore) const {
  // LLVM widens loads to what is aligned as a whole and so lies in one page: its first byte counts.
  if (!isStore && (bytes & (bytes - 1)) == 0 && address % bytes == 0)
    bytes = 1;
  auto holds = [&](const Range &range) {
    return address >= range.start && address + bytes <= range.end && (range.isWritable || !isStore);
  };
  if (holds(last))
    return;
  auto next = ranges.upper_bound(address);
  if (next != ranges.begin() && holds(std::prev(next)->second)) {
    last = std::prev(next)->second;
    return;
  }
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

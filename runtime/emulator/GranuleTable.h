// A hash table by granule of memory (16 aligned bytes) that is emptied at no cost: a block begins
// for every few thousand accesses, and its barriers empty tables too.

#ifndef KILN_RUNTIME_EMULATOR_GRANULETABLE_H
#define KILN_RUNTIME_EMULATOR_GRANULETABLE_H

#include <algorithm>
#include <cstdint>
#include <utility>
#include <vector>

namespace kiln::emulator {

constexpr uint32_t granuleBytes = 16;

/// Calls `visit(granule, first, last)` for the granules of these bytes: of each, the bytes from
/// `first` to before `last`, from its own start.
template <typename Visit> void forGranules(uintptr_t address, uint32_t bytes, Visit visit) {
  uintptr_t end = address + bytes;
  for (uintptr_t granule = address / granuleBytes; granule * granuleBytes < end; ++granule) {
    uintptr_t base = granule * granuleBytes;
    visit(granule, uint32_t(std::max(address, base) - base),
          uint32_t(std::min<uintptr_t>(end, base + granuleBytes) - base));
  }
}

template <typename Value> class GranuleTable {
public:
  size_t size() const { return count; }

  void clear() {
    count = 0;
    if (++generation == 0) {
      std::fill(slots.begin(), slots.end(), Slot());
      generation = 1;
    }
  }

  Value *find(uintptr_t granule) {
    if (!count)
      return nullptr;
    Slot &slot = place(granule);
    return slot.generation == generation ? &slot.value : nullptr;
  }

  /// The granule's value, `Value()` if it has none yet. Holds until the next call.
  Value &operator[](uintptr_t granule) {
    if (2 * (count + 1) > slots.size())
      grow();
    Slot &slot = place(granule);
    if (slot.generation != generation) {
      slot = {granule, generation, Value()};
      ++count;
    }
    return slot.value;
  }

private:
  struct Slot {
    uintptr_t granule = 0;
    uint32_t generation = 0; ///< of another one than the table: free
    Value value = Value();
  };

  /// Where the granule is, or would be. There is a free slot.
  Slot &place(uintptr_t granule) {
    size_t mask = slots.size() - 1;
    size_t at = size_t(granule * 0x9E3779B97F4A7C15u >> 32) & mask;
    while (slots[at].generation == generation && slots[at].granule != granule)
      at = (at + 1) & mask;
    return slots[at];
  }

  void grow() {
    std::vector<Slot> before =
        std::exchange(slots, std::vector<Slot>(std::max<size_t>(1024, slots.size() * 2)));
    for (Slot &slot : before)
      if (slot.generation == generation)
        place(slot.granule) = slot;
  }

  std::vector<Slot> slots; ///< a power of two
  size_t count = 0;
  uint32_t generation = 1;
};

} // namespace kiln::emulator

#endif

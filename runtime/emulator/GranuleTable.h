// A hash table by granule of memory (16 aligned bytes) that is emptied at no cost: a block begins
// for every few thousand accesses, and its barriers empty tables too. It hashes rows of
// neighbouring granules, which are accessed one after the other.

#ifndef KILN_RUNTIME_EMULATOR_GRANULETABLE_H
#define KILN_RUNTIME_EMULATOR_GRANULETABLE_H

#include <algorithm>
#include <array>
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
  static constexpr uint32_t granulesOfRow = 16;

  size_t numRows() const { return count; }

  void clear() {
    count = 0;
    if (++generation == 0) {
      std::fill(rows.begin(), rows.end(), Row());
      generation = 1;
    }
  }

  /// The granule's value; null, or `Value()`, if it has none.
  Value *find(uintptr_t granule) {
    if (!count)
      return nullptr;
    Row &row = place(granule / granulesOfRow);
    return row.generation == generation ? &row.values[granule % granulesOfRow] : nullptr;
  }

  /// The granule's value, `Value()` if it had none. Holds until the next call.
  Value &operator[](uintptr_t granule) {
    if (2 * (count + 1) > rows.size())
      grow();
    Row &row = place(granule / granulesOfRow);
    if (row.generation != generation) {
      row = {granule / granulesOfRow, generation, {}};
      ++count;
    }
    return row.values[granule % granulesOfRow];
  }

private:
  struct Row {
    uintptr_t number = 0;
    uint32_t generation = 0; ///< of another one than the table: free
    std::array<Value, granulesOfRow> values = {};
  };

  /// Where the row is, or would be. There is a free place.
  Row &place(uintptr_t number) {
    size_t mask = rows.size() - 1;
    size_t at = size_t(number * 0x9E3779B97F4A7C15u >> 32) & mask;
    while (rows[at].generation == generation && rows[at].number != number)
      at = (at + 1) & mask;
    return rows[at];
  }

  void grow() {
    std::vector<Row> before =
        std::exchange(rows, std::vector<Row>(std::max<size_t>(256, rows.size() * 2)));
    for (Row &row : before)
      if (row.generation == generation)
        place(row.number) = row;
  }

  std::vector<Row> rows; ///< a power of two
  size_t count = 0;
  uint32_t generation = 1;
};

} // namespace kiln::emulator

#endif

// What is known about every byte of a block's shared memory while accesses are checked: whether it
// was written, who touched it last, and whether an asynchronous copy to it is under way. Kept by
// words, as most accesses are of whole ones, until a part of one is accessed.
//
// Two accesses of different threads, one of them a write, race unless a barrier orders them
// (AccessHistory.h).

#ifndef KILN_RUNTIME_EMULATOR_SHAREDSHADOW_H
#define KILN_RUNTIME_EMULATOR_SHAREDSHADOW_H

#include "runtime/emulator/AccessHistory.h"
#include <vector>

namespace kiln::emulator {

/// An earlier access that nothing orders with a later one, or a copy that nobody has waited for.
struct Conflict {
  Moment before;
  bool isCopy = false;
};

class SharedShadow {
public:
  explicit SharedShadow(const WarpClocks &clocks) : clocks(clocks) {}
  /// Begins a block, whose clocks have begun.
  void reset(uint32_t bytes);

  /// Records an access to these bytes at `now`; the earlier one that it races with. Whether all of
  /// them had been written.
  std::optional<Conflict> add(uint32_t offset, uint32_t bytes, const Moment &now,
                              bool &initialised);

  /// The same for an access that is going to be made, which is not recorded.
  std::optional<Conflict> check(uint32_t offset, uint32_t bytes, const Moment &now,
                                bool &initialised);

  /// An asynchronous copy to these bytes begins, or has landed.
  void beginCopy(uint32_t offset, uint32_t bytes, const Moment &now);
  void endCopy(uint32_t offset, uint32_t bytes);

private:
  struct Cell {
    AccessHistory history;
    /// When a copy to it began that has not landed.
    Moment copy;
  };
  static constexpr uint32_t wordBytes = 4;

  bool isCopied(const Cell &cell) const { return clocks.isCurrent(cell.copy.clock); }
  /// Calls `visit(cell)` for the cells of these bytes.
  template <typename Visit> void forCells(uint32_t offset, uint32_t bytes, Visit visit);
  /// Gives a word one cell again, after a write to all of it: what came before the write is before
  /// whatever comes after it, or has been reported.
  void join(uint32_t word);
  void joinWords(uint32_t offset, uint32_t bytes);

  const WarpClocks &clocks;
  std::vector<Cell> words;
  std::vector<Cell> bytes;      ///< of words that are split
  std::vector<uint8_t> isSplit; ///< by word
};

} // namespace kiln::emulator

#endif

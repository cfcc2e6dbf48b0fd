#include "runtime/emulator/SharedShadow.h"

#include <algorithm>

namespace kiln::emulator {

/// Whether nothing orders `before` and `now`.
bool SharedShadow::conflicts(const Moment &before, const Moment &now) const {
  if (!clocks.isCurrent(before.clock) || before.thread == now.thread)
    return false;
  return before.warp == now.warp ? before.warpEpoch == now.warpEpoch
                                 : !clocks.isAfter(now.warp, before.warp, before.clock);
}

void SharedShadow::reset(uint32_t size) {
  size_t count = std::max<size_t>(words.size(), (size + wordBytes - 1) / wordBytes);
  words.resize(count);
  bytes.resize(count * wordBytes);
  isSplit.resize(count);
}

template <typename Visit> void SharedShadow::forCells(uint32_t offset, uint32_t size, Visit visit) {
  uint32_t end = offset + size;
  for (uint32_t word = offset / wordBytes; word * wordBytes < end; ++word) {
    uint32_t first = std::max(offset, word * wordBytes),
             last = std::min(end, (word + 1) * wordBytes);
    if (!isSplit[word]) {
      if (last - first == wordBytes) {
        visit(words[word]);
        continue;
      }
      std::fill_n(bytes.begin() + word * wordBytes, wordBytes, words[word]);
      isSplit[word] = 1;
    }
    for (uint32_t i = first; i < last; ++i)
      visit(bytes[i]);
  }
}

void SharedShadow::join(uint32_t word) {
  const Cell *parts = &bytes[word * wordBytes];
  if (std::none_of(parts, parts + wordBytes, [&](const Cell &cell) { return isCopied(cell); })) {
    words[word] = parts[0];
    isSplit[word] = 0;
  }
}

std::optional<Conflict> SharedShadow::read(uint32_t offset, uint32_t size, const Moment &now,
                                           bool *initialised) {
  std::optional<Conflict> race;
  *initialised = true;
  forCells(offset, size, [&](Cell &cell) {
    if (!clocks.isCurrent(cell.writer.clock))
      *initialised = false;
    if (isCopied(cell))
      race = {cell.copy, true};
    else if (conflicts(cell.writer, now))
      race = {cell.writer, false};
    if (conflicts(cell.reader, now))
      cell.otherReader = cell.reader;
    cell.reader = now;
  });
  return race;
}

std::optional<Conflict> SharedShadow::write(uint32_t offset, uint32_t size, const Moment &now) {
  std::optional<Conflict> race;
  forCells(offset, size, [&](Cell &cell) {
    for (const Moment *before : {&cell.writer, &cell.reader, &cell.otherReader})
      if (conflicts(*before, now))
        race = {*before, false};
    if (isCopied(cell))
      race = {cell.copy, true};
    cell.writer = now;
    cell.reader = cell.otherReader = Moment();
  });
  uint32_t end = offset + size;
  for (uint32_t word = (offset + wordBytes - 1) / wordBytes; (word + 1) * wordBytes <= end; ++word)
    if (isSplit[word])
      join(word);
  return race;
}

void SharedShadow::beginCopy(uint32_t offset, uint32_t size, const Moment &now) {
  forCells(offset, size, [&](Cell &cell) { cell.copy = now; });
}

void SharedShadow::endCopy(uint32_t offset, uint32_t size) {
  forCells(offset, size, [](Cell &cell) { cell.copy = Moment(); });
}

} // namespace kiln::emulator

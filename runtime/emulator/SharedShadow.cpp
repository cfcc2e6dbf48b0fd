#include "runtime/emulator/SharedShadow.h"

#include <algorithm>

namespace kiln::emulator {

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

std::optional<Conflict> SharedShadow::add(uint32_t offset, uint32_t size, const Moment &now,
                                          bool &initialised) {
  std::optional<Conflict> race;
  initialised = true;
  forCells(offset, size, [&](Cell &cell) {
    initialised &= cell.history.isWritten(clocks);
    if (auto before = cell.history.add(now, {clocks, /*isOfShared=*/true}))
      race = {*before, false};
    if (isCopied(cell))
      race = {cell.copy, true};
  });
  if (now.kind == AccessKind::Write)
    joinWords(offset, size);
  return race;
}

std::optional<Conflict> SharedShadow::check(uint32_t offset, uint32_t size, const Moment &now,
                                            bool &initialised) {
  std::optional<Conflict> race;
  initialised = true;
  forCells(offset, size, [&](const Cell &cell) {
    initialised &= cell.history.isWritten(clocks);
    if (auto before = cell.history.conflict(now, {clocks, /*isOfShared=*/true}))
      race = {*before, false};
    if (isCopied(cell))
      race = {cell.copy, true};
  });
  return race;
}

void SharedShadow::joinWords(uint32_t offset, uint32_t size) {
  uint32_t end = offset + size;
  for (uint32_t word = (offset + wordBytes - 1) / wordBytes; (word + 1) * wordBytes <= end; ++word)
    if (isSplit[word])
      join(word);
}

void SharedShadow::beginCopy(uint32_t offset, uint32_t size, const Moment &now) {
  forCells(offset, size, [&](Cell &cell) { cell.copy = now; });
}

void SharedShadow::endCopy(uint32_t offset, uint32_t size) {
  forCells(offset, size, [](Cell &cell) { cell.copy = Moment(); });
}

} // namespace kiln::emulator

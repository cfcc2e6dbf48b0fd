#include "runtime/emulator/SharedShadow.h"

namespace kiln::emulator {

/// Whether nothing orders `before` and `now`.
bool SharedShadow::conflicts(const Moment &before, const Moment &now) const {
  if (!clocks.isCurrent(before.clock) || before.thread == now.thread)
    return false;
  return before.warp == now.warp ? before.warpEpoch == now.warpEpoch
                                 : !clocks.isAfter(now.warp, before.warp, before.clock);
}

std::optional<Conflict> SharedShadow::read(uint32_t offset, uint32_t bytes, const Moment &now,
                                           bool *initialised) {
  std::optional<Conflict> race;
  *initialised = true;
  for (uint32_t i = offset; i < offset + bytes; ++i) {
    Cell &cell = cells[i];
    if (!clocks.isCurrent(cell.writer.clock))
      *initialised = false;
    if (clocks.isCurrent(cell.copy.clock))
      race = {cell.copy, true};
    else if (conflicts(cell.writer, now))
      race = {cell.writer, false};
    if (conflicts(cell.reader, now))
      cell.otherReader = cell.reader;
    cell.reader = now;
  }
  return race;
}

std::optional<Conflict> SharedShadow::write(uint32_t offset, uint32_t bytes, const Moment &now) {
  std::optional<Conflict> race;
  for (uint32_t i = offset; i < offset + bytes; ++i) {
    Cell &cell = cells[i];
    for (const Moment *before : {&cell.writer, &cell.reader, &cell.otherReader})
      if (conflicts(*before, now))
        race = {*before, false};
    if (clocks.isCurrent(cell.copy.clock))
      race = {cell.copy, true};
    cell.writer = now;
  }
  return race;
}

void SharedShadow::beginCopy(uint32_t offset, uint32_t bytes, const Moment &now) {
  for (uint32_t i = offset; i < offset + bytes; ++i)
    cells[i].copy = now;
}

void SharedShadow::endCopy(uint32_t offset, uint32_t bytes) {
  for (uint32_t i = offset; i < offset + bytes; ++i)
    cells[i].copy = Moment();
}

} // namespace kiln::emulator

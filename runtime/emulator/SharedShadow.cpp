#include "runtime/emulator/SharedShadow.h"

namespace kiln::emulator {

/// Whether nothing orders `before` and `now`.
static bool conflicts(const Moment &before, const Moment &now) {
  return before.epoch == now.epoch && before.thread != now.thread &&
         !(before.warp == now.warp && before.warpEpoch != now.warpEpoch);
}

std::optional<Moment> SharedShadow::read(uint32_t offset, uint32_t bytes, const Moment &now,
                                         bool *initialised) {
  std::optional<Moment> race;
  *initialised = true;
  for (uint32_t i = offset; i < offset + bytes; ++i) {
    Cell &cell = cells[i];
    if (!cell.writer.epoch)
      *initialised = false;
    if (conflicts(cell.writer, now))
      race = cell.writer;
    if (cell.reader.epoch == now.epoch && cell.reader.thread != now.thread)
      cell.otherReader = cell.reader;
    cell.reader = now;
  }
  return race;
}

std::optional<Moment> SharedShadow::write(uint32_t offset, uint32_t bytes, const Moment &now) {
  std::optional<Moment> race;
  for (uint32_t i = offset; i < offset + bytes; ++i) {
    Cell &cell = cells[i];
    for (const Moment *before : {&cell.writer, &cell.reader, &cell.otherReader})
      if (conflicts(*before, now))
        race = *before;
    cell.writer = now;
  }
  return race;
}

} // namespace kiln::emulator

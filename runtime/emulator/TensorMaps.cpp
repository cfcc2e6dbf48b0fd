#include "runtime/emulator/TensorMaps.h"

#include "runtime/emulator/Block.h"
#include "runtime/emulator/Memory.h"
#include <cstring>

using namespace kiln::emulator;

namespace kiln::emulator {
namespace {

constexpr uint32_t headBytes = 128;

/// Writes the element type that tensormap.replace calls `number`; false: there is none.
bool replaceElement(kiln_emu_tensor_map &map, uint64_t number) {
  switch (number) {
#define KILN_TENSOR_ELEMENT(NAME, SPEC, BYTES, IS_FLOAT, CUDA, PTX)                                \
  case PTX:                                                                                        \
    map.element = KILN_TENSOR_##NAME;                                                              \
    map.element_bytes = BYTES;                                                                     \
    return true;
#include "runtime/tensor_elements.def"
  default:
    return false;
  }
}

/// Writes a field; false: there is no such value of it, or none that is emulated.
bool replace(kiln_emu_tensor_map &map, uint32_t field, uint32_t axis, uint64_t value) {
  constexpr uint32_t maxRank = 5;
  if (axis >= maxRank)
    return false;
  switch (field) {
  case KILN_EMU_MAP_ADDRESS:
    map.base = reinterpret_cast<char *>(value);
    return true;
  case KILN_EMU_MAP_RANK:
    map.rank = uint8_t(value + 1);
    return value < maxRank;
  case KILN_EMU_MAP_BOX:
    map.box[axis] = uint16_t(value);
    return value <= 256;
  case KILN_EMU_MAP_EXTENT:
    // Kept less 1: 0 stands for 2^32.
    map.extents[axis] = value ? uint32_t(value) : ~0u;
    return true;
  case KILN_EMU_MAP_STRIDE:
    map.strides[axis] = value;
    return axis + 1 < maxRank;
  case KILN_EMU_MAP_ELEMENT:
    return replaceElement(map, value);
  case KILN_EMU_MAP_SWIZZLE:
    map.swizzle_bytes = value ? uint8_t(16 << value) : 0;
    return value <= 3;
  case KILN_EMU_MAP_FILL:
    map.fills_with_nan = value == 1;
    return value <= 1;
  default:
    return field == KILN_EMU_MAP_ELEMENT_STRIDE ? value == 1 : value == 0;
  }
}

} // namespace

//===-- records --===//

void TensorMaps::reset() {
  record = nullptr;
  published.clear();
}

char *TensorMaps::claim(uint32_t maps, const kiln_emu_site *site) {
  recordBytes = headBytes + maps * mapBytes;
  storage.assign(recordBytes + mapBytes, char(0xff));
  record = storage.data() + (-reinterpret_cast<uintptr_t>(storage.data()) & (mapBytes - 1));
  std::memset(record, 0, headBytes);
  claimedAt = site;
  return record;
}

void TensorMaps::release(Thread &self, const kiln_emu_site *site, const void *released) {
  if (!record || released != record)
    block.fail(self, site, Finding::Operand, "expected the record that the block has claimed");
  if (block.launched().check)
    if (auto race =
            block.globalShadow().add(reinterpret_cast<uintptr_t>(record), uint32_t(recordBytes),
                                     block.moment(self, site, AccessKind::Write)))
      block.report(self, site, Finding::Race,
                   "a record is released whose maps are in use: by " + describe(*race));
  record = nullptr;
}

void TensorMaps::reportUnreleased(const Thread &thread) {
  if (record)
    block.report(thread, claimedAt, Finding::Copy, "expected the record to be released");
}

//===-- their order with copies --===//

void TensorMaps::publish(Thread &self, const kiln_emu_site *site, void *map,
                         const uint32_t *words) {
  if (reinterpret_cast<uintptr_t>(map) % mapBytes)
    block.fail(self, site, Finding::Misaligned,
               "expected a tensor map at a multiple of 128 bytes: " + bytesAt(mapBytes, map));
  if (block.launched().check) {
    if (!block.isAllocated(map, mapBytes))
      block.fail(self, site, Finding::OutOfBounds,
                 "store to no registered allocation: " + bytesAt(mapBytes, map));
    if (auto race = block.globalShadow().add(reinterpret_cast<uintptr_t>(map), mapBytes,
                                             block.moment(self, site, AccessKind::Write)))
      block.report(self, site, Finding::Race,
                   "race on a tensor map: " + bytesAt(mapBytes, map) + ", also accessed by " +
                       describe(*race) + ", which has not been waited for");
    block.lateStores().deliverAt(map, mapBytes);
  }
  std::memcpy(map, words, mapBytes);
  Published &record = published[map];
  ++record.version;
  record.site = site;
}

void TensorMaps::acquire(const Thread &self, const void *map) {
  Published &record = published[map];
  record.acquired[self.thread] = record.version;
}

std::string TensorMaps::problemOf(const Thread &self, const void *map) const {
  if (!owns(map, mapBytes))
    return "";
  auto found = published.find(map);
  if (found == published.end() || !found->second.version)
    return "expected a tensor map that tensormap.cp_fenceproxy has released";
  const Published &record = found->second;
  auto acquired = record.acquired.find(self.thread);
  if (acquired == record.acquired.end() || acquired->second != record.version)
    return "expected fence.proxy.tensormap (acquire) by the thread between the tensor map's "
           "publication at " +
           describe(*record.site) + " and the copy";
  return "";
}

} // namespace kiln::emulator

void kiln_emu_map_replace(kiln_emu_thread *thread, const kiln_emu_site *site, void *image,
                          uint32_t field, uint32_t axis, uint64_t value) {
  Thread &self = threadOf(thread);
  // The instruction is an access to all of the map. One access has 64 bytes at most.
  constexpr uint32_t half = sizeof(kiln_emu_tensor_map) / 2;
  kiln_emu_tensor_map map;
  char *from = static_cast<char *>(image), *to = reinterpret_cast<char *>(&map);
  for (uint32_t at : {0u, half})
    load(self, site, KILN_EMU_SHARED, from + at, to + at, half, TensorMaps::mapBytes / 2);
  if (map.magic != 0 && map.magic != KILN_EMU_TENSOR_MAP)
    self.block->fail(self, site, Finding::Operand, "expected zeros or a tensor map");
  map.magic = KILN_EMU_TENSOR_MAP;
  if (!replace(map, field, axis, value))
    self.block->fail(self, site, Finding::Operand,
                     "no tensor map has, or none is emulated that has, the value " +
                         std::to_string(value) + " there");
  for (uint32_t at : {0u, half})
    store(self, site, KILN_EMU_SHARED, from + at, to + at, half, TensorMaps::mapBytes / 2);
}

KILN_SWITCHES void *kiln_emu_map_claim(kiln_emu_thread *thread, const kiln_emu_site *site,
                                       uint32_t maps) {
  Thread &self = threadOf(thread);
  self.block->collective(self, site, ~uint64_t(0), [&](Warp &warp) {
    char *record = self.block->tensorMaps().claim(maps, site);
    for (uint32_t lane = 0; lane < 64; ++lane)
      warp.results[lane] = reinterpret_cast<uintptr_t>(record);
  });
  return reinterpret_cast<void *>(self.inWarp->results[self.lane]);
}

void kiln_emu_map_release(kiln_emu_thread *thread, const kiln_emu_site *site, void *record) {
  Thread &self = threadOf(thread);
  self.block->tensorMaps().release(self, site, record);
}

KILN_SWITCHES void kiln_emu_map_publish(kiln_emu_thread *thread, const kiln_emu_site *site,
                                        void *map, const void *image) {
  Thread &self = threadOf(thread);
  // Each lane copies a word.
  load(self, site, KILN_EMU_SHARED, static_cast<const char *>(image) + 4 * self.lane,
       &self.inWarp->words[self.lane], 4, 4);
  self.inWarp->results[self.lane] = reinterpret_cast<uintptr_t>(map);
  self.block->collective(self, site, ~uint64_t(0), [&](Warp &warp) {
    for (uint32_t lane = 1; lane < TensorMaps::mapBytes / 4; ++lane)
      if (warp.results[lane] != warp.results[0])
        self.block->fail(self, site, Finding::Operand, "expected the same map in all lanes");
    self.block->tensorMaps().publish(warp.threads[0], site, map, warp.words);
  });
}

void kiln_emu_map_acquire(kiln_emu_thread *thread, const kiln_emu_site *, const void *map) {
  Thread &self = threadOf(thread);
  self.block->tensorMaps().acquire(self, map);
}

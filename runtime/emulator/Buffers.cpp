// AMD's raw buffer accesses: global memory whose bounds the instruction checks itself.
//
// CDNA3 ISA and RDNA3 ISA, "Vector Memory Buffer Instructions", range checking of raw buffers: what
// is not below the number of records less the scalar offset is out of range; loads from there give
// 0, stores are dropped. Words of longer accesses are checked one by one, atomics as a whole.

#include "runtime/emulator/Block.h"
#include <algorithm>
#include <cstring>

using namespace kiln::emulator;

namespace {

/// How many of the bytes are in range, in whole words (or the access, if it is shorter).
uint32_t bytesInRange(uint32_t records, uint32_t offset, uint32_t scalarOffset, uint32_t bytes) {
  if (scalarOffset >= records || offset >= records - scalarOffset)
    return 0;
  uint32_t left = std::min(records - scalarOffset - offset, bytes);
  return left - left % std::min(bytes, 4u);
}

/// How many of a load's first bytes are an allocation's. Lanes bring whole vectors in whose first
/// element their mask ends (BufferPlanner.h), and what is behind an array in the same 16 bytes is
/// in its page: nobody uses it. All of them where the first is nobody's, which is a mistake.
uint32_t bytesAllocated(const Block &block, const char *address, uint32_t bytes) {
  constexpr uint32_t piece = 16;
  if (!block.launched().check || reinterpret_cast<uintptr_t>(address) % piece + bytes > piece)
    return bytes;
  uint32_t allocated = bytes;
  while (allocated && !block.isAllocated(address, allocated))
    --allocated;
  return allocated ? allocated : bytes;
}

char *addressOf(char *base, uint32_t offset, uint32_t scalarOffset) {
  return base + (uint64_t(offset) + scalarOffset);
}

} // namespace

void kiln_emu_buffer_load(kiln_emu_thread *thread, const kiln_emu_site *site, void *base,
                          uint32_t records, uint32_t offset, uint32_t scalar_offset, void *out,
                          uint32_t bytes) {
  uint32_t valid = bytesInRange(records, offset, scalar_offset, bytes);
  std::memset(out, 0, bytes);
  char *address = addressOf(static_cast<char *>(base), offset, scalar_offset);
  uint32_t allocated = valid ? bytesAllocated(*threadOf(thread).block, address, valid) : bytes;
  if (allocated < valid) // anything, as a number that shows where it is used all the same
    std::memset(static_cast<char *>(out) + allocated, 0xff, valid - allocated);
  kiln_emu_load(thread, site, KILN_EMU_GLOBAL, address, out, allocated, std::min(bytes, 4u),
                valid != 0);
}

void kiln_emu_buffer_store(kiln_emu_thread *thread, const kiln_emu_site *site, void *base,
                           uint32_t records, uint32_t offset, uint32_t scalar_offset,
                           const void *value, uint32_t bytes) {
  uint32_t valid = bytesInRange(records, offset, scalar_offset, bytes);
  kiln_emu_store(thread, site, KILN_EMU_GLOBAL,
                 addressOf(static_cast<char *>(base), offset, scalar_offset), value,
                 valid ? valid : bytes, std::min(bytes, 4u), valid != 0);
}

void *kiln_emu_buffer_atomic(kiln_emu_thread *thread, const kiln_emu_site *site, void *base,
                             uint32_t records, uint32_t offset, uint32_t scalar_offset,
                             void *nowhere, uint32_t bytes) {
  if (bytesInRange(records, offset, scalar_offset, bytes) != bytes) {
    Thread &self = threadOf(thread);
    self.block->count(self, site, {KILN_EMU_GLOBAL, nullptr, bytes, false, true, true});
    return nowhere;
  }
  char *address = addressOf(static_cast<char *>(base), offset, scalar_offset);
  kiln_emu_atomic(thread, site, KILN_EMU_GLOBAL, address, bytes, KILN_EMU_READS | KILN_EMU_WRITES,
                  KILN_EMU_RELAXED, KILN_EMU_SCOPE_DEVICE);
  return address;
}

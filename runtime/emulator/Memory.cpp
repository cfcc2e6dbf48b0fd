// Accesses to global and shared memory, with what is always checked (alignment, the bounds of
// shared memory) and what is checked on demand (registered ranges, races, uninitialised reads).

#include "runtime/emulator/Memory.h"

#include "runtime/emulator/Allocations.h"
#include "runtime/emulator/Block.h"
#include <algorithm>
#include <cinttypes>
#include <cstdio>
#include <cstring>

using namespace kiln::emulator;

namespace {

std::string hex(const void *address) {
  char text[32];
  std::snprintf(text, sizeof text, "0x%" PRIxPTR, reinterpret_cast<uintptr_t>(address));
  return text;
}

std::string bytesAt(uint32_t bytes, const void *address) {
  return std::to_string(bytes) + " bytes at " + hex(address);
}

/// What is wrong with a global address, seen from the caller's arrays.
std::string seenFrom(const Block &block, const kiln_emu_site *site, const void *address) {
  return describeAddress(block.launched(), address, site->element_bytes);
}

void reportRace(Thread &self, const kiln_emu_site *site, const void *address, uint32_t bytes,
                const Conflict &race) {
  const Moment &before = race.before;
  std::string thread = std::to_string(before.thread), place = std::string(before.site->file) + ":" +
                                                              std::to_string(before.site->line) +
                                                              " (" + before.site->operation + ")";
  self.block->report(
      self, site, Finding::Race,
      "race on shared memory: " + bytesAt(bytes, address) + " (offset " +
          std::to_string(self.block->sharedOffset(address)) + "), also " +
          (race.isCopy
               ? "the destination of an asynchronous copy of thread " + thread + " at " + place +
                     " that has not been waited for"
               : "accessed by thread " + thread + " at " + place + " with no barrier between"));
}

void checkShared(Thread &self, const kiln_emu_site *site, const void *address, uint32_t bytes,
                 bool isWrite) {
  Block &block = *self.block;
  uint32_t offset = block.sharedOffset(address);
  bool initialised = true;
  Moment now = block.moment(self, site);
  auto race = isWrite ? block.shadow().write(offset, bytes, now)
                      : block.shadow().read(offset, bytes, now, &initialised);
  if (race)
    reportRace(self, site, address, bytes, *race);
  if (!initialised)
    block.report(self, site, Finding::Uninitialised,
                 "read of shared memory that was never written: " + bytesAt(bytes, address) +
                     " (offset " + std::to_string(offset) + ")");
}

/// Whether the access may be made; else it was reported.
bool admit(Thread &self, const kiln_emu_site *site, uint32_t space, const void *address,
           uint32_t bytes, uint32_t alignment, bool isWrite) {
  Block &block = *self.block;
  if (reinterpret_cast<uintptr_t>(address) & (alignment - 1))
    block.fail(self, site, Finding::Misaligned,
               "misaligned access: " + bytesAt(bytes, address) + ", a multiple of " +
                   std::to_string(alignment) + " is needed" +
                   (space == KILN_EMU_GLOBAL ? seenFrom(block, site, address) : ""));
  if (space == KILN_EMU_SHARED) {
    if (!block.isShared(address, bytes))
      block.fail(self, site, Finding::OutOfBounds,
                 "outside of the block's " + std::to_string(block.sharedSize()) +
                     " bytes of shared memory: " + bytesAt(bytes, address));
    if (block.launched().check)
      checkShared(self, site, address, bytes, isWrite);
    return true;
  }
  if (block.launched().check && !isAllocated(block.launched(), address, bytes)) {
    block.report(self, site, Finding::OutOfBounds,
                 std::string(isWrite ? "store to" : "load from") + " no registered allocation: " +
                     bytesAt(bytes, address) + seenFrom(block, site, address));
    return false;
  }
  return true;
}

/// Whether nothing can be wrong with the access and nobody checks more: most are so.
bool isPlain(const Thread &self, uint32_t space, const void *address, uint32_t bytes,
             uint32_t alignment) {
  const Block &block = *self.block;
  return !(reinterpret_cast<uintptr_t>(address) & (alignment - 1)) && !block.launched().check &&
         (space != KILN_EMU_SHARED || block.isShared(address, bytes));
}

void copy(void *to, const void *from, uint32_t bytes) {
  switch (bytes) {
  case 1:
    return void(std::memcpy(to, from, 1));
  case 2:
    return void(std::memcpy(to, from, 2));
  case 4:
    return void(std::memcpy(to, from, 4));
  case 8:
    return void(std::memcpy(to, from, 8));
  case 16:
    return void(std::memcpy(to, from, 16));
  default:
    std::memcpy(to, from, bytes);
  }
}

} // namespace

void kiln::emulator::load(Thread &self, const kiln_emu_site *site, uint32_t space,
                          const void *address, void *out, uint32_t bytes, uint32_t alignment) {
  if (isPlain(self, space, address, bytes, alignment) ||
      admit(self, site, space, address, bytes, alignment, false))
    copy(out, address, bytes);
  else
    std::memset(out, 0xff, bytes);
}

void kiln::emulator::store(Thread &self, const kiln_emu_site *site, uint32_t space, void *address,
                           const void *value, uint32_t bytes, uint32_t alignment) {
  if (isPlain(self, space, address, bytes, alignment) ||
      admit(self, site, space, address, bytes, alignment, true))
    copy(address, value, bytes);
}

void kiln_emu_load(kiln_emu_thread *thread, const kiln_emu_site *site, uint32_t space,
                   const void *address, void *out, uint32_t bytes, uint32_t alignment,
                   uint32_t predicate) {
  Thread &self = threadOf(thread);
  self.block->count(self, site, {space, address, bytes, predicate != 0, true, false});
  if (predicate)
    load(self, site, space, address, out, bytes, alignment);
}

void kiln_emu_store(kiln_emu_thread *thread, const kiln_emu_site *site, uint32_t space,
                    void *address, const void *value, uint32_t bytes, uint32_t alignment,
                    uint32_t predicate) {
  Thread &self = threadOf(thread);
  self.block->count(self, site, {space, address, bytes, predicate != 0, false, true});
  if (predicate)
    store(self, site, space, address, value, bytes, alignment);
}

void kiln_emu_atomic(kiln_emu_thread *thread, const kiln_emu_site *site, uint32_t space,
                     const void *address, uint32_t bytes) {
  Thread &self = threadOf(thread);
  Block &block = *self.block;
  block.count(self, site, {space, address, bytes, true, true, true});
  if (space == KILN_EMU_SHARED && !block.isShared(address, bytes))
    block.fail(self, site, Finding::OutOfBounds,
               "atomic outside of shared memory: " + bytesAt(bytes, address));
  if (reinterpret_cast<uintptr_t>(address) & (bytes - 1))
    block.fail(self, site, Finding::Misaligned,
               "misaligned atomic: " + bytesAt(bytes, address) +
                   (space == KILN_EMU_GLOBAL ? seenFrom(block, site, address) : ""));
  if (space == KILN_EMU_GLOBAL && block.launched().check &&
      !isAllocated(block.launched(), address, bytes))
    block.fail(self, site, Finding::OutOfBounds,
               "atomic on no registered allocation: " + bytesAt(bytes, address) +
                   seenFrom(block, site, address));
  block.yield(self);
}

void kiln_emu_yield(kiln_emu_thread *thread) {
  Thread &self = threadOf(thread);
  self.block->yield(self);
}

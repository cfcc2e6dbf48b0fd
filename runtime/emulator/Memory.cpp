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

/// What is wrong with a global address, seen from the caller's arrays.
std::string seenFrom(const Block &block, const kiln_emu_site *site, const void *address) {
  return describeAddress(block.launched(), address, site->element_bytes);
}

void checkShared(Thread &self, const kiln_emu_site *site, const void *address, uint32_t bytes,
                 AccessKind kind) {
  Block &block = *self.block;
  uint32_t offset = block.sharedOffset(address);
  bool initialised;
  auto race = block.shadow().add(offset, bytes, block.moment(self, site, kind), initialised);
  auto where = [&] { return bytesAt(bytes, address) + " (offset " + std::to_string(offset) + ")"; };
  if (race)
    block.report(self, site, Finding::Race, "race on shared memory: " + where() + describe(*race));
  if (!initialised && kind == AccessKind::Read && !(race && race->isCopy))
    block.report(self, site, Finding::Uninitialised,
                 "read of shared memory that was never written: " + where());
  if (kind != AccessKind::Write)
    return;
  block.proxies().store(offset, bytes, self.thread, self.inWarp->source, site);
  if (std::string reader = describeReaderInFlight(block, offset, bytes); !reader.empty())
    block.report(self, site, Finding::Race, "race on shared memory: " + where() + reader);
}

/// Two writes of one value do not race: whichever comes last, memory holds it.
void checkGlobal(Thread &self, const kiln_emu_site *site, const void *address, uint32_t bytes,
                 AccessKind kind, const void *value) {
  Block &block = *self.block;
  auto race = block.globalShadow().add(reinterpret_cast<uintptr_t>(address), bytes,
                                       block.moment(self, site, kind));
  if (!race)
    return;
  if (kind == AccessKind::Write && race->kind == AccessKind::Write) {
    unsigned char present[64];
    block.lateStores().load(address, present, bytes);
    if (std::memcmp(present, value, bytes) == 0)
      return;
  }
  block.report(self, site, Finding::Race,
               "race on global memory: " + bytesAt(bytes, address) + ", also accessed by " +
                   describe(*race) + " with no barrier between" + seenFrom(block, site, address));
}

/// Reports a read of global memory that nobody has written, as far as that was registered.
void checkWritten(Thread &self, const kiln_emu_site *site, const void *address, uint32_t bytes) {
  Block &block = *self.block;
  if (isUnwritten(block, address, bytes))
    block.report(self, site, Finding::Uninitialised,
                 "read of global memory that was never written: " + bytesAt(bytes, address) +
                     seenFrom(block, site, address));
}

/// Whether the access may be made; else it was reported. `value` is what a write stores.
bool admit(Thread &self, const kiln_emu_site *site, uint32_t space, const void *address,
           uint32_t bytes, uint32_t alignment, AccessKind kind, const void *value) {
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
      checkShared(self, site, address, bytes, kind);
    return true;
  }
  if (!block.launched().check)
    return true;
  if (!block.isAllocated(address, bytes)) {
    block.report(self, site, Finding::OutOfBounds,
                 std::string(kind == AccessKind::Write ? "store to" : "load from") +
                     " no registered allocation: " + bytesAt(bytes, address) +
                     seenFrom(block, site, address));
    return false;
  }
  checkGlobal(self, site, address, bytes, kind, value);
  if (kind == AccessKind::Read)
    checkWritten(self, site, address, bytes);
  return true;
}

/// Whether nothing can be wrong with the access and nobody checks more: most are so.
bool isPlain(const Thread &self, uint32_t space, const void *address, uint32_t bytes,
             uint32_t alignment) {
  const Block &block = *self.block;
  return !(reinterpret_cast<uintptr_t>(address) & (alignment - 1)) && !block.launched().check &&
         (space != KILN_EMU_SHARED || block.isShared(address, bytes));
}

/// Whether other blocks see the thread's stores there late.
bool isLate(const Thread &self, uint32_t space) {
  return space == KILN_EMU_GLOBAL && self.block->launched().check;
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

/// Before an atomic operation, or several on neighbours: its checks.
void beginAtomic(Thread &self, const kiln_emu_site *site, uint32_t space, const void *address,
                 uint32_t bytes, uint32_t access) {
  Block &block = *self.block;
  if (space == KILN_EMU_SHARED && !block.isShared(address, bytes))
    block.fail(self, site, Finding::OutOfBounds,
               "atomic outside of shared memory: " + bytesAt(bytes, address));
  if (reinterpret_cast<uintptr_t>(address) & (bytes - 1))
    block.fail(self, site, Finding::Misaligned,
               "misaligned atomic: " + bytesAt(bytes, address) +
                   (space == KILN_EMU_GLOBAL ? seenFrom(block, site, address) : ""));
  bool isChecked = block.launched().check, isGlobal = space == KILN_EMU_GLOBAL;
  if (isChecked && isGlobal && !block.isAllocated(address, bytes))
    block.fail(self, site, Finding::OutOfBounds,
               "atomic on no registered allocation: " + bytesAt(bytes, address) +
                   seenFrom(block, site, address));
  // The operation itself follows at once: no other thread of the block runs between.
  block.yield(self);
  if (!isChecked)
    return;
  if (isGlobal && access & KILN_EMU_WRITES)
    checkGlobal(self, site, address, bytes, AccessKind::Atomic, nullptr);
  if (isGlobal && access & KILN_EMU_READS)
    checkWritten(self, site, address, bytes);
  if (!isGlobal)
    return;
  block.lateStores().deliverAt(address, bytes);
  block.caches().drop(self.inWarp->number, address, bytes);
}

void orderAtomic(Thread &self, const void *address, uint32_t ordering) {
  self.block->atomicOrder().update(self.inWarp->source, reinterpret_cast<uintptr_t>(address),
                                   ordering);
}

} // namespace

std::string kiln::emulator::describe(const kiln_emu_site &site) {
  return std::string(site.file) + ":" + std::to_string(site.line) + " (" + site.operation + ")";
}

std::string kiln::emulator::describe(const Moment &before) {
  const uint32_t number = before.thread & threadOfAccess, rank = number / threadsOfBlock;
  return "thread " + std::to_string(number % threadsOfBlock) +
         (rank ? " of the cluster's block " + std::to_string(rank) : "") + " at " +
         describe(*before.site);
}

std::string kiln::emulator::describe(const Conflict &race) {
  return race.isCopy ? ", also the destination of an asynchronous copy of " +
                           describe(race.before) + " that has not been waited for"
                     : ", also accessed by " + describe(race.before) + " with no barrier between";
}

std::string kiln::emulator::describeReaderInFlight(const Block &block, uint32_t offset,
                                                   uint32_t bytes) {
  if (const WarpGroupProduct *reader = block.products().readerOf(offset, bytes))
    return ", also an operand of a product of warp " + std::to_string(reader->warp) + " at " +
           describe(*reader->site) + " that has not been waited for";
  return block.tensorCopies().describeReader(offset, bytes);
}

bool kiln::emulator::isUnwritten(Block &block, const void *address, uint32_t bytes) {
  const kiln_emulated_range *range = allocationOf(block.launched(), address, bytes);
  if (!range || !range->unwritten)
    return false;
  constexpr uintptr_t size = sizeof range->unwritten / 2;
  auto at = reinterpret_cast<uintptr_t>(address), end = at + bytes;
  for (uintptr_t word = at / size * size; word < end; word += size) {
    if (word < range->first || word + size > range->end)
      continue;
    unsigned char present[size];
    block.lateStores().load(reinterpret_cast<const void *>(word), present, size);
    const auto *expected = reinterpret_cast<const unsigned char *>(&range->unwritten);
    if (std::memcmp(present, expected + word % sizeof range->unwritten, size) == 0)
      return true;
  }
  return false;
}

std::string kiln::emulator::bytesAt(uint32_t bytes, const void *address) {
  return std::to_string(bytes) + " bytes at " + hex(address);
}

void kiln::emulator::load(Thread &self, const kiln_emu_site *site, uint32_t space,
                          const void *address, void *out, uint32_t bytes, uint32_t alignment) {
  if (isPlain(self, space, address, bytes, alignment))
    copy(out, address, bytes);
  else if (!admit(self, site, space, address, bytes, alignment, AccessKind::Read, nullptr))
    std::memset(out, 0xff, bytes);
  else if (isLate(self, space)) {
    self.block->lateStores().load(address, out, bytes);
    self.block->caches().load(self.inWarp->number, address, out, bytes);
  } else
    copy(out, address, bytes);
}

void kiln::emulator::store(Thread &self, const kiln_emu_site *site, uint32_t space, void *address,
                           const void *value, uint32_t bytes, uint32_t alignment) {
  if (isPlain(self, space, address, bytes, alignment))
    return copy(address, value, bytes);
  if (!admit(self, site, space, address, bytes, alignment, AccessKind::Write, value))
    return;
  if (isLate(self, space)) {
    self.block->lateStores().store(self.inWarp->source, address, value, bytes);
    self.block->caches().store(self.inWarp->number, address, value, bytes);
  } else
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
                     const void *address, uint32_t bytes, uint32_t access, uint32_t ordering,
                     uint32_t scope) {
  Thread &self = threadOf(thread);
  bool reads = access & KILN_EMU_READS, writes = access & KILN_EMU_WRITES;
  self.block->count(self, site, {space, address, bytes, true, reads, writes});
  beginAtomic(self, site, space, address, bytes, access);
  if (!self.block->launched().check)
    return;
  orderAtomic(self, address, ordering);
  if (releases(ordering))
    self.block->release(self, scope);
  if (acquires(ordering))
    self.block->acquire(self, scope);
}

void *kiln_emu_reduce(kiln_emu_thread *thread, const kiln_emu_site *site, void *address,
                      void *nowhere, uint32_t bytes, uint32_t element_bytes, uint32_t predicate) {
  Thread &self = threadOf(thread);
  self.block->count(self, site, {KILN_EMU_GLOBAL, address, bytes, predicate != 0, true, true});
  if (!predicate)
    return nowhere;
  beginAtomic(self, site, KILN_EMU_GLOBAL, address, bytes, KILN_EMU_READS | KILN_EMU_WRITES);
  if (self.block->launched().check)
    for (uint32_t offset = 0; offset < bytes; offset += element_bytes)
      orderAtomic(self, static_cast<char *>(address) + offset, KILN_EMU_RELAXED);
  return address;
}

void kiln_emu_fence(kiln_emu_thread *thread, uint32_t space, uint32_t ordering, uint32_t scope) {
  Thread &self = threadOf(thread);
  if (!self.block->launched().check || scope == KILN_EMU_SCOPE_WARP)
    return;
  self.block->atomicOrder().fence(self.inWarp->source, ordering, space);
  if (space != KILN_EMU_GLOBAL)
    return;
  if (releases(ordering))
    self.block->release(self, scope);
  if (acquires(ordering))
    self.block->acquire(self, scope);
}

void kiln_emu_bypass(kiln_emu_thread *thread, const void *address, uint32_t bytes) {
  Thread &self = threadOf(thread);
  self.block->caches().drop(self.inWarp->number, address, bytes);
}

void kiln_emu_yield(kiln_emu_thread *thread) {
  Thread &self = threadOf(thread);
  self.block->yield(self);
}

#include "runtime/emulator/AsyncCopies.h"

#include "runtime/emulator/Block.h"
#include "runtime/emulator/Memory.h"
#include <algorithm>
#include <cstring>

using namespace kiln::emulator;

namespace {

/// Until a copy lands nobody may touch its destination.
void beginCopy(Thread &self, const AsyncCopy &copy) {
  Block &block = *self.block;
  if (block.launched().check)
    block.shadow().beginCopy(block.sharedOffset(copy.to), copy.bytes,
                             block.moment(self, copy.site, AccessKind::Write));
}
void endCopy(Thread &self, const AsyncCopy &copy) {
  Block &block = *self.block;
  if (block.launched().check)
    block.shadow().endCopy(block.sharedOffset(copy.to), copy.bytes);
}

} // namespace

void kiln::emulator::land(Thread &thread, const std::vector<AsyncCopy> &copies) {
  Block &block = *thread.block;
  for (const AsyncCopy &copy : copies) {
    unsigned char bytes[16] = {};
    endCopy(thread, copy);
    if (copy.copied)
      load(thread, copy.site, KILN_EMU_GLOBAL, copy.from, bytes, copy.copied, 1);
    store(thread, copy.site, KILN_EMU_SHARED, copy.to, bytes, copy.bytes, copy.bytes);
    if (block.launched().check)
      block.proxies().copied(block.sharedOffset(copy.to), copy.bytes);
  }
}

void kiln::emulator::reportUnfinishedCopies(Block &block) {
  for (uint32_t number = 0; number < block.numWarps(); ++number) {
    Warp &warp = block.warp(number);
    for (uint64_t lanes = warp.full; lanes; lanes &= lanes - 1) {
      Thread &thread = warp.threads[__builtin_ctzll(lanes)];
      if (thread.copies.ofWarp && !thread.copies.open.empty())
        block.report(thread, thread.copies.open.front().site, Finding::Copy,
                     "expected the copy to be waited for before its warp ends");
    }
  }
}

namespace {

/// From here on the copy is in flight.
void start(Thread &self, const AsyncCopy &copy) {
  auto [to, from, bytes, copied, site] = copy;
  if (copied > bytes || (bytes != 4 && bytes != 8 && bytes != 16))
    self.block->fail(self, site, Finding::Operand,
                     "copies " + std::to_string(copied) + " of " + std::to_string(bytes) +
                         " bytes");
  if (reinterpret_cast<uintptr_t>(from) % bytes)
    self.block->fail(self, site, Finding::Misaligned,
                     "the source of " + std::to_string(bytes) + " bytes is not a multiple of them");
  unsigned char poison[16];
  std::memset(poison, 0xff, sizeof poison);
  self.block->count(self, site, {KILN_EMU_GLOBAL, from, copied, copied != 0, true, false});
  self.block->count(self, site, {KILN_EMU_SHARED, to, bytes, true, false, true});
  store(self, site, KILN_EMU_SHARED, to, poison, bytes, bytes);
  self.copies.open.push_back(copy);
  beginCopy(self, copy);
}

/// A wave has one address for all of its lanes (m0).
void checkTarget(Thread &self, const kiln_emu_site *site, const void *to) {
  std::vector<const void *> &targets = self.inWarp->copyTargets;
  size_t number = self.copies.ofWarp++;
  if (number == targets.size())
    targets.push_back(to);
  else if (targets[number] != to)
    self.block->report(self, site, Finding::Operand,
                       "copies of a warp have one address in shared memory, got another than the "
                       "warp's other lanes");
}

} // namespace

void kiln_emu_cp_async(kiln_emu_thread *thread, const kiln_emu_site *site, void *to,
                       const void *from, uint32_t bytes, uint32_t copied) {
  if (bytes)
    start(threadOf(thread), {to, from, bytes, copied, site});
}

void kiln_emu_warp_copy(kiln_emu_thread *thread, const kiln_emu_site *site, void *to,
                        const void *from, uint32_t is_copied) {
  constexpr uint32_t bytes = 16;
  Thread &self = threadOf(thread);
  if (self.block->launched().check)
    checkTarget(self, site, to);
  // Lanes that copy nothing read zeros elsewhere.
  char *piece = static_cast<char *>(to) + bytes * self.lane;
  start(self, {piece, is_copied ? from : nullptr, bytes, is_copied ? bytes : 0, site});
}

void kiln_emu_wait_copies(kiln_emu_thread *thread, uint32_t pending) {
  Thread &self = threadOf(thread);
  if (!pending)
    self.block->lateStores().arrive(self.inWarp->source);
  std::vector<AsyncCopy> &copies = self.copies.open;
  if (copies.size() <= pending)
    return;
  auto end = copies.end() - pending;
  land(self, {copies.begin(), end});
  copies.erase(copies.begin(), end);
}

void kiln_emu_cp_async_commit(kiln_emu_thread *thread) {
  AsyncCopies &copies = threadOf(thread).copies;
  copies.groups.push_back(std::move(copies.open));
  copies.open.clear();
}

void kiln_emu_cp_async_wait(kiln_emu_thread *thread, uint32_t pending) {
  Thread &self = threadOf(thread);
  AsyncCopies &copies = self.copies;
  if (copies.groups.size() <= pending)
    return;
  auto end = copies.groups.end() - pending;
  for (auto group = copies.groups.begin(); group != end; ++group)
    land(self, *group);
  copies.groups.erase(copies.groups.begin(), end);
}

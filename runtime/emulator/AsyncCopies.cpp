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

void kiln_emu_cp_async(kiln_emu_thread *thread, const kiln_emu_site *site, void *to,
                       const void *from, uint32_t bytes, uint32_t copied) {
  if (!bytes)
    return;
  Thread &self = threadOf(thread);
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
  self.copies.open.push_back({to, from, bytes, copied, site});
  beginCopy(self, self.copies.open.back());
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

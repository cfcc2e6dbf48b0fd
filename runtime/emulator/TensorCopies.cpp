#include "runtime/emulator/TensorCopies.h"

#include "runtime/emulator/Allocations.h"
#include "runtime/emulator/Cluster.h"
#include "runtime/emulator/Memory.h"
#include "runtime/emulator/Requests.h"
#include "runtime/emulator/TensorReductions.h"
#include <algorithm>
#include <cstring>

using namespace kiln::emulator;

namespace kiln::emulator {
namespace {

std::string boxAt(const TensorCopy &copy) {
  return std::to_string(copy.box.bytes()) + " bytes at offset " + std::to_string(copy.shared);
}

/// Of a copy that begins now: what its accesses count as, at the time of `source`.
Moment landing(const Block &block, const TensorCopy &copy, uint32_t source, AccessKind kind) {
  return {block.now(source),
          awaitedEpoch,
          uint16_t(Block::numberInCluster(*copy.thread) | asynchronousAccess | boxAccess),
          uint8_t(source),
          kind,
          copy.site};
}

/// A copy is one request; shared memory takes it 128 bytes at a time.
/// Other blocks of the cluster that get it as well read nothing.
void count(const Block &block, Thread &self, const TensorCopy &copy) {
  if (!self.counting)
    return;
  BoxTransfer transfer;
  std::vector<ByteRange> rows;
  if (&block == self.block)
    copy.box.forRows([&](char *address, uint32_t, uint32_t bytes) {
      auto first = reinterpret_cast<uintptr_t>(address);
      rows.push_back({first, first + bytes});
      transfer.globalBytes += bytes;
    });
  transfer.sectors = globalSectors(rows.data(), rows.size());
  transfer.sharedBytes = copy.box.bytes();
  transfer.readsGlobal = copy.operation != KILN_EMU_BOX_STORE;
  transfer.writesGlobal = copy.operation != KILN_EMU_BOX_LOAD;
  self.block->count(copy.site, transfer);
}

} // namespace

TensorCopy TensorCopies::begin(Thread &self, const kiln_emu_site *site, uint32_t operation,
                               const kiln_emu_tensor_map *map, const int32_t *coordinates,
                               uint32_t rank, const void *shared) {
  if (block.launched().check)
    if (std::string problem = self.block->tensorMaps().problemOf(self, map); !problem.empty())
      block.fail(self, site, Finding::Proxy, problem);
  if (std::string problem = TensorBox::problemOf(map, rank); !problem.empty())
    block.fail(self, site, Finding::Operand, problem);
  kiln_emu_tensor_map used = *map;
  // As an H200 has it, which stops at others.
  const int32_t elements = TensorBox::pieceBytes / map->element_bytes;
  if (coordinates[0] % elements)
    block.fail(self, site, Finding::Operand,
               "expected a first coordinate that is a multiple of 16 bytes, got " +
                   std::to_string(coordinates[0]) + " elements");
  if (operation != KILN_EMU_BOX_LOAD) {
    if (std::any_of(coordinates, coordinates + rank, [](int32_t place) { return place < 0; }))
      block.fail(self, site, Finding::Operand,
                 "expected coordinates to write at that are not negative");
    // It also writes the whole piece in which a row ends.
    used.extents[0] = (used.extents[0] + elements - 1) / elements * elements;
  }
  TensorCopy copy{
      TensorBox(used, coordinates), map, block.sharedOffset(shared), operation, &self, site};
  if (!block.isShared(shared, copy.box.bytes()))
    block.fail(self, site, Finding::OutOfBounds,
               "outside of the block's " + std::to_string(block.sharedSize()) +
                   " bytes of shared memory: " + bytesAt(copy.box.bytes(), shared));
  if (copy.shared % TensorBox::alignment)
    block.fail(self, site, Finding::Misaligned,
               "misaligned box: " + bytesAt(copy.box.bytes(), shared) + " (offset " +
                   std::to_string(copy.shared) + "), a multiple of " +
                   std::to_string(TensorBox::alignment) + " is needed");
  count(block, self, copy);
  return copy;
}

//===-- checks
//-------------------------------------------------------------------------------===//

void TensorCopies::checkShared(const TensorCopy &copy, AccessKind kind) {
  const Thread &self = *copy.thread;
  bool initialised;
  auto race = block.shadow().check(copy.shared, copy.box.bytes(),
                                   block.moment(self, copy.site, kind), initialised);
  std::string other = race ? describe(*race) : "";
  if (other.empty() && kind == AccessKind::Write)
    other = describeReaderInFlight(block, copy.shared, copy.box.bytes());
  if (!other.empty())
    block.report(self, copy.site, Finding::Race, "race on shared memory: " + boxAt(copy) + other);
  if (const ProxyOrder::Store *store =
          block.proxies().unseen(copy.shared, copy.box.bytes(), self.inWarp->source))
    block.report(self, copy.site, Finding::Proxy,
                 "expected fence.proxy.async by thread " + std::to_string(store->thread) +
                     " between its store at " + describe(*store->site) +
                     " and the barrier before the copy that " +
                     (kind == AccessKind::Write ? "overwrites" : "reads") + " it: " + boxAt(copy));
}

/// Of a store: what is written to the tensor must have been written to shared memory.
void TensorCopies::checkSource(const TensorCopy &copy) {
  Moment now = block.moment(*copy.thread, copy.site, AccessKind::Read);
  bool isWritten = true;
  copy.box.forPieces(copy.shared, [&](uint32_t, uint32_t place, uint32_t bytes) {
    bool initialised;
    block.shadow().check(place, bytes, now, initialised);
    isWritten &= initialised;
  });
  if (!isWritten)
    block.report(*copy.thread, copy.site, Finding::Uninitialised,
                 "read of shared memory that was never written: in the " + boxAt(copy));
}

/// Of one that the kernel makes: the copy reads it until it is over.
void TensorCopies::checkMap(const TensorCopy &copy) {
  if (!block.tensorMaps().owns(copy.map, sizeof *copy.map))
    return;
  Moment end = copy.landed;
  end.kind = AccessKind::Read;
  if (auto race =
          block.globalShadow().add(reinterpret_cast<uintptr_t>(copy.map), sizeof *copy.map,
                                   block.moment(*copy.thread, copy.site, AccessKind::Read), end))
    block.report(*copy.thread, copy.site, Finding::Race,
                 "race on a tensor map, also accessed by " + describe(*race) +
                     " with no barrier between");
}

void TensorCopies::checkGlobal(const TensorCopy &copy, AccessKind kind) {
  const Thread &self = *copy.thread;
  Moment now = block.moment(self, copy.site, kind);
  auto seenFrom = [&](const void *address) {
    return describeAddress(block.launched(), address, copy.box.elementBytes());
  };
  copy.box.forRows([&](char *address, uint32_t, uint32_t bytes) {
    if (!mayAccess(address, bytes))
      return block.report(self, copy.site, Finding::OutOfBounds,
                          std::string(kind == AccessKind::Read ? "load from" : "store to") +
                              " no registered allocation: " + bytesAt(bytes, address) +
                              seenFrom(address));
    if (auto race =
            block.globalShadow().add(reinterpret_cast<uintptr_t>(address), bytes, now, copy.landed))
      block.report(self, copy.site, Finding::Race,
                   "race on global memory: " + bytesAt(bytes, address) + ", also accessed by " +
                       describe(*race) + " with no barrier between" + seenFrom(address));
    if (kind == AccessKind::Read && isUnwritten(block, address, bytes))
      block.report(self, copy.site, Finding::Uninitialised,
                   "read of global memory that was never written: in the row of " +
                       bytesAt(bytes, address) + seenFrom(address));
  });
}

bool TensorCopies::mayAccess(const void *address, uint32_t bytes) const {
  return !block.launched().check || block.isAllocated(address, bytes);
}

std::string TensorCopies::describeReader(uint32_t offset, uint32_t bytes) const {
  for (const Read &read : reads)
    if (offset < read.end && read.first < offset + bytes)
      return ", also the source of an asynchronous copy of thread " +
             std::to_string(read.thread->thread) + " at " + describe(*read.site) +
             " that has not been waited for";
  return "";
}

//===-- loads
//--------------------------------------------------------------------------------===//

void TensorCopies::load(TensorCopy &copy, uint32_t source) {
  if (block.launched().check) {
    copy.landed = landing(block, copy, source, AccessKind::Read);
    checkShared(copy, AccessKind::Write);
    checkMap(copy);
    checkGlobal(copy, AccessKind::Read);
    block.shadow().beginCopy(copy.shared, copy.box.bytes(),
                             block.moment(*copy.thread, copy.site, AccessKind::Write));
  }
  std::memset(block.sharedBase() + copy.shared, 0xff, copy.box.bytes());
  ++numLoads;
}

void TensorCopies::readFrom(char *memory, unsigned char *to, uint32_t bytes) const {
  if (!mayAccess(memory, bytes))
    std::memset(to, 0xff, bytes);
  else if (block.launched().check)
    block.lateStores().load(memory, to, bytes);
  else
    std::memcpy(to, memory, bytes);
}

void TensorCopies::land(const TensorCopy &copy) {
  const TensorBox &box = copy.box;
  std::vector<unsigned char> elements(box.bytes());
  box.fill(elements.data());
  box.forRows([&](char *address, uint32_t offset, uint32_t bytes) {
    readFrom(address, &elements[offset], bytes);
  });
  for (uint32_t offset = 0; offset < box.bytes(); offset += TensorBox::pieceBytes)
    std::memcpy(block.sharedBase() + box.place(copy.shared, offset), &elements[offset],
                TensorBox::pieceBytes);
  --numLoads;
  if (!block.launched().check)
    return;
  Moment written = copy.landed;
  written.kind = AccessKind::Write;
  bool initialised;
  block.shadow().endCopy(copy.shared, box.bytes());
  block.shadow().add(copy.shared, box.bytes(), written, initialised);
  block.proxies().copied(copy.shared, box.bytes());
}

//===-- stores
//-------------------------------------------------------------------------------===//

void TensorCopies::store(TensorCopy &&copy) {
  TensorStores &stores = copy.thread->stores;
  if (block.launched().check) {
    if (stores.source == TensorStores::noSource)
      stores.source = block.addSource(*copy.thread, copy.site);
    AccessKind kind = copy.operation == KILN_EMU_BOX_STORE ? AccessKind::Write : AccessKind::Atomic;
    copy.landed = landing(block, copy, stores.source, kind);
    checkShared(copy, AccessKind::Read);
    checkSource(copy);
    checkMap(copy);
    checkGlobal(copy, kind);
    reads.push_back({copy.shared, copy.shared + copy.box.bytes(), copy.thread, copy.site});
  }
  stores.open.push_back(std::move(copy));
  ++numStores;
}

void TensorCopies::commit(Thread &self) {
  TensorStores &stores = self.stores;
  WarpClocks::Clock mark;
  if (stores.source != TensorStores::noSource)
    block.warpClocks().release(stores.source, mark);
  stores.groups.push_back({std::move(stores.open), std::move(mark)});
  stores.open.clear();
}

void TensorCopies::read(TensorCopy &copy) {
  if (!copy.read.empty())
    return;
  const uint32_t bytes = copy.box.bytes();
  copy.read.resize(bytes);
  for (uint32_t offset = 0; offset < bytes; offset += TensorBox::pieceBytes)
    std::memcpy(&copy.read[offset], block.sharedBase() + copy.box.place(copy.shared, offset),
                TensorBox::pieceBytes);
  if (!block.launched().check)
    return;
  bool initialised;
  block.shadow().add(copy.shared, bytes, block.moment(*copy.thread, copy.site, AccessKind::Read),
                     initialised);
  reads.erase(std::find_if(reads.begin(), reads.end(), [&](const Read &read) {
    return read.first == copy.shared && read.end == copy.shared + bytes &&
           read.thread == copy.thread && read.site == copy.site;
  }));
}

void TensorCopies::write(const TensorCopy &copy) {
  const bool checks = block.launched().check;
  const uint32_t elementBytes = copy.box.elementBytes();
  --numStores;
  copy.box.forRows([&](char *address, uint32_t offset, uint32_t bytes) {
    const unsigned char *from = &copy.read[offset];
    if (!mayAccess(address, bytes))
      return;
    if (copy.operation == KILN_EMU_BOX_STORE && checks)
      return block.lateStores().store(copy.thread->inWarp->source, address, from, bytes);
    if (copy.operation == KILN_EMU_BOX_STORE)
      return void(std::memcpy(address, from, bytes));
    if (checks)
      block.lateStores().deliverAt(address, bytes);
    for (uint32_t byte = 0; byte < bytes; byte += elementBytes)
      reduce(copy.operation, copy.box.element(), address + byte, from + byte);
  });
}

void TensorCopies::wait(Thread &self, uint32_t pending, bool isRead) {
  std::vector<TensorStores::Group> &groups = self.stores.groups;
  if (groups.size() <= pending)
    return;
  auto end = groups.end() - pending;
  for (auto group = groups.begin(); group != end; ++group)
    for (TensorCopy &copy : group->copies)
      read(copy);
  if (isRead)
    return;
  for (auto group = groups.begin(); group != end; ++group) {
    for (const TensorCopy &copy : group->copies)
      write(copy);
    if (block.launched().check)
      block.warpClocks().acquire(self.inWarp->source, group->mark);
  }
  groups.erase(groups.begin(), end);
}

void TensorCopies::finish(Thread &thread) {
  auto end = [&](TensorCopy &copy, const char *mistake) {
    if (copy.read.empty() && block.launched().check)
      block.report(thread, copy.site, Finding::Copy, mistake);
    read(copy);
    write(copy);
  };
  for (TensorStores::Group &group : thread.stores.groups)
    for (TensorCopy &copy : group.copies)
      end(copy, "expected the copy to be waited for, as it still reads shared memory");
  for (TensorCopy &copy : thread.stores.open)
    end(copy, "expected the copy to be committed and waited for");
}

} // namespace kiln::emulator

void kiln_emu_tensor_load(kiln_emu_thread *thread, const kiln_emu_site *site, void *to,
                          const kiln_emu_tensor_map *map, const int32_t *coordinates, uint32_t rank,
                          void *mbarrier) {
  Thread &self = threadOf(thread);
  TensorCopy copy =
      self.block->tensorCopies().begin(self, site, KILN_EMU_BOX_LOAD, map, coordinates, rank, to);
  track(*self.block, self, barrierAt(self, site, mbarrier), copy);
}

void kiln_emu_tensor_multicast(kiln_emu_thread *thread, const kiln_emu_site *site, void *to,
                               const kiln_emu_tensor_map *map, const int32_t *coordinates,
                               uint32_t rank, void *mbarrier, uint32_t mask) {
  Thread &self = threadOf(thread);
  Cluster &cluster = self.block->cluster();
  for (uint32_t each = 0; mask >> each; ++each) {
    if (!(mask >> each & 1))
      continue;
    void *placed = cluster.placeIn(self, site, to, each);
    MemoryBarrier &counts = barrierAt(self, site, cluster.placeIn(self, site, mbarrier, each));
    Block &block = cluster.block(each);
    track(
        block, self, counts,
        block.tensorCopies().begin(self, site, KILN_EMU_BOX_LOAD, map, coordinates, rank, placed));
  }
}

void kiln_emu_tensor_store(kiln_emu_thread *thread, const kiln_emu_site *site, uint32_t operation,
                           const kiln_emu_tensor_map *map, const int32_t *coordinates,
                           uint32_t rank, const void *from) {
  Thread &self = threadOf(thread);
  TensorCopies &copies = self.block->tensorCopies();
  TensorCopy copy = copies.begin(self, site, operation, map, coordinates, rank, from);
  if (operation != KILN_EMU_BOX_STORE && !isReduction(operation, copy.box.element()))
    self.block->fail(self, site, Finding::Operand,
                     "there is no such reduction of elements of the tensor map's type");
  copies.store(std::move(copy));
}

void kiln_emu_bulk_commit(kiln_emu_thread *thread) {
  Thread &self = threadOf(thread);
  self.block->tensorCopies().commit(self);
}

void kiln_emu_bulk_wait(kiln_emu_thread *thread, uint32_t pending, uint32_t is_read) {
  Thread &self = threadOf(thread);
  self.block->tensorCopies().wait(self, pending, is_read != 0);
}

#include "runtime/emulator/Cluster.h"

#include "runtime/emulator/Memory.h"
#include <algorithm>

namespace kiln::emulator {

void Cluster::run(const kiln_emu_kernel &kernel, void *const *params, const uint32_t program[3],
                  const uint32_t programs[3], kiln_emulated_launch &launch) {
  used = std::max(launch.cluster, 1u);
  while (blocks.size() < used)
    blocks.push_back(std::make_unique<Block>(*this));
  if (launch.check)
    clocks.reset(used * ((kernel.threads + kernel.warp_size - 1) / kernel.warp_size));
  barrier = Barrier();
  barrier.expected = used * kernel.threads;
  for (uint32_t rank = 0; rank < used; ++rank)
    if (!blocks[rank]->begin(kernel, params, program, programs, launch, rank))
      return;
  host.switchTo(*blocks[0]->next());
  for (uint32_t rank = 0; rank < used; ++rank)
    blocks[rank]->end();
}

Thread *Cluster::nextElsewhere(const Block &block) {
  for (uint32_t step = 1; step < used; ++step)
    if (Thread *thread = blocks[(block.rankInCluster() + step) % used]->next())
      return thread;
  return nullptr;
}

Block *Cluster::ownerOf(const void *address, uint32_t bytes) {
  for (uint32_t rank = 0; rank < used; ++rank)
    if (blocks[rank]->isShared(address, bytes))
      return blocks[rank].get();
  return nullptr;
}

void *Cluster::placeIn(Thread &self, const kiln_emu_site *site, const void *address,
                       uint32_t rank) {
  Block &own = *self.block;
  if (rank >= used)
    own.fail(self, site, Finding::Operand,
             "block " + std::to_string(rank) + " of a cluster of " + std::to_string(used));
  if (!own.isShared(address, 1))
    own.fail(self, site, Finding::OutOfBounds,
             "outside of the block's shared memory: " + bytesAt(1, address));
  return blocks[rank]->sharedBase() + own.sharedOffset(address);
}

//===-- all threads meet
//---------------------------------------------------------------------===//

void Cluster::arrive(Thread &self, const kiln_emu_site *site) {
  if (self.hasArrived)
    self.block->fail(self, site, Finding::Divergence,
                     "expected barrier.cluster.wait before the thread arrives again");
  self.hasArrived = true;
  self.clusterPhase = barrier.phase;
  if (self.block->launched().check)
    clocks.release(self.inWarp->source, barrier.arriving);
  ++barrier.arrived;
  completeIfDone();
}

void Cluster::wait(Thread &self, const kiln_emu_site *site) {
  if (!self.hasArrived)
    self.block->fail(self, site, Finding::Divergence,
                     "expected barrier.cluster.arrive before the thread waits");
  while (barrier.phase == self.clusterPhase) {
    barrier.waiting.push_back(&self);
    self.block->wait(self, site);
  }
  self.hasArrived = false;
  if (!self.block->launched().check)
    return;
  clocks.acquire(self.inWarp->source, barrier.completed);
  ++self.inWarp->epoch;
}

void Cluster::noteReturn() {
  --barrier.expected;
  completeIfDone();
}

void Cluster::completeIfDone() {
  if (!barrier.arrived || barrier.arrived < barrier.expected)
    return;
  barrier.arrived = 0;
  ++barrier.phase;
  barrier.completed = std::move(barrier.arriving);
  barrier.arriving.clear();
  for (Thread *sleeper : barrier.waiting)
    sleeper->block->wake(*sleeper);
  barrier.waiting.clear();
}

//===-- what others do to a block's memory is over before the block
//-----------------------------------===//

void Block::noteReach(const Moment &moment) { reaches.push_back(moment); }

/// Whether some warp of the block knew of what others did to its memory.
void Block::checkReaches(const Thread &last) {
  for (const Moment &reach : reaches)
    if (std::none_of(warps.begin(), warps.end(), [&](const Warp &warp) {
          return clocks.isAfter(warp.source, reach.warp, reach.clock);
        }))
      return report(last, reach.site, Finding::Race,
                    "expected a barrier of the cluster between this and the end of the block whose "
                    "shared memory it reaches, by " +
                        describe(reach));
}

} // namespace kiln::emulator

using namespace kiln::emulator;

void *kiln_emu_cluster_address(kiln_emu_thread *thread, const kiln_emu_site *site,
                               const void *address, uint32_t rank) {
  Thread &self = threadOf(thread);
  return self.block->cluster().placeIn(self, site, address, rank);
}

void kiln_emu_cluster_arrive(kiln_emu_thread *thread, const kiln_emu_site *site) {
  Thread &self = threadOf(thread);
  self.block->cluster().arrive(self, site);
}

void kiln_emu_cluster_wait(kiln_emu_thread *thread, const kiln_emu_site *site) {
  Thread &self = threadOf(thread);
  self.block->cluster().wait(self, site);
}

extern "C" void kiln_emu_run_block(const kiln_emu_kernel *kernel, void *const *params,
                                   const uint32_t program[3], const uint32_t programs[3],
                                   void *launch) {
  // Stacks and shared memory serve all blocks that this host thread runs.
  static thread_local Cluster cluster;
  cluster.run(*kernel, params, program, programs, *static_cast<kiln_emulated_launch *>(launch));
}

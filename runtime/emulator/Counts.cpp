#include "runtime/emulator/Counts.h"

#include <algorithm>
#include <cassert>

namespace kiln::emulator {
namespace {

/// How many rounds of loops lanes begin before the rest of their warp follows.
constexpr uint32_t longestLead = 32;
/// Events that are kept for lanes that may still come.
constexpr size_t mostVisits = 1 << 16, mostRequests = 1 << 12;

/// Keys are not looked at but for equality. splitmix64 (Steele, Lea and Flood, "Fast splittable
/// pseudorandom number generators", 2014).
uint64_t mix(uint64_t key, uint64_t part) {
  uint64_t z = key + (part + 1) * 0x9e3779b97f4a7c15;
  z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9;
  z = (z ^ (z >> 27)) * 0x94d049bb133111eb;
  return z ^ (z >> 31);
}

template <typename Sequence> Sequence &made(std::unique_ptr<Sequence> &sequence) {
  if (!sequence)
    sequence = std::make_unique<Sequence>();
  return *sequence;
}

} // namespace

void Counts::reset(const kiln_emu_kernel &code) {
  kernel = &code;
  lanes.assign(code.threads, Lane());
  numWarps = (code.threads + code.warp_size - 1) / code.warp_size;
  numLoops = 0;
  for (uint32_t block = 0; block < code.num_blocks; ++block)
    numLoops = std::max(numLoops, code.blocks[block].depth);
  loops.assign(size_t(code.threads) * (numLoops + 1), Loop());
  paces.assign(numWarps, Pace());
  executions.assign(code.num_blocks, Executions());
  totals.assign(code.num_sites, kiln_emulator_count());
  // What stands here is empty, and of use for every kernel.
  visits.resize(size_t(code.num_blocks) * numWarps);
  requests.resize(size_t(code.num_sites) * 2 * numWarps);
}

uint64_t Counts::everyLane(uint32_t warp) const {
  uint32_t number = std::min(kernel->warp_size, kernel->threads - warp * kernel->warp_size);
  return number >= 64 ? ~uint64_t(0) : (uint64_t(1) << number) - 1;
}

//===-- basic blocks -------------------------------------------------------------------------===//

WarpSequence<Counts::Visit> &Counts::visitsOf(uint32_t warp, uint32_t block) {
  return made(visits[size_t(block) * numWarps + warp]);
}

bool Counts::isInLoop(uint32_t block, uint32_t header) const {
  if (block == KILN_EMU_NONE)
    return false;
  uint32_t loop = kernel->blocks[block].loop;
  while (loop != header && loop != KILN_EMU_NONE)
    loop = kernel->blocks[loop].outer;
  return loop == header;
}

/// Tells visits of the block apart: by the iteration of each loop around it.
uint64_t Counts::loopKey(uint32_t thread, uint32_t block) {
  const kiln_emu_basic_block &code = kernel->blocks[block];
  Loop *own = &loops[size_t(thread) * (numLoops + 1)] + code.depth;
  if (code.loop == block) {
    own->iteration = isInLoop(lanes[thread].block, block) ? own->iteration + 1 : 0;
    own->key = mix(own[-1].key, own->iteration);
  }
  return own->key;
}

/// Takes note of the way on which the thread leaves a block with a branch.
void Counts::leave(uint32_t thread, uint32_t next) {
  Lane &lane = lanes[thread];
  if (lane.block == KILN_EMU_NONE || kernel->blocks[lane.block].branch == KILN_EMU_NONE)
    return;
  uint32_t warp = warpOf(thread);
  WarpSequence<Visit> &sequence = visitsOf(warp, lane.block);
  if (!sequence.has(lane.visit))
    return;
  Visit &visit = sequence.at(lane.visit);
  if (!visit.left)
    visit.next = next;
  if (visit.next != next && !visit.isDivergent) {
    visit.isDivergent = true;
    ++executions[lane.block].divergent;
  }
  visit.left |= uint64_t(1) << laneOf(thread);
  if (visit.left == everyLane(warp)) {
    visit.isDone = true;
    sequence.dropDone();
  }
}

uint64_t Counts::lanesToWaitFor(uint32_t thread, uint64_t runnable) {
  Pace &pace = paces[warpOf(thread)];
  if (pace.rest) {
    --pace.rest;
    return 0;
  }
  pace.ahead |= uint64_t(1) << laneOf(thread);
  uint64_t behind = runnable & ~pace.ahead;
  if (!behind)
    pace = {longestLead, 0};
  return behind;
}

bool Counts::enter(uint32_t thread, uint32_t block) {
  leave(thread, block);
  Lane &lane = lanes[thread];
  uint32_t warp = warpOf(thread);
  lane.key = loopKey(thread, block);
  lane.block = block;
  lane.numAccesses = 0;
  WarpSequence<Visit> &sequence = visitsOf(warp, block);
  bool isFirst;
  Visit &visit = sequence.join(laneOf(thread), lane.key, lane.visit, isFirst);
  visit.came |= uint64_t(1) << laneOf(thread);
  executions[block].warps += isFirst;
  ++executions[block].threads;
  if (kernel->blocks[block].branch == KILN_EMU_NONE && visit.came == everyLane(warp)) {
    visit.isDone = true;
    sequence.dropDone();
  } else if (sequence.size() > mostVisits) {
    sequence.dropHalf([](const Visit &) {});
  }
  // An access belongs to its block's visit.
  lane.key = mix(lane.key, block);
  return isFirst && kernel->blocks[block].loop == block;
}

//===-- accesses -----------------------------------------------------------------------------===//

void Counts::access(uint32_t thread, const kiln_emu_site *site, const Access &access) {
  assert(site->index < kernel->num_sites && kernel->sites[site->index] == site);
  Lane &lane = lanes[thread];
  uint32_t warp = warpOf(thread), number = laneOf(thread);
  WarpSequence<Request> &sequence =
      made(requests[(size_t(site->index) * 2 + access.space) * numWarps + warp]);
  uint64_t place;
  bool isFirst;
  Request &request = sequence.join(number, mix(lane.key, lane.numAccesses++), place, isFirst);
  request.came |= uint64_t(1) << number;
  request.isRead = access.isRead;
  request.isWritten = access.isWritten;
  if (access.isActive) {
    request.active |= uint64_t(1) << number;
    request.bytes[number] = uint8_t(access.bytes);
    request.addresses[number] = reinterpret_cast<uintptr_t>(access.address);
  }
  auto last = [&](const Request &late) { finish(late, site->index, access.space); };
  if (request.came == everyLane(warp)) {
    last(request);
    request.isDone = true;
    sequence.dropDone();
  } else if (sequence.size() > mostRequests) {
    sequence.dropHalf(last);
  }
}

void Counts::transfer(const kiln_emu_site *site, const BoxTransfer &box) {
  constexpr uint64_t wavefrontBytes = 128;
  kiln_emulator_count &total = totals[site->index];
  total.global_requests += box.globalBytes != 0;
  total.sectors += box.sectors.made;
  total.ideal_sectors += box.sectors.ideal;
  total.global_read += box.readsGlobal ? box.globalBytes : 0;
  total.global_written += box.writesGlobal ? box.globalBytes : 0;
  ++total.shared_requests;
  const uint64_t wavefronts = (box.sharedBytes + wavefrontBytes - 1) / wavefrontBytes;
  total.wavefronts += wavefronts;
  total.ideal_wavefronts += wavefronts;
  (box.writesGlobal ? total.shared_read : total.shared_written) += box.sharedBytes;
}

/// No further lane will come to the request.
void Counts::finish(const Request &request, uint32_t site, uint32_t space) {
  if (!request.active)
    return;
  uint8_t numbers[maxLanes], bytes[maxLanes];
  uintptr_t addresses[maxLanes];
  uint32_t count = 0;
  uint64_t sum = 0;
  for (uint64_t rest = request.active; rest; rest &= rest - 1) {
    unsigned lane = unsigned(__builtin_ctzll(rest));
    numbers[count] = uint8_t(lane);
    bytes[count] = request.bytes[lane];
    addresses[count++] = request.addresses[lane];
    sum += request.bytes[lane];
  }
  WarpAccess access{count, numbers, bytes, addresses};
  kiln_emulator_count &total = totals[site];
  if (space == KILN_EMU_GLOBAL) {
    Transfers sectors = globalSectors(access);
    ++total.global_requests;
    total.sectors += sectors.made;
    total.ideal_sectors += sectors.ideal;
    total.global_read += request.isRead ? sum : 0;
    total.global_written += request.isWritten ? sum : 0;
  } else {
    Transfers wavefronts = sharedWavefronts(access, {kernel->shared_banks, kernel->warp_size},
                                            request.isRead && !request.isWritten);
    ++total.shared_requests;
    total.wavefronts += wavefronts.made;
    total.ideal_wavefronts += wavefronts.ideal;
    total.shared_read += request.isRead ? sum : 0;
    total.shared_written += request.isWritten ? sum : 0;
  }
}

//===-- results ------------------------------------------------------------------------------===//

void Counts::addInstructions() {
  for (uint32_t number = 0; number < kernel->num_blocks; ++number) {
    const kiln_emu_basic_block &block = kernel->blocks[number];
    const Executions &made = executions[number];
    for (uint32_t i = block.first; i < block.first + block.number; ++i) {
      const kiln_emu_instructions &some = kernel->instructions[i];
      kiln_emulator_count &total = totals[some.site];
      uint64_t times = kernel->sites[some.site]->is_warp ? made.warps : made.threads;
      total.instructions += some.number * made.warps;
      total.thread_instructions += some.number * made.threads;
      total.flops += some.flops * times;
      total.matrix_operations += some.matrix_operations * times;
    }
    if (block.branch != KILN_EMU_NONE)
      totals[block.branch].divergent_branches += made.divergent;
  }
}

void Counts::deliver(kiln_emulated_launch &launch) {
  addInstructions();
  for (auto &sequence : visits)
    if (sequence)
      sequence->clear([](const Visit &) {});
  for (size_t index = 0; index < requests.size(); ++index)
    if (requests[index])
      requests[index]->clear([&](const Request &request) {
        finish(request, uint32_t(index / numWarps / 2), uint32_t(index / numWarps % 2));
      });
  for (uint32_t index = 0; index < kernel->num_sites; ++index) {
    const kiln_emu_site &site = *kernel->sites[index];
    kiln_emulator_count &total = totals[index];
    total.kernel = kernel->name;
    total.operation = site.operation;
    total.kind = site.kind;
    total.file = site.file;
    total.line = site.line;
    total.column = site.column;
    total.caller = site.caller;
  }
  kiln_emulator_kernel summary = {kernel->name,     kernel->warp_size, kernel->threads, 1, 0,
                                  kernel->num_sites};
  kiln_emulated_count(&launch, kernel, &summary, totals.data());
}

} // namespace kiln::emulator

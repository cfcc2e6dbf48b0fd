#include "runtime/emulator/Block.h"

#include "runtime/emulator/Cluster.h"
#include "runtime/emulator/LowMemory.h"
#include <algorithm>
#include <cstring>
#include <sched.h>

namespace kiln::emulator {
namespace {

/// How long a block may spin.
constexpr std::chrono::seconds idleLimit(20);

/// A fiber's stack, of which only the pages that are touched exist, and its guard.
constexpr size_t stackBytes = 256 * 1024;

bool sleeps(const Thread &thread) {
  return thread.inWarp->live & ~thread.inWarp->runnable & thread.bit();
}

/// Lanes `first` to `first + count` - 1 of a mask.
uint64_t lanes(uint32_t count) { return count >= 64 ? ~uint64_t(0) : (uint64_t(1) << count) - 1; }

unsigned lowest(uint64_t mask) { return unsigned(__builtin_ctzll(mask)); }

std::string text(const kiln_emu_site *site) {
  std::string name = site->operation;
  if (site->file && site->file[0])
    name += std::string(" at ") + site->file + ":" + std::to_string(site->line);
  return name;
}

} // namespace

Block::Block(Cluster &cluster) : inCluster(cluster), clocks(cluster.warpClocks()) {}

Block::~Block() {
  for (char *stack : stacks)
    freeStack(stack, stackBytes);
  freeLow(shared, sharedCapacity);
}

//===-- fibers
//-------------------------------------------------------------------------------===//

void Block::enter(Context &context) {
  auto &self = static_cast<Thread &>(static_cast<Execution &>(context));
  Block &block = *self.block;
  block.kernel->thread(&self, block.params);
  block.finish(self);
}

void Block::growStacks(uint32_t count) {
  while (stacks.size() < count) {
    char *stack = allocateStack(stackBytes);
    if (!stack)
      break;
    stacks.push_back(stack);
  }
}

Thread *Block::next() {
  for (size_t tried = 0; tried <= warps.size(); ++tried) {
    Warp &warp = warps[currentWarp];
    if (warp.runnable)
      return &warp.threads[lowest(warp.runnable)];
    currentWarp = currentWarp + 1 == warps.size() ? 0 : currentWarp + 1;
  }
  return nullptr;
}

/// Whether an operation comes before another in the program: sites are numbered in its order.
static bool isBefore(const kiln_emu_site *a, const kiln_emu_site *b) { return a->index < b->index; }

void Block::chooseActive(Warp &warp) {
  const Thread *first = nullptr;
  for (uint64_t rest = warp.active; rest; rest &= rest - 1) {
    const Thread &thread = warp.threads[lowest(rest)];
    if (!first || isBefore(thread.waitsAt, first->waitsAt))
      first = &thread;
  }
  warp.chosen = 0;
  for (uint64_t rest = warp.active; rest; rest &= rest - 1)
    if (warp.threads[lowest(rest)].waitsAt == first->waitsAt)
      warp.chosen |= rest & -rest;
  warp.leader = &warp.threads[first->lane];
  warp.runnable |= first->bit();
}

void Block::wake(Thread &thread) {
  idleYields = 0;
  thread.inWarp->runnable |= thread.bit();
}

Thread *Block::elsewhere(Thread &self, const kiln_emu_site *site) {
  Thread *other = inCluster.nextElsewhere(*this);
  if (!other)
    failWithoutRunnable(self, site);
  return other;
}

void Block::failWithoutRunnable(Thread &self, const kiln_emu_site *site) {
  fail(self, site, Finding::Deadlock,
       "deadlock: no thread of the block can run; " + describeSleepers() +
           describeWaitedFor(mbarriers));
}

/// What the block waits for may be another block, on another host thread.
void Block::noteIdle(Thread &self) {
  late.noteWait();
  constexpr uint32_t spins = 1 << 14;
  if (++idleYields % spins)
    return;
  sched_yield();
  auto now = std::chrono::steady_clock::now();
  if (idleYields == spins)
    idleSince = now;
  if (now - idleSince > idleLimit)
    fail(self, nullptr, Finding::Deadlock,
         "deadlock: the threads of the block have only waited for memory to "
         "change for " +
             std::to_string(idleLimit.count()) + " seconds" + describeWaitedFor(mbarriers));
}

void Block::wakeAll(std::vector<Thread *> &sleepers) {
  for (Thread *sleeper : sleepers)
    sleeper->block->wake(*sleeper);
  sleepers.clear();
}

void Block::yield(Thread &self) {
  noteIdle(self);
  // The others of the warp, then the other warps, then this one again.
  Warp &warp = *self.inWarp;
  uint64_t after = warp.runnable & ~(self.bit() | (self.bit() - 1));
  if (after)
    return self.switchTo(warp.threads[lowest(after)]);
  currentWarp = currentWarp + 1 == warps.size() ? 0 : currentWarp + 1;
  Thread *other = next(), *far = other == &self ? inCluster.nextElsewhere(*this) : nullptr;
  if (far || other != &self)
    self.switchTo(far ? *far : *other);
}

void Block::giveWay(Thread &self) {
  Warp &warp = *self.inWarp;
  if (uint64_t behind = counted.lanesToWaitFor(self.thread, warp.runnable))
    self.switchTo(warp.threads[lowest(behind)]);
}

void Block::finish(Thread &self) {
  Warp &warp = *self.inWarp;
  idleYields = 0;
  warp.live &= ~self.bit();
  warp.runnable &= ~self.bit();
  if (warp.arrived && (warp.expected & self.bit()))
    fail(self, warp.site, Finding::Divergence,
         "the thread has returned while its warp waits for it at " + text(warp.site));
  if (!warp.runnable && warp.active)
    chooseActive(warp);
  --numLive;
  inCluster.noteReturn();
  if (numLive == 0)
    checkReaches(self);
  Thread *other = numLive ? next() : nullptr;
  if (!other)
    other = inCluster.nextElsewhere(*this);
  if (other)
    self.switchTo(*other);
  for (uint32_t each = 0; each < inCluster.numBlocks(); ++each)
    if (Block &block = inCluster.block(each); !block.hasEnded())
      block.failWithoutRunnable(self, block.sleepingSite());
  self.switchTo(inCluster.outside());
}

//===-- waiting for each other
//---------------------------------------------------------------===//

void Block::refuse(Thread &self, const kiln_emu_site *site, uint64_t mask) {
  Warp &warp = *self.inWarp;
  if (!(mask & self.bit()))
    fail(self, site, Finding::Divergence, "the thread is not in the operation's own mask");
  if (!warp.arrived)
    fail(self, site, Finding::Divergence,
         "lane " + std::to_string(lowest(mask & ~warp.live)) +
             " of the warp has returned and cannot take part");
  fail(self, site, Finding::Divergence,
       "divergent warp: other lanes wait at " + text(warp.site) +
           (warp.site == site ? " with another mask" : ""));
}

bool Block::mayJoin(const Thread &self, const kiln_emu_site *site, NamedBarrier &barrier) {
  NamedBarrier::Visit &visit = barrier.visits[self.inWarp->number];
  if (!visit.lanes)
    visit.site = site;
  bool isFirst = !(visit.lanes & self.bit());
  visit.lanes |= self.bit();
  return visit.site == site && isFirst && barrier.expected % kernel->warp_size == 0;
}

void Block::refuseBarrier(Thread &self, const kiln_emu_site *site, uint32_t id, uint32_t count) {
  const std::string name = "barrier " + std::to_string(id);
  if (id >= numBarriers)
    fail(self, site, Finding::Operand, name + ": there are " + std::to_string(numBarriers));
  const NamedBarrier &barrier = barriers[id];
  if (barrier.expected != count)
    fail(self, site, Finding::Divergence, name + " is waited at for another number of threads");
  if (barrier.isCounted && count % kernel->warp_size)
    fail(self, site, Finding::Operand,
         "expected threads of whole warps at " + name + ", got " + std::to_string(count));
  const kiln_emu_site *other = barrier.site;
  if (barrier.isCounted && barrier.visits[self.inWarp->number].site == site)
    fail(self, site, Finding::Divergence,
         "the thread comes to " + name + " again before all " + std::to_string(count) +
             " threads have come");
  if (barrier.isCounted && barrier.visits[self.inWarp->number].site)
    other = barrier.visits[self.inWarp->number].site;
  fail(self, site, Finding::Divergence, "divergent barrier: other threads wait at " + text(other));
}

void Block::arriveAt(Thread &self, const kiln_emu_site *site, uint32_t id, uint32_t count) {
  NamedBarrier &barrier = join(self, site, id, count);
  if (launch->check)
    clocks.release(self.inWarp->source, barrier.released);
  if (++barrier.arrived == barrier.expected)
    complete(barrier);
}

void Block::order(NamedBarrier &barrier) {
  if (barrier.isExecutionAlone) {
    atomics.meet(uint32_t(warps.size()));
    for (Warp &warp : warps)
      ++warp.epoch;
    return;
  }
  WarpClocks::Clock &all = barrier.released;
  for (Warp &warp : warps)
    if (barrier.waiting[warp.number])
      clocks.release(warp.source, all);
  for (Warp &warp : warps)
    if (barrier.waiting[warp.number]) {
      clocks.acquire(warp.source, all);
      ++warp.epoch;
    }
  all.clear();
  if (barrier.isCounted)
    return;
  atomics.forget();
  loadCaches.dropOwn();
  // What copies in flight access is not behind the barrier.
  if (!boxes.isAnyInFlight())
    globals.forget();
}

uint32_t Block::addSource(Thread &self, const kiln_emu_site *site) {
  // A moment has a byte for it.
  constexpr uint32_t mostSources = 256;
  if (clocks.numSources() == mostSources)
    fail(self, site, Finding::Operand,
         "more than " + std::to_string(mostSources - warps.size() * inCluster.numBlocks()) +
             " mbarriers and threads with copies of tensors are not emulated with checks");
  return clocks.addSource();
}

/// Where the first thread that sleeps does so.
const kiln_emu_site *Block::sleepingSite() const {
  for (const Thread &thread : threads)
    if (sleeps(thread))
      return thread.waitsAt;
  return nullptr;
}

std::string Block::describeSleepers() const {
  std::string list;
  std::vector<const kiln_emu_site *> seen;
  for (const Thread &thread : threads) {
    if (!sleeps(thread) || std::find(seen.begin(), seen.end(), thread.waitsAt) != seen.end())
      continue;
    seen.push_back(thread.waitsAt);
    auto count = std::count_if(threads.begin(), threads.end(), [&](const Thread &other) {
      return sleeps(other) && other.waitsAt == thread.waitsAt;
    });
    list += (list.empty() ? "" : ", ") + std::to_string(count) + " wait at " + text(thread.waitsAt);
  }
  uint32_t returned = uint32_t(threads.size()) - numLive;
  if (returned)
    list += ", " + std::to_string(returned) + " have returned";
  return list;
}

//===-- findings
//-----------------------------------------------------------------------------===//

std::string Block::place(const Thread &self, const kiln_emu_site *site) const {
  std::string result;
  if (site && site->file && site->file[0])
    result = std::string(site->file) + ":" + std::to_string(site->line) + ":" +
             std::to_string(site->column) + ": ";
  result += std::string(kernel->name) + ", program (";
  for (int axis = 0; axis < 3; ++axis)
    result += (axis ? ", " : "") + std::to_string(self.program[axis]);
  result += ")";
  if (inCluster.numBlocks() > 1)
    result += ", block " + std::to_string(self.rank) + " of the cluster";
  result += ", thread " + std::to_string(self.thread) + ": ";
  return result + (site ? std::string(site->operation) + ": " : "");
}

void Block::report(const Thread &self, const kiln_emu_site *site, Finding finding,
                   const std::string &message) {
  kiln_emulated_report(launch, site, int(finding), (place(self, site) + message).c_str());
}

void Block::fail(Thread &self, const kiln_emu_site *site, Finding finding,
                 const std::string &message) {
  report(self, site, finding, message);
  __atomic_store_n(&launch->stopped, 1u, __ATOMIC_RELAXED);
  // The fibers' stacks hold nothing that wants to be destroyed: they are left as they are.
  self.switchTo(inCluster.outside());
  __builtin_unreachable();
}

//===-- a block from start to end
//------------------------------------------------------------===//

bool Block::prepareShared() {
  sharedBytes = kernel->static_shared_bytes + launch->dynamic_bytes;
  if (sharedBytes > sharedCapacity) {
    freeLow(shared, sharedCapacity);
    sharedCapacity = (sharedBytes + 0xffff) & ~0xffffu;
    shared = allocateLow(sharedCapacity, size_t(1) << MatrixDescriptor::addressBits);
    if (!shared)
      sharedCapacity = 0;
  }
  if (shared)
    std::memset(shared, 0xff, sharedBytes);
  if (launch->check)
    shadowMemory.reset(sharedBytes);
  return shared || !sharedBytes;
}

void Block::prepareThreads(const uint32_t program[3], const uint32_t programs[3]) {
  uint32_t count = kernel->threads, warpSize = kernel->warp_size;
  threads.assign(count, Thread());
  warps.assign((count + warpSize - 1) / warpSize, Warp());
  // HSA Platform System Architecture, "Kernel dispatch packet": the grid's size in work-items.
  for (int axis = 0; axis < 3; ++axis) {
    uint32_t items = programs[axis] * (axis ? 1 : count);
    std::memcpy(packet + 12 + 4 * axis, &items, 4);
  }
  for (uint32_t t = 0; t < count; ++t) {
    Thread &thread = threads[t];
    thread.thread = t;
    thread.rank = rank;
    std::copy(program, program + 3, thread.program);
    std::copy(programs, programs + 3, thread.programs);
    thread.threads = count;
    thread.shared = shared;
    thread.dispatch_packet = packet;
    thread.counting = launch->count;
    thread.block = this;
    thread.inWarp = &warps[t / warpSize];
    thread.lane = t % warpSize;
    // Stacks that begin at the same place of a page would share few lines of the caches.
    size_t stagger = t % 64 * 11 * 64 % 4096;
    thread.prepare(stacks[t] + stackBytes - stagger, stackBytes - stagger, enter);
  }
  for (uint32_t w = 0; w < warps.size(); ++w) {
    Warp &warp = warps[w];
    warp.number = w;
    warp.source = rank * uint32_t(warps.size()) + w;
    warp.threads = &threads[w * warpSize];
    warp.full = warp.live = warp.runnable = lanes(std::min(warpSize, count - w * warpSize));
  }
}

/// What threads left in flight when they returned.
void Block::finishCopies() {
  for (Thread &thread : threads)
    boxes.finish(thread);
  registers.reportUnfinished();
  if (launch->check) {
    maps.reportUnreleased(threads.front());
    reportUnfinished(*this);
  }
}

bool Block::begin(const kiln_emu_kernel &code, void *const *arguments, const uint32_t program[3],
                  const uint32_t programs[3], kiln_emulated_launch &launching, uint32_t number) {
  kernel = &code;
  params = arguments;
  launch = &launching;
  rank = number;
  std::string problem;
  if (launch->threads != kernel->threads)
    problem = "launched with " + std::to_string(launch->threads) + " threads, compiled for " +
              std::to_string(kernel->threads);
  else if (kernel->static_shared_bytes + launch->dynamic_bytes > launch->max_shared)
    problem = std::to_string(kernel->static_shared_bytes + launch->dynamic_bytes) +
              " bytes of shared memory, the device has " + std::to_string(launch->max_shared);
  growStacks(kernel->threads);
  if (stacks.size() < kernel->threads || !prepareShared())
    problem = "no memory for the stacks or the shared memory of a block";
  if (!problem.empty()) {
    kiln_emulated_report(launch, kernel, int(Finding::Launch),
                         (std::string(kernel->name) + ": " + problem).c_str());
    __atomic_store_n(&launch->stopped, 1u, __ATOMIC_RELAXED);
    return false;
  }
  prepareThreads(program, programs);
  for (NamedBarrier &barrier : barriers)
    barrier.reset(warps.size());
  mbarriers.clear();
  idleYields = 0;
  currentWarp = 0;
  resetChecks();
  warpGroupProducts.reset(uint32_t(warps.size()), sharedBytes);
  boxes.reset();
  maps.reset();
  registers.reset(uint32_t(warps.size()));
  numLive = kernel->threads;
  if (launch->count)
    counted.reset(*kernel);
  return true;
}

void Block::resetChecks() {
  reaches.clear();
  if (!launch->check)
    return;
  atomics.reset(clocks.numSources());
  globals.forget();
  loadCaches.reset(kernel->load_caches);
  proxyOrder.reset(sharedBytes, kernel->threads);
}

void Block::end() {
  if (numLive == 0)
    finishCopies();
  late.deliverAll();
  if (launch->check && numLive == 0) {
    warpGroupProducts.reportUnfinished();
    reportUnfinishedCopies(*this);
  }
  if (launch->count)
    counted.deliver(*launch);
}

} // namespace kiln::emulator

void kiln_emu_enter(kiln_emu_thread *thread, uint32_t block) {
  kiln::emulator::Thread &self = kiln::emulator::threadOf(thread);
  self.block->enter(self, block);
}

// What products of warp groups in flight read of shared memory, and whether they may.

#include "runtime/emulator/Block.h"
#include "runtime/emulator/Memory.h"
#include <algorithm>

namespace kiln::emulator {
namespace {

std::string unitAt(uint32_t offset) {
  return std::to_string(MatrixDescriptor::unitBytes) + " bytes at offset " + std::to_string(offset);
}

/// A moment of the warp's asynchronous unit.
Moment momentOf(Block &block, const WarpGroupProduct &product) {
  const Thread &first = block.warp(product.warp).threads[0];
  Moment moment = block.moment(first, product.site, AccessKind::Read);
  moment.thread |= asynchronousAccess;
  return moment;
}

} // namespace

void WarpGroupProducts::beginReads(Thread &self, const WarpGroupProduct &product) {
  const bool checks = block.launched().check;
  const Moment now = checks ? momentOf(block, product) : Moment();
  std::string race, unwritten, unfenced;
  auto visit = [&](uint32_t offset) {
    if (!block.isShared(block.sharedBase() + offset, MatrixDescriptor::unitBytes))
      block.fail(self, product.site, Finding::OutOfBounds,
                 "a matrix descriptor reaches outside of the block's " +
                     std::to_string(block.sharedSize()) +
                     " bytes of shared memory: " + unitAt(offset));
    if (!checks)
      return;
    ++readers[offset / MatrixDescriptor::unitBytes];
    bool initialised;
    if (auto before = block.shadow().check(offset, MatrixDescriptor::unitBytes, now, initialised))
      race = "race on shared memory: " + unitAt(offset) + describe(*before);
    if (!initialised)
      unwritten = "read of shared memory that was never written: " + unitAt(offset);
    if (const ProxyOrder::Store *store = block.proxies().unseen(offset, MatrixDescriptor::unitBytes,
                                                                block.warp(product.warp).source))
      unfenced = "expected fence.proxy.async by thread " + std::to_string(store->thread) +
                 " between its store at " + describe(*store->site) +
                 " and the barrier before the product that reads it: " + unitAt(offset);
  };
  for (uint32_t step = 0; step < product.shape.steps; ++step)
    product.forUnits(step, visit);
  if (!race.empty())
    block.report(self, product.site, Finding::Race, race);
  if (!unwritten.empty())
    block.report(self, product.site, Finding::Uninitialised, unwritten);
  if (!unfenced.empty())
    block.report(self, product.site, Finding::Proxy, unfenced);
}

/// The reads are over when the warp has waited: what is written from now on, by whom the wait does
/// not come before, races with them.
void WarpGroupProducts::endReads(const WarpGroupProduct &product) {
  if (!block.launched().check)
    return;
  Moment now = momentOf(block, product);
  now.warpEpoch = awaitedEpoch;
  for (uint32_t step = 0; step < product.shape.steps; ++step)
    product.forUnits(step, [&](uint32_t offset) {
      bool initialised;
      --readers[offset / MatrixDescriptor::unitBytes];
      block.shadow().add(offset, MatrixDescriptor::unitBytes, now, initialised);
    });
}

const WarpGroupProduct *WarpGroupProducts::readerOf(uint32_t offset, uint32_t bytes) const {
  constexpr uint32_t unit = MatrixDescriptor::unitBytes;
  uint32_t first = offset / unit, end = (offset + bytes - 1) / unit + 1;
  if (std::none_of(&readers[first], &readers[first] + (end - first), [](uint16_t n) { return n; }))
    return nullptr;
  for (const OfWarp &own : warps)
    for (const auto &product : own.products) {
      bool reads = false;
      for (uint32_t step = 0; step < product->shape.steps; ++step)
        product->forUnits(step, [&](uint32_t address) {
          reads |= address / unit >= first && address / unit < end;
        });
      if (reads && product->state != WarpGroupProduct::State::Complete)
        return product.get();
    }
  return nullptr;
}

} // namespace kiln::emulator

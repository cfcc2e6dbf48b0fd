#include "runtime/emulator/WarpGroupProducts.h"

#include "runtime/emulator/Block.h"
#include "runtime/emulator/Memory.h"
#include <algorithm>
#include <cstring>

using namespace kiln::emulator;

namespace kiln::emulator {
namespace {

using Issue = WarpGroupProducts::Issue;
using Wait = WarpGroupProducts::Wait;

constexpr uint32_t numIds = 1 << 12;

/// Whether all lanes of the warp say the same as its first.
template <typename Request, typename Equal> bool isUniform(const Warp &warp, Equal equal) {
  for (uint32_t lane = 1; lane < WarpGroupProduct::lanes; ++lane)
    if (!equal(warp.request<Request>(lane), warp.request<Request>(0)))
      return false;
  return true;
}

bool saysTheSame(const Issue &one, const Issue &other) {
  const kiln_emu_wgmma_product &shape = *one.shape;
  return !one.adds == !other.adds && !std::memcmp(one.b, other.b, 8 * shape.steps) &&
         (shape.has_registers_of_a || !std::memcmp(one.a, other.a, 8 * shape.steps));
}

} // namespace

/// A NaN of the accumulator's type, of both halves for f16.
uint32_t WarpGroupProduct::placeholder(uint32_t word) const {
  if (shape.accumulator == KILN_EMU_F16)
    return 0xfe00fe00 | id >> 3 << 16 | (id & 7) << 6 | word;
  return 0xffc00000 | id << 7 | word;
}

uint32_t WarpGroupProduct::wordOf(uint32_t value) const {
  uint32_t word = value & (shape.accumulator == KILN_EMU_F16 ? 63 : 127);
  return word < words() && placeholder(word) == value ? word : noSource;
}

void WarpGroupProducts::reset(uint32_t numWarps, uint32_t sharedBytes) {
  warps.clear();
  warps.resize(numWarps);
  groups.assign(numWarps / WarpGroupProduct::warps, {});
  readers.assign((sharedBytes + MatrixDescriptor::unitBytes - 1) / MatrixDescriptor::unitBytes, 0);
}

//===-- issue
//--------------------------------------------------------------------------------===//

void WarpGroupProducts::validate(Thread &self, const kiln_emu_site *site) const {
  const Warp &warp = *self.inWarp;
  auto refuse = [&](const std::string &message) {
    block.fail(self, site, Finding::Operand, message);
  };
  if (warp.number / WarpGroupProduct::warps >= groups.size())
    refuse("expected four warps from a multiple of four on, got a block of " +
           std::to_string(block.numWarps()) + " warps and a product of warp " +
           std::to_string(warp.number));
  const Issue &first = warp.request<Issue>(0);
  if (!isUniform<Issue>(warp, saysTheSame))
    refuse("expected one predicate and the same matrix descriptors in all lanes of the warp");
  auto check = [&](uint64_t bits) {
    MatrixDescriptor matrix(bits);
    if (!matrix.isWellFormed())
      refuse("expected bits 14, 15, 30, 31, 46 to 48 and 52 to 61 of a matrix descriptor to be 0");
    if (matrix.baseOffset())
      refuse("a matrix descriptor with base offset " + std::to_string(matrix.baseOffset()) +
             " is not emulated; a swizzle's pattern should begin at a multiple of its size");
  };
  for (uint32_t step = 0; step < first.shape->steps; ++step) {
    check(first.b[step]);
    if (!first.shape->has_registers_of_a)
      check(static_cast<const uint64_t *>(first.a)[step]);
  }
}

/// All four warps must multiply the same.
void WarpGroupProducts::agree(Thread &self, const WarpGroupProduct &product) {
  OfGroup &group = groups[product.warp / WarpGroupProduct::warps];
  uint32_t number = warps[product.warp].issued++ - group.first;
  if (number == group.products.size())
    group.products.push_back({product.site, product.a, product.b});
  Common &common = group.products[number];
  if (common.site != product.site)
    block.fail(self, product.site, Finding::Divergence,
               "divergent warp group: another warp's product is at " + describe(*common.site));
  if (common.a != product.a || common.b != product.b)
    block.fail(self, product.site, Finding::Operand,
               "expected the same matrix descriptors in all warps of the group");
  ++common.arrived;
  for (; !group.products.empty() && group.products.front().arrived == WarpGroupProduct::warps;
       ++group.first)
    group.products.pop_front();
}

WarpGroupProduct *WarpGroupProducts::productOf(uint32_t warp, uint32_t value) const {
  for (const auto &product : warps[warp].products)
    if (product->wordOf(value) != WarpGroupProduct::noSource)
      return product.get();
  return nullptr;
}

/// A register stands for another product's result if it does so in all lanes. A product that adds
/// to nothing takes none: its registers hold anything, be it what a product in flight has left in
/// them.
void WarpGroupProducts::findSources(WarpGroupProduct &product) const {
  const uint32_t count = product.words();
  product.sources.assign(count, WarpGroupProduct::noSource);
  for (uint32_t word = 0; word < count && product.adds; ++word) {
    uint32_t value = product.accumulators[word];
    const WarpGroupProduct *source = productOf(product.warp, value);
    if (source && source->wordOf(value) != word)
      source = nullptr;
    for (uint32_t lane = 1; lane < WarpGroupProduct::lanes && source; ++lane)
      if (product.accumulators[lane * count + word] != value)
        source = nullptr;
    if (source)
      product.sources[word] = source->id;
  }
}

void WarpGroupProducts::issue(Thread &self, const kiln_emu_site *site) {
  validate(self, site);
  Warp &warp = *self.inWarp;
  OfWarp &own = warps[warp.number];
  const Issue &first = warp.request<Issue>(0);
  own.products.push_back(std::make_unique<WarpGroupProduct>());
  WarpGroupProduct &product = *own.products.back();
  product.shape = *first.shape;
  product.site = site;
  product.id = own.issued % numIds;
  product.warp = warp.number;
  product.adds = first.adds != 0;
  const uint32_t steps = first.shape->steps, count = product.words();
  product.b.assign(first.b, first.b + steps);
  if (!first.shape->has_registers_of_a)
    product.a.assign(static_cast<const uint64_t *>(first.a),
                     static_cast<const uint64_t *>(first.a) + steps);
  for (uint32_t lane = 0; lane < WarpGroupProduct::lanes; ++lane) {
    const uint32_t *words = warp.request<Issue>(lane).accumulators;
    product.accumulators.insert(product.accumulators.end(), words, words + count);
  }
  if (first.shape->has_registers_of_a)
    for (uint32_t step = 0; step < steps; ++step)
      for (uint32_t lane = 0; lane < WarpGroupProduct::lanes; ++lane) {
        const auto *words = static_cast<const uint32_t *>(warp.request<Issue>(lane).a) + 4 * step;
        product.registersOfA.insert(product.registersOfA.end(), words, words + 4);
      }
  findSources(product);
  agree(self, product);
  beginReads(self, product);
  for (uint32_t lane = 0; lane < WarpGroupProduct::lanes; ++lane)
    for (uint32_t word = 0; word < count; ++word)
      warp.request<Issue>(lane).out[word] = product.placeholder(word);
}

//===-- groups and waits
//--------------------------------------------------------------------------------===//

void WarpGroupProducts::commit(Warp &warp) {
  OfWarp &own = warps[warp.number];
  for (const auto &product : own.products)
    if (product->state == WarpGroupProduct::State::Issued) {
      product->state = WarpGroupProduct::State::Committed;
      product->group = own.committed;
    }
  ++own.committed;
}

/// Products that come before are complete.
void WarpGroupProducts::complete(WarpGroupProduct &product) {
  Products &all = warps[product.warp].products;
  auto resultOf = [&](uint32_t id) {
    return std::find_if(all.begin(), all.end(), [&](const auto &other) {
      return other->id == id && other->state == WarpGroupProduct::State::Complete;
    });
  };
  const uint32_t count = product.words();
  std::vector<uint32_t> used;
  for (uint32_t word = 0; word < count; ++word) {
    auto source = resultOf(product.sources[word]);
    if (source == all.end())
      continue;
    used.push_back((*source)->id);
    for (uint32_t lane = 0; lane < WarpGroupProduct::lanes; ++lane)
      product.accumulators[lane * count + word] =
          (*source)->accumulators[lane * (*source)->words() + word];
  }
  multiply(product, block.sharedBase());
  endReads(product);
  product.state = WarpGroupProduct::State::Complete;
  // Their registers are this product's now.
  all.erase(std::remove_if(all.begin(), all.end(),
                           [&](const auto &other) {
                             return std::find(used.begin(), used.end(), other->id) != used.end();
                           }),
            all.end());
}

void WarpGroupProducts::wait(Thread &self, const kiln_emu_site *site, uint32_t pending) {
  OfWarp &own = warps[self.inWarp->number];
  for (;;) {
    auto next = std::find_if(own.products.begin(), own.products.end(), [&](const auto &product) {
      return product->state == WarpGroupProduct::State::Committed &&
             product->group + pending < own.committed;
    });
    if (next == own.products.end())
      break;
    complete(**next);
  }
  std::vector<uint32_t> taken;
  release(self, site, taken);
  own.products.erase(std::remove_if(own.products.begin(), own.products.end(),
                                    [&](const auto &product) {
                                      return std::find(taken.begin(), taken.end(), product->id) !=
                                             taken.end();
                                    }),
                     own.products.end());
}

/// Gives the words their values; notes whose they are.
void WarpGroupProducts::release(Thread &self, const kiln_emu_site *site,
                                std::vector<uint32_t> &taken) {
  const Warp &warp = *self.inWarp;
  bool isForgotten = false;
  for (uint32_t word = 0; word < warp.request<Wait>(0).words; ++word) {
    uint32_t value = warp.request<Wait>(0).accumulators[word];
    const WarpGroupProduct *product = productOf(warp.number, value);
    if (!isUniform<Wait>(
            warp, [&](const Wait &one, const Wait &) { return one.accumulators[word] == value; }))
      product = nullptr;
    bool isComplete = product && product->state == WarpGroupProduct::State::Complete;
    if (isComplete)
      taken.push_back(product->id);
    isForgotten |= product && product->state == WarpGroupProduct::State::Issued;
    for (uint32_t lane = 0; lane < WarpGroupProduct::lanes; ++lane) {
      const Wait &wait = warp.request<Wait>(lane);
      wait.out[word] = isComplete
                           ? product->accumulators[lane * product->words() + product->wordOf(value)]
                           : wait.accumulators[word];
    }
  }
  if (isForgotten && block.launched().check)
    block.report(self, site, Finding::Product,
                 "expected wgmma.commit_group between a product and the wait for it, got none");
}

void WarpGroupProducts::reportUnfinished() {
  for (const OfWarp &own : warps)
    for (const auto &product : own.products)
      if (product->state != WarpGroupProduct::State::Complete)
        block.report(block.warp(product->warp).threads[0], product->site, Finding::Product,
                     product->state == WarpGroupProduct::State::Issued
                         ? "expected the product to be committed and waited for"
                         : "expected the product to be waited for");
  for (uint32_t group = 0; group < groups.size(); ++group)
    for (const Common &common : groups[group].products)
      block.report(block.warp(group * WarpGroupProduct::warps).threads[0], common.site,
                   Finding::Divergence,
                   "expected all four warps of the group to come to the product, got " +
                       std::to_string(common.arrived));
}

} // namespace kiln::emulator

KILN_SWITCHES void kiln_emu_wgmma(kiln_emu_thread *thread, const kiln_emu_site *site,
                                  const kiln_emu_wgmma_product *product, const void *a,
                                  const uint64_t *b, const uint32_t *accumulators, uint32_t adds,
                                  uint32_t *out) {
  Thread &self = threadOf(thread);
  WarpGroupProducts::Issue own{product, a, b, accumulators, adds, out};
  self.inWarp->requests[self.lane] = &own;
  self.block->collective(self, site, ~uint64_t(0),
                         [&](Warp &) { self.block->products().issue(self, site); });
}

KILN_SWITCHES void kiln_emu_wgmma_fence(kiln_emu_thread *thread, const kiln_emu_site *site) {
  Thread &self = threadOf(thread);
  self.block->collective(self, site, ~uint64_t(0), [](Warp &) {});
}

KILN_SWITCHES void kiln_emu_wgmma_commit(kiln_emu_thread *thread, const kiln_emu_site *site) {
  Thread &self = threadOf(thread);
  self.block->collective(self, site, ~uint64_t(0),
                         [&](Warp &warp) { self.block->products().commit(warp); });
}

KILN_SWITCHES void kiln_emu_wgmma_wait(kiln_emu_thread *thread, const kiln_emu_site *site,
                                       uint32_t pending, uint32_t words,
                                       const uint32_t *accumulators, uint32_t *out) {
  Thread &self = threadOf(thread);
  WarpGroupProducts::Wait own{words, accumulators, out};
  self.inWarp->requests[self.lane] = &own;
  self.block->collective(self, site, ~uint64_t(0),
                         [&](Warp &) { self.block->products().wait(self, site, pending); });
}

void kiln_emu_proxy_fence(kiln_emu_thread *thread, const kiln_emu_site *) {
  Thread &self = threadOf(thread);
  if (self.block->launched().check)
    self.block->proxies().fence(self.thread, self.inWarp->source);
  fenceInitialisations(self);
}

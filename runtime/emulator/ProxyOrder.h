// Which bytes of shared memory ordinary stores (the generic proxy) wrote that asynchronous
// operations (the async proxy) cannot be sure to see.
//
// PTX ISA, "Proxies" and "membar / fence": between the two stands fence.proxy.async, here of the
// thread that stored, before the synchronisation by which the reader learns of the store. Kept by
// words: of two threads that write parts of one word the last is known.

#ifndef KILN_RUNTIME_EMULATOR_PROXYORDER_H
#define KILN_RUNTIME_EMULATOR_PROXYORDER_H

#include "runtime/emulator/WarpClocks.h"
#include "runtime/emulator/kiln_emu.h"
#include <vector>

namespace kiln::emulator {

class ProxyOrder {
public:
  struct Store {
    const kiln_emu_site *site = nullptr; ///< null: there was none
    uint32_t fences = 0;                 ///< that the thread had passed before
    uint16_t thread = 0;
    uint8_t warp = 0;
  };

  explicit ProxyOrder(const WarpClocks &clocks) : clocks(clocks) {}

  /// Begins a block.
  void reset(uint32_t sharedBytes, uint32_t threads) {
    words.assign((sharedBytes + wordBytes - 1) / wordBytes, Store());
    fences.assign(threads, {});
  }

  void store(uint32_t offset, uint32_t bytes, uint32_t thread, uint32_t warp,
             const kiln_emu_site *site) {
    Store made{site, uint32_t(fences[thread].size()), uint16_t(thread), uint8_t(warp)};
    for (uint32_t word = offset / wordBytes; word * wordBytes < offset + bytes; ++word)
      words[word] = made;
  }

  /// What cp.async brings is seen without a fence: NVIDIA's own products read it so (CUTLASS,
  /// "MainloopSm90CpAsyncGmma"), although the PTX ISA counts cp.async among the generic proxy.
  void copied(uint32_t offset, uint32_t bytes) {
    for (uint32_t word = offset / wordBytes; word * wordBytes < offset + bytes; ++word)
      words[word] = Store();
  }

  void fence(uint32_t thread, uint32_t warp) { fences[thread].push_back(clocks.now(warp)); }

  /// A store to these bytes that an asynchronous read of `warp` need not see; null: none.
  const Store *unseen(uint32_t offset, uint32_t bytes, uint32_t warp) const {
    for (uint32_t word = offset / wordBytes; word * wordBytes < offset + bytes; ++word)
      if (words[word].site && !isSeen(words[word], warp))
        return &words[word];
    return nullptr;
  }

private:
  static constexpr uint32_t wordBytes = 4;

  bool isSeen(const Store &store, uint32_t warp) const {
    const std::vector<uint64_t> &passed = fences[store.thread];
    return store.fences < passed.size() &&
           (store.warp == warp || clocks.isAfter(warp, store.warp, passed[store.fences]));
  }

  const WarpClocks &clocks;
  std::vector<Store> words;
  /// The clocks of its warp when a thread passed its fences.
  std::vector<std::vector<uint64_t>> fences;
};

} // namespace kiln::emulator

#endif

#include "runtime/emulator/LateStores.h"

#include <cstring>

namespace kiln::emulator {

void LateStores::deliver(Entry &entry) {
  auto *memory = reinterpret_cast<unsigned char *>(entry.granule * granuleBytes);
  for (uint32_t mask = entry.mask; mask;) {
    uint32_t first = uint32_t(__builtin_ctz(mask)),
             length = uint32_t(__builtin_ctz(~(mask >> first)));
    std::memcpy(memory + first, entry.data + first, length);
    mask &= ~(((1u << length) - 1) << first);
  }
  entry.mask = 0;
}

template <typename IsMeant> void LateStores::deliverIf(IsMeant isMeant) {
  places.clear();
  size_t kept = 0;
  for (Entry &entry : entries) {
    if (isMeant(entry))
      deliver(entry);
    if (!entry.mask)
      continue;
    entries[kept++] = entry;
    places[entry.granule] = uint32_t(kept);
  }
  entries.resize(kept);
  if (!kept) {
    first = UINTPTR_MAX;
    last = 0;
  }
}

LateStores::Entry &LateStores::add(const Entry &entry) {
  entries.push_back(entry);
  places[entry.granule] = uint32_t(entries.size());
  first = std::min(first, entry.granule);
  last = std::max(last, entry.granule);
  return entries.back();
}

void LateStores::deliverAll() {
  deliverIf([](const Entry &) { return true; });
}

void LateStores::arrive(uint32_t warp) {
  for (Entry &entry : entries)
    entry.hasArrived |= entry.warp == warp;
}

void LateStores::release(uint32_t warp, bool isCumulative) {
  if (entries.empty())
    return;
  deliverIf([&](const Entry &entry) {
    return entry.warp == warp || entry.hasArrived ||
           (isCumulative && clocks.isAfter(warp, entry.warp, entry.clock));
  });
}

void LateStores::store(uint32_t warp, void *address, const void *value, uint32_t bytes) {
  if (entries.size() >= maxEntries)
    deliverAll();
  waits = 0;
  const auto *from = static_cast<const unsigned char *>(value);
  uint64_t clock = clocks.now(warp);
  forGranules(reinterpret_cast<uintptr_t>(address), bytes,
              [&](uintptr_t granule, uint32_t begin, uint32_t end) {
                Entry *found = find(granule);
                Entry &entry = found ? *found : add({granule, clock, warp, 0, false, {}});
                // What another warp stored may have to be visible before this is, and what has
                // arrived. Else it goes with what the warp stored there first: that is early for
                // this, which is allowed.
                if (entry.warp != warp || entry.hasArrived) {
                  deliver(entry);
                  entry.warp = warp;
                  entry.hasArrived = false;
                }
                if (!entry.mask)
                  entry.clock = clock;
                entry.mask |= ((1u << (end - begin)) - 1) << begin;
                std::memcpy(entry.data + begin, from, end - begin);
                from += end - begin;
              });
}

void LateStores::load(const void *address, void *out, uint32_t bytes) {
  std::memcpy(out, address, bytes);
  if (entries.empty())
    return;
  auto *to = static_cast<unsigned char *>(out);
  forGranules(reinterpret_cast<uintptr_t>(address), bytes,
              [&](uintptr_t granule, uint32_t begin, uint32_t end) {
                if (const Entry *entry = find(granule))
                  for (uint32_t byte = begin; byte < end; ++byte)
                    if (entry->mask >> byte & 1)
                      to[byte - begin] = entry->data[byte];
                to += end - begin;
              });
}

void LateStores::deliverAt(const void *address, uint32_t bytes) {
  if (entries.empty())
    return;
  forGranules(reinterpret_cast<uintptr_t>(address), bytes,
              [&](uintptr_t granule, uint32_t, uint32_t) {
                if (Entry *entry = find(granule))
                  deliver(*entry);
              });
}

} // namespace kiln::emulator

#include "runtime/emulator/GlobalShadow.h"

namespace kiln::emulator {

void GlobalShadow::forget() {
  granules.clear();
  histories.clear();
}

void GlobalShadow::split(Granule &granule, uint32_t begin, uint32_t end) {
  uint32_t ends = begin | end | granuleBytes, bytes = ends & -ends;
  if (granule.partBytes && granule.partBytes <= bytes)
    return;
  Granule finer{uint32_t(histories.size()), bytes};
  histories.resize(histories.size() + granuleBytes / bytes);
  if (granule.partBytes)
    for (uint32_t part = 0; part < granuleBytes / bytes; ++part)
      histories[finer.first + part] = histories[granule.first + part * bytes / granule.partBytes];
  granule = finer;
}

std::optional<Moment> GlobalShadow::add(uintptr_t address, uint32_t bytes, const Moment &now,
                                        const Moment &end) {
  std::optional<Moment> race;
  if (granules.numRows() >= maxRows)
    forget();
  forGranules(address, bytes, [&](uintptr_t number, uint32_t first, uint32_t last) {
    Granule &granule = granules[number];
    split(granule, first, last);
    for (uint32_t at = first; at < last; at += granule.partBytes)
      if (auto found = histories[granule.first + at / granule.partBytes].add(now, end, clocks))
        // One between two writes may be of one value, and harmless: others come first.
        if (!race || race->kind == AccessKind::Write)
          race = found;
  });
  return race;
}

} // namespace kiln::emulator

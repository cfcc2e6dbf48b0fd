#include "runtime/emulator/Counts.h"

#include <algorithm>
#include <set>

namespace kiln::emulator {

void Counts::reset(uint32_t threads, uint32_t warpSize) {
  numThreads = threads;
  size = warpSize;
  places.clear();
}

void Counts::access(uint32_t thread, const kiln_emu_site *site, uint32_t space, const void *address,
                    uint32_t bytes, bool isActive) {
  Place &place = places[site];
  place.space = space;
  place.visits.resize(numThreads);
  size_t warps = (numThreads + size - 1) / size;
  size_t request = place.visits[thread]++ * warps + thread / size;
  if (place.requests.size() <= request)
    place.requests.resize(request + 1);
  if (isActive)
    place.requests[request].push_back({reinterpret_cast<uintptr_t>(address), bytes, thread % size});
}

void Counts::countGlobal(std::vector<Lane> &request, kiln_emulator_count &total) {
  std::sort(request.begin(), request.end(),
            [](const Lane &a, const Lane &b) { return a.address < b.address; });
  std::set<uintptr_t> sectors;
  uint64_t distinct = 0;
  uintptr_t covered = 0;
  for (const Lane &lane : request) {
    uintptr_t end = lane.address + lane.bytes;
    for (uintptr_t sector = lane.address / 32; sector <= (end - 1) / 32; ++sector)
      sectors.insert(sector);
    if (end > covered)
      distinct += end - std::max(covered, lane.address);
    covered = std::max(covered, end);
    total.bytes += lane.bytes;
  }
  total.sectors += sectors.size();
  total.ideal_sectors += (distinct + 31) / 32;
}

void Counts::countShared(const std::vector<Lane> &request, kiln_emulator_count &total) {
  uint32_t lanesAtOnce = std::min(32u, std::max(1u, 128 / request[0].bytes));
  std::map<uint32_t, std::set<uintptr_t>> turns; // words by turn and bank
  std::set<uint32_t> turnsUsed;
  for (const Lane &lane : request) {
    uint32_t turn = lane.lane / lanesAtOnce;
    turnsUsed.insert(turn);
    for (uintptr_t word = lane.address / 4; word <= (lane.address + lane.bytes - 1) / 4; ++word)
      turns[turn * 32 + word % 32].insert(word);
    total.bytes += lane.bytes;
  }
  std::map<uint32_t, uint64_t> longest;
  for (const auto &[bank, words] : turns)
    longest[bank / 32] = std::max<uint64_t>(longest[bank / 32], words.size());
  for (const auto &[turn, words] : longest)
    total.wavefronts += words;
  total.ideal_wavefronts += turnsUsed.size();
}

void Counts::deliver(kiln_emulated_launch &launch, const char *kernel) {
  for (auto &[site, place] : places) {
    kiln_emulator_count &total = place.total;
    for (std::vector<Lane> &request : place.requests) {
      ++total.instructions;
      if (request.empty())
        continue;
      ++total.requests;
      if (place.space == KILN_EMU_GLOBAL)
        countGlobal(request, total);
      else
        countShared(request, total);
    }
    total.kernel = kernel;
    total.operation = site->operation;
    total.file = site->file;
    total.line = site->line;
    total.column = site->column;
    kiln_emulated_count(&launch, site, &total);
  }
}

} // namespace kiln::emulator

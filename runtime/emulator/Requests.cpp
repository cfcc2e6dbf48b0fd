#include "runtime/emulator/Requests.h"

#include <algorithm>

namespace kiln::emulator {
namespace {

constexpr uint32_t maxLanes = 64, sectorBytes = 32, maxBanks = 64, wordBytes = 4;

/// Lanes that are served together.
struct Served {
  uint8_t places[maxLanes]; ///< in the access
  uint32_t number = 0;
};

/// How many turns the banks take for them.
uint64_t turnsOf(const WarpAccess &access, const Served &served, uint32_t numBanks) {
  // All banks and, should the addresses be misaligned, a word more for each lane.
  uintptr_t words[maxBanks + maxLanes];
  uint32_t number = 0;
  for (uint32_t i = 0; i < served.number; ++i) {
    uint32_t place = served.places[i];
    for (uintptr_t word = access.addresses[place] / wordBytes;
         word <= (access.addresses[place] + access.bytes[place] - 1) / wordBytes; ++word)
      words[number++] = word;
  }
  if (!std::is_sorted(words, words + number))
    std::sort(words, words + number);
  number = uint32_t(std::unique(words, words + number) - words);
  uint32_t ofBank[maxBanks] = {};
  uint64_t longest = 0;
  for (uint32_t i = 0; i < number; ++i)
    longest = std::max<uint64_t>(longest, ++ofBank[words[i] % numBanks]);
  return longest;
}

/// The first lane of those with which it is served. They are neighbours, but where waves of 64 read
/// 16 bytes a lane: then lanes 0 to 3 are served with 20 to 23, by 64 banks with 12 to 15 and 24 to
/// 27, too, and others with those that an xor makes of these (AMD, "Avoiding LDS Bank Conflicts on
/// AMD GPUs Using CK-Tile Framework", ROCm blogs, 2025).
uint32_t firstServedWith(uint32_t lane, uint32_t widest, SharedBanks banks, bool isRead) {
  constexpr uint32_t wideBytes = 16;
  if (isRead && widest == wideBytes && banks.lanes == maxLanes) {
    if (banks.number == maxBanks && (lane & 8))
      lane ^= 12;
    return (lane & 16 ? lane ^ 20 : lane) & ~3u;
  }
  uint32_t together = std::min(banks.number, std::max(1u, banks.number * wordBytes / widest));
  return lane / together * together;
}

} // namespace

Transfers globalSectors(const WarpAccess &access) {
  ByteRange ranges[maxLanes];
  for (uint32_t i = 0; i < access.number; ++i)
    ranges[i] = {access.addresses[i], access.addresses[i] + access.bytes[i]};
  return globalSectors(ranges, access.number);
}

Transfers globalSectors(ByteRange *ranges, size_t number) {
  auto isBefore = [](const ByteRange &a, const ByteRange &b) { return a.first < b.first; };
  if (!std::is_sorted(ranges, ranges + number, isBefore))
    std::sort(ranges, ranges + number, isBefore);
  Transfers result;
  uint64_t distinct = 0;
  uintptr_t covered = 0, nextSector = 0;
  for (size_t i = 0; i < number; ++i) {
    auto [first, end] = ranges[i];
    if (end > covered)
      distinct += end - std::max(covered, first);
    covered = std::max(covered, end);
    uintptr_t from = std::max(first / sectorBytes, nextSector), to = (end - 1) / sectorBytes + 1;
    if (to > from) {
      result.made += to - from;
      nextSector = to;
    }
  }
  result.ideal = (distinct + sectorBytes - 1) / sectorBytes;
  return result;
}

Transfers sharedWavefronts(const WarpAccess &access, SharedBanks banks, bool isRead) {
  uint32_t widest = *std::max_element(access.bytes, access.bytes + access.number);
  Served served[maxLanes]; // by their first lanes
  for (uint32_t i = 0; i < access.number; ++i) {
    Served &with = served[firstServedWith(access.lanes[i], widest, banks, isRead)];
    with.places[with.number++] = uint8_t(i);
  }
  Transfers result;
  for (const Served &together : served)
    if (together.number) {
      result.made += turnsOf(access, together, banks.number);
      ++result.ideal;
    }
  return result;
}

} // namespace kiln::emulator

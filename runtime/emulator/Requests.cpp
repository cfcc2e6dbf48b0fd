#include "runtime/emulator/Requests.h"

#include <algorithm>

namespace kiln::emulator {
namespace {

constexpr uint32_t maxLanes = 64, sectorBytes = 32, numBanks = 32, wordBytes = 4;

/// How many turns the banks take for the lanes `first` to `end` - 1 of the access.
uint64_t turnsOf(const WarpAccess &access, uint32_t first, uint32_t end) {
  // 128 bytes and, should the addresses be misaligned, a word more for each lane.
  uintptr_t words[numBanks + maxLanes];
  uint32_t number = 0;
  for (uint32_t i = first; i < end; ++i)
    for (uintptr_t word = access.addresses[i] / wordBytes;
         word <= (access.addresses[i] + access.bytes[i] - 1) / wordBytes; ++word)
      words[number++] = word;
  if (!std::is_sorted(words, words + number))
    std::sort(words, words + number);
  number = uint32_t(std::unique(words, words + number) - words);
  uint32_t ofBank[numBanks] = {};
  uint64_t longest = 0;
  for (uint32_t i = 0; i < number; ++i)
    longest = std::max<uint64_t>(longest, ++ofBank[words[i] % numBanks]);
  return longest;
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

Transfers sharedWavefronts(const WarpAccess &access) {
  Transfers result;
  uint32_t widest = *std::max_element(access.bytes, access.bytes + access.number);
  uint32_t lanesAtOnce = std::min(32u, std::max(1u, numBanks * wordBytes / widest));
  for (uint32_t first = 0; first < access.number;) {
    uint32_t end = first + 1;
    while (end < access.number &&
           access.lanes[end] / lanesAtOnce == access.lanes[first] / lanesAtOnce)
      ++end;
    result.made += turnsOf(access, first, end);
    ++result.ideal;
    first = end;
  }
  return result;
}

} // namespace kiln::emulator

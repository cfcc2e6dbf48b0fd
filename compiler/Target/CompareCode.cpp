#include "compiler/Target/CompareCode.h"

namespace kiln {

BlockNeeds needsOf(const DeviceBinary &binary) {
  const ResourceUsage &used = binary.resources;
  return {binary.launch.threadsPerBlock, used.registers, used.staticSharedBytes};
}

uint64_t blocksOf(const DeviceBinary &binary) {
  std::optional<Occupancy> occupancy = occupancyOf(binary.target, needsOf(binary));
  return occupancy ? occupancy->blocks : 0;
}

bool isShorter(const DeviceBinary &binary, const DeviceBinary &other) {
  if (blocksOf(binary) < blocksOf(other))
    return false;
  uint32_t spilled = binary.resources.spilledBytes(), byOther = other.resources.spilledBytes();
  if (spilled <= byOther)
    return binary.cycles < other.cycles;
  bool spillsOnce = byOther && binary.spillsOfLoops <= other.spillsOfLoops;
  if (spillsOnce || spilled <= 2 * byOther)
    return 4 * binary.cycles <= 3 * other.cycles;
  return spilled <= 4 * byOther && 16 * binary.cycles <= 9 * other.cycles;
}

bool spillsNothing(const DeviceBinary &binary) {
  return !binary.resources.spilledBytes() && !binary.spillsScalars;
}

bool isWorthNoSpills(const DeviceBinary &binary, const DeviceBinary &other) {
  return !binary.resources.spilledBytes() && other.resources.spilledBytes() &&
         blocksOf(binary) >= blocksOf(other) && 2 * binary.cycles <= 3 * other.cycles;
}

bool isShorterForAll(const DeviceBinary &binary, const DeviceBinary &other) {
  bool isQuarterLess = 4 * binary.cycles <= 3 * other.cycles;
  uint64_t most = other.busyCycles + (isQuarterLess ? other.busyCycles / 32 : 0);
  return isShorter(binary, other) && binary.busyCycles <= most;
}

bool isWorthItsBlocks(const DeviceBinary &binary, const DeviceBinary &other) {
  uint64_t blocks = blocksOf(other), more = blocksOf(binary);
  return more > blocks && binary.resources.spilledBytes() <= other.resources.spilledBytes() &&
         binary.cycles * 4 * blocks <= other.cycles * (3 * blocks + more);
}

/// Of a SIMD.
static uint64_t wavesOf(const DeviceBinary &binary) {
  constexpr uint64_t simds = 4; // of a WGP, or a CU of CDNA
  std::optional<Occupancy> occupancy = occupancyOf(binary.target, needsOf(binary));
  return occupancy ? occupancy->warps / simds : 0;
}

uint64_t cyclesOfSimd(const DeviceBinary &binary) {
  uint64_t waves = wavesOf(binary);
  return waves ? std::max(binary.cycles / waves, binary.busyCycles) : 0;
}

bool isWorthLessBlocks(const DeviceBinary &binary, const DeviceBinary &other) {
  uint64_t waves = wavesOf(binary);
  bool isBusy = waves && binary.busyCycles && (waves - 1) * binary.busyCycles >= binary.cycles;
  return isBusy && !binary.resources.spilledBytes() && 2 * binary.cycles <= other.cycles &&
         32 * binary.busyCycles <= 33 * other.busyCycles;
}

std::optional<uint64_t> sharedBytesForMore(const DeviceBinary &binary) {
  constexpr uint32_t share = 5;
  BlockNeeds needs = needsOf(binary);
  std::optional<Occupancy> now = occupancyOf(binary.target, needs);
  if (!now || now->room[size_t(OccupancyLimit::SharedMemory)] != now->blocks)
    return std::nullopt;
  auto withoutShared = [&] {
    return occupancyOf(binary.target, {needs.threads, needs.registers, 0})->blocks;
  };
  uint32_t blocks = withoutShared();
  if (blocks <= now->blocks) {
    needs.registers -= needs.registers / share;
    blocks = std::min(now->blocks + 1, withoutShared());
  }
  if (blocks <= now->blocks)
    return std::nullopt;
  return sharedBytesForBlocks(binary.target, needs, blocks);
}

} // namespace kiln

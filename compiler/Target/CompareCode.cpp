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
  return spilled <= 2 * byOther && 4 * binary.cycles <= 3 * other.cycles;
}

} // namespace kiln

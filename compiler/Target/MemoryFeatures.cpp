#include "compiler/Target/MemoryFeatures.h"

namespace kiln {

MemoryFeatures memoryFeaturesOf(const TargetInfo &target) {
  if (target.backend != Backend::HIP)
    return {};
  bool isRdna = target.matrix.wmmaGeneration != 0;
  MemoryFeatures features;
  features.boundedBuffers = features.pairedAdditions = true;
  features.loadCaches = isRdna ? 2 : 1;
  features.partialBarriers = isRdna;
  features.splitBarriers = target.matrix.wmmaGeneration >= 4;
  return features;
}

} // namespace kiln

#include "compiler/Target/MemoryFeatures.h"

namespace kiln {

MemoryFeatures memoryFeaturesOf(const TargetInfo &target) {
  if (target.backend != Backend::HIP)
    return {};
  bool isRdna = target.matrix.wmmaGeneration != 0;
  MemoryFeatures features;
  features.boundedBuffers = features.pairedAdditions = true;
  bool isRdna4 = target.matrix.wmmaGeneration >= 4;
  BufferAtomics &atomics = features.bufferAtomics;
  atomics.ofIntegers = atomics.addsF32 = true;
  atomics.addsF64 = !isRdna;
  atomics.addsF16 = !isRdna || isRdna4;
  atomics.addsBF16 = target.matrix.mfmaGeneration >= 4 || isRdna4;
  atomics.addsAnywhere = target.matrix.mfmaGeneration >= 3 || isRdna4;
  features.loadCaches = isRdna ? 2 : 1;
  features.partialBarriers = isRdna;
  features.splitBarriers = isRdna4;
  return features;
}

} // namespace kiln

//===- AccessVector.cpp - How much one access to global memory covers ---------===//

#include "compiler/Analysis/AccessVector.h"
#include "compiler/Dialect/Tile/Tile.h"

using namespace mlir;

namespace kiln {

AccessVector accessVector(Value pointers, Value mask, const LinearLayout &layout, unsigned maxBits,
                          const AxisInfoAnalysis &facts) {
  auto type = cast<RankedTensorType>(pointers.getType());
  int64_t bytes = cast<tile::PtrType>(type.getElementType()).getElementBytes();
  AxisInfo info = facts.get(pointers);
  unsigned fast = 0;
  for (unsigned axis = 0; axis < unsigned(type.getRank()); ++axis)
    if (info.contiguity[axis] >= info.contiguity[fast])
      fast = axis;
  int64_t vector = std::min<int64_t>(facts.accessLength(pointers, mask, fast),
                                     layout.contiguousRegisters({fast}));
  return {std::max<int64_t>(1, std::min<int64_t>(vector, maxBits / 8 / bytes)), fast};
}

} // namespace kiln

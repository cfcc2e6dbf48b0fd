// Forms and costs of accesses: see the header.

#include "compiler/Conversion/TileToCPU/AccessFacts.h"
#include "compiler/Dialect/Tile/Tile.h"

using namespace mlir;

namespace kiln::cpu {

AccessForm AccessFacts::form(Value pointers, unsigned axis, unsigned lanes) {
  if (lanes == 1 || sameInAllLanes(pointers, axis, lanes))
    return AccessForm::Same;
  std::optional<int64_t> stride = indices.stride(pointers, axis);
  if (stride == 1 || axes.get(pointers).contiguity[axis] >= int64_t(lanes))
    return AccessForm::Contiguous;
  // Of fewer lanes a check would take as many addresses as the access.
  if (stride || lanes < 4)
    return AccessForm::Scattered;
  Progress progress = indices.progress(pointers, axis);
  bool mayBeContiguous = progress == Progress::Affine || progress == Progress::Wrapped;
  return mayBeContiguous ? AccessForm::Checked : AccessForm::Scattered;
}

bool AccessFacts::sameInAllLanes(Value value, unsigned axis, unsigned lanes) {
  if (indices.stride(value, axis) == 0)
    return true;
  if (tile::elementTypeOf(value.getType()).isInteger(1))
    return axes.maskConstancy(value, axis) >= int64_t(lanes);
  AxisInfo info = axes.get(value);
  return info.isInitialized() && info.constancy[axis] >= int64_t(lanes);
}

double AccessFacts::cost(Value pointers, unsigned axis, unsigned lanes) {
  double scattered = 1.5 * lanes;
  std::optional<int64_t> stride = indices.stride(pointers, axis);
  AxisInfo info = axes.get(pointers);
  if ((stride && (*stride == 0 || *stride == 1)) || info.contiguity[axis] >= int64_t(lanes))
    return 1;
  Progress progress = indices.progress(pointers, axis);
  if (stride || (progress != Progress::Affine && progress != Progress::Wrapped))
    return scattered;
  // A stride that only the caller knows is 1 along one axis at most: the one where it must be, or
  // else the last.
  ArrayRef<int64_t> shape = tile::shapeOf(pointers.getType());
  unsigned likely = 0;
  for (unsigned other = 0; other != shape.size(); ++other) {
    if (shape[other] == 1)
      continue;
    if (indices.stride(pointers, other) == 1 || info.contiguity[other] > 1)
      return scattered;
    likely = other;
  }
  return axis == likely ? 3 : scattered;
}

} // namespace kiln::cpu

// How a reduction or scan walks along an axis: pure layout arithmetic.

#include "compiler/Layout/AxisSteps.h"
#include "compiler/Layout/RegisterRenaming.h"

#include "llvm/ADT/STLExtras.h"

using namespace llvm;

namespace kiln {

static AxisStep stepOf(const LinearLayout &layout, unsigned axis, unsigned bit) {
  const LayoutSpace &in = layout.in();
  uint64_t unit = uint64_t(1) << (layout.out().position(Dim::axis(axis)) + bit);
  std::optional<BinaryVector> move = solve(layout.columns(), unit);
  assert(move && "a distributed layout holds every element");
  return {bit, in.coordinate(*move, Dim::Register), in.coordinate(*move, Dim::Lane),
          in.coordinate(*move, Dim::Warp)};
}

/// The bits `kept` of the coordinates, packed densely.
static LinearLayout packedLayout(const LinearLayout &layout, ArrayRef<unsigned> kept) {
  BinaryColumns columns;
  for (uint64_t column : layout.columns()) {
    uint64_t packed = 0;
    for (auto [place, bit] : enumerate(kept))
      packed |= (column >> bit & 1) << place;
    columns.push_back(packed);
  }
  return LinearLayout(layout.in(), LayoutSpace({{Dim::Offset, unsigned(kept.size())}}), columns);
}

/// Numbers the partial totals. Rows come first unless lanes of a warp hold several totals of one,
/// or the order counts: a scan finds the others of its row by their numbers.
static void numberPartials(AxisSteps &plan, const LinearLayout &layout, unsigned axis,
                           bool inOrder) {
  const LayoutSpace &out = layout.out();
  unsigned position = out.position(Dim::axis(axis));
  SmallVector<unsigned> totals, rows;
  for (unsigned bit : plan.exchanged)
    totals.push_back(position + bit);
  for (unsigned bit = 0; bit < out.totalBits(); ++bit)
    if (!(out.mask(Dim::axis(axis)) >> bit & 1))
      rows.push_back(bit);
  bool lanesShareRows = llvm::any_of(layout.columns(Dim::Lane), [&](uint64_t column) {
    return llvm::any_of(totals, [&](unsigned bit) { return column >> bit & 1; });
  });
  bool rowsFirst = !inOrder && !lanesShareRows;
  (rowsFirst ? plan.totalShift : plan.rowShift) = (rowsFirst ? rows : totals).size();
  SmallVector<unsigned> kept = rowsFirst ? rows : totals;
  llvm::append_range(kept, rowsFirst ? totals : rows);
  plan.partials = packedLayout(layout, kept);
}

AxisSteps planAxisSteps(const LinearLayout &layout, unsigned axis, bool inOrder) {
  SmallVector<AxisStep> steps;
  for (unsigned bit = 0; bit < layout.out().bits(Dim::axis(axis)); ++bit)
    steps.push_back(stepOf(layout, axis, bit));
  if (!inOrder)
    llvm::sort(steps, [](const AxisStep &l, const AxisStep &r) {
      auto order = [](const AxisStep &step) {
        return std::pair(step.warps ? 2 : step.lanes ? 1 : 0, step.bit);
      };
      return order(l) < order(r);
    });
  AxisSteps plan;
  for (const AxisStep &step : steps) {
    if (step.warps || !plan.exchanged.empty())
      plan.exchanged.push_back(step.bit);
    else
      plan.local.push_back(step);
  }
  sort(plan.exchanged);
  numberPartials(plan, layout, axis, inOrder);
  return plan;
}

LinearLayout reducedLayout(const LinearLayout &layout, unsigned axis) {
  const LayoutSpace &out = layout.out();
  SmallVector<int64_t, 4> shape = out.shape();
  shape.erase(shape.begin() + axis);
  LayoutSpace space = LayoutSpace::ofShape(shape);
  BinaryColumns columns;
  for (uint64_t column : layout.columns()) {
    SmallVector<int64_t, 4> coordinates = out.unpack(column);
    coordinates.erase(coordinates.begin() + axis);
    columns.push_back(space.pack(coordinates));
  }
  return LinearLayout(layout.in(), space, columns);
}

int64_t reduceScratchElements(const LinearLayout &source, const LinearLayout *result, unsigned axis,
                              bool inOrder) {
  AxisSteps steps = planAxisSteps(source, axis, inOrder);
  bool inPlace = !result || renameRegisters(reducedLayout(source, axis), *result);
  return steps.exchanged.empty() && inPlace ? 0 : steps.numPartials();
}

int64_t scanScratchElements(const LinearLayout &source, unsigned axis) {
  AxisSteps steps = planAxisSteps(source, axis, /*inOrder=*/true);
  return steps.exchanged.empty() ? 0 : steps.numPartials();
}

} // namespace kiln

// Who proposes layouts, and how proposals spread.

#ifndef KILN_COMPILER_CONVERSION_TILETOTILEGPU_LAYOUTPROPOSALS_H
#define KILN_COMPILER_CONVERSION_TILETOTILEGPU_LAYOUTPROPOSALS_H

#include "compiler/Analysis/AxisInfo.h"
#include "compiler/Conversion/TileToTileGPU/LayoutGraph.h"

namespace kiln {

/// Gives every node at least one choice. Loads, stores and atomics propose the layout in which
/// lanes and registers follow contiguous addresses, as wide as alignment and mask allow; dots
/// their matrix unit's accumulators (dealt for least traffic, and dealt along m, which chained dots
/// like) or a register tile for fused multiply-adds; reductions and scans keep their axis within
/// warps. Each proposal spreads along values to whoever can take it over. What nobody reached
/// proposes its own row-major layout.
void proposeLayouts(LayoutGraph &graph, const TargetInfo &target, unsigned numWarps,
                    const AxisInfoAnalysis &facts);

/// Further choices once layouts are chosen: broadcasts whose operand still changes its layout
/// propose one in which it keeps it, as for the rows of a tile whose indices another tile's threads
/// have loaded. Whether there are any.
bool proposeBroadcasts(LayoutGraph &graph, const TargetInfo &target, unsigned numWarps,
                       const AxisInfoAnalysis &facts);

/// The layout of blocks that the copy engine brings, before they are staged: rows, 16 bytes a
/// thread.
tilegpu::LayoutAttr blockLayout(tile::DescriptorLoadOp load, unsigned warpSize, unsigned numWarps);

} // namespace kiln

#endif

// Which of its choices each node takes: a search for little total cost.
//
// The total is the sum over nodes of their own cost and over values of the conversions to each
// distinct layout that a use wants. It is a labelling problem on a graph with cycles, so exact
// answers are out of reach in general. The search starts from each node's cheapest choice and
// repeats moves that lower the total until none does:
//   * one node takes another of its choices;
//   * a proposal takes over a region: all nodes reachable from one that know it;
//   * the same, but only across edges that now need no conversion (a region moves as a block);
//   * the same in a loop alone and across edges that then need none, among tensors of one size, or
//     of any: a sum leaves the layout of loads that its region met in front of the loop or in a
//     row's index, where conversions cost little;
//   * the same without accesses to tiles as large: a loop's sums stay where products leave them,
//     and what is stored of them is converted, in few bits, on its way;
//   * without threads' copies, the same for what narrows elements, or makes pointers, and all that
//     these are computed of, up to a product or an access: fewer bits change their threads, and
//     pointers keep their base; and the same up to what others take, too.
// The regions are what makes it work: a single step inside a chain of elementwise operations only
// ever adds conversions at both ends.
//
// What a dot's other choice needs around it may be several such regions, each of which costs more
// by itself: rows shared between warps, and their operand through shared memory from the layout
// that loads it best. So where nothing is copied to shared memory the search is repeated from each
// of dots' other choices, which it keeps at first: in kernels of some hundred nodes, as it takes
// time.

#ifndef KILN_COMPILER_CONVERSION_TILETOTILEGPU_LAYOUTSEARCH_H
#define KILN_COMPILER_CONVERSION_TILETOTILEGPU_LAYOUTSEARCH_H

#include "compiler/Conversion/TileToTileGPU/LayoutCosts.h"

namespace kiln {

/// Sets `current` of every node. Returns the total cost. `fromDots`: again from each of dots' other
/// choices.
double searchLayouts(LayoutGraph &graph, LayoutCosts &costs, bool fromDots);

/// Goes on from what every node has, among choices that may be new.
double improveLayouts(LayoutGraph &graph, LayoutCosts &costs);

} // namespace kiln

#endif

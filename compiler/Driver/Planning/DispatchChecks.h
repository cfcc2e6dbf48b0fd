// What all calls within the ranges of a spec meet (DispatchProof.h), as diagnostics.

#ifndef KILN_COMPILER_DRIVER_PLANNING_DISPATCHCHECKS_H
#define KILN_COMPILER_DRIVER_PLANNING_DISPATCHCHECKS_H

#include "compiler/Basic/Diagnostics.h"

namespace kiln {

struct BuildPlan;

/// For each entry point with ranges, or one that has to be total: reports gaps, variants that no
/// call chooses and grids that cannot be launched, and notes the result in the model.
void checkDispatch(BuildPlan &plan, DiagnosticEngine &diagnostics);

/// The same, for gaps, with the variants that have binaries: configs of the source that do not fit
/// a target are left out after they compile, and may leave gaps.
void checkDispatchAgain(BuildPlan &plan, DiagnosticEngine &diagnostics);

} // namespace kiln

#endif

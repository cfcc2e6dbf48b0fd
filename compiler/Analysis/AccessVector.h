// How much of a thread's elements one access to global memory covers.

#ifndef KILN_COMPILER_ANALYSIS_ACCESSVECTOR_H
#define KILN_COMPILER_ANALYSIS_ACCESSVECTOR_H

#include "compiler/Analysis/AxisInfo.h"
#include "compiler/Layout/LinearLayout.h"

namespace kiln {

struct AccessVector {
  int64_t elements; ///< at least 1
  unsigned axis;    ///< along which they are neighbours
};

/// Of an access by `layout` under `mask` (null: everywhere), of at most `maxBits`.
AccessVector accessVector(mlir::Value pointers, mlir::Value mask, const LinearLayout &layout,
                          unsigned maxBits, const AxisInfoAnalysis &facts);

} // namespace kiln

#endif

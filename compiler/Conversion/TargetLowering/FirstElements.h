// Vectors that were loaded as a whole, of which only the first elements are there: where a mask
// ends within a vector.

#ifndef KILN_COMPILER_CONVERSION_TARGETLOWERING_FIRSTELEMENTS_H
#define KILN_COMPILER_CONVERSION_TARGETLOWERING_FIRSTELEMENTS_H

#include "compiler/Conversion/TargetLowering/ScalarBuilder.h"

namespace kiln {

/// Whether the scalar or vector is known to be zero, or may be taken as that.
bool isZeroOrNothing(mlir::Value value);

/// The vector `loaded`, with `other` where elements are not there (i1 each): those are not behind
/// one that is not. Where the first is not, zeros were loaded.
mlir::Value chooseFirst(const ScalarBuilder &s, mlir::Value loaded, mlir::ValueRange areThere,
                        mlir::Value other);

} // namespace kiln

#endif

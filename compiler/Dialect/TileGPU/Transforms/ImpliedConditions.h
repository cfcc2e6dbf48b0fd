// Scalar conditions that a mask makes superfluous.

#ifndef KILN_COMPILER_DIALECT_TILEGPU_TRANSFORMS_IMPLIEDCONDITIONS_H
#define KILN_COMPILER_DIALECT_TILEGPU_TRANSFORMS_IMPLIEDCONDITIONS_H

#include "compiler/Analysis/IndexPolynomial.h"

namespace kiln {

/// Whether the scalar `condition` holds wherever some element of `mask` does.
bool isImplied(mlir::Value condition, mlir::Value mask, IndexPolynomials &polynomials);

} // namespace kiln

#endif

// Scalar conditions that a mask makes superfluous, masks that a loop's bound does, and what lies
// below it.

#ifndef KILN_COMPILER_DIALECT_TILEGPU_TRANSFORMS_IMPLIEDCONDITIONS_H
#define KILN_COMPILER_DIALECT_TILEGPU_TRANSFORMS_IMPLIEDCONDITIONS_H

#include "compiler/Analysis/IndexPolynomial.h"
#include "mlir/Dialect/SCF/IR/SCF.h"

namespace kiln {

/// Whether the scalar `condition` holds wherever some element of `mask` does.
bool isImplied(mlir::Value condition, mlir::Value mask, IndexPolynomials &polynomials);

/// Whether each element of the mask, or the scalar, holds in all of the loop's iterations but the
/// last.
bool holdsBeforeLast(mlir::Value mask, mlir::scf::ForOp loop, IndexPolynomials &polynomials);

/// Whether the polynomial is positive where `counter`, which is at least the loop's first, is below
/// `end`.
bool isPositiveBelow(const Polynomial &end, const Polynomial &counter, const Polynomial &polynomial,
                     mlir::scf::ForOp loop, IndexPolynomials &polynomials);

} // namespace kiln

#endif

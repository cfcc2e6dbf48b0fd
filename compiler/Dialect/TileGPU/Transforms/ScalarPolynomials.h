// Polynomials of scalars (IndexPolynomial.h), written down as arithmetic again.

#ifndef KILN_COMPILER_DIALECT_TILEGPU_TRANSFORMS_SCALARPOLYNOMIALS_H
#define KILN_COMPILER_DIALECT_TILEGPU_TRANSFORMS_SCALARPOLYNOMIALS_H

#include "compiler/Analysis/AxisInfo.h"
#include "compiler/Analysis/IndexPolynomial.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/IR/Builders.h"
#include "mlir/IR/Dominance.h"

namespace kiln {

class ScalarPolynomials {
public:
  /// With `followsLoads` what lanes load from one place may be the end of a loop whose counter a
  /// wave has.
  ScalarPolynomials(mlir::func::FuncOp kernel, IndexPolynomials &polynomials,
                    const AxisInfoAnalysis &facts, bool followsLoads)
      : polynomials(polynomials), facts(facts), dominance(kernel), followsLoads(followsLoads) {}

  /// Whether a wave has the scalar once, as the back end sees it: it is computed of arguments,
  /// program ids and loops' counters alone.
  bool isOfWave(mlir::Value scalar);

  /// Whether all lanes of a wave have the same: as above, or computed of what they load from one
  /// place, where loads are followed. The back end may hold it in a register of the lanes, of which
  /// it makes no base.
  bool isAlike(mlir::Value scalar);

  /// Whether `write` can, at `at`: symbols are scalars of the wave, or numbers of iterations of
  /// loops around it. With `type` i32 only if the scalars are of that type.
  bool canWrite(const Polynomial &polynomial, mlir::Operation *at, mlir::Type type);
  mlir::Value write(const Polynomial &polynomial, mlir::Operation *at, mlir::Type type,
                    mlir::OpBuilder &b);
  bool isNonNegative(const Polynomial &polynomial) const;

private:
  /// A product of scalars: some less another.
  struct Factor {
    mlir::Value value, less;
  };
  struct Product {
    int64_t coefficient;
    llvm::SmallVector<Factor, 3> factors;
  };
  std::optional<Polynomial::Monomial>
  withoutStep(Polynomial::Monomial monomial, mlir::scf::ForOp loop, int64_t &coefficient) const;
  std::optional<Product> productOf(const Polynomial::Monomial &monomial, int64_t coefficient,
                                   mlir::Operation *at, mlir::Type type);
  mlir::Value scalarAt(Symbol symbol, mlir::Operation *at, mlir::Type type);
  bool isNonNegative(Symbol symbol) const;

  IndexPolynomials &polynomials;
  const AxisInfoAnalysis &facts;
  mlir::DominanceInfo dominance;
  bool followsLoads;
  llvm::DenseMap<mlir::Value, bool> ofWave;
};

} // namespace kiln

#endif

// Products of tiles that end in zeros.
//
// Tiles have powers of two as extents, and what they hold may have others: heads of 96 dimensions
// are loaded as 128, of which a mask leaves the last 32 out. Of
//
//     s = tile.dot %q, %k_transposed, …      // 128 deep
//     o = tile.dot %p, %v, …                 // 128 columns
//
// the first adds up zeros from 96 on, and nobody stores the second's columns from there on. A unit
// whose instructions may have any number of columns (wgmma) need not multiply these: the dots say
// so by attributes, which the lowering heeds where it can.

#ifndef KILN_COMPILER_DIALECT_TILE_TRANSFORMS_TRIMDOTS_H
#define KILN_COMPILER_DIALECT_TILE_TRANSFORMS_TRIMDOTS_H

#include "compiler/Analysis/IndexPolynomial.h"
#include "mlir/Pass/Pass.h"

namespace kiln {

/// On dots (i32): of both operands all that lies from there on along k is zero. May be more than
/// the dot's extent, where a part of the tiles is multiplied.
inline constexpr llvm::StringLiteral usedDepthAttr = "tile.used_depth";
/// On dots (i32): the result's columns from there on may be anything.
inline constexpr llvm::StringLiteral usedColumnsAttr = "tile.used_columns";

/// Where tiles that masked loads have filled with zeros end. Stale after the IR changes.
class ZeroTails {
public:
  /// All elements from there on along the axis are zero; the extent, if that is not known of any.
  int64_t from(mlir::Value tile, unsigned axis);

private:
  int64_t find(mlir::Value tile, unsigned axis);
  int64_t ofLoad(mlir::Value tile, unsigned axis, int64_t extent);

  IndexPolynomials polynomials;
  llvm::DenseMap<std::pair<mlir::Value, unsigned>, int64_t> known;
};

/// What the attribute of the dot says, at most `extent`.
int64_t usedExtent(mlir::Operation *dot, llvm::StringRef attribute, int64_t extent);

/// A pass on func.func, `kiln-trim-dots`, for kernels whose loads are still of pointers.
std::unique_ptr<mlir::Pass> createTrimDotsPass();
void registerTrimDotsPass();

} // namespace kiln

#endif

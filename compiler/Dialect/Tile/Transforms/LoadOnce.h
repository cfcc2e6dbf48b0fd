// Loads that read every address several times.
//
// Weights of 4 or 8 bits are packed into words: row k of a tile is in word k / 8 of its column, and
// a kernel loads the whole tile of words and shifts each by `k % 8`. Eight neighbours along k have
// one address, and each would be an access, a register and a place in a buffer of its own:
//
//     %word = tile.load %p : (tensor<128x64x!tile.ptr<i32>>) -> tensor<128x64xi32>
//
// becomes a load of what differs, and a repetition that costs nothing where a layout has equal
// elements in one thread:
//
//     %some = tile.load %every_eighth : (tensor<16x64x!tile.ptr<i32>>) -> tensor<16x64xi32>
//     %three = tile.expand_dims %some, 1 : … -> tensor<16x1x64xi32>
//     %equal = tile.broadcast %three : … -> tensor<16x8x64xi32>
//     %word = tile.reshape %equal : … -> tensor<128x64xi32>
//
// The addresses are computed anew, from ranges that count in steps. Tensors that a loop only moves
// are rewritten first (Inductions.h), those that change otherwise keep a load as it is. A mask may
// end within neighbours that have one address: then what the first of them reads is chosen under
// it.
//
// Rows of a cache in pages are divided by the size of a page, which only the launch knows. If it is
// a multiple of 16, sixteen neighbours have one quotient, and their remainders count up: these,
// too, are computed once for all of them in loops.

#ifndef KILN_COMPILER_DIALECT_TILE_TRANSFORMS_LOADONCE_H
#define KILN_COMPILER_DIALECT_TILE_TRANSFORMS_LOADONCE_H

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Pass/Pass.h"

namespace kiln {

/// Has loads read each of their addresses once, and neighbours divided once by what only the launch
/// knows. True if there were any that were not. Extents are powers of two.
bool loadOnce(mlir::func::FuncOp kernel);

/// `loadOnce` as a pass on func.func, `kiln-load-once`; simplifies what it has changed.
std::unique_ptr<mlir::Pass> createLoadOncePass();
void registerLoadOncePass();

} // namespace kiln

#endif

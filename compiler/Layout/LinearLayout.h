//===- LinearLayout.h - where every element of a tile lives -----*- C++ -*-===//
//
// PROBLEM. A tile of a kernel is spread over registers of lanes of warps of
// blocks, or over offsets in shared memory. Loads want neighbouring lanes on
// neighbouring addresses, matrix units want their fragments, reductions want an
// axis within a warp, and each pair of such wishes needs code that moves data.
// With one class per kind of layout, moving data is written once per *pair*.
//
// APPROACH. All sizes are powers of two, and all layouts in use send *bits* of
// the hardware index to *bits* of the tensor coordinate, swizzles included when
// sums are taken without carry. So a layout is a matrix over GF(2), the
// field {0, 1} in which addition is xor: L(a xor b) = L(a) xor L(b). It is
// given by the images of the unit vectors, its *bases*. Everything else follows
// from linear algebra (Zhou et al., "Linear Layouts: Robust Code Generation of
// Efficient Tensor Computation Using F2", 2025).
//
// AN EXAMPLE. A 4x8 tile in one warp of 8 lanes with 4 registers each: a lane
// holds two neighbours of a row, lanes run 4 along the row and 2 down, and the
// registers repeat below:
//
//        dim1 0   1   2   3   4   5   6   7
//   dim0 0  t0r0 t0r1 t1r0 t1r1 t2r0 t2r1 t3r0 t3r1      register: 1→(0,1) 2→(2,0)
//        1  t4r0 t4r1 t5r0 t5r1 t6r0 t6r1 t7r0 t7r1      lane:     1→(0,2) 2→(0,4)
//        2  t0r2 t0r3 t1r2 t1r3 t2r2 t2r3 t3r2 t3r3                4→(1,0)
//        3  t4r2 t4r3 t5r2 t5r3 t6r2 t6r3 t7r2 t7r3
//
// Five bases say it all. Where is register 3 of lane 5? 3 = 1^2 and 5 = 1^4, so
// (0,1)^(2,0) ^ (0,2)^(1,0) = (3,3). In text: "register: 0,1 2,0; lane: 0,2 0,4 1,0
// -> 4x8".
//
// WHAT FOLLOWS.
//  * A basis of (0,0) means that changing that bit changes nothing: those
//    threads or registers hold *duplicates* (freeBits). Slicing an axis away
//    (the layout of a reduction's result) or shrinking it to size 1 (the
//    operand of a broadcast) makes such bases.
//  * Converting layout A to B is the map B⁻¹∘A from hardware index to hardware
//    index. If it only permutes registers it is free; if it leaves warps
//    alone it is shuffles; else it goes through shared memory (LayoutConversion.h).
//  * A shared-memory layout maps offset bits to coordinates. S⁻¹∘A is then the
//    store's address computation: an offset per (register, lane, warp), a
//    xor of a compile-time part per register and a run-time part per thread.
//  * The widest vector access is the number of low register bits whose bases
//    are the first bases of the other side (contiguity).
//
// CONVENTIONS. Spaces pack points into flat integers (LayoutSpace.h); `columns`
// are flat output indices, one per flat input bit. A layout's inputs may be any
// of register, lane, warp, block (a *distributed* layout), offset, block (a
// *shared* layout), or tensor axes (the inverses). Nothing here knows MLIR or a
// vendor.
//
// REFUSED: padding as part of the map. Adding one element every 32 is not
// linear; a shared buffer carries it as a number beside its layout (SharedLayout).
//
//===----------------------------------------------------------------------===//

#ifndef KILN_COMPILER_LAYOUT_LINEARLAYOUT_H
#define KILN_COMPILER_LAYOUT_LINEARLAYOUT_H

#include "compiler/Layout/BinaryMatrix.h"
#include "compiler/Layout/LayoutSpace.h"

#include "llvm/ADT/Hashing.h"
#include "llvm/ADT/StringRef.h"
#include "llvm/Support/Error.h"

#include <optional>
#include <string>

namespace kiln {

/// A linear map over GF(2) between two spaces. A value: copied, compared, hashed.
class LinearLayout {
public:
  /// The map with no dimensions (the unit of products).
  LinearLayout() = default;
  /// `columns[j]` is the flat output index that flat input bit j selects.
  LinearLayout(LayoutSpace in, LayoutSpace out, llvm::ArrayRef<BinaryVector> columns);

  /// `in` of the given number of bits onto the equally large `out`.
  static LinearLayout identity(unsigned bits, Dim in, Dim out);
  /// `in` onto nothing: 2^bits duplicates. `out` is present with size 2^outBits.
  static LinearLayout zeros(unsigned bits, Dim in, Dim out, unsigned outBits = 0);

  const LayoutSpace &in() const { return inSpace; }
  const LayoutSpace &out() const { return outSpace; }
  llvm::ArrayRef<BinaryVector> columns() const { return matrix; }
  /// The columns of one input dimension (empty if absent).
  llvm::ArrayRef<BinaryVector> columns(Dim in) const;
  /// Coordinate of basis `bit` of input `in` along output `out`.
  uint64_t basis(Dim in, unsigned bit, Dim out) const;

  // Shorthands for distributed layouts.
  int64_t numRegisters() const { return inSpace.size(Dim::Register); }
  int64_t numLanes() const { return inSpace.size(Dim::Lane); }
  int64_t numWarps() const { return inSpace.size(Dim::Warp); }
  int64_t numBlocks() const { return inSpace.size(Dim::Block); }
  llvm::SmallVector<int64_t, 4> shape() const { return outSpace.shape(); }

  //===--- evaluation ---===//

  /// Flat output index of a flat input index.
  uint64_t apply(uint64_t flatIn) const { return multiply(matrix, flatIn); }
  /// Flat output index of a point named by its machine coordinates.
  uint64_t apply(llvm::ArrayRef<std::pair<Dim, uint64_t>> point) const;
  /// Tensor coordinates held by a register of a thread.
  llvm::SmallVector<int64_t, 4> coordinates(uint64_t reg, uint64_t lane, uint64_t warp,
                                            uint64_t block = 0) const;

  //===--- algebra ---===//

  /// Direct sum: `this` takes the minor bits of every shared dimension, `major`
  /// the bits above. blocked layouts are products of per-level identities.
  LinearLayout operator*(const LinearLayout &major) const;
  /// outer ∘ this: this layout's outputs are outer's inputs (dimensions matched by
  /// name; outer's may be larger, and every output here must exist there).
  LinearLayout compose(const LinearLayout &outer) const;
  /// The inverse of a bijective layout.
  LinearLayout invert() const;
  /// X with outer(X(p)) = this(p) for all p: outer⁻¹ ∘ this. With `outer` a shared
  /// layout, the offset of each register of each thread; with `outer`
  /// distributed, the thread and register that holds it. `outer` must be
  /// surjective onto this layout's image. Where outer has duplicates, an input
  /// bit maps to the same-named bit if that is a solution (data stays where it
  /// is), else to the solution without free bits.
  LinearLayout invertAndCompose(const LinearLayout &outer) const;

  //===--- reshaping the two sides ---===//

  /// Only the given inputs and outputs; the other inputs are held at 0.
  LinearLayout sublayout(llvm::ArrayRef<Dim> ins, llvm::ArrayRef<Dim> outs) const;
  /// The layout of tl.trans: result axis i is this layout's axis order[i].
  LinearLayout transpose(llvm::ArrayRef<unsigned> order) const;
  /// The layout after a row-major reshape to `shape` (same number of elements).
  LinearLayout reshape(llvm::ArrayRef<int64_t> shape) const;
  /// An axis of size 1 is inserted before `axis`.
  LinearLayout expandAxis(unsigned axis) const;
  /// Axis `axis`, of size 1, is removed.
  LinearLayout squeezeAxis(unsigned axis) const;
  /// Axis `axis` shrinks to size 1 (its coordinates become 0) and registers
  /// that then repeat others are dropped: the operand of a broadcast whose
  /// result has this layout.
  LinearLayout shrinkAxis(unsigned axis) const;
  /// Axis `axis`, of size 1, grows to `size`, a thread holding what repeats its
  /// elements: in its registers before the first that steps along an outer axis, so
  /// that merging the two axes leaves neighbours neighbours. `overLanes`: lanes that
  /// hold the same share the repetitions first. A layout of a broadcast's result that
  /// gives its operand this one.
  LinearLayout growAxis(unsigned axis, int64_t size, bool overLanes = false) const;
  /// shrinkAxis, then squeezeAxis: the result of a reduction along `axis`.
  LinearLayout slice(unsigned axis) const;
  /// Register bit `bit` (in its new place) is added with the given output.
  LinearLayout insertRegisterBit(unsigned bit, BinaryVector column) const;
  /// Grows or shrinks the output to `shape`: missing coordinates are added as
  /// registers along `order` (fastest first), surplus ones become duplicates in
  /// lanes, warps and blocks and disappear from registers.
  LinearLayout fitToShape(llvm::ArrayRef<int64_t> shape, llvm::ArrayRef<unsigned> order) const;
  /// Without register bits that repeat what the remaining registers hold.
  LinearLayout withoutFreeRegisters() const;
  /// Same map with `in` present (adding bits that are duplicates above).
  LinearLayout withInBits(Dim in, unsigned bits) const;

  //===--- questions ---===//

  unsigned rank() const { return kiln::rank(matrix); }
  bool isInjective() const { return rank() == inSpace.totalBits(); }
  bool isSurjective() const { return rank() == outSpace.totalBits(); }
  bool isBijective() const { return isInjective() && isSurjective(); }
  /// Bits of `in` that may be forced to 0 without losing an element: the
  /// non-pivot columns, looking at register, lane, warp, block in this order.
  /// Threads with such a bit set hold only duplicates, and need not store.
  uint64_t freeBits(Dim in) const;
  /// Largest number of registers 2^k, aligned, that are neighbours in the
  /// row-major order in which order[0] is the fastest axis.
  int64_t contiguousRegisters(llvm::ArrayRef<unsigned> order) const;

  friend bool operator==(const LinearLayout &a, const LinearLayout &b) {
    return a.inSpace == b.inSpace && a.outSpace == b.outSpace && a.matrix == b.matrix;
  }
  friend bool operator!=(const LinearLayout &a, const LinearLayout &b) { return !(a == b); }
  friend llvm::hash_code hash_value(const LinearLayout &layout);

  //===--- text ---===//

  /// "register: 0,1 2,0; lane: 0,2 0,4 1,0; warp: -> 4x8". Bases list the outputs
  /// as the right side names them: "4x8" stands for dim0:4 dim1:8, other outputs
  /// read "offset:64 block:1". A scalar's layout has "-> scalar".
  std::string str() const;
  static llvm::Expected<LinearLayout> parse(llvm::StringRef text);
  /// Checks what the constructors assert: sizes and columns within the space.
  static llvm::Error check(const LayoutSpace &in, const LayoutSpace &out,
                           llvm::ArrayRef<BinaryVector> columns);

private:
  LayoutSpace inSpace, outSpace;
  BinaryColumns matrix;
};

llvm::hash_code hash_value(const LinearLayout &layout);

/// A shared-memory buffer's layout: a bijection offset → coordinates, and
/// optional padding: `padAmount` unused elements after every `padInterval`
/// elements of offset (0: none), which no linear map can say.
struct SharedLayout {
  LinearLayout map;
  unsigned padInterval = 0;
  unsigned padAmount = 0;

  /// The element index in memory of a linear offset.
  uint64_t place(uint64_t offset) const {
    return padInterval ? offset + offset / padInterval * padAmount : offset;
  }
  /// Number of elements of storage.
  uint64_t numElements() const { return place(map.in().totalSize() - 1) + 1; }

  friend bool operator==(const SharedLayout &a, const SharedLayout &b) {
    return a.map == b.map && a.padInterval == b.padInterval && a.padAmount == b.padAmount;
  }
};

} // namespace kiln

#endif // KILN_COMPILER_LAYOUT_LINEARLAYOUT_H

//===- LayoutSpace.h - named dimensions of a layout's two sides -*- C++ -*-===//
//
// A space is a list of named dimensions, each with a power-of-two size. A point
// of a space packs into one integer, its *flat index*, and then all of a
// layout's arithmetic is arithmetic on 64-bit words.
//
// The packing never depends on how a space was built: dimensions are ordered
// from minor (lowest bits) to major as
//     register, lane, warp, block, offset, …, dim2, dim1, dim0
// so the flat index of a tensor coordinate is its row-major index, and a
// row-major reshape changes the names of bits but moves none of them.
//
//===----------------------------------------------------------------------===//

#ifndef KILN_COMPILER_LAYOUT_LAYOUTSPACE_H
#define KILN_COMPILER_LAYOUT_LAYOUTSPACE_H

#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/SmallVector.h"

#include <cstdint>
#include <string>

namespace kiln {

/// The name of one dimension: a place in the machine or an axis of a tensor.
class Dim {
public:
  static const Dim Register; ///< which of a thread's values
  static const Dim Lane;     ///< thread within a warp (wavefront)
  static const Dim Warp;     ///< warp within a block
  static const Dim Block;    ///< block within a cluster
  static const Dim Offset;   ///< element offset into a shared-memory buffer

  constexpr Dim() : code(0) {}
  /// Axis `axis` of a tensor, 0 being the outermost.
  static constexpr Dim axis(unsigned axis) { return Dim(uint8_t(255 - axis)); }
  constexpr bool isAxis() const { return code >= 128; }
  constexpr unsigned axisIndex() const { return 255u - code; }

  /// "register", "lane", "warp", "block", "offset", "dim0", ….
  std::string name() const;

  friend constexpr bool operator==(Dim a, Dim b) { return a.code == b.code; }
  friend constexpr bool operator!=(Dim a, Dim b) { return a.code != b.code; }
  /// Minor before major.
  friend constexpr bool operator<(Dim a, Dim b) { return a.code < b.code; }

private:
  constexpr explicit Dim(uint8_t code) : code(code) {}
  uint8_t code;
};

inline constexpr Dim Dim::Register = Dim(0);
inline constexpr Dim Dim::Lane = Dim(1);
inline constexpr Dim Dim::Warp = Dim(2);
inline constexpr Dim Dim::Block = Dim(3);
inline constexpr Dim Dim::Offset = Dim(4);

/// Named dimensions with power-of-two sizes (given as numbers of bits; 0 bits is
/// a dimension of size 1), at most 64 bits together.
class LayoutSpace {
public:
  struct Entry {
    Dim dim;
    unsigned bits;
    friend bool operator==(const Entry &a, const Entry &b) {
      return a.dim == b.dim && a.bits == b.bits;
    }
  };

  LayoutSpace() = default;
  LayoutSpace(llvm::ArrayRef<Entry> entries);
  /// The space of a tensor's coordinates; every size must be a power of two.
  static LayoutSpace ofShape(llvm::ArrayRef<int64_t> shape);

  /// Minor to major.
  llvm::ArrayRef<Entry> entries() const { return list; }
  /// The order in which text names them: machine dimensions, then dim0, dim1 ….
  llvm::SmallVector<Entry, 4> entriesForText() const;
  bool contains(Dim dim) const;
  unsigned bits(Dim dim) const; ///< 0 for a dimension that is absent
  int64_t size(Dim dim) const { return int64_t(1) << bits(dim); }
  unsigned totalBits() const;
  int64_t totalSize() const { return int64_t(1) << totalBits(); }
  /// The lowest bit of the dimension within a flat index (it must be present).
  unsigned position(Dim dim) const;
  /// The bits of a flat index that belong to the dimension (0 if absent).
  uint64_t mask(Dim dim) const;

  /// Number of tensor axes; axes 0 … rank-1 must then all be present.
  unsigned rank() const;
  /// Sizes of axes 0 … rank-1.
  llvm::SmallVector<int64_t, 4> shape() const;

  /// The coordinate of one dimension in a flat index.
  uint64_t coordinate(uint64_t flat, Dim dim) const;
  /// `flat` with the coordinate of `dim` (currently 0) set to `value`.
  uint64_t with(uint64_t flat, Dim dim, uint64_t value) const;
  /// Flat index of tensor coordinates (axis order).
  uint64_t pack(llvm::ArrayRef<int64_t> coordinates) const;
  llvm::SmallVector<int64_t, 4> unpack(uint64_t flat) const;

  /// Re-expresses a flat index of this space in `other`, dimension by dimension.
  /// Dimensions absent from `other` must be 0 there; bits must fit.
  uint64_t transfer(uint64_t flat, const LayoutSpace &other) const;

  /// A copy with `dim` set to (or added with) the number of bits.
  LayoutSpace withBits(Dim dim, unsigned bits) const;
  LayoutSpace without(Dim dim) const;

  friend bool operator==(const LayoutSpace &a, const LayoutSpace &b) { return a.list == b.list; }
  friend bool operator!=(const LayoutSpace &a, const LayoutSpace &b) { return !(a == b); }

private:
  llvm::SmallVector<Entry, 4> list;
};

} // namespace kiln

#endif // KILN_COMPILER_LAYOUT_LAYOUTSPACE_H

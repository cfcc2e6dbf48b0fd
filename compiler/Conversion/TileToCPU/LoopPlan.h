// The plan of a kernel's code: its loop nests in order, what is computed in each, and what is kept
// in buffers. planLoops makes it, KernelEmitter follows it; it has a text form (LoopPlan.cpp).

#ifndef KILN_COMPILER_CONVERSION_TILETOCPU_LOOPPLAN_H
#define KILN_COMPILER_CONVERSION_TILETOCPU_LOOPPLAN_H

#include "compiler/Conversion/TileToCPU/AccessFacts.h"
#include "compiler/Conversion/TileToCPU/Buffers.h"
#include "compiler/Conversion/TileToCPU/TileToCPU.h"
#include "compiler/Dialect/Tile/Tile.h"
#include "llvm/ADT/SetVector.h"
#include <deque>
#include <memory>
#include <optional>
#include <vector>

namespace kiln::cpu {

/// Part of an axis that runs in vectors of `lanes`, of which both ends are multiples.
struct Stretch {
  int64_t from, to;
  unsigned lanes;

  int64_t vectors() const { return (to - from) / lanes; }
};

/// An axis in vectors of `lanes`, a power of two, and what they leave over in ever narrower ones.
llvm::SmallVector<Stretch, 4> stretchesOf(int64_t extent, unsigned lanes);

/// Loops over an index space, and a fusion group: the producers that are computed in them. One axis
/// runs in vectors of up to `lanes`, innermost.
struct Nest {
  llvm::SmallVector<int64_t> shape;
  unsigned vectorAxis = 0;
  unsigned lanes = 1;
  /// Results of producers, in program order. A nest computes them wherever and as often as it needs
  /// them.
  llvm::SetVector<mlir::Value> fused;
  /// Those of them whose elements the nest stores as well: from then on they are read there.
  llvm::SmallVector<std::pair<mlir::Value, const Buffer *>> stored;
  /// Tensors that the nest reads from their buffers.
  llvm::SmallVector<std::pair<mlir::Value, const Buffer *>> read;
  /// Along which axis of the pointers of a load or store the vectors go.
  struct Access {
    mlir::Operation *op;
    unsigned axis;
  };
  llvm::SmallVector<Access> accesses;
};

/// A nest that computes a tensor into a buffer.
struct Fill {
  enum Form {
    Elements,        ///< element by element
    Panels,          ///< [batch, n / width, k, width], of a dot's B
    TransposedPanels ///< the same in squares that are transposed in registers
  };
  Fill(mlir::Location loc, mlir::Value value, const Buffer *buffer)
      : loc(loc), value(value), buffer(buffer) {}

  mlir::Location loc;
  mlir::Value value;
  const Buffer *buffer;
  Form form = Elements;
  /// Nests that come first, between the buffer's allocation and this nest.
  std::vector<Fill> before;
  Nest nest;
  /// From then on the value is read there.
  bool isMaterialised = false;
  /// Where this nest, and no other, finds the value's elements.
  const Buffer *source = nullptr;
};

/// A load in a store's nest that may meet its writes: if the addresses do at run time, it reads
/// from a copy made before.
struct Guard {
  tile::LoadOp load;
  Fill copy;
};

/// Extents of a product and of its register tile, rows x (vectors * lanes).
struct DotTiling {
  int64_t batch = 1, m, n, k;
  bool isBatched;
  unsigned lanes, vectors, rows;

  int64_t width() const { return int64_t(lanes) * vectors; }
};

struct DotPlan {
  DotTiling tiling;
  /// Of the sums, and of the packed operands.
  mlir::Type sumType;
  /// A in rows, B in panels.
  const Buffer *rows, *panels;
  /// They replace what is in the result's buffer; else they add to it.
  bool startsFromZero;
};

/// What is emitted for an operation that has code of its own.
struct OperationPlan {
  /// Nests that come first.
  std::vector<Fill> before;
  std::vector<Guard> guards;
  /// The operation's own.
  Nest nest;
  /// One for each tensor that it computes; null for scalars and what nobody reads.
  llvm::SmallVector<const Buffer *> results;
  /// Of a loop: one for each tensor that enters it and that its iterations hand on.
  llvm::SmallVector<const Buffer *> carried;
  std::optional<DotPlan> dot;
};

/// Tensors that are in a buffer at some point of the program.
using BufferMap = llvm::DenseMap<mlir::Value, const Buffer *>;

struct LoopPlan {
  LoopPlan(mlir::func::FuncOp kernel, const CPUOptions &options)
      : kernel(kernel), options(options), facts(std::make_unique<AccessFacts>(kernel)) {}

  /// The plan of an operation; empty of those that have none.
  const OperationPlan &of(mlir::Operation *op) const;

  void print(llvm::raw_ostream &os) const;

  mlir::func::FuncOp kernel;
  CPUOptions options;
  /// What it goes by.
  std::unique_ptr<AccessFacts> facts;
  llvm::DenseMap<mlir::Operation *, OperationPlan> operations;
  std::deque<Buffer> buffers;
};

/// The plan of a kernel in Tile IR. It holds as long as the kernel does not change.
LoopPlan planLoops(mlir::func::FuncOp kernel, const CPUOptions &options);

/// A type of Tile IR as the emitted code holds it: pointers are `!llvm.ptr`, 8-bit floats bytes.
mlir::Type lowered(mlir::Type element);

} // namespace kiln::cpu

#endif // KILN_COMPILER_CONVERSION_TILETOCPU_LOOPPLAN_H

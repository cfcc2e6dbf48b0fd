// The state of lowering one kernel, and the pieces that share it.
//
//   Emitter.cpp      the walk in program order; scalars; which arrays a sink needs first
//   Pull.cpp         computing a tensor's elements at an index vector
//   Access.cpp       loads, stores and arrays at an index vector
//   Elementwise.cpp  one operation on scalars or vectors
//   Nest.cpp         loop nests, and filling arrays
//   Reduction.cpp    reduce, scan, histogram    Dot.cpp      matrix products
//   Atomics.cpp      atomics                    Control.cpp  if, for, while
//   Map.cpp          functions of scalars       Debug.cpp    printing and assertions

#ifndef KILN_COMPILER_CONVERSION_TILETOCPU_EMITTER_H
#define KILN_COMPILER_CONVERSION_TILETOCPU_EMITTER_H

#include "compiler/Conversion/TileToCPU/Arena.h"
#include "compiler/Conversion/TileToCPU/Sinks.h"
#include "compiler/Conversion/TileToCPU/TileToCPU.h"
#include "compiler/Conversion/TileToCPU/VectorBuilder.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "llvm/ADT/SetVector.h"
#include <map>
#include <tuple>
#include <vector>

namespace kiln {
class AxisInfoAnalysis;
}

namespace kiln::cpu {

/// The index along one axis, in all lanes of a vector. i64.
struct Coord {
  enum Kind {
    Uniform, ///< `base` in every lane
    Step,    ///< `base`, `base` + 1, …; base is a multiple of the number of lanes
    Lanes    ///< `lanes`, a vector
  };
  Kind kind = Uniform;
  mlir::Value base, lanes;
  /// The loop (0 = outside of the nest) that it depends on.
  unsigned level = 0;
  /// Of what was a Step, only the first lane is asked for.
  bool firstOfStep = false;
};
using Coords = llvm::SmallVector<Coord, 4>;

/// How a nest walks an index space: one axis in vectors of up to `lanes`, innermost.
struct NestShape {
  llvm::ArrayRef<int64_t> shape;
  unsigned vectorAxis = 0;
  unsigned lanes = 1;
};

/// Part of an axis that runs in vectors of `lanes`, of which both ends are multiples.
struct Stretch {
  int64_t from, to;
  unsigned lanes;

  int64_t vectors() const { return (to - from) / lanes; }
};

/// An axis in vectors of `lanes`, a power of two, and what they leave over in ever narrower ones.
llvm::SmallVector<Stretch, 4> stretchesOf(int64_t extent, unsigned lanes);

class KernelEmitter {
public:
  KernelEmitter(mlir::ModuleOp module, mlir::func::FuncOp kernel, const SinkPlan &plan,
                IndexFacts &facts, const CPUOptions &options);
  ~KernelEmitter();

  /// Emits the body of the kernel at the builder's place.
  void emitBody(mlir::OpBuilder &builder, mlir::ValueRange abiArguments);

private:
  using Value = mlir::Value;
  using Type = mlir::Type;
  using Operation = mlir::Operation;
  using Location = mlir::Location;
  template <typename T> using ArrayRef = llvm::ArrayRef<T>;

  //--- Emitter.cpp ---
  void bindArguments(mlir::ValueRange abiArguments);
  void emitBlock(mlir::Block &block);
  void emitOperation(Operation *op);
  void emitScalarOperation(Operation *op);
  /// An element of the arrays of program ids and of grid extents.
  Value gridValue(Value array, uint32_t axis);
  Value scalar(Value value);
  void setScalar(Value value, Value emitted) { scalars[value] = emitted; }
  /// A type of Tile IR as the emitted code holds it: pointers become `!llvm.ptr`.
  Type lowered(Type element);
  /// Before a nest over these roots: pending arrays that the nest computes at its own index are
  /// filled on the way, others that it needs are filled now.
  void prepare(ArrayRef<Value> roots);
  void finishFills();
  void flushPending();
  void visitPulled(Value value, bool direct, llvm::function_ref<bool(Value, bool)> visit);

  //--- Nest.cpp ---
  Value index(int64_t value);
  NestShape chooseNest(llvm::ArrayRef<int64_t> shape, ArrayRef<Value> roots,
                       ArrayRef<Value> pointers, unsigned unroll = 1);
  double pointerCost(Value pointers, unsigned axis, unsigned lanes);
  double accessCost(Value root, unsigned axis, unsigned lanes,
                    llvm::DenseSet<std::pair<Value, unsigned>> &seen);
  unsigned widestElement(ArrayRef<Value> roots);
  void beginNest();
  void endNest();
  /// Opens a loop of `extent / step` iterations (none for one) and gives the index.
  Coord openLoop(int64_t extent, int64_t step);
  mlir::scf::ForOp openLoop(int64_t from, int64_t to, int64_t step, mlir::ValueRange carried);
  void closeLoops(unsigned level);
  void closeLoop(mlir::ValueRange results);
  unsigned level() const { return levels.size() - 1; }
  void setLevel(unsigned level);
  /// The same over the vectors of a stretch, whose lanes the nest has from here on.
  Coord openStretch(const Stretch &stretch);
  /// Opens all loops of a nest without vectors; the coordinates are in the order of the axes.
  Coords openNest(llvm::ArrayRef<int64_t> shape);
  /// A whole nest: calls `body` with the coordinates once for each stretch of the vector axis.
  void walkNest(const NestShape &nest, llvm::function_ref<void(const Coords &)> body);
  Buffer *fill(Value value);
  void fillInto(Buffer *buffer, Value value);

  //--- Pull.cpp ---
  /// The elements of `value` at `coords`: a scalar where all lanes are equal, else a vector.
  Value pull(Value value, ArrayRef<Coord> coords);
  Value compute(Value value, ArrayRef<Coord> coords);
  Value emitConstant(mlir::TypedAttr value);
  Value pullVector(Value value, ArrayRef<Coord> coords);
  Coords gatherCoords(tile::GatherOp gather, ArrayRef<Coord> coords);
  Coords reshapeCoords(ArrayRef<int64_t> from, ArrayRef<int64_t> to, ArrayRef<Coord> coords,
                       unsigned level);
  Value coordVector(const Coord &coord, unsigned lanes);
  unsigned lanesOf(ArrayRef<Coord> coords) const;
  unsigned levelOf(ArrayRef<Coord> coords) const;
  Coords firstLane(ArrayRef<Coord> coords) const;
  Value pullFirstWhileFilling(Value value, ArrayRef<Coord> coords);

  //--- Access.cpp ---
  Value pullLoad(tile::LoadOp load, ArrayRef<Coord> coords);
  Value loadScalar(Location loc, Type element, Value pointer, Value mask, Value other,
                   bool isVolatile);
  Value emptyMask(unsigned lanes);
  bool masksAreCheap() const;
  Value allLanes(Value mask);
  Value contiguityCheck(Value pointers, ArrayRef<Coord> coords);
  void storeAt(tile::StoreOp store, ArrayRef<Coord> coords);
  void emitStore(tile::StoreOp store);
  void emitScalarStore(tile::StoreOp store);
  void emitGuards(tile::StoreOp store);
  bool contiguous(Value pointers, ArrayRef<Coord> coords, unsigned lanes);
  bool sameInAllLanes(Value value, ArrayRef<Coord> coords, unsigned lanes);
  Value bufferAddress(Buffer *buffer, ArrayRef<Coord> coords);
  Value bufferAddresses(Buffer *buffer, ArrayRef<Coord> coords);
  Value loadBuffer(Buffer *buffer, ArrayRef<Coord> coords);
  void storeBuffer(Buffer *buffer, ArrayRef<Coord> coords, Value value);

  //--- Elementwise.cpp ---
  llvm::SmallVector<Value> emitElementwise(Operation *op, ArrayRef<Value> operands);
  Value emitDivision(Operation *op, ArrayRef<Value> operands);
  Value emitConversion(Operation *op, Value operand);
  llvm::SmallVector<Value> emitCombiner(mlir::Region &region, ArrayRef<Value> arguments);

  //--- Reduction.cpp ---
  void emitReduce(tile::ReduceOp op);
  llvm::SmallVector<Value> accumulate(tile::ReduceOp op, Coords coords, const Stretch &stretch);
  llvm::SmallVector<Value> foldLanes(mlir::Region &combiner, llvm::SmallVector<Value> values,
                                     bool ordered);
  llvm::SmallVector<Value> identity(tile::ReduceOp op, unsigned lanes);
  void emitScan(tile::ScanOp op);
  void scanAlong(tile::ScanOp op, Coords coords, ArrayRef<Buffer *> results);
  void emitHistogram(tile::HistogramOp op);

  //--- Dot.cpp ---
  void emitDot(tile::DotOp op);
  void packInvariants(Operation *loop);
  Buffer *packPanels(Value value, int64_t width, Type sumType);
  void packTransposed(Value value, Buffer *panels, unsigned lanes);
  Buffer *packRows(Value value, Type sumType);
  Buffer *accumulatorFor(tile::DotOp op, Buffer *rows, bool &startsFromZero);
  /// Between float types or between (signed) integer types.
  Value convertElement(Value value, Type element);

  //--- Atomics.cpp ---
  void emitAtomic(Operation *op);
  Value atomicElement(Operation *op, ArrayRef<Value> operands);
  Value atomicRMW(tile::AtomicRMWOp op, Value pointer, Value value);
  Value atomicCAS(tile::AtomicCASOp op, Value pointer, Value compare, Value value);
  Value halfAtomicRMW(tile::AtomicRMWOp op, Value pointer, Value value);
  Value orElse(Location loc, Value condition, llvm::function_ref<Value()> then,
               llvm::function_ref<Value()> otherwise);

  //--- Map.cpp ---
  llvm::SmallVector<Value> emitMap(tile::MapOp op, ArrayRef<Value> operands);
  llvm::SmallVector<Value> emitMapped(tile::MapOp op, ArrayRef<Value> elements);

  //--- Debug.cpp ---
  void emitPrint(tile::PrintOp op);
  void emitLine(tile::PrintOp op, ArrayRef<Value> indices, Value element);
  void emitAssert(tile::AssertOp op);
  /// Null without a result.
  mlir::Value call(llvm::StringRef name, mlir::ValueRange arguments, mlir::Type result = {});

  //--- Control.cpp ---
  void emitIf(mlir::scf::IfOp op);
  void emitFor(mlir::scf::ForOp op);
  void emitWhile(mlir::scf::WhileOp op);
  void emitYield(Operation *yield, mlir::ValueRange values, ArrayRef<Buffer *> targets);
  llvm::SmallVector<Value> emittedScalars(mlir::ValueRange values);
  llvm::SmallVector<Type> scalarTypes(mlir::TypeRange types);
  llvm::SmallVector<Buffer *> newBuffers(mlir::TypeRange types);
  void bindRegion(mlir::ValueRange values, mlir::ValueRange emitted, ArrayRef<Buffer *> buffers);
  bool mayUpdateInPlace(Value value, Operation *last);

  VectorBuilder vectors() { return VectorBuilder(*b, loc); }

  mlir::ModuleOp module;
  mlir::func::FuncOp kernel;
  const SinkPlan &plan;
  IndexFacts &facts;
  CPUOptions options;
  std::unique_ptr<AxisInfoAnalysis> axes;
  mlir::OpBuilder *b = nullptr;
  /// Where the operation being emitted came from.
  Location loc;
  Arena arena;
  Value programIds, programCounts;
  mlir::Block *entry = nullptr;
  std::map<int64_t, Value> indexConstants;

  llvm::DenseMap<Value, Value> scalars;
  /// Tensors whose array is filled.
  llvm::DenseMap<Value, Buffer *> buffers;
  /// Materialised tensors that are not computed yet, in program order.
  llvm::SetVector<Value> pending;
  /// Those that the nest now being emitted fills.
  llvm::SetVector<Value> filling;
  llvm::DenseMap<Value, Buffer *> fillBuffers;
  /// Operands of dots in a loop that were packed before it: by value, panel width (0: rows) and
  /// type.
  std::map<std::tuple<const void *, int64_t, const void *>, Buffer *> packed;

  struct Level {
    mlir::Block *block;
    Operation *before; // null: the block's end
    unsigned serial;   // distinguishes levels of one depth that were open at different times
    bool isLoop;
  };
  llvm::SmallVector<Level> levels;
  unsigned levelSerial = 0;
  unsigned nestLanes = 1;
  struct CacheEntry {
    Value value;
    unsigned level, serial;
  };
  std::map<std::vector<const void *>, CacheEntry> cache;
  /// For the store being emitted: loads that may meet it, the copy to use then, and whether.
  struct Guard {
    Buffer *copy;
    Value overlaps;
  };
  llvm::DenseMap<Operation *, Guard> guards;
};

} // namespace kiln::cpu

#endif // KILN_COMPILER_CONVERSION_TILETOCPU_EMITTER_H

// Emitting a kernel as its plan says, and the pieces that share the state.
//
//   Emitter.cpp      the walk in program order; scalars
//   Elements.cpp     computing a tensor's elements at an index vector
//   Access.cpp       loads, stores and buffers at an index vector
//   Elementwise.cpp  one operation on scalars or vectors
//   Nest.cpp         loops of nests, and nests that fill a buffer
//   Reduction.cpp    reduce, scan, histogram    Dot.cpp      matrix products
//   Atomics.cpp      atomics                    Control.cpp  if, for, while
//   Map.cpp          functions of scalars       Debug.cpp    printing and assertions

#ifndef KILN_COMPILER_CONVERSION_TILETOCPU_EMITTER_H
#define KILN_COMPILER_CONVERSION_TILETOCPU_EMITTER_H

#include "compiler/Conversion/TileToCPU/LoopPlan.h"
#include "compiler/Expansion/VectorBuilder/VectorBuilder.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include <map>
#include <vector>

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

class KernelEmitter {
public:
  KernelEmitter(mlir::ModuleOp module, const LoopPlan &plan);

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

  //--- Nest.cpp ---
  Value index(int64_t value);
  void beginNest(const Nest &nest);
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
  Coords openNest(const Nest &nest);
  /// A whole nest: calls `body` with the coordinates once for each stretch of the vector axis.
  void walkNest(const Nest &nest, llvm::function_ref<void(const Coords &)> body);
  void emitFill(const Fill &fill);
  void emitFills(const std::vector<Fill> &fills);

  //--- Elements.cpp ---
  /// The elements of `value` at `coords`: a scalar where all lanes are equal, else a vector.
  Value elements(Value value, ArrayRef<Coord> coords);
  Value compute(Value value, ArrayRef<Coord> coords);
  Value emitConstant(mlir::TypedAttr value);
  Value elementVector(Value value, ArrayRef<Coord> coords);
  Coords gatherCoords(tile::GatherOp gather, ArrayRef<Coord> coords);
  struct ElementNumber;
  ElementNumber numberOf(ArrayRef<int64_t> shape, ArrayRef<Coord> coords);
  Coords coordsOf(ElementNumber number, unsigned lanes, ArrayRef<int64_t> shape, unsigned level);
  Coords reshapeCoords(ArrayRef<int64_t> from, ArrayRef<int64_t> to, ArrayRef<Coord> coords,
                       unsigned level);
  Value coordVector(const Coord &coord, unsigned lanes);
  unsigned lanesOf(ArrayRef<Coord> coords) const;
  unsigned levelOf(ArrayRef<Coord> coords) const;
  Coords firstLane(ArrayRef<Coord> coords) const;
  Value firstElementWhileStoring(Value value, ArrayRef<Coord> coords);

  //--- Access.cpp ---
  Value loadAt(tile::LoadOp load, ArrayRef<Coord> coords);
  Value loadLanes(tile::LoadOp load, ArrayRef<Coord> coords, Value mask, Value other,
                  AccessForm form);
  Value guardedAddress(tile::LoadOp load, Value address, ArrayRef<Coord> coords);
  Value loadScalar(Location loc, Type element, Value pointer, Value mask, Value other,
                   bool isVolatile);
  Value emptyMask(unsigned lanes);
  bool masksAreCheap() const;
  Value allLanes(Value mask);
  AccessForm formOf(Value pointers, ArrayRef<Coord> coords) const;
  Value contiguityCheck(Value pointers, ArrayRef<Coord> coords);
  void storeAt(tile::StoreOp store, ArrayRef<Coord> coords);
  void emitStore(tile::StoreOp store);
  void emitScalarStore(tile::StoreOp store);
  void emitGuards(tile::StoreOp store);
  bool sameInAllLanes(Value value, ArrayRef<Coord> coords) const;
  void allocate(const Buffer *buffer);
  Value bufferAddress(const Buffer *buffer, ArrayRef<Coord> coords);
  Value bufferAddresses(const Buffer *buffer, ArrayRef<Coord> coords);
  Value loadBuffer(const Buffer *buffer, ArrayRef<Coord> coords);
  void storeBuffer(const Buffer *buffer, ArrayRef<Coord> coords, Value value);

  //--- Elementwise.cpp ---
  llvm::SmallVector<Value> emitElementwise(Operation *op, ArrayRef<Value> operands);
  llvm::SmallVector<Value> emitArithmetic(Operation *op, llvm::SmallVector<Value> operands,
                                          unsigned lanes);
  Value emitDivision(Operation *op, ArrayRef<Value> operands);
  Value emitConversion(Operation *op, Value operand);
  llvm::SmallVector<Value> emitCombiner(mlir::Region &region, ArrayRef<Value> arguments);

  //--- Reduction.cpp ---
  void emitReduce(tile::ReduceOp op);
  llvm::SmallVector<Value> accumulate(tile::ReduceOp op, Coords coords, const Stretch &stretch);
  llvm::SmallVector<Value> combineLanes(mlir::Region &combiner, llvm::SmallVector<Value> values,
                                        bool ordered);
  llvm::SmallVector<Value> identity(tile::ReduceOp op, unsigned lanes);
  void emitScan(tile::ScanOp op);
  void scanAlong(tile::ScanOp op, Coords coords, ArrayRef<const Buffer *> results);
  void emitHistogram(tile::HistogramOp op);

  //--- Dot.cpp ---
  void emitDot(tile::DotOp op);
  void fillPanels(const Fill &fill);
  void fillTransposedPanels(const Fill &fill);
  Value multiplyAdd(Value x, Value y, Value sum);
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
  void emitRegion(mlir::Block &block);
  llvm::SmallVector<Value> emittedScalars(mlir::ValueRange values);
  llvm::SmallVector<Type> scalarTypes(mlir::TypeRange types);
  void bind(mlir::ValueRange values, ArrayRef<const Buffer *> arrays);
  void bind(mlir::ValueRange values, mlir::ValueRange emitted, ArrayRef<const Buffer *> arrays);

  VectorBuilder vectors() { return VectorBuilder(*b, loc); }

  mlir::ModuleOp module;
  const LoopPlan &plan;
  mlir::func::FuncOp kernel;
  AccessFacts &facts;
  const CPUOptions &options;
  mlir::OpBuilder *b = nullptr;
  /// Where the operation being emitted came from.
  Location loc;
  Arena arena;
  Value programIds, programCounts;
  mlir::Block *entry = nullptr;
  std::map<int64_t, Value> indexConstants;

  llvm::DenseMap<Value, Value> scalars;
  /// Tensors whose buffer is filled.
  BufferMap buffers;
  /// The nest being emitted, and what it stores beside its own result.
  const Nest *nest = nullptr;
  BufferMap storing;

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
  struct GuardedCopy {
    const Buffer *copy = nullptr;
    Value overlaps;
  };
  llvm::DenseMap<Operation *, GuardedCopy> guards;
};

} // namespace kiln::cpu

#endif // KILN_COMPILER_CONVERSION_TILETOCPU_EMITTER_H

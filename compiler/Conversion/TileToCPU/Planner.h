// Making the plan of a kernel, in one walk in program order.
//
// A materialised tensor waits (it is *pending*) until a nest needs it: one that needs it at its own
// index stores it on the way, for any other it gets a nest of its own before.
//
//   Planner.cpp      the walk; stores, reductions, scans, atomics; fills of buffers
//   PlanControl.cpp  if, for, while: buffers of tensors that pass through them
//   PlanDot.cpp      tiles and packed operands of dots

#ifndef KILN_COMPILER_CONVERSION_TILETOCPU_PLANNER_H
#define KILN_COMPILER_CONVERSION_TILETOCPU_PLANNER_H

#include "compiler/Conversion/TileToCPU/Fusion.h"
#include "compiler/Conversion/TileToCPU/LoopPlan.h"
#include "compiler/Conversion/TileToCPU/NestChoice.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include <map>
#include <tuple>

namespace kiln::cpu {

class Planner {
public:
  Planner(mlir::func::FuncOp kernel, const CPUOptions &options);
  LoopPlan plan() &&;

private:
  using Value = mlir::Value;
  using Type = mlir::Type;
  using Operation = mlir::Operation;
  using Location = mlir::Location;
  template <typename T> using ArrayRef = llvm::ArrayRef<T>;

  //--- Planner.cpp ---
  void planBlock(mlir::Block &block);
  void planOperation(Operation *op);
  OperationPlan planStore(tile::StoreOp op);
  OperationPlan planReduce(tile::ReduceOp op);
  OperationPlan planScan(tile::ScanOp op);
  OperationPlan planHistogram(tile::HistogramOp op);
  OperationPlan planElements(Operation *op);
  std::optional<OperationPlan> planScalar(Operation *op);

  /// Fills for all pending tensors.
  std::vector<Fill> flush();
  /// Before a nest over these roots: fills for pending tensors that it needs elsewhere than at its
  /// own index. Those at its own index are its stored ones.
  std::vector<Fill> prepare(ArrayRef<Value> roots, llvm::SetVector<Value> &stored);
  /// What the nest computes and reads for its roots; `stored` are in buffers from here on.
  void complete(Nest &nest, ArrayRef<Value> roots, const llvm::SetVector<Value> &stored);
  void addAccesses(Nest &nest, ArrayRef<Value> roots);
  Nest elementNest(ArrayRef<int64_t> shape, mlir::ValueRange roots);

  Fill materialise(Value value);
  Fill fill(Location loc, const Buffer *buffer, Value value);
  const Buffer *newBuffer(Type element, ArrayRef<int64_t> shape, unsigned minorAxis);
  /// In row-major order.
  const Buffer *newBuffer(Type element, ArrayRef<int64_t> shape);
  /// For a tensor type; null for scalars.
  const Buffer *newBuffer(Type type);
  llvm::SmallVector<const Buffer *> newBuffers(mlir::TypeRange types);
  /// The buffer of `value` is read for the last time by `last`, in the same iteration that made it.
  bool mayUpdateInPlace(Value value, Operation *last) const;
  const CPUOptions &options() const { return result.options; }
  bool isInBuffer(Value value) const { return buffers.contains(value); }
  void visitFused(Value root, llvm::function_ref<bool(Value, bool)> visit) const;

  //--- PlanControl.cpp ---
  OperationPlan planIf(mlir::scf::IfOp op);
  OperationPlan planFor(mlir::scf::ForOp op);
  OperationPlan planWhile(mlir::scf::WhileOp op);
  void planRegion(mlir::Block &block, mlir::ValueRange values, ArrayRef<const Buffer *> targets);
  bool reads(Value value, const Buffer *buffer, bool directToo) const;
  void bind(mlir::ValueRange values, ArrayRef<const Buffer *> arrays);

  //--- PlanDot.cpp ---
  OperationPlan planDot(tile::DotOp op);
  /// Fills for what dots inside of the loop read from outside, once.
  std::vector<Fill> packInvariants(Operation *loop);
  const Buffer *packRows(tile::DotOp op, Type sumType, std::vector<Fill> &fills);
  const Buffer *packPanels(tile::DotOp op, int64_t width, Type sumType, std::vector<Fill> &fills);
  const Buffer *accumulator(tile::DotOp op, const Buffer *rows, OperationPlan &plan);

  LoopPlan result;
  Fusion fusion;
  /// Tensors whose buffer is filled.
  BufferMap buffers;
  NestChoice nests;
  /// Materialised tensors that are not computed yet, in program order.
  llvm::SetVector<Value> pending;
  /// Operands of dots in a loop that were packed before it: by value, panel width (0: rows) and
  /// type.
  std::map<std::tuple<const void *, int64_t, const void *>, const Buffer *> packed;
};

} // namespace kiln::cpu

#endif // KILN_COMPILER_CONVERSION_TILETOCPU_PLANNER_H

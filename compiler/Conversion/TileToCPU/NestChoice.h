// The choice of a nest's vector axis and of how many lanes its vectors have.

#ifndef KILN_COMPILER_CONVERSION_TILETOCPU_NESTCHOICE_H
#define KILN_COMPILER_CONVERSION_TILETOCPU_NESTCHOICE_H

#include "compiler/Conversion/TileToCPU/LoopPlan.h"

namespace kiln::cpu {

class NestChoice {
public:
  NestChoice(AccessFacts &facts, const CPUOptions &options, const BufferMap &buffers)
      : facts(facts), options(options), buffers(buffers) {}

  /// The axis with the cheapest memory accesses, in native vectors, `unroll` of them at once: of a
  /// nest that computes `roots` and accesses `pointers`.
  Nest choose(llvm::ArrayRef<int64_t> shape, llvm::ArrayRef<mlir::Value> roots,
              llvm::ArrayRef<mlir::Value> pointers = {}, unsigned unroll = 1);

  /// Lanes of a native vector of the widest elements that a nest with these roots computes with.
  unsigned nativeLanes(llvm::ArrayRef<mlir::Value> roots);

private:
  using Visited = llvm::DenseSet<std::pair<mlir::Value, unsigned>>;
  double cost(mlir::Value root, unsigned axis, unsigned lanes, Visited &seen);

  AccessFacts &facts;
  const CPUOptions &options;
  const BufferMap &buffers;
};

} // namespace kiln::cpu

#endif // KILN_COMPILER_CONVERSION_TILETOCPU_NESTCHOICE_H

// Code that there is twice: for kernels of which some arguments are equal, and for others.

#ifndef KILN_COMPILER_DIALECT_TILEGPU_TRANSFORMS_EQUALARGUMENTS_H
#define KILN_COMPILER_DIALECT_TILEGPU_TRANSFORMS_EQUALARGUMENTS_H

#include "compiler/Dialect/TileGPU/Transforms/GlobalAccesses.h"
#include <map>

namespace kiln {

/// Comparisons of arguments, each made once, at the kernel's start. Pointers are equal; of a pair
/// of numbers, in order, the first is less than the second: of a stride and of where rows end
/// (RowEnds.h).
class ArgumentComparisons {
public:
  explicit ArgumentComparisons(mlir::func::FuncOp kernel);

  /// Whether the arguments of any of the pairs, of which there is one, are equal, or might be: of
  /// several pairs AMD's code compares the lower words.
  mlir::Value anyEqual(const std::set<ArgumentPair> &pairs);

private:
  mlir::Value compare(const ArgumentPair &pair);
  mlir::Value anyOf(const std::set<ArgumentPair> &pairs);
  mlir::Value anyEqualWord(const std::set<ArgumentPair> &pairs);
  mlir::Value addressOf(unsigned argument);
  mlir::Value wordOf(unsigned argument);

  mlir::func::FuncOp kernel;
  mlir::OpBuilder entry;
  bool comparesWords;
  std::map<ArgumentPair, mlir::Value> equal, difference;
  std::map<unsigned, mlir::Value> addresses, words;
};

/// Says of a branch that its condition is that the arguments of any of the pairs are equal.
void setEqualArguments(mlir::scf::IfOp branch, const std::set<ArgumentPair> &pairs);

/// What is left of a need at `op`: less in a branch that is taken for different arguments, and a
/// barrier without a condition in one for equal arguments.
BarrierNeed needAt(mlir::Operation *op, BarrierNeed need);

/// The loop twice, under a comparison: as it is where the arguments of some pair are equal, and
/// where those of none are, which is the one given back.
mlir::scf::ForOp versionFor(const std::set<ArgumentPair> &pairs, mlir::scf::ForOp loop,
                            ArgumentComparisons &comparisons);

} // namespace kiln

#endif

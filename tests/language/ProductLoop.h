// The loop of a matrix product in each of its forms: types, orders in memory, masks, stages, tiles.
// For tests that hold the whole way of such a loop (staging, pipelining, matrix units) against sums
// in extended precision.

#ifndef KILN_TESTS_LANGUAGE_PRODUCTLOOP_H
#define KILN_TESTS_LANGUAGE_PRODUCTLOOP_H

#include "tests/language/Numbers.h"

namespace kiln::testing {

/// What decides the code of a kernel that adds up products of tiles.
struct ProductForm {
  std::string type = "fp16", resultType = "fp32";
  int m = 64, n = 64, k = 32; ///< of a tile
  /// The first axis is the one with stride 1.
  bool columnsA = false, columnsB = false;
  /// The tile is loaded as its transposition.
  bool transposedA = false, transposedB = false;
  bool masked = true;
  /// Extents and strides are multiples of 16, and the signature says so.
  bool aligned = true;
  /// Arrays are below 2 GiB, and the target is told.
  bool smallArrays = false;
  unsigned warps = 4, stages = 3;
  /// `matrix_instr_nonkdim` and `kpack`, AMD only.
  unsigned matrixSize = 0, kPack = 0;
  /// Of tl.range; 0: the kernel's hold.
  int loopStages = 0;
  /// Of the loop, if known when the kernel is compiled; 0: as many as k says.
  int iterations = 0;
  /// The loaded tiles x and y on their way to the product, and the factors that this makes.
  std::string ofX = "x", ofY = "y";
  double factorX = 1, factorY = 1;
  /// More arguments of tl.dot, and the tolerance relative to the sum of the terms' magnitudes.
  std::string options;
  double tolerance = 2e-6;

  std::string describe() const;
};

class ProductLoop {
public:
  /// `edit` spoils the program (SourceOptions).
  ProductLoop(const ProductForm &form, const std::string &target,
              const std::function<void(mlir::ModuleOp &)> &edit = nullptr);

  /// The loop's loads are asynchronous copies.
  bool isPipelined() const { return copies; }
  /// Multiplies matrices of these extents (without masks: whole tiles are read). What went wrong, a
  /// line each: errors, findings, "wrong at 3, 7: …".
  std::string run(int m, int n, int k) const;
  /// Expects the product and no findings.
  void check(int m, int n, int k) const;
  /// The same for loops of 0 to `trips` iterations, of whole tiles or a little less where masks
  /// permit.
  void checkTrips(int trips) const;

private:
  struct Matrices;
  std::vector<SourceArgument> arguments(const Matrices &matrices) const;

  ProductForm form;
  std::unique_ptr<SourceKernel> kernel;
  bool copies = false;
};

} // namespace kiln::testing

#endif // KILN_TESTS_LANGUAGE_PRODUCTLOOP_H

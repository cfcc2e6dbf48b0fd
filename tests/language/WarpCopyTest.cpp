// Products in loops on a target whose warps copy operands to shared memory
// (TargetInfo::warpCopies).

#include "compiler/Dialect/TileGPU/TileGPU.h"
#include "tests/language/ProductLoop.h"

namespace kiln::testing {
namespace {

constexpr const char *target = "emu:gfx950";

void check(const ProductForm &form, bool isPipelined) {
  ProductLoop loop(form, target);
  EXPECT_EQ(loop.isPipelined(), isPipelined) << form.describe();
  loop.checkTrips(4);
}

/// Both operands have their neighbours along k, as units read them, and go through shared memory.
ProductForm alongK() {
  ProductForm form;
  form.m = form.n = 128;
  form.columnsB = true;
  return form;
}

struct Types {
  const char *operand, *result, *options;
  int k;
  double tolerance;
};

ProductForm ofTypes(const Types &types) {
  ProductForm form = alongK();
  form.type = types.operand;
  form.resultType = types.result;
  form.options = types.options;
  form.k = types.k;
  form.tolerance = types.tolerance;
  return form;
}

TEST(WarpCopies, OfEveryType) {
  for (const Types &types :
       {Types{"fp16", "fp32", "", 32, 2e-6}, Types{"bf16", "fp32", "", 64, 2e-6},
        Types{"fp32", "fp32", ", input_precision='ieee'", 16, 2e-6}, Types{"i8", "i32", "", 64, 0},
        Types{"fp8e4nv", "fp32", "", 64, 2e-6}, Types{"fp8e5", "fp32", "", 128, 2e-6},
        Types{"fp16", "fp16", ", out_dtype=tl.float16", 32, 4e-3}}) {
    check(ofTypes(types), true);
  }
}

TEST(WarpCopies, InEveryNumberOfStages) {
  for (unsigned stages = 1; stages <= 5; ++stages) {
    ProductForm form = alongK();
    form.stages = stages;
    check(form, stages > 1);
  }
}

TEST(WarpCopies, OfEveryTile) {
  for (auto [m, n, k, warps] : {std::tuple(32, 32, 64, 4u),
                                {128, 64, 64, 4u},
                                {256, 256, 32, 8u},
                                {256, 64, 32, 4u},
                                {64, 64, 128, 8u}}) {
    ProductForm form = alongK();
    form.m = m;
    form.n = n;
    form.k = k;
    form.warps = warps;
    ProductLoop loop(form, target);
    EXPECT_TRUE(loop.isPipelined()) << form.describe();
    for (int extent : {0, 3 * k})
      loop.check(m, n, extent);
  }
}

/// A tile that has fewer pieces than the block has lanes, elements that memory has no 16 of bytes
/// of side by side, and operands that are computed come through registers.
TEST(WarpCopies, OnlyOfWhatTheyCanBring) {
  ProductForm small = alongK();
  small.m = small.n = 32;
  check(small, false);
  ProductForm odd = alongK();
  odd.aligned = false;
  check(odd, false);
  ProductForm words;
  words.m = words.n = 128;
  words.type = "fp32";
  words.options = ", input_precision='ieee'";
  words.k = 16;
  check(words, false);
  ProductForm computed = alongK();
  computed.ofY = "(y * 0.5).to(y.dtype)";
  computed.factorY = 0.5;
  check(computed, false);
}

/// Which elements of 16 and of 8 bits are read from in rows or across them.
TEST(WarpCopies, InEveryOrderOfMemory) {
  for (const Types &types :
       {Types{"fp16", "fp32", "", 32, 2e-6}, Types{"bf16", "fp32", "", 32, 2e-6},
        Types{"i8", "i32", "", 64, 0}, Types{"fp8e4nv", "fp32", "", 64, 2e-6}})
    for (int order = 0; order < 16; ++order) {
      ProductForm form = ofTypes(types);
      form.columnsA = order & 1;
      form.columnsB = order & 2;
      form.transposedA = order & 4;
      form.transposedB = order & 8;
      ProductLoop loop(form, target);
      EXPECT_TRUE(loop.isPipelined()) << form.describe();
      loop.checkTrips(2);
    }
}

/// Bytes along m and n: rows of one panel and of several, instructions of both sizes, whose lanes
/// have 16 bytes or 32 along k.
TEST(WarpCopies, OfBytesAcrossRows) {
  for (const Types &types : {Types{"i8", "i32", "", 128, 0}, Types{"fp8e5", "fp32", "", 128, 2e-6}})
    for (auto [m, n, warps] : {std::tuple(64, 64, 4u), {128, 256, 8u}, {256, 64, 4u}})
      for (unsigned size : {16u, 32u}) {
        ProductForm form = ofTypes(types);
        form.columnsA = true;
        form.columnsB = false;
        form.m = m;
        form.n = n;
        form.warps = warps;
        form.matrixSize = size;
        form.stages = 2;
        ProductLoop loop(form, target);
        EXPECT_TRUE(loop.isPipelined()) << form.describe();
        loop.check(m, n, 3 * types.k);
      }
}

/// `matrix_instr_nonkdim` and `kpack` of a config, for both operands' orders in memory.
TEST(WarpCopies, ForInstructionsOfTheSizeThatIsAskedFor) {
  for (bool columns : {false, true})
    for (unsigned size : {16u, 32u})
      for (unsigned kPack : {1u, 2u}) {
        ProductForm form = alongK();
        form.columnsB = columns;
        form.matrixSize = size;
        form.kPack = kPack;
        ProductLoop(form, target).checkTrips(2);
      }
}

TEST(WarpCopies, OfKnownNumbersOfIterationsAndWithoutMasks) {
  for (int iterations : {1, 2, 3, 4})
    for (bool masked : {false, true}) {
      ProductForm form = alongK();
      form.iterations = iterations;
      form.stages = 2 + iterations % 2;
      form.masked = masked;
      ProductLoop(form, target).check(form.m, form.n, iterations * form.k);
    }
}

/// Rows that are a number of elements apart which the kernel is told when it runs, in arrays below
/// 2 GiB: all copies are from buffers, with masks and without.
TEST(WarpCopies, FromBuffers) {
  for (const Types &types : {Types{"fp16", "fp32", "", 32, 2e-6}, Types{"i8", "i32", "", 64, 0}})
    for (bool masked : {false, true})
      for (unsigned stages : {2u, 3u}) {
        ProductForm form = ofTypes(types);
        form.masked = masked;
        form.stages = stages;
        form.smallArrays = true;
        unsigned plain = 0, buffers = 0;
        ProductLoop loop(form, target, [&](mlir::ModuleOp &module) {
          module.walk([&](tilegpu::WarpCopyOp) { ++plain; });
          module.walk([&](tilegpu::WarpBufferCopyOp) { ++buffers; });
        });
        EXPECT_TRUE(loop.isPipelined()) << form.describe();
        EXPECT_EQ(plain, 0u) << form.describe();
        EXPECT_GT(buffers, 0u) << form.describe();
        loop.checkTrips(4);
        if (masked)
          loop.check(form.m - 16, form.n + 16, 3 * types.k - 16);
      }
}

} // namespace
} // namespace kiln::testing

// Products in loops, whose loads run ahead in stages where the target can: every type, order in
// memory, mask, trip count, number of stages and warps, and tile.

#include "tests/language/ProductLoop.h"

namespace kiln::testing {
namespace {

class ProductLoops : public SourceTest {
protected:
  bool isNvidia() const { return std::string(GetParam()).find("sm_") != std::string::npos; }
  /// sm_86 is sm_80 with less shared memory: some tests show nothing new there.
  bool isLikeAnother() const { return std::string(GetParam()) == "emu:sm_86"; }
  /// Runs the loop with 0 to 5 iterations.
  void check(const ProductForm &form, bool isPipelined) {
    ProductLoop loop(form, GetParam());
    EXPECT_EQ(loop.isPipelined(), isPipelined && isNvidia()) << form.describe();
    loop.checkTrips(5);
  }
};

struct Types {
  const char *operand, *result, *options;
  double tolerance;
};
const Types allTypes[] = {
    {"fp16", "fp32", "", 2e-6},  {"bf16", "fp32", "", 2e-6},
    {"fp32", "fp32", "", 2e-3},  {"fp32", "fp32", ", input_precision='ieee'", 2e-6},
    {"i8", "i32", "", 0},        {"fp8e4nv", "fp32", "", 2e-6},
    {"fp8e5", "fp32", "", 2e-6}, {"fp16", "fp16", ", out_dtype=tl.float16", 4e-3},
};

ProductForm ofTypes(const Types &types) {
  ProductForm form;
  form.type = types.operand;
  form.resultType = types.result;
  form.options = types.options;
  form.tolerance = types.tolerance;
  return form;
}

TEST_P(ProductLoops, OfEveryType) {
  for (const Types &types : allTypes) {
    ProductForm form = ofTypes(types);
    // B's neighbours along k, which every unit takes as they are; without a unit for fp8 the
    // elements are copied as they are, too, and widened behind that.
    form.columnsB = true;
    check(form, true);
  }
}

TEST_P(ProductLoops, InEveryOrderOfMemory) {
  if (isLikeAnother())
    GTEST_SKIP();
  for (const Types &types : {allTypes[0], allTypes[4]})
    for (int order = 0; order < 16; ++order) {
      ProductForm form = ofTypes(types);
      form.columnsA = order & 1;
      form.columnsB = order & 2;
      form.transposedA = order & 4;
      form.transposedB = order & 8;
      ProductLoop(form, GetParam()).checkTrips(2);
    }
}

TEST_P(ProductLoops, InEveryNumberOfStages) {
  for (unsigned warps : {4u, 8u})
    for (int stages = 1; stages <= 5; ++stages) {
      ProductForm form;
      form.warps = warps;
      form.stages = stages;
      check(form, stages > 1);
      form.stages = 1;
      form.loopStages = stages;
      form.type = "bf16";
      check(form, stages > 1);
    }
}

/// Of which the second one may come to shared memory when the first has been read.
TEST_P(ProductLoops, OfOperandsThatTakeTurns) {
  for (const Types &types : {allTypes[0], allTypes[4]})
    for (bool columnsB : {false, true}) {
      ProductForm form = ofTypes(types);
      form.stages = 1;
      form.m = form.n = form.k = 64;
      form.columnsB = columnsB;
      check(form, false);
    }
}

/// Up to as many as there are stages, each has a slot of its own.
TEST_P(ProductLoops, OfKnownNumbersOfIterations) {
  for (const Types &types : {allTypes[0], allTypes[2]})
    for (int iterations : {2, 3, 4})
      for (unsigned stages : {2u, 3u, 4u}) {
        ProductForm form = ofTypes(types);
        form.iterations = iterations;
        form.stages = stages;
        form.warps = stages == 3 ? 8 : 4;
        form.columnsB = true;
        ProductLoop loop(form, GetParam());
        EXPECT_EQ(loop.isPipelined(), isNvidia()) << form.describe();
        loop.checkTrips(iterations);
        form.masked = false;
        ProductLoop(form, GetParam()).check(form.m, form.n, iterations * form.k);
      }
}

TEST_P(ProductLoops, OfEveryTile) {
  for (auto [m, n, k] : {std::tuple(16, 16, 16),
                         {16, 128, 32},
                         {128, 16, 64},
                         {64, 16, 16},
                         {64, 128, 16},
                         {128, 64, 32},
                         {128, 128, 64},
                         {64, 256, 32}}) {
    ProductForm form;
    form.m = m;
    form.n = n;
    form.k = k;
    ProductLoop loop(form, GetParam());
    EXPECT_EQ(loop.isPipelined(), isNvidia()) << form.describe();
    for (int extent : {0, 3 * k})
      loop.check(m, n, extent);
  }
}

/// Of which a unit that reads shared memory may take the left one from registers.
TEST_P(ProductLoops, OfComputedOperands) {
  if (isLikeAnother())
    GTEST_SKIP();
  for (const Types &types : allTypes)
    for (int computed : {1, 2, 3}) {
      ProductForm form = ofTypes(types);
      bool isInteger = form.type == "i8";
      auto twice = [&](const char *name) {
        return "(" + std::string(name) + ".to(tl.float32) * " + (isInteger ? "1.0" : "2.0") +
               ").to(" + name + ".dtype)";
      };
      if (computed & 1)
        form.ofX = twice("x");
      if (computed & 2)
        form.ofY = twice("y");
      form.factorX = (computed & 1) && !isInteger ? 2 : 1;
      form.factorY = (computed & 2) && !isInteger ? 2 : 1;
      ProductLoop(form, GetParam()).checkTrips(3);
    }
}

/// Which have the same products in their own type as in tf32.
TEST_P(ProductLoops, OfWidenedOperands) {
  for (const char *type : {"fp16", "bf16"})
    for (bool isTransposed : {false, true})
      for (int k : {8, 32}) {
        ProductForm form;
        form.type = type;
        form.k = k;
        form.ofX = "x.to(tl.float32)";
        form.ofY = "y.to(tl.float32)";
        form.columnsB = form.transposedB = isTransposed;
        ProductLoop(form, GetParam()).checkTrips(2);
      }
}

TEST_P(ProductLoops, OfManyWarps) {
  if (isLikeAnother())
    GTEST_SKIP();
  for (auto [m, n, warps] : {std::tuple(256, 32, 8u),
                             {128, 128, 8u},
                             {64, 16, 8u},
                             {128, 64, 16u},
                             {32, 256, 16u},
                             {64, 64, 2u},
                             {128, 32, 1u}}) {
    ProductForm form;
    form.m = m;
    form.n = n;
    form.warps = warps;
    ProductLoop(form, GetParam()).check(m, n, 4 * form.k);
  }
}

/// Copies of 4 bytes take any mask and any row; of two bytes there are none.
TEST_P(ProductLoops, OfOddExtents) {
  for (const Types &types : allTypes) {
    ProductForm form = ofTypes(types);
    form.aligned = false;
    form.columnsB = true;
    check(form, form.type == "fp32");
  }
}

TEST_P(ProductLoops, WithoutMasks) {
  for (const char *type : {"fp16", "bf16"})
    for (bool columns : {false, true}) {
      ProductForm form;
      form.type = type;
      form.masked = false;
      form.columnsA = columns;
      form.columnsB = !columns;
      check(form, true);
    }
}

/// Any of the above, by chance.
TEST_P(ProductLoops, OfRandomForms) {
  if (isLikeAnother())
    GTEST_SKIP();
  Random random(7);
  auto chance = [&](unsigned percent) { return random.below(100) < percent; };
  auto oneOf = [&](std::vector<int> list) { return list[random.below(list.size())]; };
  for (int number = 0; number < 16; ++number) {
    ProductForm form = ofTypes(allTypes[random.below(std::size(allTypes))]);
    form.m = oneOf({16, 32, 64, 128});
    form.n = oneOf({16, 32, 64, 128});
    form.k = form.type == "i8" || form.type[2] == '8' ? oneOf({32, 64}) : oneOf({16, 32, 64});
    for (bool *flag : {&form.columnsA, &form.columnsB, &form.transposedA, &form.transposedB})
      *flag = chance(50);
    form.masked = chance(70);
    form.aligned = chance(75);
    form.warps = oneOf({1, 2, 4, 8});
    form.stages = 1 + random.below(5);
    form.loopStages = chance(30) ? 1 + random.below(5) : 0;
    if (form.type == "fp16" || form.type == "bf16") {
      // Exact, and no longer a load.
      form.factorX = chance(25) ? 2 : 1;
      form.factorY = chance(25) ? 0.5 : 1;
      form.ofX = form.factorX == 2 ? "x + x" : "x";
      form.ofY = form.factorY == 1 ? "y" : "(y * 0.5).to(y.dtype)";
    }
    ProductLoop loop(form, GetParam());
    for (int trips : {int(random.below(3)), 3 + int(random.below(3))})
      loop.check(form.m, form.n, trips * form.k);
  }
}

INSTANTIATE_TEST_SUITE_P(, ProductLoops,
                         ::testing::Values("cpu", "emu:sm_80", "emu:sm_86", "emu:sm_89",
                                           "emu:sm_90a", "emu:gfx942"),
                         sourceTargetName);

/// Iterations of which AMD's code does two as one.
class FewProducts : public SourceTest {};

/// Also where their number is odd.
TEST_P(FewProducts, OfAnyLength) {
  for (const Types &types : {allTypes[0], allTypes[1], allTypes[2], allTypes[4]})
    for (auto [m, n, k] : {std::tuple(16, 64, 16), {32, 32, 32}, {64, 64, 16}})
      for (bool columnsB : {false, true})
        for (bool aligned : {false, true}) {
          ProductForm form = ofTypes(types);
          form.m = m;
          form.n = n;
          form.k = k;
          form.columnsB = columnsB;
          form.aligned = aligned;
          form.stages = 2;
          ProductLoop(form, GetParam()).checkTrips(5);
        }
}

INSTANTIATE_TEST_SUITE_P(, FewProducts,
                         ::testing::Values("cpu", "emu:sm_90a", "emu:gfx942", "emu:gfx1100",
                                           "emu:gfx1102"),
                         sourceTargetName);

class LargeTiles : public SourceTest {};

/// Operands that shared memory has room for one after the other alone.
TEST_P(LargeTiles, InTurn) {
  ProductForm form;
  form.m = 128;
  form.n = 256;
  form.k = 128;
  form.warps = 8;
  form.stages = 1;
  for (bool columnsB : {false, true})
    for (bool aligned : {false, true}) {
      form.columnsB = columnsB;
      form.aligned = aligned;
      ProductLoop loop(form, GetParam());
      aligned ? loop.check(112, 240, 208) : loop.check(97, 201, 197);
    }
}

INSTANTIATE_TEST_SUITE_P(, LargeTiles, ::testing::Values("cpu", "emu:gfx942", "emu:gfx1100"),
                         sourceTargetName);

class MultiplyAdds : public SourceTest {};

/// What they take threads read from shared memory step by step where no unit takes them.
TEST_P(MultiplyAdds, InSteps) {
  for (const char *type : {"fp32", "fp64"})
    for (auto [m, n, k, warps] : {std::tuple(32, 64, 64, 4u), {64, 64, 16, 4u}, {32, 32, 64, 2u}})
      for (bool columnsB : {false, true}) {
        ProductForm form;
        form.type = form.resultType = type;
        form.options = ", input_precision='ieee', out_dtype=c.dtype.element_ty";
        form.m = m;
        form.n = n;
        form.k = k;
        form.warps = warps;
        form.stages = 2;
        form.columnsB = columnsB;
        ProductLoop(form, GetParam()).checkTrips(3);
      }
}

INSTANTIATE_TEST_SUITE_P(, MultiplyAdds, ::testing::Values("cpu", "emu:gfx1100", "emu:gfx1201"),
                         sourceTargetName);

/// Of more than a block can have of shared memory, which RDNA multiplies part by part.
class ProductsInParts : public SourceTest {};

TEST_P(ProductsInParts, AreThoseOfTheWhole) {
  for (const Types &types : {allTypes[0], allTypes[5]}) {
    ProductForm form = ofTypes(types);
    bool isTransposed = form.type == "fp16";
    form.stages = 1;
    form.m = form.n = 64;
    form.k = 512;
    form.columnsA = form.transposedB = isTransposed;
    form.columnsB = !isTransposed;
    if (isTransposed) {
      form.ofX = "(x.to(tl.float32) * 2.0).to(x.dtype)";
      form.factorX = 2;
    }
    ProductLoop(form, GetParam()).check(form.m, form.n - 16, form.k + form.k / 2 + 16);
  }
}

INSTANTIATE_TEST_SUITE_P(, ProductsInParts, ::testing::Values("emu:gfx1100", "emu:gfx1201"),
                         sourceTargetName);

} // namespace
} // namespace kiln::testing

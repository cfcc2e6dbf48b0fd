// Reductions and scans along each axis, of random layouts, with combinations that do and do not
// commute.

#include "tests/compiler/Conversion/TileGPUToLLVM/TileText.h"
#include <functional>

namespace kiln::testing {
namespace {

constexpr int rows = 16, columns = 32;

/// A combination of one or two i32 elements.
struct Combination {
  const char *name;
  unsigned operands;
  std::string region; ///< of operands l0, l1, r0, r1 into t0, t1
  std::function<void(const int32_t *l, const int32_t *r, int32_t *t)> reference;
};

const Combination combinations[] = {
    {"sum", 1, "%t0 = arith.addi %l0, %r0 : i32",
     [](auto l, auto r, auto t) { t[0] = int32_t(uint32_t(l[0]) + uint32_t(r[0])); }},
    {"maximum", 1, "%t0 = arith.maxsi %l0, %r0 : i32",
     [](auto l, auto r, auto t) { t[0] = std::max(l[0], r[0]); }},
    // x -> a x + b, composed: does not commute.
    {"affine", 2,
     "%t0 = arith.muli %l0, %r0 : i32\n %u = arith.muli %l1, %r0 : i32\n %t1 = arith.addi %u, %r1 "
     ": i32",
     [](auto l, auto r, auto t) {
       int32_t a = int32_t(uint32_t(l[0]) * uint32_t(r[0]));
       t[1] = int32_t(uint32_t(l[1]) * uint32_t(r[0]) + uint32_t(r[1]));
       t[0] = a;
     }},
    {"argmax", 2,
     "%g = arith.cmpi sgt, %r0, %l0 : i32\n %t0 = arith.select %g, %r0, %l0 : i32\n"
     "%t1 = arith.select %g, %r1, %l1 : i32",
     [](auto l, auto r, auto t) {
       bool greater = r[0] > l[0];
       t[1] = greater ? r[1] : l[1];
       t[0] = greater ? r[0] : l[0];
     }},
};

/// "%l0: i32, %l1: i32".
std::string list(unsigned count, const std::string &prefix, const std::string &suffix = "") {
  std::string text;
  for (unsigned i = 0; i < count; ++i)
    text += (i ? ", " : "") + prefix + std::to_string(i) + suffix;
  return text;
}

std::string repeat(unsigned count, const std::string &item) {
  std::string text;
  for (unsigned i = 0; i < count; ++i)
    text += (i ? ", " : "") + item;
  return text;
}

/// The region of a reduce or scan.
std::string region(const Combination &c) {
  return "{\n ^bb0(" + list(c.operands, "%l", ": i32") + ", " + list(c.operands, "%r", ": i32") +
         "):\n " + c.region + "\n tile.yield " + list(c.operands, "%t") + " : " +
         repeat(c.operands, "i32") + "\n }";
}

struct Case {
  const Combination &combination;
  unsigned axis;
  bool scan, reverse;
};

std::string kernelText(const Case &test, const LinearLayout &layout, const LinearLayout &result) {
  unsigned n = test.combination.operands;
  TileText text(
      n == 1
          ? "%x0: !tile.ptr<i32>, %o0: !tile.ptr<i32>"
          : "%x0: !tile.ptr<i32>, %o0: !tile.ptr<i32>, %x1: !tile.ptr<i32>, %o1: !tile.ptr<i32>");
  text.addLayout("a", layout);
  std::string index = text.index("a", rows, columns), inputs;
  for (unsigned i = 0; i < n; ++i)
    inputs += (i ? ", " : "") + text.load("%x" + std::to_string(i), index, "16x32", "i32", "a");
  std::string length = test.axis == 0 ? "32" : "16";
  std::string type = tensor("16x32", "i32", "a");
  std::string resultType = test.scan ? type : tensor(length, "i32", "s");
  text.define("s", result);
  text.line("%f" + std::string(n == 1 ? "" : ":2") + " = tile." + (test.scan ? "scan" : "reduce") +
            " (" + inputs + ") axis " + std::to_string(test.axis) +
            (test.reverse ? " reverse" : "") + " : (" + repeat(n, type) + ") -> " +
            (n == 1 ? resultType : "(" + repeat(n, resultType) + ")") + " " +
            region(test.combination));
  if (!test.scan)
    text.line("%si = tile.arange 0, " + length + " : " + resultType);
  for (unsigned i = 0; i < n; ++i)
    text.store("%o" + std::to_string(i), n == 1 ? "%f" : "%f#" + std::to_string(i),
               test.scan ? index : "%si", test.scan ? "16x32" : length, "i32",
               test.scan ? "a" : "s");
  return text.str();
}

/// Element e of line `line`, as an index into the tile.
int place(unsigned axis, int line, int e) {
  return axis == 0 ? e * columns + line : line * columns + e;
}

void check(const char *target, const Case &test, const LinearLayout &layout,
           const LinearLayout &resultLayout) {
  std::string source = kernelText(test, layout, resultLayout);
  CompiledKernel kernel(source, target, /*hasLayouts=*/true);
  ASSERT_EQ(kernel.errors, "") << source;
  unsigned n = test.combination.operands;
  int lines = test.axis == 0 ? columns : rows, length = test.axis == 0 ? rows : columns;
  std::vector<Buffer<int32_t>> inputs, outputs;
  std::vector<uint64_t> arguments;
  Random random(length + test.axis);
  for (unsigned i = 0; i < n; ++i) {
    inputs.emplace_back(rows * columns);
    outputs.emplace_back(test.scan ? rows * columns : lines);
  }
  for (unsigned i = 0; i < n; ++i) {
    for (int e = 0; e < rows * columns; ++e)
      inputs[i][e] = int32_t(random.below(2000)) - 1000;
    kernel.use(inputs[i]);
    kernel.use(outputs[i]);
    arguments.push_back(inputs[i].argument());
    arguments.push_back(outputs[i].argument());
  }
  ASSERT_EQ(kernel.run(arguments), "") << source;
  for (int line = 0; line < lines; ++line) {
    int32_t total[2] = {};
    for (int step = 0; step < length; ++step) {
      int e = place(test.axis, line, test.reverse ? length - 1 - step : step);
      int32_t element[2] = {inputs[0][e], n > 1 ? inputs[1][e] : 0};
      if (step == 0)
        std::copy_n(element, 2, total);
      else
        test.combination.reference(total, element, total);
      for (unsigned i = 0; test.scan && i < n; ++i)
        ASSERT_EQ(outputs[i][e], total[i]) << test.combination.name << " at " << e << source;
    }
    for (unsigned i = 0; !test.scan && i < n; ++i)
      ASSERT_EQ(outputs[i][line], total[i]) << test.combination.name << " of " << line << source;
  }
}

class ReductionExecution : public ::testing::TestWithParam<const char *> {
protected:
  LinearLayout layout(Random &random) {
    unsigned lanes = llvm::cantFail(parseTarget(GetParam())).warpSize == 64 ? 6 : 5;
    return randomLayout(random, 4, 5, lanes, 2);
  }
};

TEST_P(ReductionExecution, ReductionsIntoTheLayoutThatComesOut) {
  Random random(1);
  for (const Combination &combination : combinations)
    for (unsigned axis : {0, 1})
      for (int round = 0; round < 4; ++round) {
        LinearLayout source = layout(random);
        check(GetParam(), {combination, axis, false, false}, source, source.slice(axis));
        if (HasFatalFailure())
          return;
      }
}

TEST_P(ReductionExecution, ReductionsIntoAnotherLayout) {
  Random random(2);
  for (unsigned axis : {0, 1})
    for (int round = 0; round < 3; ++round) {
      LinearLayout source = layout(random);
      check(GetParam(), {combinations[0], axis, false, false}, source, layout(random).slice(axis));
      if (HasFatalFailure())
        return;
    }
}

TEST_P(ReductionExecution, ManyResultsOfSeveralWarps) {
  // A thread has all 16 rows, of which each of four warps has partial totals.
  unsigned lanes = llvm::cantFail(parseTarget(GetParam())).warpSize == 64 ? 6 : 5;
  LayoutSpace in({{Dim::Register, 4}, {Dim::Lane, lanes}, {Dim::Warp, 2}, {Dim::Block, 0}});
  LayoutSpace out({{Dim::axis(1), 5}, {Dim::axis(0), 4}});
  BinaryColumns columns{32, 64, 128, 256, 4, 8, 16};
  columns.resize(4 + lanes, 0);
  columns.append({1, 2});
  LinearLayout source(in, out, columns);
  check(GetParam(), {combinations[0], 1, false, false}, source, source.slice(1));
}

TEST_P(ReductionExecution, Scans) {
  Random random(3);
  for (const Combination &combination : combinations)
    for (unsigned axis : {0, 1})
      for (bool reverse : {false, true})
        for (int round = 0; round < 2; ++round) {
          LinearLayout source = layout(random);
          check(GetParam(), {combination, axis, true, reverse}, source, source.slice(axis));
          if (HasFatalFailure())
            return;
        }
}

INSTANTIATE_TEST_SUITE_P(AllTargets, ReductionExecution, ::testing::ValuesIn(testTargets),
                         targetName);

} // namespace
} // namespace kiln::testing

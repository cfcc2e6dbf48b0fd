// The generated C walks the decision tree of what was measured as the compiler does.
#include "codegen/DispatchTables.h"
#include "codegen/TimeEstimates.h"
#include "test_kernels.h"
#include "tests/codegen/TestModel.h"
#include <gtest/gtest.h>
#include <random>

namespace kiln::test {
namespace {

/// The model that the library was generated of, but for the contents of the CPU kernels.
LibraryModel model() { return testLibrary("not looked at"); }

std::optional<unsigned> expected(const EntryModel &entry, const DispatchTables &tables, int32_t n,
                                 uint64_t m) {
  auto isLegal = [&](unsigned variant) {
    for (const ArgumentFact &fact : entry.variants[variant].facts)
      if ((fact.minimum && n < *fact.minimum) || (fact.maximum && n > *fact.maximum))
        return false;
    return true;
  };
  int64_t clamped = m > uint64_t(INT64_MAX) ? INT64_MAX : int64_t(m);
  auto wavesOf = [&](unsigned variant) {
    return *wavesAt(entry, variant, {n, clamped}, kiln_cpu_pool_threads(nullptr));
  };
  return chooseTuned(tables, tables.tuned.back(), {n, clamped}, isLegal, wavesOf);
}

TEST(DecisionTree, IsTheSameInGeneratedCode) {
  LibraryModel library = model();
  const EntryModel &entry =
      *llvm::find_if(library.entries, [](const EntryModel &one) { return one.name == "by_tree"; });
  DispatchTables tables = buildDispatchTables(library, entry);
  ASSERT_EQ(tables.tuned.back().size(), 1u);
  ASSERT_GT(tables.tuned.back()[0].tree.nodes.size(), 100u);
  const std::vector<MeasuredShape> &shapes = entry.measured[0].shapes;
  std::mt19937_64 random(11);
  float x[4] = {}, y[4] = {};
  std::set<unsigned> seen;
  for (int round = 0; round < 100000; ++round) {
    auto n = int32_t(uint32_t(random()) >> 1 >> random() % 31);
    uint64_t m = random() >> random() % 64;
    if (round % 3 == 0) { // measured shapes, and their neighbours
      const MeasuredShape &shape = shapes[random() % shapes.size()];
      n = int32_t(shape.key[0] + int64_t(random() % 3) - 1);
      m = uint64_t(shape.key[1] + int64_t(random() % 3) - 1);
    }
    n = std::max(n, 0);
    std::optional<unsigned> wanted = expected(entry, tables, n, m);
    by_tree_plan plan;
    ASSERT_EQ(by_tree_plan_init(&plan, kiln_cpu_stream(nullptr), x, y, n, 1.0f, m), KILN_SUCCESS)
        << kiln_last_error();
    if (wanted)
      ASSERT_EQ(plan.variant, *wanted) << n << " " << m;
    seen.insert(plan.variant);
  }
  EXPECT_GT(seen.size(), 4u);
}

} // namespace
} // namespace kiln::test

// What generated code chooses is what DispatchTables.h says, computed here without any of the ways
// in which generated code is fast: each variant's conditions one by one, each grid by itself, in
// order. Thousands of calls, at and around whatever their variants compare with.
#include "tests/codegen/RandomChoices.h"
#include "codegen/DispatchTables.h"
#include "codegen/VariantConditions.h"
#include "random_choices.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/Support/MathExtras.h"
#include <algorithm>
#include <gtest/gtest.h>
#include <random>
#include <thread>

using namespace llvm;

namespace kiln::test {
namespace {

struct Call {
  const void *a;
  void *b;
  int32_t m;
  int64_t n;
  int32_t k;
};

/// What a call comes to; `variant` where it succeeds.
struct Choice {
  kiln_status status;
  uint32_t variant = 0;

  bool operator==(const Choice &other) const {
    return status == other.status && (status != KILN_SUCCESS || variant == other.variant);
  }
};
void PrintTo(const Choice &choice, std::ostream *out) {
  *out << kiln_status_string(choice.status) << ", variant " << choice.variant;
}

using ChooseFunction = Choice (*)(kiln_stream, const Call &);

/// Generated functions, in the order of the model.
const ChooseFunction functions[] = {
#define ENTRY(name)                                                                                \
  [](kiln_stream stream, const Call &call) {                                                       \
    name##_plan plan = {};                                                                         \
    kiln_status status = name##_plan_init(&plan, stream, call.a, call.b, call.m, call.n, call.k);  \
    return Choice{status, plan.variant};                                                           \
  },
#include "random_choices.def"
#undef ENTRY
};

/// The choice as it is said, not as it is made.
class Reference {
public:
  Reference(const LibraryModel &model, const EntryModel &entry)
      : entry(entry), tables(buildDispatchTables(model, entry)), sizes(sizeArguments(entry)) {
    for (auto [i, row] : enumerate(tables.targets))
      if (row.arch == "sm_90a")
        target = i;
    hasTarget = target < tables.targets.size();
  }

  Choice choose(const Call &call) const {
    for (unsigned size : sizes)
      if (*valueOf(call, entry.arguments[size].name) < 0)
        return {KILN_ERROR_GRID};
    std::vector<unsigned> legal;
    for (unsigned variant : tables.order)
      if (isLegal(call, variant))
        legal.push_back(variant);
    if (legal.empty())
      return {KILN_ERROR_NO_VARIANT};
    std::optional<unsigned> chosen = measured(call, legal);
    if (!chosen)
      chosen = tables.hasCosts ? modelled(call, legal) : legal.front();
    return {grid(call, *chosen) ? KILN_SUCCESS : KILN_ERROR_GRID, *chosen};
  }

  /// Numbers that some variant compares with.
  std::vector<int64_t> bounds() const {
    std::vector<int64_t> all = {0, 1, 16, 64, 128, INT32_MAX};
    for (const Condition &condition : tables.conditions)
      all.push_back(condition.value);
    return all;
  }

  const EntryModel &entry;
  DispatchTables tables;
  bool hasTarget = false;

private:
  std::vector<unsigned> sizes;
  size_t target = SIZE_MAX;

  static std::optional<int64_t> valueOf(const Call &call, StringRef name) {
    if (name == "M")
      return call.m;
    if (name == "N")
      return call.n;
    if (name == "K")
      return call.k;
    return std::nullopt;
  }

  bool holds(const Call &call, const Condition &condition) const {
    if (condition.kind == Condition::Kind::Holds) {
      TextError error;
      auto value = condition.expression->evaluate(
          [&](StringRef name) { return valueOf(call, name); }, error);
      return value && *value != 0;
    }
    if (condition.argument < 2)
      return uintptr_t(condition.argument ? call.b : call.a) % uintptr_t(condition.value) == 0;
    int64_t value = *valueOf(call, entry.arguments[condition.argument].name);
    switch (condition.kind) {
    case Condition::Kind::Divisible:
      return value % condition.value == 0;
    case Condition::Kind::Equals:
      return value == condition.value;
    case Condition::Kind::AtLeast:
      return value >= condition.value;
    default:
      return value <= condition.value;
    }
  }

  bool isLegal(const Call &call, unsigned variant) const {
    for (size_t i = 0; i < tables.conditions.size(); ++i)
      if ((tables.needs[variant][i / 64] >> (i % 64) & 1) && !holds(call, tables.conditions[i]))
        return false;
    return any_of(entry.variants[variant].binaries,
                  [](const VariantBinary &binary) { return binary.target == 0; });
  }

  /// The instances; nothing where the grid cannot be computed.
  std::optional<double> grid(const Call &call, unsigned variant) const {
    double instances = 1;
    for (const Expression &dimension : entry.grid) {
      TextError error;
      std::optional<int64_t> extent = dimension.evaluate(
          [&](StringRef name) {
            std::optional<int64_t> value = valueOf(call, name);
            return value ? value : findConstant(entry.variants[variant], name);
          },
          error);
      if (!extent)
        return std::nullopt;
      instances *= double(*extent);
    }
    return instances;
  }

  /// Of a grid, or nothing.
  std::optional<double> waves(const Call &call, unsigned variant) const {
    std::optional<double> instances = grid(call, variant);
    if (!instances)
      return std::nullopt;
    if (*instances < 0 || *instances > 4e18)
      return 0;
    unsigned processors = tables.hasCosts ? tables.targets[target].processors : 1;
    return double(divideCeil(uint64_t(*instances), uint64_t(processors)));
  }

  std::optional<unsigned> measured(const Call &call, ArrayRef<unsigned> legal) const {
    const DecisionTree *tree = treeOf(tables.tuned[target], tables.ranks[legal.front()]);
    if (!tables.isKeyed || !tree)
      return std::nullopt;
    std::optional<unsigned> chosen;
    double best = 0;
    for (const VariantCost &one : tree->at({call.m, call.n})) {
      if (!is_contained(legal, one.variant))
        continue;
      std::optional<double> its = waves(call, one.variant);
      if (!its)
        return one.variant;
      if (!chosen || *its * double(one.cost) < best) {
        chosen = one.variant;
        best = *its * double(one.cost);
      }
    }
    return chosen;
  }

  unsigned modelled(const Call &call, ArrayRef<unsigned> legal) const {
    unsigned chosen = legal.front();
    double best = -1;
    for (unsigned variant : legal) {
      if (tables.ranks[variant] != tables.ranks[legal.front()])
        break;
      std::optional<double> its = waves(call, variant);
      if (!its)
        return variant;
      double cost = *its * double(tables.tileCosts[variant]);
      if (best < 0 || cost < best) {
        chosen = variant;
        best = cost;
      }
    }
    return chosen;
  }
};

alignas(16) char arrays[64];

class Calls {
public:
  explicit Calls(unsigned seed, std::vector<int64_t> bounds)
      : random(seed), bounds(std::move(bounds)) {}

  Call next() {
    Call call;
    call.a = arrays + (random() % 2 ? 0 : 2);
    call.b = arrays + (random() % 2 ? 16 : 18);
    call.m = int32_t(number(31));
    call.n = number(42);
    call.k = random() % 4 ? int32_t(1 + random() % 3) : int32_t(number(31));
    return call;
  }

private:
  std::mt19937_64 random;
  std::vector<int64_t> bounds;

  int64_t number(unsigned bits) {
    static const int64_t edges[] = {
        0,         1,         -1, -16,       INT32_MAX, int64_t(INT32_MAX) + 1, INT32_MIN, 1 << 20,
        1ll << 40, 1ll << 53, 1,  INT64_MAX, INT64_MIN};
    switch (random() % 8) {
    case 0:
      return edges[random() % std::size(edges)];
    case 1:
    case 2:
    case 3:
      return bounds[random() % bounds.size()] + int64_t(random() % 3) - 1;
    default:
      return int64_t(random() % (uint64_t(1) << bits) >> random() % bits);
    }
  }
};

kiln_stream stream() {
  static const kiln_status isSet =
      kiln_set_driver_path(KILN_DRIVER_CUDA, "tests/runtime/libnullcuda.so");
  EXPECT_EQ(isSet, KILN_SUCCESS);
  return kiln_cuda_stream(arrays);
}

std::string shown(const EntryModel &entry, const Call &call) {
  return entry.name + " with " + std::to_string(uintptr_t(call.a) % 16) + " " +
         std::to_string(uintptr_t(call.b) % 16) + " " + std::to_string(call.m) + " " +
         std::to_string(call.n) + " " + std::to_string(call.k) + ": " + kiln_last_error();
}

TEST(RandomChoices, AreThoseOfTheReference) {
  LibraryModel model = randomChoices();
  ASSERT_EQ(model.entries.size(), std::size(functions));
  unsigned numChoices = 0, numMisses = 0, numRefusals = 0;
  for (size_t i = 0; i < std::size(functions); ++i) {
    Reference reference(model, model.entries[i]);
    if (!reference.hasTarget)
      continue;
    Calls calls(unsigned(i), reference.bounds());
    for (unsigned round = 0; round < 4000; ++round) {
      Call call = calls.next();
      Choice wanted = reference.choose(call);
      numChoices += wanted.status == KILN_SUCCESS;
      numMisses += wanted.status == KILN_ERROR_NO_VARIANT;
      numRefusals += wanted.status == KILN_ERROR_GRID;
      // The second time it may be known already.
      for (unsigned time = 0; time < 2; ++time) {
        Choice taken = functions[i](stream(), call);
        ASSERT_EQ(taken, wanted) << shown(model.entries[i], call) << ", call " << time;
      }
    }
  }
  EXPECT_GT(numChoices, 50000u);
  EXPECT_GT(numMisses, 1000u);
  EXPECT_GT(numRefusals, 10000u);
}

// Few shapes and many threads, which write what the others read.
TEST(RandomChoices, AreKeptForManyThreads) {
  LibraryModel model = randomChoices();
  for (size_t i : {0, 1, 3, 12, 24}) {
    Reference reference(model, model.entries[i]);
    Calls calls(unsigned(i), reference.bounds());
    std::vector<std::pair<Call, Choice>> known;
    for (unsigned round = 0; round < 200; ++round) {
      Call call = calls.next();
      known.emplace_back(call, reference.choose(call));
    }
    std::atomic<unsigned> wrong = 0;
    std::vector<std::thread> threads;
    for (unsigned thread = 0; thread < 4; ++thread)
      threads.emplace_back([&, thread] {
        for (unsigned round = 0; round < 5000; ++round) {
          const auto &[call, wanted] = known[(round * (thread + 3) + round / 64) % known.size()];
          wrong += !(functions[i](stream(), call) == wanted);
        }
      });
    for (std::thread &thread : threads)
      thread.join();
    EXPECT_EQ(wrong, 0u) << model.entries[i].name;
  }
}

} // namespace
} // namespace kiln::test

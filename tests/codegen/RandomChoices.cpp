#include "tests/codegen/RandomChoices.h"
#include "codegen/VariantConditions.h"
#include "tests/codegen/TestModel.h"
#include "llvm/ADT/STLExtras.h"
#include <random>

using namespace llvm;

namespace kiln::test {
namespace {

constexpr unsigned numEntries = 60;

/// std::mt19937_64 gives the same numbers everywhere; the standard's distributions do not.
struct Random {
  std::mt19937_64 engine;
  uint64_t below(uint64_t bound) { return engine() % bound; }
  template <typename T> const T &of(const std::vector<T> &all) { return all[below(all.size())]; }
  bool oneIn(uint64_t chance) { return below(chance) == 0; }
};

std::vector<std::vector<std::string>> grids() {
  return {{"cdiv(M, BLOCK_M) * cdiv(N, BLOCK_N)"},
          {"cdiv(M, BLOCK_M)", "cdiv(N, BLOCK_N)", "K"},
          {"cdiv(M, BLOCK_M) * cdiv(N, BLOCK_N)", "SPLIT"},
          {"SPLIT * cdiv(M, BLOCK_M) * K * cdiv(N, BLOCK_N)"},
          {"min(132, cdiv(M, BLOCK_M) * cdiv(N, BLOCK_N))"},
          {"cdiv(M + K, BLOCK_M)", "N - K"},
          {"cdiv(M, BLOCK_M) * N * K"},
          {"cdiv(M, K) * cdiv(N, BLOCK_N)", "SPLIT // 2"},
          {"M // BLOCK_M + 1", "cdiv(N, BLOCK_N)"},
          {"cdiv(M * K, BLOCK_M)", "cdiv(N, 128)"},
          {"next_power_of_2(M) // BLOCK_M", "cdiv(N * SPLIT, BLOCK_N)"},
          {"cdiv(N, 64)"}};
}

std::string randomCondition(Random &random) {
  std::string bound = std::to_string(random.below(40) * 16 + random.below(3));
  switch (random.below(9)) {
  case 0:
  case 1:
    return "M <= " + bound;
  case 2:
  case 3:
    return "M > " + bound;
  case 4:
    return "N >= " + std::to_string(uint64_t(1) << random.below(41));
  case 5:
    return "M == " + bound;
  case 6:
    return "N % 16 == 0";
  case 7:
    return "M * N <= " + std::to_string(uint64_t(1) << random.below(41));
  default:
    return "M // K == " + std::to_string(random.below(4));
  }
}

VariantModel randomVariant(Random &random, const EntryModel &entry, unsigned number,
                           unsigned numConditions) {
  VariantModel one = variant({{"BLOCK_M", int64_t(16 * (1 + random.below(8)))},
                              {"BLOCK_N", int64_t(16 << random.below(4))},
                              {"SPLIT", int64_t(random.below(4) + 1)},
                              {"STAGES", int64_t(number)}});
  bool isPromising = entry.name.back() % 2; // every other entry point
  for (unsigned argument : {0, 1})
    if (isPromising && random.oneIn(2))
      one.facts.push_back(*factOf(argument, type("*fp16:16")));
  if (isPromising && random.oneIn(3))
    one.facts.push_back(*factOf(2, type("i32:16")));
  one.promises = one.facts.size();
  for (unsigned i = random.below(numConditions + 1); i > 0; --i)
    addCondition(expression(randomCondition(random)), entry, one);
  return one;
}

void measure(Random &random, EntryModel &entry) {
  entry.dispatchKey = {"M", "N"};
  MeasuredTarget target;
  target.devices = {"a device"};
  target.processors = 132;
  for (int64_t rows : {1, 16, 300, 5000})
    for (int64_t columns : {64, 1000, 4096}) {
      MeasuredShape shape{{rows, columns}, {}};
      for (const VariantModel &one : entry.variants)
        if (one.binaries[0].target == 0 && !random.oneIn(4))
          shape.times.emplace_back(stableName(entry, one), double(1 + random.below(1000)));
      sort(shape.times, [](const auto &a, const auto &b) {
        return std::tie(a.second, a.first) < std::tie(b.second, b.first);
      });
      if (!shape.times.empty())
        target.shapes.push_back(std::move(shape));
    }
  if (!target.shapes.empty())
    entry.measured = {std::move(target)};
}

EntryModel randomEntry(const LibraryModel &model, unsigned number) {
  Random random{std::mt19937_64(number)};
  EntryModel result =
      entry("choice_" + std::to_string(number),
            {{"a", "*kfp16"}, {"b", "*fp16"}, {"M", "i32"}, {"N", "i64"}, {"K", "i32"}});
  const std::vector<std::vector<std::string>> all = grids();
  for (const std::string &dimension : all[number % all.size()])
    result.grid.push_back(expression(dimension));
  unsigned numVariants = random.of<unsigned>({1, 2, 8, 64, 65, 100});
  unsigned numConditions = random.of<unsigned>({0, 1, 3});
  bool isEverywhere = random.oneIn(2);
  for (unsigned i = 0; i < numVariants; ++i) {
    VariantModel one = randomVariant(random, result, i, numConditions);
    bool isElsewhere = !isEverywhere && random.oneIn(4);
    one.binaries.push_back(fakeBinary(model, result, one, isElsewhere ? 1 : 0));
    result.variants.push_back(std::move(one));
  }
  if (number % 3 == 0)
    measure(random, result);
  return result;
}

} // namespace

LibraryModel randomChoices() {
  LibraryModel model;
  model.name = "random_choices";
  model.targets = {cantFail(parseTarget("cuda:sm_90a")), cantFail(parseTarget("cuda:sm_80"))};
  model.tools = {{"kiln", "0.1"}};
  for (unsigned i = 0; i < numEntries; ++i)
    model.entries.push_back(randomEntry(model, i));
  return model;
}

} // namespace kiln::test

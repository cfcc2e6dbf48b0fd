#include "compiler/Driver/Run/VariantChoice.h"
#include "codegen/VariantConditions.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/MathExtras.h"
#include <cmath>

namespace kiln {

bool isLeftOut(const EntryModel &entry, unsigned variant) {
  std::string name = stableName(entry, entry.variants[variant]);
  return llvm::any_of(entry.measured, [&](const MeasuredTarget &measured) {
    return llvm::is_contained(measured.leftOut, name);
  });
}

int64_t CallArguments::integer(unsigned argument) const {
  const ArgumentType &type = entry.arguments[argument].type;
  if (!type.isPointer() && elementClass(type.element) == ElementClass::Signed)
    return llvm::SignExtend64(values[argument].bits, 8 * type.bytes());
  return int64_t(values[argument].bits);
}

bool CallArguments::isHuge(unsigned argument) const {
  const ArgumentType &type = entry.arguments[argument].type;
  return integer(argument) < 0 && elementClass(type.element) != ElementClass::Signed;
}

std::string CallArguments::textOf(unsigned argument) const {
  return entry.arguments[argument].name + " is " +
         (isHuge(argument) ? std::to_string(values[argument].bits)
                           : std::to_string(integer(argument)));
}

bool CallArguments::holds(const Condition &condition) const {
  if (condition.kind == Condition::Kind::Holds) {
    auto value = evaluate(*condition.expression, nullptr);
    if (!value)
      llvm::consumeError(value.takeError()); // What cannot be computed does not hold.
    return value && *value != 0;
  }
  int64_t value = integer(condition.argument);
  // Unsigned values beyond INT64_MAX are larger than every bound, as bounds are signed.
  bool isHuge = this->isHuge(condition.argument);
  switch (condition.kind) {
  case Condition::Kind::Divisible:
    return uint64_t(value) % uint64_t(condition.value) == 0; // a power of two
  case Condition::Kind::Equals:
    return !isHuge && value == condition.value;
  case Condition::Kind::AtLeast:
    return isHuge || value >= condition.value;
  default:
    return !isHuge && value <= condition.value;
  }
}

double CallArguments::distance(const Condition &condition) const {
  if (condition.kind == Condition::Kind::Holds)
    return 1;
  int64_t value = integer(condition.argument);
  if (condition.kind == Condition::Kind::Divisible)
    return double(uint64_t(value) % uint64_t(condition.value));
  double exact = isHuge(condition.argument) ? double(uint64_t(value)) : double(value);
  return std::abs(exact - double(condition.value));
}

std::vector<const Condition *> CallArguments::lacking(const DispatchTables &tables,
                                                      unsigned variant) const {
  std::vector<const Condition *> missing;
  for (auto [bit, condition] : llvm::enumerate(tables.conditions))
    if ((tables.needs[variant][bit / 64] >> (bit % 64) & 1) && !holds(condition))
      missing.push_back(&condition);
  return missing;
}

/// 0 of a grid that cannot be computed, or launched: the launch says what is wrong with it.
double CallArguments::wavesOf(unsigned variant, unsigned processors) const {
  auto grid = this->grid(entry.variants[variant]);
  if (!grid) {
    llvm::consumeError(grid.takeError());
    return 0;
  }
  double instances = double((*grid)[0]) * double((*grid)[1]) * double((*grid)[2]);
  if (instances < 0 || instances > 4e18)
    return 0;
  uint64_t waves = (uint64_t(instances) + processors - 1) / processors;
  return double(waves);
}

std::vector<unsigned> CallArguments::legalVariants(const DispatchTables &tables,
                                                   unsigned processors) const {
  std::vector<unsigned> legal;
  llvm::copy_if(tables.order, std::back_inserter(legal),
                [&](unsigned variant) { return lacking(tables, variant).empty(); });
  if (!tables.hasCosts)
    return measuredFirst(tables, std::move(legal), /*processors=*/1);
  std::vector<std::tuple<unsigned, double, size_t>> costs;
  for (unsigned variant : legal)
    costs.push_back({tables.ranks[variant],
                     wavesOf(variant, processors) * double(tables.tileCosts[variant]),
                     costs.size()});
  llvm::sort(costs);
  std::vector<unsigned> sorted;
  for (auto [rank, cost, place] : costs)
    sorted.push_back(legal[place]);
  return measuredFirst(tables, std::move(sorted), processors);
}

std::vector<unsigned> CallArguments::measuredFirst(const DispatchTables &tables,
                                                   std::vector<unsigned> legal,
                                                   unsigned processors) const {
  std::vector<int64_t> key;
  for (unsigned argument : tables.keyArguments)
    key.push_back(isHuge(argument) ? INT64_MAX : integer(argument));
  for (const MeasuredTarget &measured : entry.measured) {
    std::vector<TunedTree> trees = tunedTrees(entry, tables, measured, [&](unsigned variant) {
      return !llvm::is_contained(measured.leftOut, stableName(entry, entry.variants[variant]));
    });
    auto choice = chooseTuned(
        tables, trees, key, [&](unsigned variant) { return llvm::is_contained(legal, variant); },
        [&](unsigned variant) { return wavesOf(variant, processors); });
    if (!choice)
      continue;
    auto chosen = llvm::find(legal, *choice);
    std::rotate(legal.begin(), chosen, chosen + 1);
  }
  return legal;
}

std::string CallArguments::undeclared() const {
  for (const EntryRange &declared : entry.ranges) {
    const ArgumentRange &range = declared.range;
    uint64_t bits = values[declared.argument].bits;
    bool isDeclared = isHuge(declared.argument) ? !range.maximum && range.values.empty() &&
                                                      bits % uint64_t(range.multipleOf) == 0
                                                : range.contains(integer(declared.argument));
    if (!isDeclared)
      return textOf(declared.argument) + ", expected " + range.text();
  }
  return "";
}

std::string CallArguments::whatLacks(const DispatchTables &tables,
                                     std::optional<unsigned> only) const {
  std::vector<const Condition *> fewest;
  double least = 0;
  unsigned nearest = 0;
  for (unsigned variant = 0; variant < entry.variants.size(); ++variant) {
    if (only && variant != *only)
      continue;
    std::vector<const Condition *> missing = lacking(tables, variant);
    double total = 0;
    for (const Condition *condition : missing)
      total += distance(*condition);
    bool isNearer = fewest.empty() || missing.size() < fewest.size() ||
                    (missing.size() == fewest.size() && total < least);
    if (missing.empty() || !isNearer)
      continue;
    fewest = std::move(missing);
    least = total;
    nearest = variant;
  }
  if (fewest.empty())
    return "";
  std::string given;
  std::vector<unsigned> arguments = argumentsOf(entry, *fewest.front());
  for (auto [place, argument] : llvm::enumerate(arguments))
    given += (place == 0 ? "" : place + 1 == arguments.size() ? " and " : ", ") + textOf(argument);
  std::string text = "variant " + std::to_string(nearest) + " (" +
                     variantName(entry, entry.variants[nearest]) + ") needs " +
                     fewest.front()->text + ", but " + given;
  if (fewest.size() > 1)
    text += "; it lacks " + std::to_string(fewest.size()) + " conditions in all";
  return text;
}

llvm::Expected<int64_t> CallArguments::evaluate(const Expression &expression,
                                                const VariantModel *variant) const {
  std::string huge;
  auto lookup = [&](llvm::StringRef name) -> std::optional<int64_t> {
    if (auto argument = findArgument(entry, name)) {
      if (!isHuge(*argument))
        return integer(*argument);
      huge = textOf(*argument) + ", beyond 64 signed bits";
      return std::nullopt;
    }
    return findConstant(*variant, name);
  };
  TextError error;
  if (auto value = expression.evaluate(lookup, error))
    return *value;
  return llvm::createStringError("'" + expression.text() +
                                 "': " + (huge.empty() ? error.message : huge));
}

llvm::Expected<std::array<int64_t, 3>> CallArguments::grid(const VariantModel &variant) const {
  for (unsigned argument : sizeArguments(entry))
    if (integer(argument) < 0)
      return llvm::createStringError(textOf(argument) + ", expected a size of at least 0");
  std::array<int64_t, 3> grid = {1, 1, 1};
  for (auto [dimension, expression] : llvm::enumerate(entry.grid)) {
    auto value = evaluate(expression, &variant);
    if (!value)
      return value.takeError();
    grid[dimension] = *value;
  }
  return grid;
}

} // namespace kiln

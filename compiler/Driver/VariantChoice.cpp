#include "compiler/Driver/VariantChoice.h"
#include "llvm/Support/MathExtras.h"

namespace kiln {

int64_t CallArguments::integer(unsigned argument) const {
  const ArgumentType &type = entry.arguments[argument].type;
  if (!type.isPointer() && elementClass(type.element) == ElementClass::Signed)
    return llvm::SignExtend64(values[argument].bits, 8 * type.bytes());
  return int64_t(values[argument].bits);
}

bool CallArguments::holds(const Condition &condition) const {
  const ArgumentType &type = entry.arguments[condition.argument].type;
  int64_t value = integer(condition.argument);
  // Unsigned values beyond INT64_MAX are larger than every bound, as bounds are signed.
  bool isHuge = value < 0 && elementClass(type.element) != ElementClass::Signed;
  switch (condition.kind) {
  case Condition::Kind::Divisible:
    return uint64_t(value) % uint64_t(condition.value) == 0; // a power of two
  case Condition::Kind::Equals:
    return !isHuge && value == condition.value;
  case Condition::Kind::AtLeast:
    return isHuge || value >= condition.value;
  case Condition::Kind::AtMost:
    return !isHuge && value <= condition.value;
  }
  llvm_unreachable("closed enumeration");
}

std::optional<Condition> CallArguments::firstMissing(const DispatchTables &tables,
                                                     unsigned variant) const {
  for (auto [bit, condition] : llvm::enumerate(tables.conditions))
    if ((tables.needs[variant][bit / 64] >> (bit % 64) & 1) && !holds(condition))
      return condition;
  return std::nullopt;
}

/// DispatchTables.h has the model. A grid that cannot be computed, or launched, costs nothing: the
/// launch says what is wrong with it.
double CallArguments::costOf(const DispatchTables &tables, unsigned variant,
                             unsigned processors) const {
  auto grid = this->grid(entry.variants[variant]);
  if (!grid) {
    llvm::consumeError(grid.takeError());
    return 0;
  }
  double instances = double((*grid)[0]) * double((*grid)[1]) * double((*grid)[2]);
  if (instances < 0 || instances > 4e18)
    return 0;
  return double((uint64_t(instances) + processors - 1) / processors) *
         double(tables.tileCosts[variant]);
}

std::vector<unsigned> CallArguments::legalVariants(const DispatchTables &tables,
                                                   unsigned processors) const {
  std::vector<unsigned> legal;
  llvm::copy_if(tables.order, std::back_inserter(legal),
                [&](unsigned variant) { return !firstMissing(tables, variant); });
  if (!tables.hasCosts)
    return legal;
  std::vector<std::pair<double, size_t>> costs;
  for (unsigned variant : legal)
    costs.push_back({costOf(tables, variant, processors), costs.size()});
  llvm::sort(costs);
  std::vector<unsigned> sorted;
  for (auto [cost, place] : costs)
    sorted.push_back(legal[place]);
  return sorted;
}

std::string CallArguments::whatLacks(const DispatchTables &tables, unsigned variant) const {
  auto condition = firstMissing(tables, variant);
  if (!condition)
    return "";
  const EntryArgument &argument = entry.arguments[condition->argument];
  return "variant " + std::to_string(variant) + " needs " + condition->text + ", but " +
         argument.name + " is " + std::to_string(integer(condition->argument));
}

llvm::Expected<std::array<int64_t, 3>> CallArguments::grid(const VariantModel &variant) const {
  auto lookup = [&](llvm::StringRef name) -> std::optional<int64_t> {
    for (auto [index, argument] : llvm::enumerate(entry.arguments))
      if (argument.name == name)
        return integer(index);
    for (const NamedLiteral &constant : variant.constants)
      if (constant.first == name)
        return constant.second.asInteger();
    return std::nullopt;
  };
  std::array<int64_t, 3> grid = {1, 1, 1};
  for (auto [dimension, expression] : llvm::enumerate(entry.grid)) {
    TextError error;
    auto value = expression.evaluate(lookup, error);
    if (!value)
      return llvm::createStringError("'" + expression.text() + "': " + error.message);
    grid[dimension] = *value;
  }
  return grid;
}

} // namespace kiln

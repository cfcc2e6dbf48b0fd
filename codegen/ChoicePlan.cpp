//===- ChoicePlan.cpp - how generated code chooses quickly ----------------===//
#include "codegen/ChoicePlan.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/bit.h"
#include <limits>
#include <map>
#include <tuple>

using namespace llvm;

namespace kiln {

/// Fewer bounds of an argument are tested one by one.
static constexpr size_t kFewBounds = 3;
/// More words than this are no table.
static constexpr size_t kMostIntervalWords = 4096;
/// Of instances of which it is not known what they cover: no work is above it.
static constexpr int64_t kUnknownSize = std::numeric_limits<int64_t>::max() >> 51;
/// Calls compute all of them.
static constexpr size_t kMostFactorValues = 64;

std::optional<Expression> GridFactor::dividend() const {
  std::optional<Expression> common;
  for (const Expression &value : values) {
    const Expression::Node &root = value.root();
    if (root.op != Expression::Op::CeilDivide)
      return std::nullopt;
    const Expression::Node &divisor = value.nodes()[root.right];
    bool isDivisor = divisor.op == Expression::Op::Constant && divisor.constant > 0 &&
                     divisor.constant <= std::numeric_limits<int32_t>::max();
    Expression divided = value.operand(root.left);
    if (!isDivisor || (common && common->text() != divided.text()))
      return std::nullopt;
    common = std::move(divided);
  }
  return common;
}

VariantSet ChoicePlan::all() const {
  VariantSet set(words(), ~uint64_t(0));
  if (variants.size() % 64)
    set.back() = (uint64_t(1) << variants.size() % 64) - 1;
  return set;
}

size_t ChoicePlan::numVarying() const {
  return count_if(factors, [](const GridFactor &one) { return one.varies(); });
}

size_t ChoicePlan::numFactorValues() const {
  size_t count = 0;
  for (const GridFactor &factor : factors)
    count += factor.values.size();
  return count;
}

namespace {

class Planner {
public:
  Planner(const EntryModel &entry, const DispatchTables &tables) : entry(entry), tables(tables) {}

  ChoicePlan plan() {
    orderPlaces();
    findIntervals();
    findTests();
    for (const TargetRow &row : tables.targets)
      result.there.push_back(setOf([&](unsigned variant) { return isThere(variant, row); }));
    result.contenders =
        setOf([&](unsigned variant) { return !tables.hasCosts || !isNeverTaken(variant); });
    if (tables.hasCosts || tables.isKeyed)
      findFactors();
    findStarts();
    return std::move(result);
  }

private:
  const EntryModel &entry;
  const DispatchTables &tables;
  ChoicePlan result;
  /// Places in DispatchTables::order, by variant.
  std::vector<unsigned> precedence;

  void orderPlaces() {
    precedence.resize(entry.variants.size());
    for (auto [place, variant] : enumerate(tables.order))
      precedence[variant] = static_cast<unsigned>(place);
    result.variants = tables.order;
    if (tables.hasCosts)
      sort(result.variants, [&](unsigned a, unsigned b) {
        return std::tuple(tables.ranks[a], tables.tileCosts[a], precedence[a]) <
               std::tuple(tables.ranks[b], tables.tileCosts[b], precedence[b]);
      });
    result.places.resize(result.variants.size());
    result.ends.resize(tables.ranks.empty() ? 0 : *max_element(tables.ranks) + 1);
    for (auto [place, variant] : enumerate(result.variants)) {
      result.places[variant] = static_cast<unsigned>(place);
      result.ends[tables.ranks[variant]] = static_cast<unsigned>(place) + 1;
    }
  }

  VariantSet setOf(function_ref<bool(unsigned)> has) const {
    VariantSet set(result.words());
    for (auto [place, variant] : enumerate(result.variants))
      if (has(variant))
        set[place / 64] |= uint64_t(1) << place % 64;
    return set;
  }

  bool isThere(unsigned variant, const TargetRow &row) const {
    return any_of(entry.variants[variant].binaries, [&](const VariantBinary &binary) {
      return binary.target == row.target && binary.binary.format == row.format;
    });
  }

  bool needs(unsigned variant, size_t condition) const {
    return tables.needs[variant][condition / 64] >> (condition % 64) & 1;
  }

  //--- Conditions ---
  bool isBound(const Condition &condition) const {
    using Kind = Condition::Kind;
    if (condition.kind != Kind::AtLeast && condition.kind != Kind::AtMost &&
        condition.kind != Kind::Equals)
      return false;
    const ArgumentType &type = entry.arguments[condition.argument].type;
    return type.isInteger() && type.element != ElementType::UInt64;
  }

  static bool holdsAt(const Condition &condition, int64_t value) {
    switch (condition.kind) {
    case Condition::Kind::AtLeast:
      return value >= condition.value;
    case Condition::Kind::AtMost:
      return value <= condition.value;
    default:
      return value == condition.value;
    }
  }

  std::vector<int64_t> cutsOf(ArrayRef<size_t> conditions) const {
    std::vector<int64_t> cuts;
    for (size_t one : conditions) {
      const Condition &condition = tables.conditions[one];
      if (condition.kind != Condition::Kind::AtMost)
        cuts.push_back(condition.value);
      bool hasEnd = condition.kind != Condition::Kind::AtLeast &&
                    condition.value < std::numeric_limits<int64_t>::max();
      if (hasEnd)
        cuts.push_back(condition.value + 1);
    }
    sort(cuts);
    cuts.erase(std::unique(cuts.begin(), cuts.end()), cuts.end());
    return cuts;
  }

  void findIntervals() {
    std::map<unsigned, std::vector<size_t>> bounds;
    for (auto [i, condition] : enumerate(tables.conditions))
      if (isBound(condition))
        bounds[condition.argument].push_back(i);
    for (const auto &one : bounds)
      addIntervals(one.first, one.second);
  }

  void addIntervals(unsigned argument, ArrayRef<size_t> conditions) {
    BoundIntervals intervals{argument, cutsOf(conditions), {}};
    if (conditions.size() <= kFewBounds || intervals.cuts.empty() ||
        (intervals.cuts.size() + 1) * result.words() > kMostIntervalWords)
      return;
    for (size_t i = 0; i <= intervals.cuts.size(); ++i)
      intervals.allowed.push_back(setOf([&](unsigned variant) {
        return all_of(conditions, [&](size_t one) {
          return !needs(variant, one) || holdsIn(tables.conditions[one], intervals.cuts, i);
        });
      }));
    result.intervals.push_back(std::move(intervals));
  }

  /// Whether a bound holds in interval `i`, all of whose values are alike to it.
  static bool holdsIn(const Condition &condition, ArrayRef<int64_t> cuts, size_t i) {
    if (i > 0)
      return holdsAt(condition, cuts[i - 1]);
    // Where there is nothing below the first cut, no call comes here.
    return cuts[0] > std::numeric_limits<int64_t>::min() && holdsAt(condition, cuts[0] - 1);
  }

  void findTests() {
    for (unsigned i = 0; i < tables.conditions.size(); ++i) {
      const Condition &condition = tables.conditions[i];
      bool isInIntervals =
          isBound(condition) && any_of(result.intervals, [&](const BoundIntervals &one) {
            return one.argument == condition.argument;
          });
      if (!isInIntervals)
        result.tests.push_back({i, setOf([&](unsigned variant) { return !needs(variant, i); })});
    }
  }

  //--- Costs ---
  /// Whether `other` goes before `variant` in every call: it has the same grids at no higher cost,
  /// and may run wherever that may.
  bool goesBefore(unsigned other, unsigned variant) const {
    if (precedence[other] >= precedence[variant] || tables.ranks[other] != tables.ranks[variant] ||
        tables.tileCosts[other] > tables.tileCosts[variant] ||
        tables.gridValues[other] != tables.gridValues[variant])
      return false;
    for (size_t i = 0; i < tables.conditions.size(); ++i)
      if (needs(other, i) && !needs(variant, i))
        return false;
    return all_of(tables.targets, [&](const TargetRow &row) {
      return !isThere(variant, row) || isThere(other, row);
    });
  }

  bool isNeverTaken(unsigned variant) const {
    return any_of(tables.order, [&](unsigned other) { return goesBefore(other, variant); });
  }

  /// The operands of the outermost multiplications.
  static std::vector<Expression> factorsOf(const Expression &product) {
    std::vector<Expression> factors;
    std::vector<unsigned> pending = {static_cast<unsigned>(product.nodes().size() - 1)};
    while (!pending.empty()) {
      const Expression::Node &node = product.nodes()[pending.back()];
      unsigned index = pending.back();
      pending.pop_back();
      if (node.op == Expression::Op::Multiply) {
        pending.push_back(node.right);
        pending.push_back(node.left);
      } else {
        factors.push_back(product.operand(index));
      }
    }
    return factors;
  }

  /// `expression` with the values that the variant's constants have.
  Expression ofVariant(const Expression &expression, unsigned variant) const {
    return expression.simplify([&](StringRef name) -> std::optional<int64_t> {
      auto constant = find(tables.gridConstants, name);
      if (constant == tables.gridConstants.end())
        return std::nullopt;
      return tables.gridValues[variant][constant - tables.gridConstants.begin()];
    });
  }

  void findFactors() {
    std::vector<GridFactor> factors;
    unsigned count = 0;
    for (auto [dimension, product] : enumerate(entry.grid))
      for (const Expression &expression : factorsOf(product)) {
        GridFactor factor;
        factor.dimension = static_cast<unsigned>(dimension);
        factor.first = count;
        for (unsigned variant = 0; variant < entry.variants.size(); ++variant) {
          Expression value = ofVariant(expression, variant);
          auto known = find_if(
              factor.values, [&](const Expression &other) { return other.text() == value.text(); });
          factor.valueOf.push_back(static_cast<unsigned>(known - factor.values.begin()));
          if (known == factor.values.end())
            factor.values.push_back(std::move(value));
        }
        count += factor.values.size();
        factors.push_back(std::move(factor));
      }
    result.factors = std::move(factors);
    bool areCostsShort = all_of(tables.tileCosts, [](uint64_t cost) { return cost <= UINT32_MAX; });
    if (count > kMostFactorValues || result.numVarying() > kMostVaryingFactors || !areCostsShort)
      result.factors.clear();
  }

  /// The elements that an instance covers, by those factors that are divisions; one that is a
  /// number makes so many instances of one. 0 where other factors differ.
  double coverOf(unsigned variant) const {
    double cover = 1;
    for (const GridFactor &factor : result.factors) {
      const Expression &value = factor.values[factor.valueOf[variant]];
      bool areNumbers = all_of(factor.values, [](const Expression &one) {
        return one.root().op == Expression::Op::Constant && one.root().constant > 0;
      });
      if (!factor.varies())
        continue;
      if (factor.dividend())
        cover *= double(value.nodes()[value.root().right].constant);
      else if (areNumbers)
        cover /= double(value.root().constant);
      else
        return 0;
    }
    return cover;
  }

  /// Two for each doubling, as generated code computes it.
  static int64_t sizeOf(double value) { return int64_t(llvm::bit_cast<uint64_t>(value) >> 51); }

  void findStarts() {
    // By place: the size of the most that an instance of a variant of its rank up to here covers.
    std::vector<int64_t> reach;
    for (auto [place, variant] : enumerate(result.variants)) {
      bool isFirst =
          place == 0 || tables.ranks[result.variants[place - 1]] != tables.ranks[variant];
      double cover = coverOf(variant),
             rate = cover > 0 ? double(tables.tileCosts[variant]) / cover : 0;
      int64_t size = cover > 0 ? sizeOf(cover) : kUnknownSize;
      reach.push_back(isFirst ? size : std::max(size, reach.back()));
      result.leastRates.push_back(isFirst ? rate : std::min(rate, result.leastRates.back()));
    }
    if (!tables.hasCosts)
      return;
    result.leastSize = *min_element(reach);
    for (unsigned rank = 0, begin = 0; rank < result.ends.size(); begin = result.ends[rank++])
      result.starts.push_back(
          startsOf(ArrayRef(reach).slice(0, result.ends[rank]), begin, *max_element(reach)));
  }

  /// For sizes up to one that is above all, which begins at the last place.
  std::vector<unsigned> startsOf(ArrayRef<int64_t> reach, unsigned begin, int64_t mostSize) const {
    std::vector<unsigned> starts;
    for (int64_t size = result.leastSize; size <= mostSize + 1; ++size) {
      const int64_t *place = std::lower_bound(reach.begin() + begin, reach.end(), size);
      starts.push_back(
          static_cast<unsigned>(std::min<size_t>(place - reach.begin(), reach.size() - 1)));
    }
    return starts;
  }
};

} // namespace

ChoicePlan planChoice(const EntryModel &entry, const DispatchTables &tables) {
  return Planner(entry, tables).plan();
}

} // namespace kiln

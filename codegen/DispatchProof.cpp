//===- DispatchProof.cpp - what all calls within the ranges meet ----------===//
#include "codegen/DispatchProof.h"
#include "codegen/ArgumentRanges.h"
#include "codegen/BoxSearch.h"
#include "codegen/DispatchTables.h"
#include "codegen/VariantConditions.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/FormatVariadic.h"
#include <cmath>
#include <set>

using namespace llvm;

namespace kiln {

std::array<int64_t, 3> gridLimits(const TargetInfo &target, int64_t numWarps, int64_t numCtas) {
  constexpr int64_t most = std::numeric_limits<int32_t>::max(), mostBeyondX = 65535;
  if (target.backend == Backend::CPU)
    return {most, most, most};
  int64_t alongX = most;
  if (target.backend == Backend::HIP && !target.emulated) // fewer than 2^32 threads
    alongX = std::min(alongX, ((int64_t(1) << 32) - 1) / (numWarps * target.warpSize));
  return {alongX / std::max<int64_t>(numCtas, 1), mostBeyondX, mostBeyondX};
}

namespace {
using Kind = DispatchMistake::Kind;
using Formula = BoxSearch::Formula;
using Answer = BoxSearch::Answer;
using Op = Expression::Op;

/// Arguments that a variant's legality or grid depends on.
std::vector<Axis> axesOf(const EntryModel &entry) {
  std::set<unsigned> used;
  auto use = [&](const Expression &expression) {
    for (const std::string &name : expression.names())
      if (auto argument = findArgument(entry, name))
        used.insert(*argument);
  };
  for (const VariantModel &variant : entry.variants) {
    for (const ArgumentFact &fact : variant.facts)
      used.insert(fact.argument);
    for_each(variant.conditions, use);
  }
  for_each(entry.grid, use);
  std::vector<Axis> axes;
  for (unsigned argument : used)
    axes.push_back(axisOf(entry, argument));
  return axes;
}

Expression compared(const Expression &left, Expression::Op op, int64_t right) {
  return left.joined(op, Expression::ofConstant(right));
}

/// The conditions that factTexts() has the texts of.
std::vector<Expression> factConditions(const EntryModel &entry, const ArgumentFact &fact) {
  Expression argument = Expression::ofName(entry.arguments[fact.argument].name);
  std::vector<Expression> all;
  if (fact.divisibility > 1)
    all.push_back(compared(argument.joined(Op::Modulo, Expression::ofConstant(fact.divisibility)),
                           Op::Equal, 0));
  if (fact.equals)
    all.push_back(compared(argument, Op::Equal, *fact.equals));
  if (fact.minimum)
    all.push_back(compared(argument, Op::GreaterEqual, *fact.minimum));
  if (fact.maximum)
    all.push_back(compared(argument, Op::LessEqual, *fact.maximum));
  return all;
}

class Prover {
public:
  Prover(const EntryModel &entry, ArrayRef<TargetVariants> targets, int64_t budget)
      : entry(entry), targets(targets), budget(budget), axes(axesOf(entry)), search(axes),
        tables(buildConditionTables(entry)) {
    for (const VariantModel &variant : entry.variants)
      addNeeds(variant);
  }

  DispatchProof run() {
    for (const TargetVariants &target : targets)
      findGap(target);
    findDeadVariants();
    for (const TargetVariants &target : targets)
      for (const PlacedVariant &placed : target.variants)
        checkGrid(target, placed);
    auto isServed = [](Kind kind) { return kind == Kind::DeadVariant || kind == Kind::EmptyGrid; };
    bool isOpen = false, hasGaps = false;
    for (const DispatchMistake &mistake : proof.mistakes)
      (mistake.isUndecided ? isOpen : hasGaps) |= !isServed(mistake.kind);
    using Coverage = DispatchSummary::Coverage;
    proof.summary.coverage = hasGaps  ? Coverage::HasGaps
                             : isOpen ? Coverage::Undecided
                                      : Coverage::Proven;
    listOverlaps();
    return std::move(proof);
  }

private:
  const EntryModel &entry;
  const ArrayRef<TargetVariants> targets;
  int64_t budget;
  const std::vector<Axis> axes;
  BoxSearch search;
  const DispatchTables tables;
  DispatchProof proof;
  /// Of each variant: its needs, and all of them together.
  std::vector<std::vector<std::pair<std::string, Formula>>> needs;
  std::vector<Formula> legal;
  /// Sets of variants that were looked at for gaps; grids, by dimension and text.
  std::map<std::vector<unsigned>, bool> checkedSets;
  std::set<std::string> checkedGrids;
  std::set<std::pair<size_t, Kind>> wrongGrids;

  void addNeeds(const VariantModel &variant) {
    std::vector<Formula> all;
    auto &own = needs.emplace_back();
    auto add = [&](const std::string &text, const Expression &condition) {
      own.emplace_back(text, search.holds(condition));
      all.push_back(own.back().second);
    };
    for (const ArgumentFact &fact : variant.facts)
      for (const auto &[text, condition] :
           zip_equal(factTexts(entry, fact), factConditions(entry, fact)))
        add(text, condition);
    for (const Expression &condition : variant.conditions)
      add(condition.text(), condition);
    legal.push_back(search.allOf(std::move(all)));
  }

  void report(Kind kind, bool isUndecided, const Twine &text) {
    proof.mistakes.push_back({kind, isUndecided, text.str()});
  }

  /// No question takes what others need.
  Answer find(Formula wanted) {
    int64_t share = std::min(budget, kProofBudget / 8), left = share;
    Answer answer = search.find(wanted, left);
    budget -= share - left;
    return answer;
  }

  //--- Texts ---
  std::string quoted(unsigned variant) const {
    return formatv("variant {0} ({1})", variant, variantName(entry, entry.variants[variant])).str();
  }

  std::string example(const BoxSearch::Point &point) const {
    std::vector<std::string> texts;
    for (const Axis &axis : axes) {
      const EntryArgument &argument = entry.arguments[*findArgument(entry, axis.name)];
      int64_t value = point.at(axis.name);
      texts.push_back(argument.type.isPointer()
                          ? formatv("{0}={1:x}", axis.name, uint64_t(value)).str()
                          : axis.name + "=" + std::to_string(value));
    }
    return texts.empty() ? "any arguments" : join(texts, ", ");
  }

  /// " on cuda:sm_80", where others have other variants.
  std::string onTarget(const TargetVariants &target) const {
    return all_of(
               targets,
               [&](const TargetVariants &other) { return indicesOf(other) == indicesOf(target); })
               ? ""
               : " on " + target.target;
  }

  static std::vector<unsigned> indicesOf(const TargetVariants &target) {
    std::vector<unsigned> indices;
    for (const PlacedVariant &placed : target.variants)
      indices.push_back(placed.variant);
    sort(indices);
    return indices;
  }

  //--- Gaps ---
  void findGap(const TargetVariants &target) {
    std::vector<unsigned> variants = indicesOf(target);
    if (!checkedSets.try_emplace(variants, true).second)
      return;
    std::vector<Formula> none;
    for (unsigned variant : variants)
      none.push_back(!legal[variant]);
    Answer answer = find(search.allOf(std::move(none)));
    std::string what = "no variant of '" + entry.name + "' is legal";
    if (answer.found)
      report(Kind::Gap, false,
             what + onTarget(target) + " for " + example(*answer.found) +
                 nearest(variants, *answer.found));
    else if (answer.gaveUp)
      report(Kind::Gap, true, "whether " + what + onTarget(target) + " for some arguments");
    else
      findHugeGap(target, variants);
  }

  /// Conditions are not looked at beyond 64 signed bits.
  void findHugeGap(const TargetVariants &target, ArrayRef<unsigned> variants) {
    for (const Axis &axis : axes) {
      unsigned argument = *findArgument(entry, axis.name);
      const EntryRange *declared = findRange(entry, argument);
      bool isBounded = declared && (declared->range.maximum || !declared->range.values.empty());
      bool isRead = any_of(variants, [&](unsigned variant) { return reads(variant, argument); });
      if (entry.arguments[argument].type.element == ElementType::UInt64 &&
          !entry.arguments[argument].type.isPointer() && !isBounded && isRead)
        report(Kind::Gap, true,
               "whether a variant of '" + entry.name + "' is legal" + onTarget(target) +
                   " where '" + axis.name +
                   "' is more than 9223372036854775807: declare its 'max'");
    }
  }

  bool reads(unsigned variant, unsigned argument) const {
    const VariantModel &model = entry.variants[variant];
    return any_of(model.facts,
                  [&](const ArgumentFact &fact) { return fact.argument == argument; }) ||
           any_of(model.conditions, [&](const Expression &condition) {
             return is_contained(condition.names(), entry.arguments[argument].name);
           });
  }

  /// How far a point is from a condition that it does not meet (DispatchTables.h).
  double distance(const std::string &text, const BoxSearch::Point &point) const {
    const Condition *condition =
        &*find_if(tables.conditions, [&](const Condition &one) { return one.text == text; });
    if (condition->kind == Condition::Kind::Holds)
      return 1;
    int64_t value = point.at(entry.arguments[condition->argument].name);
    return condition->kind == Condition::Kind::Divisible
               ? double(uint64_t(value) % uint64_t(condition->value))
               : std::abs(double(value) - double(condition->value));
  }

  /// ": the nearest, variant 0 (BLOCK=64), needs n <= 64", as the call itself would say it.
  std::string nearest(ArrayRef<unsigned> variants, const BoxSearch::Point &point) const {
    std::optional<unsigned> best;
    std::vector<std::string> fewest;
    double least = 0;
    for (unsigned variant : variants) {
      std::vector<std::string> lacking;
      double total = 0;
      for (const auto &[text, formula] : needs[variant]) {
        if (search.isTrue(formula, point))
          continue;
        lacking.push_back(text);
        total += distance(text, point);
      }
      if (best && std::pair(lacking.size(), total) >= std::pair(fewest.size(), least))
        continue;
      best = variant;
      fewest = std::move(lacking);
      least = total;
    }
    return best ? ": the nearest, " + quoted(*best) + ", needs " + join(fewest, " and ") : "";
  }

  //--- Variants without a call ---
  /// Those with equal conditions stand together.
  std::vector<std::vector<unsigned>> classes() const {
    std::map<std::vector<uint64_t>, std::vector<unsigned>> byNeeds;
    for (unsigned variant = 0; variant < entry.variants.size(); ++variant)
      byNeeds[tables.needs[variant]].push_back(variant);
    std::vector<std::vector<unsigned>> all;
    for (auto &[ignored, variants] : byNeeds)
      all.push_back(std::move(variants));
    sort(all);
    return all;
  }

  void findDeadVariants() {
    for (const std::vector<unsigned> &equal : classes()) {
      std::string names = join(map_range(equal, [&](unsigned one) { return quoted(one); }), ", ");
      std::string what = " of '" + entry.name + "' " + (equal.size() == 1 ? "is" : "are");
      Answer answer = find(legal[equal.front()]);
      if (answer.isImpossible())
        report(Kind::DeadVariant, false, names + what + " legal for no call within the ranges");
      else if (answer.gaveUp)
        report(Kind::DeadVariant, true, "whether " + names + what + " legal for any call");
      else
        for (unsigned variant : equal)
          findSuperseded(variant);
    }
  }

  /// Signatures that promise more go first, on every target (DispatchTables.h).
  void findSuperseded(unsigned variant) {
    std::vector<Formula> wanted = {legal[variant]};
    for (unsigned other = 0; other < entry.variants.size(); ++other) {
      bool isEverywhere = all_of(targets, [&](const TargetVariants &target) {
        std::vector<unsigned> there = indicesOf(target);
        return is_contained(there, other) || !is_contained(there, variant);
      });
      if (tables.ranks[other] < tables.ranks[variant] && isEverywhere)
        wanted.push_back(!legal[other]);
    }
    if (wanted.size() > 1 && find(search.allOf(std::move(wanted))).isImpossible())
      report(Kind::DeadVariant, false,
             quoted(variant) + " of '" + entry.name +
                 "' is chosen by no call within the ranges: wherever it is legal, so is one whose "
                 "signature promises more");
  }

  //--- Grids ---
  void checkGrid(const TargetVariants &target, const PlacedVariant &placed) {
    for (size_t i = 0; i < entry.grid.size(); ++i) {
      Expression dimension = inVariant(entry.grid[i], entry, entry.variants[placed.variant]);
      std::string needsText = join(needTexts(entry, entry.variants[placed.variant]), "\n");
      if (checkedGrids
              .insert(
                  formatv("{0} {1} {2}\n{3}", i, placed.gridLimits[i], dimension.text(), needsText)
                      .str())
              .second)
        checkDimension(target, placed, i, dimension);
    }
  }

  /// What is wrong with a dimension where.
  std::vector<std::pair<Kind, Formula>> gridQuestions(const Expression &dimension, int64_t limit) {
    std::vector<Formula> negative = {search.holds(compared(dimension, Op::Less, 0))};
    std::vector<Formula> empty = {search.holds(compared(dimension, Op::Equal, 0))};
    for (unsigned argument : sizeArguments(entry)) {
      Expression size = Expression::ofName(entry.arguments[argument].name);
      if (is_contained(dimension.names(), entry.arguments[argument].name))
        negative.push_back(search.holds(compared(size, Op::Less, 0)));
      empty.push_back(search.holds(compared(size, Op::NotEqual, 0)));
    }
    return {{Kind::LargeGrid, search.holds(compared(dimension, Op::Greater, limit))},
            {Kind::NegativeGrid, search.anyOf(negative)},
            {Kind::FailingGrid, !search.hasValue(dimension)},
            {Kind::EmptyGrid, search.allOf(std::move(empty))}};
  }

  void checkDimension(const TargetVariants &target, const PlacedVariant &placed, size_t index,
                      const Expression &dimension) {
    int64_t limit = placed.gridLimits[index];
    for (auto [kind, wanted] : gridQuestions(dimension, limit)) {
      if (wrongGrids.count({index, kind}))
        continue;
      Answer answer = find(search.allOf({legal[placed.variant], wanted}));
      if (answer.isImpossible())
        continue;
      wrongGrids.insert({index, kind});
      std::string what = formatv("dimension {0} of the grid of '{1}', '{2}' in {3},", index,
                                 entry.name, dimension.text(), quoted(placed.variant))
                             .str();
      std::string why = whyWrong(kind, target, limit, dimension, answer.found);
      if (answer.found)
        report(kind, false, what + " " + why + " for " + example(*answer.found));
      else
        report(kind, true, "whether " + what + " " + why + " for some arguments");
    }
  }

  static std::string whyWrong(Kind kind, const TargetVariants &target, int64_t limit,
                              const Expression &dimension,
                              const std::optional<BoxSearch::Point> &point) {
    TextError error;
    auto lookup = [&](StringRef name) { return std::optional(point->at(name.str())); };
    std::optional<int64_t> value = point ? dimension.evaluate(lookup, error) : std::nullopt;
    std::string is = value ? formatv("is {0}", *value).str() : "";
    if (kind == Kind::LargeGrid)
      return formatv("{0} more than the {1} that {2} allows", value ? is + "," : "is", limit,
                     target.target);
    if (kind == Kind::FailingGrid)
      return "divides by zero or leaves the range of 64 bits";
    if (kind == Kind::EmptyGrid)
      return "is 0";
    return value && *value < 0 ? is : "is negative, or of a negative size";
  }

  //--- Overlaps ---
  void listOverlaps() {
    constexpr size_t most = 32; // classes, of which all pairs are looked at
    std::vector<std::vector<unsigned>> all = classes();
    proof.summary.listsAllOverlaps = all.size() <= most;
    for (size_t i = 0; i < std::min(all.size(), most); ++i) {
      if (all[i].size() > 1)
        addOverlap(all[i], find(legal[all[i].front()]));
      for (size_t j = i + 1; j < std::min(all.size(), most); ++j) {
        std::vector<unsigned> both = all[i];
        append_range(both, all[j]);
        addOverlap(std::move(both),
                   find(search.allOf({legal[all[i].front()], legal[all[j].front()]})));
      }
    }
  }

  void addOverlap(std::vector<unsigned> variants, const Answer &answer) {
    proof.summary.listsAllOverlaps &= !answer.gaveUp;
    if (!answer.found)
      return;
    bool isRanked = any_of(variants, [&](unsigned one) {
      return tables.ranks[one] != tables.ranks[variants.front()];
    });
    proof.summary.overlaps.push_back({std::move(variants), example(*answer.found),
                                      isRanked                  ? "promises"
                                      : !entry.measured.empty() ? "measurements"
                                      : tables.hasCosts         ? "cost"
                                                                : "order"});
  }
};
} // namespace

DispatchProof proveDispatch(const EntryModel &entry, ArrayRef<TargetVariants> targets,
                            int64_t budget) {
  return Prover(entry, targets, budget).run();
}

} // namespace kiln

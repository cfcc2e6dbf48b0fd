//===- DispatchTables.cpp - how an entry point chooses --------------------===//
#include "codegen/DispatchTables.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/ADT/StringMap.h"
#include "llvm/ADT/StringSwitch.h"
#include "llvm/Support/MathExtras.h"
#include <map>
#include <set>

using namespace llvm;

namespace kiln {

//===----------------------------------------------------------------------===//
// Targets
//===----------------------------------------------------------------------===//

unsigned commonProcessors(const TargetInfo &target) {
  StringRef arch = target.arch;
  if (target.backend == Backend::CPU)
    return 8;
  arch.consume_front("compute_") || arch.consume_front("sm_");
  return StringSwitch<unsigned>(arch)
      .Case("80", 108)
      .Case("86", 82)
      .Case("89", 142)
      .Cases({"90", "90a"}, 132)
      .Cases({"100", "100a"}, 148)
      .Cases({"120", "120a"}, 188)
      .Case("gfx90a", 104)
      .Case("gfx942", 304)
      .Case("gfx950", 256)
      // HIP counts work-group processors, of two compute units each.
      .Case("gfx1100", 48)
      .Case("gfx1101", 30)
      .Case("gfx1102", 16)
      .Case("gfx1103", 6)
      .Case("gfx1150", 8)
      .Case("gfx1151", 20)
      .Case("gfx1152", 4)
      .Case("gfx1153", 2)
      .Case("gfx1200", 16)
      .Case("gfx1201", 32)
      .Default(64);
}

/// The spelling that kiln_target.arch wants.
static std::string runtimeArch(const TargetInfo &target, BinaryFormat format) {
  StringRef arch = target.arch;
  if (target.backend == Backend::CPU) {
    if (!StringRef(target.llvmTriple).starts_with("x86_64"))
      return "aarch64";
    return target.archNumber > 1 ? "x86-64-v" + std::to_string(target.archNumber) : "x86-64";
  }
  if (format == BinaryFormat::PTX && arch.consume_front("sm_"))
    return ("compute_" + arch).str();
  return arch.str();
}

std::string runtimeTargetName(const TargetInfo &target) {
  StringRef driver = target.emulated ? "emu" : backendName(target.backend);
  return (driver + ":" + runtimeArch(target, BinaryFormat::Cubin)).str();
}

/// What compiled code may need beyond an x86-64 level. A target that names a processor lists every
/// feature of the chip; the rest of them are never selected for ordinary code.
static std::string runtimeFeatures(const TargetInfo &target) {
  if (target.emulated) // what x86-64-v3 has; the arch is the GPU's
    return StringRef(target.llvmTriple).starts_with("x86_64")
               ? "+avx,+avx2,+bmi,+bmi2,+f16c,+fma,+lzcnt,+movbe"
               : "";
  if (target.backend != Backend::CPU || !StringRef(target.llvmTriple).starts_with("x86_64"))
    return "";
  // By the level that implies them; the last group is implied by none. The runtime knows each.
  static const StringRef level3[] = {"avx", "avx2", "bmi", "bmi2", "f16c", "fma", "lzcnt", "movbe"};
  static const StringRef level4[] = {"avx512f", "avx512bw", "avx512cd", "avx512dq", "avx512vl"};
  static const StringRef beyond[] = {"avx512bf16", "avx512bitalg", "avx512fp16", "avx512ifma",
                                     "avx512vbmi", "avx512vbmi2",  "avx512vnni", "avx512vpopcntdq",
                                     "avxvnni",    "gfni"};
  std::vector<std::string> kept;
  for (StringRef feature : split(target.llvmFeatures, ',')) {
    StringRef name = feature.trim();
    if (!name.consume_front("+"))
      continue;
    if (is_contained(beyond, name) || (target.archNumber < 3 && is_contained(level3, name)) ||
        (target.archNumber < 4 && is_contained(level4, name)))
      kept.push_back(("+" + name).str());
  }
  return join(kept, ",");
}

static void buildTargets(const LibraryModel &model, const EntryModel &entry,
                         DispatchTables &tables) {
  // In the order of the spec's targets, a target's formats in the enumerator's order.
  std::map<std::pair<unsigned, BinaryFormat>, bool> used;
  for (const VariantModel &variant : entry.variants)
    for (const VariantBinary &binary : variant.binaries)
      used[{binary.target, binary.binary.format}] = true;
  for (const auto &[key, ignored] : used) {
    const TargetInfo &target = model.targets[key.first];
    tables.targets.push_back({key.first, key.second, runtimeArch(target, key.second),
                              runtimeFeatures(target), commonProcessors(target)});
  }
}

//===----------------------------------------------------------------------===//
// Conditions
//===----------------------------------------------------------------------===//

static std::vector<Condition> conditionsOf(const EntryModel &entry, const ArgumentFact &fact) {
  std::vector<Condition> conditions;
  auto add = [&](Condition::Kind kind, int64_t value) {
    conditions.push_back({fact.argument, kind, value, "", std::nullopt});
  };
  if (fact.divisibility > 1)
    add(Condition::Kind::Divisible, fact.divisibility);
  if (fact.equals)
    add(Condition::Kind::Equals, *fact.equals);
  if (fact.minimum)
    add(Condition::Kind::AtLeast, *fact.minimum);
  if (fact.maximum)
    add(Condition::Kind::AtMost, *fact.maximum);
  std::vector<std::string> texts = factTexts(entry, fact);
  for (size_t i = 0; i < conditions.size(); ++i)
    conditions[i].text = texts[i];
  return conditions;
}

std::vector<unsigned> argumentsOf(const EntryModel &entry, const Condition &condition) {
  if (condition.kind != Condition::Kind::Holds)
    return {condition.argument};
  std::vector<unsigned> arguments;
  for (const std::string &name : condition.expression->names())
    arguments.push_back(*findArgument(entry, name));
  return arguments;
}

static void buildConditions(const EntryModel &entry, DispatchTables &tables) {
  std::vector<std::vector<size_t>> bits;
  auto add = [&](Condition condition) {
    auto known = find(tables.conditions, condition);
    bits.back().push_back(static_cast<size_t>(known - tables.conditions.begin()));
    if (known == tables.conditions.end())
      tables.conditions.push_back(std::move(condition));
  };
  for (const VariantModel &variant : entry.variants) {
    bits.emplace_back();
    for (const ArgumentFact &fact : variant.facts)
      for (Condition &condition : conditionsOf(entry, fact))
        add(std::move(condition));
    for (const Expression &condition : variant.conditions)
      add({0, Condition::Kind::Holds, 0, condition.text(), condition});
  }
  for (const std::vector<size_t> &of : bits) {
    std::vector<uint64_t> words(tables.words());
    for (size_t bit : of)
      words[bit / 64] |= uint64_t(1) << (bit % 64);
    tables.needs.push_back(std::move(words));
  }
}

/// How much faster a variant's facts make its code, roughly: a known value folds away, alignment
/// widens accesses, a range only removes checks.
static std::pair<size_t, size_t> reliance(ArrayRef<ArgumentFact> facts) {
  size_t values = 0, alignments = 0;
  for (const ArgumentFact &fact : facts) {
    values += fact.equals.has_value();
    alignments += Log2_32(fact.divisibility);
  }
  return {values, alignments};
}

static void buildOrder(const EntryModel &entry, DispatchTables &tables) {
  using Reliance = std::pair<size_t, size_t>;
  std::vector<Reliance> promised, whole;
  for (const VariantModel &variant : entry.variants) {
    promised.push_back(reliance(ArrayRef(variant.facts).take_front(variant.promises)));
    whole.push_back(reliance(variant.facts));
  }
  std::set<Reliance, std::greater<>> classes(promised.begin(), promised.end());
  for (unsigned i = 0; i < entry.variants.size(); ++i) {
    tables.ranks.push_back(std::distance(classes.begin(), classes.find(promised[i])));
    tables.order.push_back(i);
  }
  sort(tables.order, [&](unsigned a, unsigned b) {
    return std::tuple(tables.ranks[a], whole[b], a) < std::tuple(tables.ranks[b], whole[a], b);
  });
}

//===----------------------------------------------------------------------===//
// Grid and costs
//===----------------------------------------------------------------------===//

static void buildGridValues(const EntryModel &entry, DispatchTables &tables) {
  for (const Expression &dimension : entry.grid)
    for (const std::string &name : dimension.names())
      if (!findArgument(entry, name) && !is_contained(tables.gridConstants, name))
        tables.gridConstants.push_back(name);
  for (const VariantModel &variant : entry.variants) {
    tables.gridValues.emplace_back();
    for (const std::string &name : tables.gridConstants)
      tables.gridValues.back().push_back(findConstant(variant, name).value_or(0));
  }
}

/// The value of node `index` if it is a constant or a product of constants.
static std::optional<int64_t> constantNode(const Expression &expression, unsigned index,
                                           const EntryModel &entry, const VariantModel &variant) {
  const Expression::Node &node = expression.nodes()[index];
  if (node.op == Expression::Op::Constant)
    return node.constant;
  if (node.op == Expression::Op::Name)
    return findArgument(entry, node.name) ? std::nullopt : findConstant(variant, node.name);
  if (node.op != Expression::Op::Multiply)
    return std::nullopt;
  std::optional<int64_t> left = constantNode(expression, node.left, entry, variant);
  std::optional<int64_t> right = constantNode(expression, node.right, entry, variant);
  int64_t product = 0;
  return left && right && !MulOverflow(*left, *right, product) ? std::optional<int64_t>(product)
                                                               : std::nullopt;
}

uint64_t tileCost(const EntryModel &entry, const VariantModel &variant) {
  std::vector<uint64_t> extents;
  for (const Expression &dimension : entry.grid)
    for (const Expression::Node &node : dimension.nodes()) {
      bool isDivision =
          node.op == Expression::Op::CeilDivide || node.op == Expression::Op::FloorDivide;
      std::optional<int64_t> extent =
          isDivision ? constantNode(dimension, node.right, entry, variant) : std::nullopt;
      if (extent && *extent > 0)
        extents.push_back(static_cast<uint64_t>(*extent));
    }
  if (extents.empty())
    return 1;
  uint64_t volume = 1, faces = 0;
  for (uint64_t extent : extents)
    volume = SaturatingMultiply(volume, extent);
  for (size_t skipped = 0; skipped < extents.size(); ++skipped) {
    uint64_t face = 1;
    for (size_t i = 0; i < extents.size(); ++i)
      face = i == skipped ? face : SaturatingMultiply(face, extents[i]);
    faces = SaturatingAdd(faces, face);
  }
  return SaturatingMultiplyAdd(kTrafficWeight, faces, volume);
}

static void buildCosts(const EntryModel &entry, DispatchTables &tables) {
  for (const VariantModel &variant : entry.variants)
    tables.tileCosts.push_back(tileCost(entry, variant));
  for (size_t i = 1; i < entry.variants.size(); ++i)
    tables.hasCosts |=
        tables.tileCosts[i] != tables.tileCosts[0] || tables.gridValues[i] != tables.gridValues[0];
}

static void buildParameterLists(const EntryModel &entry, DispatchTables &tables) {
  for (const VariantModel &variant : entry.variants) {
    std::vector<unsigned> list = kernelParameters(entry, variant);
    auto known = find(tables.parameterLists, list);
    tables.parameterList.push_back(static_cast<unsigned>(known - tables.parameterLists.begin()));
    if (known == tables.parameterLists.end())
      tables.parameterLists.push_back(std::move(list));
  }
}

//===----------------------------------------------------------------------===//
// Measurements
//===----------------------------------------------------------------------===//

static bool hasBinary(const VariantModel &variant, const TargetRow &row) {
  return any_of(variant.binaries, [&](const VariantBinary &binary) {
    return binary.target == row.target && binary.binary.format == row.format;
  });
}

static void buildTuned(const EntryModel &entry, DispatchTables &tables) {
  for (const std::string &key : entry.dispatchKey)
    if (auto argument = findArgument(entry, key))
      tables.keyArguments.push_back(*argument);
  auto isInteger = [&](unsigned argument) { return entry.arguments[argument].type.isInteger(); };
  tables.isKeyed = entry.variants.size() > 1 && !tables.keyArguments.empty() &&
                   tables.keyArguments.size() == entry.dispatchKey.size() &&
                   all_of(tables.keyArguments, isInteger);
  for (const TargetRow &row : tables.targets) {
    tables.tuned.emplace_back();
    for (const MeasuredTarget &measured : entry.measured)
      if (measured.target == row.target)
        tables.tuned.back() = tunedTrees(entry, tables, measured, [&](unsigned variant) {
          return hasBinary(entry.variants[variant], row);
        });
  }
}

DispatchTables buildConditionTables(const EntryModel &entry) {
  DispatchTables tables;
  buildConditions(entry, tables);
  buildOrder(entry, tables);
  buildGridValues(entry, tables);
  buildCosts(entry, tables);
  return tables;
}

DispatchTables buildDispatchTables(const LibraryModel &model, const EntryModel &entry) {
  DispatchTables tables = buildConditionTables(entry);
  buildTargets(model, entry, tables);
  buildTuned(entry, tables);
  buildParameterLists(entry, tables);
  return tables;
}

} // namespace kiln

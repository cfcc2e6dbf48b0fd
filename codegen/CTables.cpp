//===- CTables.cpp - the static tables of an entry point ------------------===//
#include "codegen/CWriter.h"
#include "codegen/LiteralJson.h"
#include "runtime/kiln.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/FormatVariadic.h"
#include "llvm/Support/MathExtras.h"
#include "llvm/Support/raw_ostream.h"
#include <map>
#include <set>

using namespace llvm;

namespace kiln {

std::string cParamKind(const ArgumentType &type) {
  return "KILN_PARAM_" + (type.isPointer() ? "POINTER" : elementParamKind(type.element)).str();
}

static StringRef cTensorElement(TensorMapElement element) {
  static constexpr StringLiteral names[] = {
#define KILN_TENSOR_ELEMENT(NAME, ...) "KILN_TENSOR_" #NAME,
#include "runtime/tensor_elements.def"
  };
  return names[static_cast<size_t>(element)];
}

static StringRef driverName(const TargetInfo &target) {
  if (target.emulated)
    return "KILN_DRIVER_EMULATOR";
  Backend backend = target.backend;
  return backend == Backend::CUDA  ? "KILN_DRIVER_CUDA"
         : backend == Backend::HIP ? "KILN_DRIVER_HIP"
                                   : "KILN_DRIVER_CPU";
}

static StringRef formName(BinaryFormat format) {
  switch (format) {
  case BinaryFormat::Cubin:
    return "KILN_FORM_CUBIN";
  case BinaryFormat::PTX:
    return "KILN_FORM_PTX";
  case BinaryFormat::HSACO:
    return "KILN_FORM_HSACO";
  case BinaryFormat::HostObject:
    return "KILN_FORM_HOST";
  }
  return "";
}

/// The kernel's parameter block: natural alignment, in order, nothing hidden.
static void writeParameterLists(raw_ostream &out, const EntryText &text) {
  const EntryModel &entry = *text.entry;
  for (size_t list = 0; list < text.tables.parameterLists.size(); ++list) {
    const std::vector<unsigned> &arguments = text.tables.parameterLists[list];
    if (arguments.empty())
      continue;
    out << "static const kiln_param " << text.name << "_params_" << list << "[] = {\n";
    uint64_t offset = 0;
    for (unsigned argument : arguments) {
      const ArgumentType &type = entry.arguments[argument].type;
      offset = alignTo(offset, type.bytes());
      out << formatv("    {{{0}, {1}, {2}, {3}},\n", cString(entry.arguments[argument].name),
                     cParamKind(type), type.bytes(), offset);
      offset += type.bytes();
    }
    out << "};\n";
  }
}

static void writeVariants(raw_ostream &out, const EntryText &text) {
  const EntryModel &entry = *text.entry;
  out << "static const kiln_variant " << text.name << "_variant_table[] = {\n";
  for (size_t i = 0; i < entry.variants.size(); ++i) {
    unsigned list = text.tables.parameterList[i];
    size_t count = text.tables.parameterLists[list].size();
    std::string params =
        count ? text.name + "_params_" + std::to_string(list) : std::string("NULL");
    const VariantModel &variant = entry.variants[i];
    out << formatv("    {{{0}, {1}, {2}, 0, {3}},\n", cString(variantName(entry, variant)), params,
                   count, cString(variantId(entry, variant)));
  }
  out << "};\n";
}

static void writeTargets(raw_ostream &out, const LibraryModel &model, const EntryText &text) {
  out << "static const kiln_target " << text.name << "_targets[] = {\n";
  for (const TargetRow &row : text.tables.targets)
    out << formatv("    {{{0}, {1}, {2}, {3}},\n", driverName(model.targets[row.target]),
                   formName(row.format), cString(row.arch),
                   row.features.empty() ? "NULL" : cString(row.features));
  out << "};\n";
}

//===----------------------------------------------------------------------===//
// Binaries
//===----------------------------------------------------------------------===//

static std::string cLaunchNumber(const LaunchNumber &number) {
  auto index = [](std::optional<uint32_t> parameter) {
    return parameter ? std::to_string(*parameter) : "KILN_NO_PARAMETER";
  };
  return formatv("{{{0}, {1}, {2}}", index(number.parameter), index(number.factor),
                 cInteger(number.constant))
      .str();
}

static std::string cTensorMap(const TensorMapFacts &map) {
  std::string strides = join(map_range(map.strides, cLaunchNumber), ", ");
  std::vector<StringRef> flags;
  if (map.fillsWithNaN)
    flags.push_back("KILN_MAP_FILLS_WITH_NAN");
  if (map.isWritten)
    flags.push_back("KILN_MAP_IS_WRITTEN");
  return formatv(
             "    {{{0}, {1}, {2}, {3},\n     {{{4}},\n     {{{5}},\n     {{{6}}, {7}, {8}},\n",
             cString(map.name), map.base, cTensorElement(map.element), map.extents.size(),
             join(map_range(map.extents, cLaunchNumber), ", "),
             strides.empty() ? "{0, 0, 0}" : strides,
             join(map_range(map.box, [](uint32_t extent) { return std::to_string(extent); }), ", "),
             map.swizzleBytes, flags.empty() ? "0" : join(flags, " | "))
      .str();
}

namespace {
/// The arrays of tensor maps that binaries point to, each written once.
class TensorMapTables {
public:
  TensorMapTables(raw_ostream &out, StringRef entry) : out(out), entry(entry) {}

  /// The array's name, or "NULL" for a binary without tensor maps.
  std::string nameOf(const DeviceBinary &binary) {
    if (binary.launch.tensorMaps.empty())
      return "NULL";
    std::string maps = join(map_range(binary.launch.tensorMaps, cTensorMap), "");
    auto [it, isNew] =
        names.try_emplace(maps, formatv("{0}_tensor_maps_{1}", entry, names.size()).str());
    if (isNew)
      out << "static const kiln_tensor_map " << it->second << "[] = {\n" << maps << "};\n";
    return it->second;
  }

private:
  raw_ostream &out;
  StringRef entry;
  std::map<std::string, std::string> names;
};
} // namespace

/// Of a record: what it points to, by name.
struct BinaryPointers {
  std::string tensorMaps = "NULL", fallback = "NULL";
};

static std::string launchFlags(const LaunchFacts &launch) {
  std::vector<StringRef> flags;
  if (launch.isCooperative)
    flags.push_back("KILN_LAUNCH_COOPERATIVE");
  if (launch.waitsForEarlier)
    flags.push_back("KILN_LAUNCH_PDL");
  return flags.empty() ? "0" : join(flags, " | ");
}

static void writeBinary(raw_ostream &out, const NamedBinary &named, const TargetInfo &target,
                        const BinaryPointers &pointers) {
  const DeviceBinary &device = *named.binary;
  const std::string &symbol = named.symbol;
  bool isHost = device.format == BinaryFormat::HostObject;
  const auto &cluster = device.launch.clusterDims;
  // A cluster of one block is no cluster.
  bool hasCluster = cluster[0] * cluster[1] * cluster[2] > 1;
  std::string hostMacro =
      StringRef(target.llvmTriple).starts_with("x86_64") ? "ON_X86_64" : "ON_AARCH64";
  out << formatv(
      "    {{{0}, {1}, {14}, {15}, {16}, {2},\n     {3},\n     {4}, {5}, {{{6}, {7}, {8}}, {9}, "
      "{10}, {11}, {12}, {13}},\n",
      isHost || !named.frame.empty() ? "NULL" : symbol, isHost ? 0 : device.bytes.size(),
      cString(isHost ? symbol : device.symbol), isHost ? hostMacro + "(" + symbol + ")" : "NULL",
      isHost && !target.emulated ? 0 : device.launch.threadsPerBlock,
      device.launch.dynamicSharedBytes, hasCluster ? cluster[0] : 0, hasCluster ? cluster[1] : 0,
      hasCluster ? cluster[2] : 0, device.launch.tensorMaps.size(), device.launch.scratchBytes,
      isHost ? device.launch.arenaBytes : 0, pointers.tensorMaps, pointers.fallback,
      named.frame.empty() ? "NULL" : "&" + named.frame, named.frameOffset,
      launchFlags(device.launch));
}

/// "variant 3, sm_90a cubin", before each record.
static void writePlace(raw_ostream &out, size_t variant, const TargetRow &row) {
  out << formatv("    /* variant {0}, {1} {2} */\n", variant, cComment(row.arch),
                 formatName(row.format));
}

using PointersOf = std::map<const DeviceBinary *, BinaryPointers>;

/// The arrays of tensor maps of all binaries and fallbacks.
static PointersOf writeTensorMaps(raw_ostream &out, const EntryText &text) {
  PointersOf pointers;
  TensorMapTables tensorMaps(out, text.name);
  for (const auto *table : {&text.binaries, &text.fallbacks})
    for (const std::vector<NamedBinary> &row : *table)
      for (const NamedBinary &named : row)
        if (named.binary)
          pointers[named.binary].tensorMaps = tensorMaps.nameOf(*named.binary);
  return pointers;
}

/// The fallbacks, to which the binaries then point.
static void writeFallbacks(raw_ostream &out, const LibraryModel &model, const EntryText &text,
                           PointersOf &pointers) {
  size_t count = 0;
  std::string name = text.name + "_fallbacks";
  for (size_t v = 0; v < text.fallbacks.size(); ++v)
    for (size_t t = 0; t < text.fallbacks[v].size(); ++t) {
      const NamedBinary &fallback = text.fallbacks[v][t];
      if (!fallback.binary)
        continue;
      if (count == 0)
        out << "/* Without tensor maps of pointers. */\nstatic const kiln_binary " << name
            << "[] = {\n";
      const TargetRow &row = text.tables.targets[t];
      writePlace(out, v, row);
      writeBinary(out, fallback, model.targets[row.target], pointers[fallback.binary]);
      pointers[text.binaries[v][t].binary].fallback = formatv("&{0}[{1}]", name, count++).str();
    }
  if (count > 0)
    out << "};\n";
}

static void writeBinaries(raw_ostream &out, const LibraryModel &model, const EntryText &text) {
  const EntryModel &entry = *text.entry;
  PointersOf pointers = writeTensorMaps(out, text);
  out << "/* data, size, frame, place in it, flags, symbol, host function,\n"
         " * threads, shared memory, cluster, number of tensor maps, scratch, arena, tensor maps, "
         "fallback */\n";
  writeFallbacks(out, model, text, pointers);
  out << "static const kiln_binary " << text.name << "_binaries[] = {\n";
  for (size_t v = 0; v < entry.variants.size(); ++v)
    for (size_t t = 0; t < text.tables.targets.size(); ++t) {
      const TargetRow &row = text.tables.targets[t];
      const NamedBinary &named = text.binaries[v][t];
      writePlace(out, v, row);
      if (named.binary)
        writeBinary(out, named, model.targets[row.target], pointers[named.binary]);
      else
        out << "    NO_BINARY,\n";
    }
  out << "};\n";
}

static void writeGridTable(raw_ostream &out, const EntryText &text) {
  const DispatchTables &tables = text.tables;
  const std::string &name = text.name;
  if (!tables.gridConstants.empty()) {
    out << "/* What the grid reads of each variant:";
    for (const std::string &constant : tables.gridConstants)
      out << " " << cComment(constant);
    out << ". */\nstatic const int64_t " << name << "_constants[][" << tables.gridConstants.size()
        << "] = {\n";
    for (const std::vector<int64_t> &values : tables.gridValues) {
      out << "    {";
      for (size_t i = 0; i < values.size(); ++i)
        out << (i ? ", " : "") << cInteger(values[i]);
      out << "},\n";
    }
    out << "};\n";
  }
}

/// Where the variants stand in sets, for what has a variant's number.
static void writePlaces(raw_ostream &out, const EntryText &text) {
  if (text.tables.conditions.empty() || text.choice.isIdentity())
    return;
  auto print = [](unsigned place) { return std::to_string(place); };
  out << "/* The place of each variant in sets of variants. */\n"
      << wrapDeclaration(formatv("static const uint16_t {0}_places[] = {{{1}};", text.name,
                                 join(map_range(text.choice.places, print), ", ")))
      << "\n";
}

static void writeNeeds(raw_ostream &out, const EntryText &text) {
  const DispatchTables &tables = text.tables;
  if (tables.conditions.empty())
    return;
  out << "/* The conditions that each variant relies on, a bit each. */\nstatic const uint64_t "
      << text.name << "_needs[][" << tables.words() << "] = {\n";
  for (const std::vector<uint64_t> &words : tables.needs) {
    out << "    {";
    for (size_t i = 0; i < words.size(); ++i)
      out << (i ? ", " : "") << formatv("UINT64_C({0:x})", words[i]);
    out << "},\n";
  }
  out << "};\n";
}

//===----------------------------------------------------------------------===//
// Decision trees
//===----------------------------------------------------------------------===//

/// Lists of variants and costs, each written once: where they stand, and all of them.
namespace {
class VariantLists {
public:
  size_t place(ArrayRef<VariantCost> variants) {
    std::vector<std::pair<unsigned, int64_t>> list;
    for (const VariantCost &one : variants)
      list.emplace_back(one.variant, one.cost);
    auto [known, isNew] = places.try_emplace(std::move(list), this->variants.size());
    if (isNew) {
      for (const VariantCost &one : variants)
        add(std::to_string(one.variant), one.cost);
      add("END_OF_LIST", 0);
    }
    return known->second;
  }

  std::vector<std::string> variants, costs;

private:
  std::map<std::vector<std::pair<unsigned, int64_t>>, size_t> places;

  void add(std::string variant, int64_t cost) {
    variants.push_back(std::move(variant));
    costs.push_back(std::to_string(cost) + "u");
  }
};
} // namespace

/// The decision trees of all targets as they stand in C.
namespace {
struct TunedText {
  std::vector<std::string> nodes, roots;
  VariantLists lists;

  explicit TunedText(const DispatchTables &tables) {
    for (const std::vector<TunedTree> &trees : tables.tuned)
      for (unsigned rank = 0; rank < tables.tunedRanks(); ++rank)
        add(treeOf(trees, rank));
  }
  void add(const DecisionTree *tree) {
    size_t root = nodes.size();
    roots.push_back(tree ? std::to_string(root) : "NO_TREE");
    if (!tree)
      return;
    for (const DecisionTree::Node &node : tree->nodes)
      nodes.push_back(
          node.isLeaf()
              ? formatv("{{0, KILN_TREE_LEAF, {0}}", lists.place(node.variants)).str()
              : formatv("{{{0}, {1}, {2}}", cInteger(node.bound), node.key, root + node.above)
                    .str());
  }
  uint64_t bytes() const {
    return sizeof(kiln_tuned_trees) + nodes.size() * sizeof(kiln_tree_node) +
           roots.size() * sizeof(uint32_t) +
           lists.variants.size() * (sizeof(uint16_t) + sizeof(uint32_t));
  }
};
} // namespace

static void writeTuned(raw_ostream &out, const EntryText &text) {
  const DispatchTables &tables = text.tables;
  const std::string &name = text.name;
  TunedText tuned(tables);
  out << formatv("/* Decision trees over {0}. */\n", cComment(join(text.entry->dispatchKey, ", ")))
      << wrapDeclaration(formatv("static const kiln_tree_node {0}_tuned_nodes[] = {{{1}};", name,
                                 join(tuned.nodes, ", ")))
      << "\n/* Of each leaf the variants, and what a wave of each costs. */\n"
      << wrapDeclaration(formatv("static const uint16_t {0}_tuned_variants[] = {{{1}};", name,
                                 join(tuned.lists.variants, ", ")))
      << "\n"
      << wrapDeclaration(formatv("static const uint32_t {0}_tuned_costs[] = {{{1}};", name,
                                 join(tuned.lists.costs, ", ")))
      << "\n/* Of each target"
      << (tables.hasTunedRanks() ? ", by how much the best legal variant promises" : "") << ". */\n"
      << wrapDeclaration(formatv("static const uint32_t {0}_tuned_roots[] = {{{1}};", name,
                                 join(tuned.roots, ", ")))
      << "\n"
      << formatv("static const kiln_tuned_trees {0}_tuned = {{{0}_tuned_nodes, {0}_tuned_roots, "
                 "{0}_tuned_variants,\n    {0}_tuned_costs};\n",
                 name);
}

/// What decision trees are over, those of the library or of a file.
static void writeDispatchKey(raw_ostream &out, const EntryText &text) {
  const DispatchTables &tables = text.tables;
  const std::string &name = text.name;
  if (!tables.isKeyed)
    return;
  if (tables.isTuned())
    writeTuned(out, text);
  if (tables.hasTunedRanks())
    out << "/* How much each variant's signature promises, 0 = most. */\n"
        << wrapDeclaration(formatv(
               "static const uint32_t {0}_ranks[] = {{{1}};", name,
               join(map_range(tables.ranks, [](unsigned rank) { return std::to_string(rank); }),
                    ", ")))
        << "\n";
  out << wrapDeclaration(formatv("static const char *const {0}_key_names[] = {{{1}};", name,
                                 join(map_range(text.entry->dispatchKey, cString), ", ")))
      << "\n"
      << formatv("static const kiln_dispatch_key {0}_key = {{{0}_key_names, {1}, {2}, {3}, {4}};\n",
                 name, tables.keyArguments.size(), tables.tunedRanks(),
                 tables.hasTunedRanks() ? name + "_ranks" : "NULL",
                 tables.isTuned() ? "&" + name + "_tuned" : "NULL");
}

/// Of the tables by which variants are chosen.
static uint64_t choiceBytes(const EntryText &text) {
  const DispatchTables &tables = text.tables;
  const ChoicePlan &plan = text.choice;
  uint64_t variants = plan.variants.size(), set = plan.words() * sizeof(uint64_t), bytes = 0,
           factors = (plan.numVarying() + plan.hasCommon()) * sizeof(uint16_t);
  if (tables.hasCosts || tables.isKeyed)
    bytes += variants * (sizeof(double) + 2 * sizeof(uint64_t) + sizeof(uint32_t) + factors);
  if (tables.isKeyed)
    bytes += variants * (sizeof(uint16_t) + factors);
  if (tables.hasCosts)
    bytes += tables.targets.size() * sizeof(uint32_t);
  if (tables.hasCosts && !plan.factors.empty())
    bytes += plan.starts.size() * plan.starts.front().size() * sizeof(uint16_t);
  for (const BoundIntervals &one : plan.intervals)
    bytes += one.cuts.size() * sizeof(int64_t) + one.allowed.size() * set;
  return bytes + (plan.isEverywhere() ? 0 : plan.there.size() * set);
}

uint64_t tableBytes(const EntryText &text) {
  const DispatchTables &tables = text.tables;
  raw_null_ostream nowhere;
  TensorMapTables tensorMaps(nowhere, text.name);
  std::set<std::string> arrays;
  uint64_t variants = text.entry->variants.size();
  uint64_t bytes = sizeof(kiln_entry) + sizeof(kiln_entry_state) +
                   variants * (sizeof(kiln_variant) + tables.words() * sizeof(uint64_t)) +
                   tables.targets.size() * sizeof(kiln_target);
  for (const std::vector<unsigned> &list : tables.parameterLists)
    bytes += list.size() * sizeof(kiln_param);
  bytes += variants * tables.targets.size() * sizeof(kiln_binary);
  for (const auto *table : {&text.binaries, &text.fallbacks})
    for (const std::vector<NamedBinary> &row : *table)
      for (const NamedBinary &named : row) {
        bool isFallback = table == &text.fallbacks;
        if (named.binary && isFallback)
          bytes += sizeof(kiln_binary);
        if (named.binary && arrays.insert(tensorMaps.nameOf(*named.binary)).second)
          bytes += named.binary->launch.tensorMaps.size() * sizeof(kiln_tensor_map);
      }
  if (!tables.gridConstants.empty())
    bytes += variants * tables.gridConstants.size() * sizeof(int64_t);
  bytes += choiceBytes(text);
  if (isComparable(*text.entry))
    bytes +=
        sizeof(kiln_comparison) + comparedArrays(*text.entry).size() * sizeof(kiln_compared_array);
  if (tables.isKeyed)
    bytes += sizeof(kiln_dispatch_key) + tables.keyArguments.size() * sizeof(char *);
  return bytes + (tables.isTuned() ? TunedText(tables).bytes() : 0);
}

/// What kiln_describe says of the entry point beyond its tables.
static void writeSignature(raw_ostream &out, const EntryText &text) {
  const EntryModel &entry = *text.entry;
  const std::vector<Condition> &conditions = text.tables.conditions;
  std::vector<std::pair<std::string, std::string>> arguments; // name and type, as the function's
  if (text.hasCallersGrid())
    arguments = {{"grid_x", "u32"}, {"grid_y", "u32"}, {"grid_z", "u32"}};
  for (unsigned i : callerArguments(entry))
    arguments.emplace_back(entry.arguments[i].name, callerType(entry, i));
  if (!arguments.empty()) {
    out << "static const kiln_argument " << text.name << "_arguments[] = {\n";
    for (const auto &[name, type] : arguments)
      out << formatv("    {{{0}, {1}},\n", cString(name), cString(type));
    out << "};\n";
  }
  if (!conditions.empty()) {
    out << "static const char *const " << text.name << "_conditions[] = {\n";
    for (const Condition &condition : conditions)
      out << "    " << cString(condition.text) << ",\n";
    out << "};\n";
  }
  out << "static const char *const " << text.name << "_variant_constants[] = {\n";
  for (const VariantModel &variant : entry.variants)
    out << "    " << cString(constantsJson(variant)) << ",\n";
  out << "};\n";
  out << formatv("static const kiln_signature {0}_signature = {{{1}, {2}, {3}, {4}, {5}, "
                 "{0}_variant_constants};\n",
                 text.name, arguments.empty() ? "NULL" : text.name + "_arguments",
                 conditions.empty() ? "NULL" : text.name + "_conditions",
                 conditions.empty() ? "NULL" : "&" + text.name + "_needs[0][0]", arguments.size(),
                 conditions.size());
}

std::string writeTables(const LibraryModel &model, const EntryText &text) {
  std::string result;
  raw_string_ostream out(result);
  const EntryModel &entry = *text.entry;
  writeParameterLists(out, text);
  writeVariants(out, text);
  writeTargets(out, model, text);
  writeBinaries(out, model, text);
  writeNeeds(out, text);
  writePlaces(out, text);
  writeGridTable(out, text);
  writeDispatchKey(out, text);
  writeSignature(out, text);
  out << writeComparisonTable(text) << "static kiln_entry_state " << text.name << "_state;\n"
      << formatv("const kiln_entry {0}_entry = {{\n    &{1}_library, {2}, {0}_variant_table, "
                 "{0}_targets,\n    {0}_binaries, &{0}_state, {3}, {4}, {5}, &{0}_signature, {6}, "
                 "{7}};\n\n",
                 text.name, model.cName(), cString(text.name), entry.variants.size(),
                 text.tables.targets.size(),
                 text.tables.isKeyed ? "&" + text.name + "_key" : "NULL",
                 isComparable(entry) ? "&" + text.name + "_comparison" : "NULL",
                 text.choiceWords().size());
  return result;
}

} // namespace kiln

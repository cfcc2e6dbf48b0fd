//===- CFunctions.cpp - the functions of an entry point -------------------===//
//
// For an entry point `f` this writes, each only where it is needed:
//
//   f_args             the call's arguments
//   f_values           refuses values beyond the declared ranges, and sizes below zero
//   f_arrays           refuses arrays that no kernel survives
//   f_held             which conditions they meet, a bit each
//   f_lacks            whether a variant relies on one that they do not
//   f_distance         how far they are from meeting a condition
//   f_miss             the message of a call that no variant accepts
//   f_grid             the grid of a variant
//   f_fastest          the fastest legal variant by what was measured
//   f_choose           that one, or the cheapest legal variant, over f_order
//   f_pack             pointers to the arguments that a variant's kernel takes
//   f_launch_on        launches on other arrays, and what else comparisons need (CComparison.cpp)
//   and the public functions over them
//
//===----------------------------------------------------------------------===//
#include "codegen/ArgumentRanges.h"
#include "codegen/CWriter.h"
#include "codegen/VariantConditions.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/FormatVariadic.h"
#include "llvm/Support/raw_ostream.h"
#include <map>

using namespace llvm;

namespace kiln {

namespace {

class FunctionWriter {
public:
  FunctionWriter(const EntryText &text, std::set<std::string> &helpers)
      : text(text), entry(*text.entry), tables(text.tables), name(text.name),
        sizes(sizeArguments(entry)), helpers(helpers), out(result) {}

  std::string write() {
    writeArguments();
    writeValues();
    writeArrays();
    writeHeld();
    writeDistance();
    writeMiss();
    writeGrid();
    out << writeChoice(text, helpers);
    writePack();
    out << writeComparison(text, helpers);
    writeCalls();
    writePlans();
    writeInquiries();
    return result;
  }

private:
  const EntryText &text;
  const EntryModel &entry;
  const DispatchTables &tables;
  const std::string &name;
  const std::vector<unsigned> sizes;
  /// There is an f_values.
  bool hasValueChecks = false;
  std::set<std::string> &helpers;
  std::string result;
  raw_string_ostream out;

  bool hasConditions() const { return !tables.conditions.empty(); }
  size_t words() const { return tables.words(); }
  size_t numVariants() const { return entry.variants.size(); }
  size_t maxParameters() const { return text.maxParameters(); }

  /// Replaces $ by the entry's name.
  void put(StringRef code) { out << named(code, name); }

  /// `access` is "args->", or "args." in the public functions, which hold the struct itself.
  std::string field(unsigned argument, StringRef access = "args->") const {
    return access.str() + text.argumentNames[argument];
  }

  //--- Arguments ---
  void writeArguments() {
    put("typedef struct $_args {\n");
    if (text.hasCallersGrid())
      out << "  uint32_t grid_x, grid_y, grid_z;\n";
    for (size_t i = 0; i < entry.arguments.size(); ++i) {
      std::string type = entry.arguments[i].type.cType();
      out << "  " << type << (type.back() == '*' ? "" : " ") << text.argumentNames[i] << ";\n";
    }
    if (entry.arguments.empty() && !text.hasCallersGrid())
      out << "  char none;\n";
    put("} $_args;\n\n");
  }

  /// The initialiser of an args struct from a public function's parameters.
  std::string argumentsInitialiser() const {
    std::vector<std::string> values;
    if (text.hasCallersGrid())
      values = {"grid_x", "grid_y", "grid_z"};
    for (unsigned i : callerArguments(entry)) {
      const std::string &value = text.argumentNames[i];
      const EntryDescriptor *descriptor = descriptorAt(entry, i);
      values.push_back(descriptor ? value + ".base" : value);
      for (unsigned axis = 0; descriptor && axis < descriptor->rank; ++axis)
        values.push_back(formatv("(int32_t){0}.shape[{1}]", value, axis).str());
      for (unsigned axis = 0; descriptor && axis + 1 < descriptor->rank; ++axis)
        values.push_back(formatv("{0}.strides[{1}]", value, axis).str());
    }
    return values.empty() ? "{0}" : "{" + join(values, ", ") + "}";
  }

  //--- Values ---
  /// `values` and their number, as the runtime's messages take them.
  std::pair<std::string, std::string> valuesOf(ArrayRef<unsigned> arguments) const {
    if (arguments.empty())
      return {"", "NULL, 0"};
    std::vector<std::string> rows;
    for (unsigned i : arguments) {
      const EntryArgument &argument = entry.arguments[i];
      rows.push_back(formatv("        {{{0}, {1}, (int64_t){2}{3}}", cString(argument.name),
                             cParamKind(argument.type),
                             argument.type.isPointer() ? "(intptr_t)" : "", field(i))
                         .str());
    }
    return {"    const kiln_argument_value values[] = {\n" + join(rows, ",\n") + "};\n",
            "values, " + std::to_string(arguments.size())};
  }

  /// What an expression reads, as a C expression of type int64_t.
  std::string symbolValue(StringRef symbol, StringRef failed, std::set<std::string> &used) const {
    if (auto argument = findArgument(entry, symbol)) {
      if (entry.arguments[*argument].type.element != ElementType::UInt64)
        return "(int64_t)" + field(*argument);
      used.insert("from_u64");
      return "from_u64(" + field(*argument) + ", " + failed.str() + ")";
    }
    auto constant = find(tables.gridConstants, symbol);
    return formatv("{0}_constants[variant][{1}]", name, constant - tables.gridConstants.begin())
        .str();
  }

  std::vector<unsigned> integersIn(const Expression &expression) const {
    std::vector<unsigned> arguments;
    for (const std::string &symbol : expression.names())
      if (auto argument = findArgument(entry, symbol))
        arguments.push_back(*argument);
    return arguments;
  }

  //--- Checks of arguments ---
  /// A C condition that holds for the declared values; "" where all of the type are.
  std::string isDeclared(const EntryRange &declared) const {
    const ArgumentType &type = entry.arguments[declared.argument].type;
    const ArgumentRange &range = declared.range;
    std::string value = field(declared.argument);
    std::vector<std::string> tests;
    for (int64_t one : range.values)
      tests.push_back(comparison(type, value, "==", one));
    if (!tests.empty())
      return join(tests, " || ");
    IntegerRange all = rangeOfType(type);
    if (range.minimum && *range.minimum > all.low)
      tests.push_back(comparison(type, value, ">=", *range.minimum));
    bool isWide = type.element == ElementType::UInt64;
    if (range.maximum && (isWide || *range.maximum < all.high))
      tests.push_back(comparison(type, value, "<=", *range.maximum));
    if (range.multipleOf > 1)
      tests.push_back(formatv("{0} % {1} == 0", value, range.multipleOf).str());
    return join(tests, " && ");
  }

  /// Whether the declared values leave nothing below zero to be refused.
  bool isNeverNegative(unsigned argument) const {
    const EntryRange *declared = findRange(entry, argument);
    return declared && (declared->range.values.empty() ? declared->range.minimum.value_or(-1) >= 0
                                                       : declared->range.values.front() >= 0);
  }

  void writeValues() {
    std::vector<std::string> checks;
    for (const EntryRange &declared : entry.ranges) {
      std::string test = isDeclared(declared);
      if (!test.empty())
        checks.push_back(formatv("  if (!({0})) {{\n{1}    return kiln_refuse_value(&{2}_entry, "
                                 "&values[0], {3});\n  }\n",
                                 test, valuesOf({declared.argument}).first, name,
                                 cString(declared.range.text()))
                             .str());
    }
    for (unsigned i : sizes)
      if (!isNeverNegative(i))
        checks.push_back(
            formatv("  if ({0} < 0)\n    return kiln_refuse_size(&{1}_entry, {2}, (int64_t){0});\n",
                    field(i), name, cString(entry.arguments[i].name))
                .str());
    hasValueChecks = !checks.empty();
    if (hasValueChecks)
      put("/* Refuses values that were not declared, and sizes below zero: rounding can make a "
          "grid "
          "of\n * zero of them, which is a mistake all the same. */\n"
          "static kiln_status $_values(const $_args *args) {\n" +
          join(checks, "") + "  return KILN_SUCCESS;\n}\n\n");
  }

  /// The arrays that kernels take; of a tensor its base.
  std::vector<unsigned> arrays() const {
    std::vector<unsigned> found;
    for (unsigned i = 0; i < entry.arguments.size(); ++i)
      if (entry.arguments[i].type.isPointer())
        found.push_back(i);
    return found;
  }

  /// "args->t == NULL" and, of a tensor, that it has elements.
  std::string isMissing(unsigned i, StringRef access = "args->") const {
    std::string text = field(i, access) + " == NULL";
    const EntryDescriptor *descriptor = descriptorAt(entry, i);
    for (unsigned axis = 0; descriptor && axis < descriptor->rank; ++axis)
      text += " && " + field(i + 1 + axis, access) + " != 0";
    return descriptor ? "(" + text + ")" : text;
  }

  unsigned arrayAlignment(unsigned i) const {
    const ArgumentType &type = entry.arguments[i].type;
    bool isTensor = descriptorAt(entry, i); // which kiln_check_tensor looks at
    return isTensor ? 1 : type.pointerDepth > 1 ? 8 : elementBytes(type.element);
  }

  /// A C condition that holds where an array may be one that no kernel survives.
  std::string isSuspect(StringRef access) const {
    std::map<unsigned, std::vector<std::string>> addresses;
    std::vector<std::string> tests;
    for (unsigned i : arrays()) {
      tests.push_back(isMissing(i, access));
      if (arrayAlignment(i) > 1)
        addresses[arrayAlignment(i)].push_back("(uintptr_t)" + field(i, access));
    }
    for (const auto &[alignment, texts] : addresses)
      tests.push_back(formatv("(({0}) & {1}u) != 0", join(texts, " | "), alignment - 1).str());
    return join(tests, " ||\n       ");
  }

  void writeArrays() {
    std::vector<std::string> checks;
    for (unsigned i : arrays()) {
      std::string check =
          formatv("kiln_check_array(&{0}_entry, {1}, {2}, {3}) != KILN_SUCCESS", name,
                  cString(entry.arguments[i].name), field(i), arrayAlignment(i))
              .str();
      checks.push_back(descriptorAt(entry, i) ? "(" + isMissing(i) + " &&\n       " + check + ")"
                                              : check);
    }
    if (checks.empty())
      return;
    put("/* Refuses what no kernel survives: arrays that are null, or not aligned to their "
        "elements. "
        "With\n * a grid of zero nothing runs. */\n"
        "static kiln_status $_arrays(const $_args *args, const int64_t grid[3]) {\n"
        "  if (grid[0] == 0 || grid[1] == 0 || grid[2] == 0)\n    return KILN_SUCCESS;\n");
    out << "  if (" << join(checks, " ||\n      ")
        << ")\n    return KILN_ERROR_INVALID_ARGUMENT;\n  return KILN_SUCCESS;\n}\n\n";
  }

  //--- Conditions ---
  std::string test(const Condition &condition) const {
    std::string value = field(condition.argument);
    const ArgumentType &type = entry.arguments[condition.argument].type;
    switch (condition.kind) {
    case Condition::Kind::Divisible:
      if (type.isPointer())
        return formatv("((uintptr_t){0} & {1}u) == 0", value, condition.value - 1).str();
      return formatv("{0} % {1} == 0", value, condition.value).str();
    case Condition::Kind::Equals:
      return comparison(type, value, "==", condition.value);
    case Condition::Kind::AtLeast:
      return comparison(type, value, ">=", condition.value);
    case Condition::Kind::AtMost:
      return comparison(type, value, "<=", condition.value);
    case Condition::Kind::Holds:
      break; // writeHeld() has statements for it
    }
    return "";
  }

  /// Unsigned values are compared as unsigned: a bound below zero decides by itself.
  static std::string comparison(const ArgumentType &type, const std::string &value, StringRef op,
                                int64_t bound) {
    bool isUnsigned = elementClass(type.element) == ElementClass::Unsigned ||
                      elementClass(type.element) == ElementClass::Bool;
    if (!isUnsigned)
      return formatv("(int64_t){0} {1} {2}", value, op, cInteger(bound)).str();
    if (bound < 0)
      return op == ">=" ? "1" : "0";
    if (bound == 0 && op == ">=")
      return "1";
    return formatv("(uint64_t){0} {1} UINT64_C({2})", value, op, bound).str();
  }

  /// What cannot be computed does not hold.
  void writeHolds(const Condition &condition, size_t bit) {
    std::set<std::string> used;
    std::string truth = condition.expression->printCTruth(
        [&](StringRef symbol) { return symbolValue(symbol, "&failed", used); }, "&failed", used);
    helpers.insert(used.begin(), used.end());
    bool mayFail = StringRef(truth).contains("&failed");
    out << formatv("  { /* {0} */\n{1}    const int holds = {2};\n    held[{3}] |= "
                   "(uint64_t)({4}) << {5};\n  }\n",
                   cComment(condition.text), mayFail ? "    int failed = 0;\n" : "", truth,
                   bit / 64, mayFail ? "holds && !failed" : "holds", bit % 64);
  }

  void writeHeld() {
    if (!hasConditions())
      return;
    put("/* Bit i of held is condition i. */\n"
        "static void $_held(const $_args *args, uint64_t *held) {\n");
    for (size_t word = 0; word < words(); ++word) {
      out << "  held[" << word << "] = 0;\n";
      for (size_t bit = word * 64; bit < std::min(tables.conditions.size(), word * 64 + 64); ++bit)
        if (tables.conditions[bit].kind == Condition::Kind::Holds)
          writeHolds(tables.conditions[bit], bit);
        else
          out << formatv("  held[{0}] |= (uint64_t)({1}) << {2};\n", word,
                         test(tables.conditions[bit]), bit % 64);
    }
    out << "}\n\n";
    put("static int $_lacks(uint32_t variant, const uint64_t *held) {\n");
    if (words() == 1)
      put("  return ($_needs[variant][0] & ~held[0]) != 0;\n}\n\n");
    else
      put(formatv("  uint32_t word;\n  for (word = 0; word < {0}; ++word)\n    if "
                  "(($_needs[variant][word] & ~held[word]) != 0)\n      return 1;\n  return "
                  "0;\n}\n\n",
                  words())
              .str());
  }

  //--- Misses ---
  std::string distance(const Condition &condition) {
    std::string value = field(condition.argument);
    if (condition.kind == Condition::Kind::Holds)
      return "1.0";
    if (condition.kind == Condition::Kind::Divisible)
      return formatv("(double)(({0}){1} & {2}u)",
                     entry.arguments[condition.argument].type.isPointer() ? "uintptr_t"
                                                                          : "uint64_t",
                     value, condition.value - 1)
          .str();
    helpers.insert("distance_of");
    return formatv("distance_of((double){0}, (double){1})", value, cInteger(condition.value)).str();
  }

  void writeDistance() {
    if (!hasConditions())
      return;
    put("/* How far the arguments are from meeting a condition. */\n"
        "static double $_distance(const $_args *args, uint32_t condition) {\n");
    out << "  (void)args;\n  switch (condition) {\n";
    for (size_t i = 0; i < tables.conditions.size(); ++i)
      out << formatv("  case {0}:\n    return {1};\n", i, distance(tables.conditions[i]));
    out << "  default:\n    return 0.0;\n  }\n}\n\n";
  }

  void writeMiss() {
    put("/* Says what the nearest variant lacks: the one that lacks the fewest conditions, among\n"
        " * equals the least far. `only`, unless UINT32_MAX, is the one that was asked for. */\n"
        "static kiln_status $_miss(const kiln_call *call, const $_args *args, uint32_t only) {\n");
    if (!hasConditions()) {
      put("  (void)args;\n  return kiln_miss(call, only, 0, NULL, NULL, 0);\n}\n\n");
      return;
    }
    put(formatv(
            "  uint64_t held[{0}];\n"
            "  uint32_t variant, condition, nearest = UINT32_MAX, first = 0, fewest = "
            "UINT32_MAX;\n"
            "  double least = 0.0;\n"
            "  $_held(args, held);\n"
            "  for (variant = 0; variant < {1}; ++variant) {{\n"
            "    uint32_t lacking = 0, its_first = 0;\n"
            "    double distance = 0.0;\n"
            "    if ((only != UINT32_MAX && variant != only) ||\n"
            "        $_binaries[variant * {2} + call->target].symbol == NULL)\n"
            "      continue;\n"
            "    for (condition = {3}; condition-- > 0;)\n"
            "      if (($_needs[variant][condition / 64] & ~held[condition / 64]) >> (condition "
            "% 64) & 1) {{\n"
            "        ++lacking;\n"
            "        its_first = condition;\n"
            "        distance += $_distance(args, condition);\n"
            "      }\n"
            "    if (lacking != 0 && (lacking < fewest || (lacking == fewest && distance < "
            "least))) "
            "{{\n"
            "      nearest = variant;\n"
            "      first = its_first;\n"
            "      fewest = lacking;\n"
            "      least = distance;\n"
            "    }\n"
            "  }\n"
            "  if (nearest == UINT32_MAX)\n"
            "    return kiln_miss(call, only, 0, NULL, NULL, 0);\n"
            "  switch (first) {{\n",
            words(), numVariants(), tables.targets.size(), tables.conditions.size())
            .str());
    for (size_t i = 0; i < tables.conditions.size(); ++i) {
      const Condition &condition = tables.conditions[i];
      auto [declaration, values] = valuesOf(argumentsOf(entry, condition));
      out << formatv(
          "  case {0}: {{\n{1}    return kiln_miss(call, nearest, fewest, {2}, {3});\n  }\n", i,
          declaration, cString(condition.text), values);
    }
    out << "  default:\n    return kiln_miss(call, nearest, fewest, NULL, NULL, 0);\n  }\n}\n\n";
  }

  //--- Grid ---
  void writeGrid() {
    put("static kiln_status $_grid(const $_args *args, uint32_t variant, int64_t grid[3]) {\n");
    if (text.hasCallersGrid()) {
      out << "  (void)variant;\n  grid[0] = args->grid_x;\n  grid[1] = args->grid_y;\n"
             "  grid[2] = args->grid_z;\n  return KILN_SUCCESS;\n}\n\n";
      return;
    }
    std::string body, refusals;
    bool readsArguments = false, readsConstants = !tables.gridConstants.empty();
    for (size_t i = 0; i < 3; ++i) {
      std::set<std::string> used;
      std::string value = "1", failed = formatv("&failed[{0}]", i).str();
      if (i < entry.grid.size())
        value = entry.grid[i].printC(
            [&](StringRef symbol) { return symbolValue(symbol, failed, used); }, failed, used);
      readsArguments |= StringRef(value).contains("args->");
      if (StringRef(value).contains(failed))
        refusals += refusal(i);
      helpers.insert(used.begin(), used.end());
      body += formatv("  grid[{0}] = {1};\n", i, value).str();
    }
    if (!refusals.empty())
      out << "  int failed[3] = {0, 0, 0};\n";
    if (!readsArguments)
      out << "  (void)args;\n";
    if (!readsConstants)
      out << "  (void)variant;\n";
    out << body << refusals << "  return KILN_SUCCESS;\n}\n\n";
  }

  /// What a dimension that cannot be computed gives.
  std::string refusal(size_t dimension) const {
    const Expression &expression = entry.grid[dimension];
    auto [declaration, values] = valuesOf(integersIn(expression));
    return formatv("  if (failed[{0}]) {{\n{1}    return kiln_refuse_grid(&{2}_entry, {0}, {3}, "
                   "{4});\n  }\n",
                   dimension, declaration, name, cString(expression.text()), values)
        .str();
  }

  //--- Launch ---
  void writePack() {
    if (tables.parameterLists.size() > 1) {
      put("/* Which arguments each variant's kernel takes. */\n"
          "static const uint16_t $_parameter_list[] = {");
      for (size_t i = 0; i < tables.parameterList.size(); ++i)
        out << (i ? ", " : "") << tables.parameterList[i];
      out << "};\n\n";
    }
    put("static void $_pack($_args *args, uint32_t variant, void **params) {\n");
    bool isOne = tables.parameterLists.size() == 1;
    if (isOne)
      out << "  (void)variant;\n";
    if (!isOne)
      put("  switch ($_parameter_list[variant]) {\n");
    for (size_t list = 0; list < tables.parameterLists.size(); ++list) {
      const std::vector<unsigned> &arguments = tables.parameterLists[list];
      const char *indent = isOne ? "  " : "    ";
      if (!isOne)
        out << formatv("  case {0}:\n", list);
      if (arguments.empty())
        out << indent << "(void)args;\n" << indent << "(void)params;\n";
      for (size_t i = 0; i < arguments.size(); ++i)
        out << indent << formatv("params[{0}] = (void *)&{1};\n", i, field(arguments[i]));
      if (!isOne)
        out << "    break;\n";
    }
    if (!isOne)
      out << "  default:\n    break;\n  }\n";
    out << "}\n\n";
  }

  std::string signature(StringRef suffix, StringRef first) const {
    return "kiln_status " + name + suffix.str() + "(" + first.str() + text.parameters() + ")";
  }

  void openFunction(StringRef suffix, StringRef first) {
    out << wrapDeclaration(signature(suffix, first)) << " {\n"
        << wrapDeclaration("  " + name + "_args args = " + argumentsInitialiser() + ";") << "\n";
  }

  /// After the declarations of a public function: refuses tensors that no descriptor can describe,
  /// and values that were not declared.
  void checkArguments() {
    for (const EntryDescriptor &descriptor : entry.descriptors)
      put(formatv("  if (kiln_check_tensor(&$_entry, {0}, &{1}, {2}, {3}) != KILN_SUCCESS)\n"
                  "    return KILN_ERROR_INVALID_ARGUMENT;\n",
                  cString(entry.arguments[descriptor.first].name),
                  text.argumentNames[descriptor.first], descriptor.rank,
                  elementBytes(descriptor.element))
              .str());
    if (hasValueChecks)
      put("  status = $_values(&args);\n  if (status != KILN_SUCCESS)\n    return status;\n");
  }

  /// Before a launch over `grid`: the comparisons stand here, the rest in a function that good
  /// calls do not call.
  void checkArrays(StringRef access) {
    std::string suspect = isSuspect(access);
    if (!suspect.empty())
      put(formatv("  if (({0}) &&\n      $_arrays({1}args, grid) != KILN_SUCCESS)\n"
                  "    return KILN_ERROR_INVALID_ARGUMENT;\n",
                  suspect, access == "args." ? "&" : "")
              .str());
  }

  void writeCalls() {
    put(formatv(
            "static kiln_status $_launch(const kiln_call *call, $_args *args, uint32_t variant,\n"
            "    const int64_t grid[3]) {{\n"
            "  void *params[{0}] = {{NULL};\n",
            maxParameters())
            .str());
    checkArrays("args->");
    if (isComparable(entry))
      put("  if (call->is_compared)\n    return kiln_run_compared(call, args, variant);\n");
    put("  $_pack(args, variant, params);\n  return kiln_run(call, variant, grid, params);\n}\n\n");
    openFunction("", "kiln_stream stream");
    put("  kiln_call call;\n  uint32_t variant = 0;\n  int64_t grid[3];\n  kiln_status status;\n");
    checkArguments();
    put("  status = kiln_begin(&$_entry, stream, &call);\n"
        "  if (status == KILN_SUCCESS)\n    status = $_choose(&call, &args, &variant, grid);\n"
        "  if (status == KILN_SUCCESS)\n    status = $_launch(&call, &args, variant, grid);\n"
        "  return status;\n}\n\n");
    put("/* Whether variant `index` may run with these arguments, and its grid. */\n"
        "static kiln_status $_admit(const kiln_call *call, const $_args *args, uint32_t index,\n"
        "    int64_t grid[3]) {\n");
    if (hasConditions())
      put(formatv("  uint64_t held[{0}];\n  $_held(args, held);\n"
                  "  if ($_lacks(index, held))\n    return $_miss(call, args, index);\n",
                  words())
              .str());
    else
      out << "  (void)call;\n";
    put("  return $_grid(args, index, grid);\n}\n\n");
    openFunction("_variant", "uint32_t index, kiln_stream stream");
    put("  kiln_call call;\n  int64_t grid[3];\n  kiln_status status;\n");
    checkArguments();
    put(formatv("  if (index >= {0})\n"
                "    return kiln_fail(&$_entry, KILN_ERROR_INVALID_ARGUMENT, \"no variant has this "
                "index\");\n"
                "  status = kiln_begin(&$_entry, stream, &call);\n"
                "  if (status == KILN_SUCCESS)\n    status = $_admit(&call, &args, index, grid);\n"
                "  if (status == KILN_SUCCESS)\n    status = $_launch(&call, &args, index, grid);\n"
                "  return status;\n}\n\n",
                numVariants())
            .str());
  }

  void writePlans() {
    openFunction("_plan_init", name + "_plan *plan, kiln_stream stream");
    put("  kiln_call call;\n  uint32_t variant = 0;\n  int64_t grid[3];\n"
        "  kiln_status status;\n");
    checkArguments();
    put("  if (plan == NULL)\n"
        "    return kiln_fail(&$_entry, KILN_ERROR_INVALID_ARGUMENT, \"the plan is null\");\n"
        "  status = kiln_begin(&$_entry, stream, &call);\n"
        "  if (status == KILN_SUCCESS)\n    status = $_choose(&call, &args, &variant, grid);\n"
        "  if (status == KILN_SUCCESS)\n"
        "    status = kiln_plan_create(&call, variant, &plan->plan);\n"
        "  if (status == KILN_SUCCESS)\n    plan->variant = variant;\n"
        "  return status;\n}\n\n");
    openFunction("_run", "const " + name + "_plan *plan");
    put(formatv("  void *params[{0}] = {{NULL};\n  int64_t grid[3];\n  kiln_status status;\n",
                maxParameters())
            .str());
    checkArguments();
    put(formatv("  if (plan == NULL || plan->plan.call.entry != &$_entry || plan->variant >= {0})\n"
                "    return kiln_fail(&$_entry, KILN_ERROR_INVALID_ARGUMENT, \"the plan was not "
                "made for this kernel\");\n"
                "  status = $_admit(&plan->plan.call, &args, plan->variant, grid);\n"
                "  if (status != KILN_SUCCESS)\n    return status;\n",
                numVariants())
            .str());
    checkArrays("args.");
    put("  $_pack(&args, plan->variant, params);\n"
        "  return kiln_plan_run(&plan->plan, grid, params);\n}\n\n");
  }

  void writeInquiries() {
    put("kiln_status $_prepare(kiln_device device) { return kiln_prepare(&$_entry, device); }\n\n"
        "int $_is_ready(kiln_device device) { return kiln_is_ready(&$_entry, device); }\n\n");
    put(formatv("uint32_t $_variants(const kiln_variant **variants) {{\n"
                "  if (variants != NULL)\n    *variants = $_variant_table;\n"
                "  return {0};\n}\n\n",
                numVariants())
            .str());
  }
};

} // namespace

std::string writeFunctions(const LibraryModel &, const EntryText &text,
                           std::set<std::string> &helpers) {
  return FunctionWriter(text, helpers).write();
}

} // namespace kiln

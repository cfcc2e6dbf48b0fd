//===- CFunctions.cpp - the functions of an entry point -------------------===//
//
// For an entry point `f` this writes, each only where it is needed:
//
//   f_args             the call's arguments
//   f_values           refuses values beyond the declared ranges, and sizes below zero
//   f_arrays           refuses arrays that no kernel survives
//   f_legal            which variants rely on nothing that they lack, a bit each (CConditions.cpp)
//   f_held             which conditions they meet, a bit each
//   f_distance         how far they are from meeting a condition
//   f_miss             the message of a call that no variant accepts
//   f_grid             the grid of a variant
//   f_factors          the numbers that grids are products of (CChoice.cpp)
//   f_waves            the waves of a grid that is none
//   f_fastest          the fastest legal variant by what was measured
//   f_search           that one, or the cheapest legal variant by the cost model
//   f_compare          the same, unless the choice for such a call is known
//   f_choose           the only legal variant, or that one
//   f_pack             pointers to the arguments that a variant's kernel takes
//   f_launch_on        launches on other arrays, and what else comparisons need (CComparison.cpp)
//   and the public functions over them
//
//===----------------------------------------------------------------------===//
#include "codegen/ArgumentRanges.h"
#include "codegen/EntryFunctions.h"
#include "codegen/VariantConditions.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/FormatVariadic.h"
#include <map>

using namespace llvm;

namespace kiln {

namespace {

class FunctionWriter : EntryFunctions {
public:
  FunctionWriter(const EntryText &text, std::set<std::string> &helpers)
      : EntryFunctions(text, helpers), sizes(sizeArguments(entry)) {}

  std::string write() {
    writeArguments();
    writeValues();
    writeArrays();
    out << writeConditions(text, helpers);
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
  const std::vector<unsigned> sizes;
  /// There is an f_values.
  bool hasValueChecks = false;

  size_t maxParameters() const { return text.maxParameters(); }

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
    std::string value = text.field(declared.argument);
    std::vector<std::string> tests;
    for (int64_t one : range.values)
      tests.push_back(cComparison(type, value, "==", one));
    if (!tests.empty())
      return join(tests, " || ");
    IntegerRange all = rangeOfType(type);
    if (range.minimum && *range.minimum > all.low)
      tests.push_back(cComparison(type, value, ">=", *range.minimum));
    bool isWide = type.element == ElementType::UInt64;
    if (range.maximum && (isWide || *range.maximum < all.high))
      tests.push_back(cComparison(type, value, "<=", *range.maximum));
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
                                 test, text.valuesOf({declared.argument}).first, name,
                                 cString(declared.range.text()))
                             .str());
    }
    for (unsigned i : sizes)
      if (!isNeverNegative(i))
        checks.push_back(
            formatv("  if ({0} < 0)\n    return kiln_refuse_size(&{1}_entry, {2}, (int64_t){0});\n",
                    text.field(i), name, cString(entry.arguments[i].name))
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
    std::string missing = text.field(i, access) + " == NULL";
    const EntryDescriptor *descriptor = descriptorAt(entry, i);
    for (unsigned axis = 0; descriptor && axis < descriptor->rank; ++axis)
      missing += " && " + text.field(i + 1 + axis, access) + " != 0";
    return descriptor ? "(" + missing + ")" : missing;
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
        addresses[arrayAlignment(i)].push_back("(uintptr_t)" + text.field(i, access));
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
                  cString(entry.arguments[i].name), text.field(i), arrayAlignment(i))
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
            [&](StringRef symbol) { return text.symbolValue(symbol, failed, used); }, failed, used);
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
    auto [declaration, values] = text.valuesOf(integersIn(expression));
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
        out << indent << formatv("params[{0}] = (void *)&{1};\n", i, text.field(arguments[i]));
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
    if (!tables.conditions.empty())
      put(formatv("  uint64_t legal[{0}];\n  $_legal(args, legal);\n"
                  "  if (!{1})\n    return $_miss(call, args, index);\n",
                  text.choice.words(), text.isIn("legal", "index"))
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

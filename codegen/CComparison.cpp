//===- CComparison.cpp - calls that are repeated and compared -------------===//
//
// What the runtime needs to run another variant on copies of a call's arrays, and to compare what
// the two have written (kiln_set_differential): how many elements an array has, by the spec's
// "arrays" or a tensor's shape; its address; whether a variant is legal; and a launch on others.
//
//===----------------------------------------------------------------------===//
#include "codegen/EntryFunctions.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/Support/FormatVariadic.h"

using namespace llvm;

namespace kiln {

/// As many as the runtime takes.
static constexpr size_t kMaxArrays = 32;

static const EntryArray *findArray(const EntryModel &entry, unsigned argument) {
  auto found =
      find_if(entry.arrays, [&](const EntryArray &array) { return array.argument == argument; });
  return found == entry.arrays.end() ? nullptr : &*found;
}

std::vector<unsigned> comparedArrays(const EntryModel &entry) {
  std::vector<unsigned> arrays;
  for (const auto &[i, argument] : enumerate(entry.arguments))
    if (argument.type.isPointer())
      arrays.push_back(static_cast<unsigned>(i));
  return arrays;
}

bool isComparable(const EntryModel &entry) {
  std::vector<unsigned> arrays = comparedArrays(entry);
  // An array of addresses leads to what no copy has.
  bool isKnown = all_of(arrays, [&](unsigned i) {
    return entry.arguments[i].type.pointerDepth == 1 &&
           (descriptorAt(entry, i) || findArray(entry, i));
  });
  bool writes = any_of(arrays, [&](unsigned i) { return !entry.arguments[i].type.isConst; });
  return isKnown && writes && arrays.size() <= kMaxArrays;
}

namespace {
class ComparisonWriter : EntryFunctions {
public:
  ComparisonWriter(const EntryText &text, std::set<std::string> &helpers)
      : EntryFunctions(text, helpers), arrays(comparedArrays(entry)) {}

  std::string write() {
    put("/* For kiln_set_differential: the elements of each array, ... */\n"
        "static int64_t $_elements(const void *arguments, uint32_t array) {\n"
        "  const $_args *args = (const $_args *)arguments;\n"
        "  int64_t elements = 0;\n  int failed = 0;\n  (void)args;\n");
    writeSwitch([&](unsigned i) { return "elements = " + elements(i); });
    put("  return failed ? -1 : elements;\n}\n\n"
        "static void *$_address(const void *arguments, uint32_t array) {\n"
        "  const $_args *args = (const $_args *)arguments;\n  uintptr_t address = 0;\n");
    writeSwitch([&](unsigned i) { return "address = (uintptr_t)args->" + text.argumentNames[i]; });
    put("  return (void *)address;\n}\n\n");
    writeAdmits();
    writeLaunch();
    return result;
  }

private:
  const std::vector<unsigned> arrays;

  template <typename Statement> void writeSwitch(Statement statement) {
    out << "  switch (array) {\n";
    for (const auto &[number, argument] : enumerate(arrays))
      out << "  case " << number << ":\n"
          << wrapDeclaration("    " + statement(argument) + ";") << "\n    break;\n";
    out << "  default:\n    break;\n  }\n";
  }

  std::string elements(unsigned argument) {
    if (const EntryDescriptor *descriptor = descriptorAt(entry, argument))
      return tensorElements(*descriptor);
    auto value = [&](StringRef symbol) -> std::string {
      unsigned named = *findArgument(entry, symbol);
      std::string field = "args->" + text.argumentNames[named];
      if (entry.arguments[named].type.element != ElementType::UInt64)
        return "(int64_t)" + field;
      helpers.insert("from_u64");
      return "from_u64(" + field + ", &failed)";
    };
    return elementsOf(*findArray(entry, argument)).printC(value, "&failed", helpers);
  }

  /// Up to the last one, gaps included: 0 where an extent is.
  std::string tensorElements(const EntryDescriptor &descriptor) const {
    std::string last = "1", empty;
    for (unsigned axis = 0; axis < descriptor.rank; ++axis) {
      std::string extent = "args->" + text.argumentNames[descriptor.first + 1 + axis];
      empty += (axis ? " || " : "") + extent + " == 0";
      last += " + ((int64_t)" + extent + " - 1)";
      if (axis + 1 < descriptor.rank)
        last += " * args->" + text.argumentNames[descriptor.first + 1 + descriptor.rank + axis];
    }
    return "(" + empty + ") ? 0 : " + last;
  }

  void writeAdmits() {
    put("static int $_admits(const void *arguments, uint32_t variant) {\n");
    if (text.tables.conditions.empty())
      put("  (void)arguments;\n  (void)variant;\n  return 1;\n}\n\n");
    else
      put(formatv("  uint64_t legal[{0}];\n  $_legal((const $_args *)arguments, legal);\n"
                  "  return (int){1};\n}\n\n",
                  text.choice.words(), text.isIn("legal", "variant"))
              .str());
  }

  void writeLaunch() {
    put(formatv("/* ... and a launch on others. */\n"
                "static kiln_status $_launch_on(const kiln_call *call, const void *arguments,\n"
                "    uint32_t variant, void *const *arrays) {{\n"
                "  $_args args = *(const $_args *)arguments;\n"
                "  void *params[{0}] = {{NULL};\n  int64_t grid[3];\n  kiln_status status;\n"
                "  if (arrays != NULL) {{\n",
                text.maxParameters())
            .str());
    for (const auto &[number, argument] : enumerate(arrays))
      out << "    args." << text.argumentNames[argument] << " = arrays[" << number << "];\n";
    put("  }\n  status = $_grid(&args, variant, grid);\n"
        "  if (status != KILN_SUCCESS)\n    return status;\n"
        "  $_pack(&args, variant, params);\n"
        "  return kiln_run(call, variant, grid, params);\n}\n\n");
  }
};
} // namespace

std::string writeComparison(const EntryText &text, std::set<std::string> &helpers) {
  return isComparable(*text.entry) ? ComparisonWriter(text, helpers).write() : "";
}

std::string writeComparisonTable(const EntryText &text) {
  const EntryModel &entry = *text.entry;
  if (!isComparable(entry))
    return "";
  std::string arrays;
  for (unsigned i : comparedArrays(entry)) {
    ArgumentType element = entry.arguments[i].type;
    if (element.pointerDepth < 2)
      element.kind = ArgumentType::Kind::Scalar;
    arrays += formatv("    {{{0}, {1}, {2}},\n", cString(entry.arguments[i].name),
                      cParamKind(element), entry.arguments[i].type.isConst ? 1 : 0)
                  .str();
  }
  std::string table =
      "static const kiln_compared_array $_compared_arrays[] = {\n" + arrays +
      "};\nstatic int64_t $_elements(const void *arguments, uint32_t array);\n"
      "static void *$_address(const void *arguments, uint32_t array);\n"
      "static int $_admits(const void *arguments, uint32_t variant);\n"
      "static kiln_status $_launch_on(const kiln_call *call, const void *arguments,\n"
      "    uint32_t variant, void *const *arrays);\n"
      "static const kiln_comparison $_comparison = {\n    $_compared_arrays, " +
      std::to_string(comparedArrays(entry).size()) +
      ", $_elements, $_address, $_admits, $_launch_on};\n";
  return named(table, text.name);
}

} // namespace kiln

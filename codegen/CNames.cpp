//===- CNames.cpp - names in generated C ----------------------------------===//
#include "codegen/CNames.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"

using namespace llvm;

namespace kiln {

static constexpr StringLiteral kKeywords[] = {
    // C11 and C23
    "auto", "break", "case", "char", "const", "continue", "default", "do", "double", "else", "enum",
    "extern", "float", "for", "goto", "if", "inline", "int", "long", "register", "restrict",
    "return", "short", "signed", "sizeof", "static", "struct", "switch", "typedef", "typeof",
    "typeof_unqual", "union", "unsigned", "void", "volatile", "while", "bool", "true", "false",
    "nullptr", "constexpr", "static_assert", "thread_local", "alignas", "alignof", "asm",
    // C++
    "and", "and_eq", "bitand", "bitor", "catch", "char8_t", "char16_t", "char32_t", "class",
    "compl", "concept", "consteval", "constinit", "const_cast", "co_await", "co_return", "co_yield",
    "decltype", "delete", "dynamic_cast", "explicit", "export", "friend", "mutable", "namespace",
    "new", "noexcept", "not", "not_eq", "operator", "or", "or_eq", "private", "protected", "public",
    "reinterpret_cast", "requires", "static_cast", "template", "this", "throw", "try", "typeid",
    "typename", "using", "virtual", "wchar_t", "xor", "xor_eq",
    // predefined by common compilers and headers
    "linux", "unix", "NDEBUG", "NULL", "errno", "main", "offsetof"};

/// Whether a header of C defines `name` as a macro, which would take its place wherever it stands.
static bool isCMacro(StringRef name) {
  static const StringRef macros[] = {
#include "codegen/CMacros.def"
  };
  // Families that C23 reserves as such (7.35.7 and 7.35.14 of N3096).
  auto beginsWithOneOf = [&](ArrayRef<StringRef> prefixes) {
    return any_of(prefixes, [&](StringRef prefix) { return name.starts_with(prefix); });
  };
  if (beginsWithOneOf({"FLT_", "DBL_", "LDBL_", "DEC32_", "DEC64_", "DEC128_"}))
    return true;
  if (beginsWithOneOf({"PRI", "SCN"}) && name.size() > 3 && (isLower(name[3]) || name[3] == 'X'))
    return true;
  bool isLimit = name.ends_with("_MAX") || name.ends_with("_MIN") || name.ends_with("_C") ||
                 name.ends_with("_WIDTH");
  return (isLimit && beginsWithOneOf({"INT", "UINT"})) || is_contained(macros, name);
}

/// What generated sources define for themselves.
static constexpr StringLiteral kGenerated[] = {
    "checked_add", "checked_sub",  "checked_mul",      "floor_div",   "floor_mod",
    "ceil_div",    "min_of",       "max_of",           "waves_of",    "next_power_of_2",
    "HIDDEN",      "NO_BINARY",    "library_entries",  "host_kernel", "ON_X86_64",
    "ON_AARCH64",  "from_u64",     "distance_of",      "leaf_of",     "LEAF",
    "NO_TREE",     "END_OF_LIST",  "NO_PLACE",         "lowest_bit",  "first_of",
    "has_more",    "interval_of",  "candidate",        "choice",      "bits_of",
    "cheapest_of", "fastest_of",   "fastest_by_grids", "is_legal",    "cheapest_by_grids",
    "cheapest",    "take_cheaper", "cost_of",          "timed",       "start_of"};

bool isIdentifier(StringRef name) {
  return !name.empty() && !isDigit(name[0]) &&
         all_of(name, [](char c) { return isAlnum(c) || c == '_'; });
}

bool isCIdentifier(StringRef name) { return name.size() <= 200 && isIdentifier(name); }

std::string reservedBecause(StringRef name) {
  if (is_contained(kKeywords, name))
    return "a keyword of C or C++, or a name of its headers";
  if (name.starts_with("__") || name.contains("__") ||
      (name.size() > 1 && name[0] == '_' && isUpper(name[1])) || name == "_")
    return "reserved by C or C++ (underscores)";
  if (name.starts_with("kiln_") || name.starts_with("KILN_") || name == "kiln")
    return "reserved for Kiln's runtime";
  bool isStandardInteger =
      (name.starts_with("int") || name.starts_with("uint")) && name.ends_with("_t");
  if (isStandardInteger || name == "size_t" || name == "ptrdiff_t")
    return "a type of C's standard headers";
  if (is_contained(kGenerated, name))
    return "a name that every generated source uses";
  if (isCMacro(name))
    return "a macro of C's headers";
  static const StringRef functions[] = {
#include "codegen/CLibraryFunctions.def"
  };
  if (is_contained(functions, name))
    return "a function of C's library";
  return "";
}

std::string parameterCName(StringRef name) {
  static const StringRef taken[] = {"stream", "grid_x", "grid_y", "grid_z", "plan",
                                    "index",  "call",   "args",   "status", "variant",
                                    "grid",   "params", "device"};
  if (is_contained(kKeywords, name) || is_contained(taken, name) ||
      is_contained(kGenerated, name) || isCMacro(name))
    return name.str() + "_";
  // Leading underscores are legal for parameters only before a lower-case letter.
  if (name.starts_with("_") || name.contains("__"))
    return "arg" + name.str();
  if (name.starts_with("kiln_") || name.starts_with("KILN_"))
    return "arg_" + name.str();
  return name.str();
}

std::vector<std::string> entryCNames(StringRef entry) {
  std::vector<std::string> names;
  for (StringRef suffix :
       {"", "_entry", "_prepare", "_is_ready", "_variants", "_variant", "_plan", "_plan_init",
        "_run",
        // static names of the source
        "_args", "_values", "_arrays", "_distance", "_held", "_legal", "_miss", "_grid", "_choose",
        "_pack", "_launch", "_admit", "_needs", "_binaries", "_fallbacks", "_targets",
        "_variant_table", "_variant_constants", "_constants", "_processors", "_candidate",
        "_candidates", "_factors", "_compare", "_search", "_fastest", "_cheapest", "_see", "_there",
        "_places", "_ends", "_state", "_parameter_list", "_arguments", "_conditions", "_signature",
        "_order", "_elements", "_address", "_admits", "_launch_on", "_comparison",
        "_compared_arrays", "_ranks", "_starts", "_timed", "_params_0", "_tensor_maps_0", "_cuts_0",
        "_allowed_0"})
    names.push_back((entry + suffix).str());
  return names;
}

std::vector<std::string> libraryCNames(StringRef library) {
  std::vector<std::string> names;
  for (StringRef suffix : {"_library", "_prepare", "_unload", "_abi_version", "_load_pack"})
    names.push_back((library + suffix).str());
  return names;
}

std::string mangle(StringRef text) {
  std::string out;
  for (char c : text)
    out += isAlnum(c) ? c : '_';
  return out;
}

} // namespace kiln

#include "compiler/Sema/Builtins/Builtins.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringMap.h"

namespace kiln::sema {
namespace {

constexpr BuiltinInfo table[] = {
#define KILN_BUILTIN(ID, LIBRARY, NAME, SIGNATURE, PLACE, TEXT)                                    \
  {NAME, Library::LIBRARY, Place::PLACE, SIGNATURE, TEXT, builtin##ID},
#define KILN_UNSUPPORTED(LIBRARY, NAME)                                                            \
  {NAME, Library::LIBRARY, Place::Anywhere, "*args, **options", "Not supported yet.", nullptr},
#include "compiler/Sema/Builtins/Builtins.def"
};

Value parseDefault(llvm::StringRef text) {
  if (text == "None")
    return Value::none();
  if (text == "True" || text == "False")
    return Value::boolean(text == "True");
  if (text == "()")
    return Value::tuple({});
  if (text.consume_front("'"))
    return Value::string(text.drop_back());
  int64_t number = 0;
  text.getAsInteger(10, number);
  return Value::integer(number);
}

std::vector<BuiltinParameter> parseSignature(llvm::StringRef text) {
  std::vector<BuiltinParameter> parameters;
  while (!text.empty()) {
    auto [item, rest] = text.split(", ");
    text = rest;
    BuiltinParameter parameter;
    parameter.isKeywords = item.consume_front("**");
    parameter.isVariadic = !parameter.isKeywords && item.consume_front("*");
    auto [declaration, value] = item.split('=');
    std::tie(parameter.name, parameter.type) = declaration.split(": ");
    parameter.hasDefault = !value.empty();
    parameter.defaultText = value;
    if (parameter.hasDefault)
      parameter.defaultValue = parseDefault(value);
    parameters.push_back(std::move(parameter));
  }
  return parameters;
}

/// Parsed signatures and the index by name, made once.
struct Index {
  std::vector<std::vector<BuiltinParameter>> signatures;
  llvm::StringMap<std::vector<const BuiltinInfo *>> byName;

  Index() {
    for (const BuiltinInfo &info : table) {
      signatures.push_back(parseSignature(info.signature));
      byName[info.name].push_back(&info);
    }
  }
};

const Index &getIndex() {
  static const Index index;
  return index;
}

} // namespace

llvm::ArrayRef<BuiltinParameter> BuiltinInfo::getParameters() const {
  return getIndex().signatures[size_t(this - table)];
}

std::string BuiltinInfo::getQualifiedName() const {
  switch (library) {
  case Library::Language:
    return ("tl." + name).str();
  case Library::Device:
    return ("libdevice." + name).str();
  case Library::Target:
    return ("tl.target_info." + name).str();
  case Library::Triton:
    return ("triton." + name).str();
  case Library::Math:
    return ("math." + name).str();
  case Library::Python:
  case Library::Other:
    return name.str();
  }
  llvm_unreachable("closed enumeration");
}

std::string BuiltinInfo::describe(bool withTypes) const {
  std::string text = getQualifiedName() + "(";
  for (const BuiltinParameter &parameter : getParameters()) {
    text += &parameter == getParameters().begin() ? "" : ", ";
    text += (parameter.isKeywords ? "**" : parameter.isVariadic ? "*" : "") + parameter.name.str();
    if (withTypes && !parameter.type.empty())
      text += ": " + parameter.type.str();
    if (parameter.hasDefault)
      text += "=" + parameter.defaultText.str();
  }
  return text + ")";
}

llvm::ArrayRef<BuiltinInfo> getBuiltins() { return table; }

std::vector<BuiltinFamily> getBuiltinFamilies() {
  std::vector<std::pair<llvm::StringRef, size_t>> starts;
  size_t row = 0;
#define KILN_FAMILY(TITLE) starts.emplace_back(TITLE, row);
#define KILN_BUILTIN(ID, LIBRARY, NAME, SIGNATURE, PLACE, TEXT) ++row;
#define KILN_UNSUPPORTED(LIBRARY, NAME) ++row;
#include "compiler/Sema/Builtins/Builtins.def"
  std::vector<BuiltinFamily> families;
  for (auto [index, start] : llvm::enumerate(starts)) {
    size_t end = index + 1 < starts.size() ? starts[index + 1].second : row;
    families.push_back({start.first, getBuiltins().slice(start.second, end - start.second)});
  }
  return families;
}

const BuiltinInfo *findBuiltin(Library library, llvm::StringRef name) {
  auto found = getIndex().byName.find(name);
  if (found == getIndex().byName.end())
    return nullptr;
  const BuiltinInfo *fallback = nullptr;
  for (const BuiltinInfo *info : found->second) {
    if (info->library == library)
      return info;
    bool either = (library == Library::Language && info->library == Library::Device) ||
                  (library == Library::Device && info->library == Library::Language);
    if (either)
      fallback = info;
  }
  return fallback;
}

std::vector<llvm::StringRef> getBuiltinNames(Library library) {
  std::vector<llvm::StringRef> names;
  for (const BuiltinInfo &info : table)
    if (info.library == library)
      names.push_back(info.name);
  if (library == Library::Language)
    names.insert(names.end(), getDTypeNames().begin(), getDTypeNames().end());
  return names;
}

} // namespace kiln::sema

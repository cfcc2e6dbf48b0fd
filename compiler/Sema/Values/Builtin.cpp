#include "compiler/Sema/Values/Builtin.h"

namespace kiln::sema {

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

BuiltinTable::BuiltinTable(llvm::ArrayRef<BuiltinInfo> rows) : rows(rows) {
  for (const BuiltinInfo &info : rows)
    byName[info.name].push_back(&info);
}

const BuiltinInfo *BuiltinTable::find(Library library, llvm::StringRef name) const {
  auto found = byName.find(name);
  if (found == byName.end())
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

Value BuiltinTable::get(Library library, llvm::StringRef name) const {
  const BuiltinInfo *info = find(library, name);
  assert(info && "no such builtin");
  return Value::builtin(*info);
}

std::vector<llvm::StringRef> BuiltinTable::getNames(Library library) const {
  std::vector<llvm::StringRef> names;
  for (const BuiltinInfo &info : rows)
    if (info.library == library)
      names.push_back(info.name);
  if (library == Library::Language)
    names.insert(names.end(), getDTypeNames().begin(), getDTypeNames().end());
  return names;
}

} // namespace kiln::sema

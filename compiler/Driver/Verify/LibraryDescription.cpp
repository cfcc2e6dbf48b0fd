#include "compiler/Driver/Verify/LibraryDescription.h"
#include "compiler/Basic/JsonMembers.h"

namespace json = llvm::json;

namespace kiln {
namespace {

/// The largest that the runtime's kiln_tensor holds.
constexpr unsigned maxRank = 5;

/// "fp16 tensor of rank 2"; empty for other texts.
std::optional<EntryDescriptor> parseDescriptor(llvm::StringRef type) {
  auto [name, rankText] = type.split(" tensor of rank ");
  EntryDescriptor descriptor;
  std::optional<ElementType> element = parseElementType(name);
  if (!element || rankText.getAsInteger(10, descriptor.rank) || descriptor.rank < 1 ||
      descriptor.rank > maxRank)
    return std::nullopt;
  descriptor.element = *element;
  return descriptor;
}

/// False where the type is none that a function takes.
bool addArgument(EntryModel &entry, const std::string &name, llvm::StringRef type) {
  TextError error;
  if (std::optional<EntryDescriptor> descriptor = parseDescriptor(type)) {
    descriptor->first = unsigned(entry.arguments.size());
    ArgumentType parts;
    parts.element = descriptor->element;
    parts.blockShape.resize(descriptor->rank);
    llvm::append_range(entry.arguments, descriptorParts(name, parts));
    entry.descriptors.push_back(*descriptor);
    return true;
  }
  std::optional<ArgumentType> plain = parseArgumentType(type, error);
  if (!plain || !plain->bytes())
    return false;
  entry.arguments.push_back({name, std::move(*plain)});
  return true;
}

/// The integers and truth values among what was compiled in: what a capture tells of a launch.
std::vector<NamedLiteral> constantsOf(JsonMembers &variant) {
  std::vector<NamedLiteral> constants;
  if (!variant.has("constants"))
    return constants;
  variant.within("constants", [&](JsonMembers &in) {
    in.names([&](llvm::StringRef name) {
      const json::Value &value = in.value(name);
      if (std::optional<bool> truth = value.getAsBoolean())
        constants.emplace_back(name.str(), Literal::ofBool(*truth));
      else if (std::optional<int64_t> integer = value.getAsInteger())
        constants.emplace_back(name.str(), Literal::ofInt(*integer));
    });
  });
  return constants;
}

using NamesAndTypes = std::vector<std::pair<std::string, std::string>>;

/// The grid, where the function takes it, comes before the kernel's arguments.
bool beginsWithGrid(const NamesAndTypes &arguments) {
  const NamesAndTypes grid = {{"grid_x", "u32"}, {"grid_y", "u32"}, {"grid_z", "u32"}};
  return arguments.size() >= grid.size() && std::equal(grid.begin(), grid.end(), arguments.begin());
}

void readEntry(JsonMembers &in, LibraryDescription &out) {
  EntryModel &entry = out.entries.emplace_back();
  in.read("name", entry.name);
  NamesAndTypes arguments;
  in.elements("arguments", [&](JsonMembers &one) {
    auto &[name, type] = arguments.emplace_back();
    one.read("name", name);
    one.read("type", type);
  });
  out.hasCallersGrid.push_back(beginsWithGrid(arguments));
  for (const auto &[name, type] :
       llvm::ArrayRef(arguments).drop_front(beginsWithGrid(arguments) ? 3 : 0))
    if (!addArgument(entry, name, type))
      in.refuse("arguments", "expected types that functions take");
  std::vector<DescribedTarget> &targets = out.targets.emplace_back();
  in.elements("targets", [&](JsonMembers &one) {
    DescribedTarget &target = targets.emplace_back();
    one.read("driver", target.driver);
    one.read("arch", target.arch);
  });
  in.elements("variants", [&](JsonMembers &one) {
    VariantModel &variant = entry.variants.emplace_back();
    one.read("name", variant.name);
    variant.constants = constantsOf(one);
  });
}

} // namespace

llvm::Expected<LibraryDescription> readLibraryDescription(llvm::StringRef text) {
  llvm::Expected<json::Value> value = parseJson(text);
  if (!value)
    return value.takeError();
  json::Path::Root root("library");
  LibraryDescription description;
  JsonMembers members(*value, root);
  if (members.isGood())
    members.elements("entries", [&](JsonMembers &one) { readEntry(one, description); });
  if (!members.isGood())
    return root.getError();
  return description;
}

} // namespace kiln

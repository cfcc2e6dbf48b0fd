//===- CxxHeader.cpp - a library's kernels for C++17 ----------------------===//
#include "codegen/CxxHeader.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/FormatVariadic.h"
#include "llvm/Support/raw_ostream.h"

using namespace llvm;

namespace kiln {

namespace {

/// Floats that C++ has no type for are types of kiln.hpp with the names of signatures.
bool isOwnType(ElementType type) {
  return elementClass(type) == ElementClass::Float && elementBytes(type) < 4;
}

std::string cxxType(ElementType type) {
  return (isOwnType(type) ? "::kiln::" + elementName(type) : elementCType(type)).str();
}

/// An argument of the C++ functions, and what the C function gets for it.
struct Argument {
  std::string type, name, value;
};

Argument argumentAt(const EntryText &text, unsigned i) {
  const ArgumentType &type = text.entry->arguments[i].type;
  const std::string &name = text.argumentNames[i];
  if (const EntryDescriptor *descriptor = descriptorAt(*text.entry, i))
    return {
        formatv("const ::kiln::tensor<{0}, {1}> &", cxxType(descriptor->element), descriptor->rank),
        name, name + ".get()"};
  std::string scalar = cxxType(type.element);
  if (!type.isPointer())
    return {scalar + " ", name, isOwnType(type.element) ? name + ".bits" : name};
  std::string element = type.pointerDepth > 1 ? type.isConst ? "void *const" : "void *"
                                              : (type.isConst ? "const " : "") + scalar;
  return {"::kiln::span<" + element + "> ", name, name + ".data()"};
}

/// The elements that an array has to have.
struct Size {
  unsigned argument;
  Expression expression;
};

std::vector<Size> sizesOf(const EntryModel &entry) {
  std::vector<Size> sizes;
  for (const EntryArray &array : entry.arrays) {
    if (descriptorAt(entry, array.argument)) // its shape comes with it
      continue;
    sizes.push_back({array.argument, elementsOf(array)});
  }
  return sizes;
}

class EntryWriter {
public:
  EntryWriter(const EntryText &text, std::set<std::string> &helpers)
      : text(text), name(text.entry->name), sizes(sizesOf(*text.entry)), helpers(helpers),
        out(result) {
    for (unsigned i : callerArguments(*text.entry))
      arguments.push_back(argumentAt(text, i));
    isChecked = !sizes.empty() || !text.entry->descriptors.empty();
  }

  std::string write() {
    if (isChecked)
      writeCheck();
    writeCalls();
    writePlan();
    put("/* Loads every variant for a device, so that later calls there load nothing. */\n"
        "inline ::kiln::result<> $_prepare(kiln_device device) noexcept {\n"
        "  return ::@_prepare(device);\n}\n"
        "inline bool $_is_ready(kiln_device device) noexcept {\n"
        "  return ::@_is_ready(device) != 0;\n}\n");
    return result;
  }

private:
  const EntryText &text;
  const std::string &name;
  std::vector<Argument> arguments;
  std::vector<Size> sizes;
  bool isChecked = false;
  std::set<std::string> &helpers;
  std::string result;
  raw_string_ostream out;

  /// $ is the entry's name, @ that of its C functions.
  void put(StringRef code) {
    for (char c : code)
      if (c == '$')
        out << name;
      else if (c == '@')
        out << text.name;
      else
        out << c;
  }

  std::string parameters(bool withGrid) const {
    std::vector<std::string> parts;
    if (withGrid && text.hasCallersGrid())
      parts = {"uint32_t grid_x", "uint32_t grid_y", "uint32_t grid_z"};
    for (const Argument &a : arguments)
      parts.push_back(a.type + a.name);
    return join(parts, ", ");
  }

  std::string values() const {
    std::string all = text.hasCallersGrid() ? ", grid_x, grid_y, grid_z" : "";
    for (const Argument &a : arguments)
      all += ", " + a.value;
    return all;
  }

  void putSignature(const std::string &head, StringRef tail) {
    std::string more = parameters(true);
    if (more.empty() && StringRef(head).ends_with(", "))
      put(wrapDeclaration(head.substr(0, head.size() - 2) + tail.str()));
    else
      put(wrapDeclaration(head + more + tail.str()));
  }

  /// The first refusal of an array that is too small.
  void writeCheck() {
    put("namespace kiln_detail {\n");
    put(wrapDeclaration("inline kiln_status $(" + parameters(false) + ") noexcept {") + "\n");
    out << "  kiln_status kiln_status_ = KILN_SUCCESS;\n";
    std::set<std::string> named;
    for (const EntryDescriptor &descriptor : text.entry->descriptors)
      putCheck(formatv("::kiln::detail::check_tensor(&::{0}_entry, {1}, {2})", text.name,
                       nameOf(descriptor.first), text.argumentNames[descriptor.first]),
               named, descriptor.first);
    for (const Size &size : sizes) {
      std::string value = size.expression.printC(
          [&](StringRef symbol) { return symbolValue(symbol, named); }, "&kiln_failed_", helpers);
      out << "  if (kiln_status_ == KILN_SUCCESS) {\n"
             "    int kiln_failed_ = 0;\n"
          << wrapDeclaration("    const int64_t kiln_needed_ = " + value + ";") << "\n";
      std::string call =
          formatv("    kiln_status_ = ::kiln::detail::check_size(&::{0}_entry, {1}, "
                  "{2}.size(), kiln_needed_, kiln_failed_, {3});",
                  text.name, nameOf(size.argument), text.argumentNames[size.argument],
                  cString(size.expression.text()));
      out << wrapDeclaration(call) << "\n  }\n";
      named.insert(text.argumentNames[size.argument]);
    }
    for (const Argument &a : arguments)
      if (!named.count(a.name))
        out << "  (void)" << a.name << ";\n";
    out << "  return kiln_status_;\n}\n} // namespace kiln_detail\n\n";
  }

  void putCheck(const std::string &check, std::set<std::string> &named, unsigned argument) {
    out << "  if (kiln_status_ == KILN_SUCCESS)\n"
        << wrapDeclaration("    kiln_status_ = " + check + ";") << "\n";
    named.insert(text.argumentNames[argument]);
  }

  std::string nameOf(unsigned argument) const {
    return cString(text.entry->arguments[argument].name);
  }

  /// What an expression reads, as an int64_t; parts of descriptors are in their tensors.
  std::string symbolValue(StringRef symbol, std::set<std::string> &named) {
    unsigned argument = *findArgument(*text.entry, symbol);
    for (const EntryDescriptor &descriptor : text.entry->descriptors) {
      unsigned part = argument - descriptor.first;
      if (argument <= descriptor.first || part >= descriptor.size())
        continue;
      const std::string &tensor = text.argumentNames[descriptor.first];
      return part <= descriptor.rank
                 ? formatv("{0}.get().shape[{1}]", tensor, part - 1).str()
                 : formatv("{0}.get().strides[{1}]", tensor, part - descriptor.rank - 1).str();
    }
    const std::string &value = text.argumentNames[argument];
    named.insert(value);
    if (text.entry->arguments[argument].type.element != ElementType::UInt64)
      return "(int64_t)" + value;
    helpers.insert("from_u64");
    return "from_u64(" + value + ", &kiln_failed_)";
  }

  /// Where there is something to check; `failed` is what the function then returns.
  std::string checked(StringRef failed, StringRef indent) const {
    if (!isChecked)
      return "";
    std::vector<std::string> names;
    for (const Argument &a : arguments)
      names.push_back(a.name);
    return formatv("{0}if (kiln_status kiln_checked_ = kiln_detail::{1}({2}))\n{0}  return {3};\n",
                   indent, name, join(names, ", "), failed);
  }

  void writeCalls() {
    put("/* @ of the C header, which says more.");
    for (const Size &size : sizes)
      out << "\n * " << text.argumentNames[size.argument] << " has at least "
          << cComment(size.expression.text()) << " elements.";
    put(" */\n");
    for (bool isVariant : {false, true}) {
      std::string suffix = isVariant ? "_variant" : "";
      putSignature("inline ::kiln::result<> $" + suffix + "(" +
                       (isVariant ? "uint32_t index, " : "") + "::kiln::stream stream, ",
                   ") noexcept {\n");
      out << checked("kiln_checked_", "  ");
      put(wrapDeclaration("  return ::@" + suffix + "(" + (isVariant ? "index, " : "") +
                          "stream.get()" + values() + ");") +
          "\n}\n\n");
    }
  }

  void writePlan() {
    put("/* A choice that is made once, for arguments like these, and runs many times. */\n"
        "class $_plan {\npublic:\n");
    putSignature("  static ::kiln::result<$_plan> create(::kiln::stream stream, ",
                 ") noexcept {\n");
    out << checked("::kiln::failure(kiln_checked_)", "    ");
    put("    $_plan kiln_made_;\n");
    put(wrapDeclaration("    kiln_status kiln_status_ = ::@_plan_init(&kiln_made_.kiln_plan_, "
                        "stream.get()" +
                        values() + ");") +
        "\n    if (kiln_status_ != KILN_SUCCESS)\n      return ::kiln::failure(kiln_status_);\n"
        "    return kiln_made_;\n  }\n");
    putSignature("  ::kiln::result<> run(", ") const noexcept {\n");
    out << checked("kiln_checked_", "    ");
    put(wrapDeclaration("    return ::@_run(&this->kiln_plan_" + values() + ");") +
        "\n  }\n  uint32_t variant() const noexcept { return kiln_plan_.variant; }\n\n"
        "private:\n  ::@_plan kiln_plan_ = {};\n};\n\n");
  }
};

} // namespace

std::string cxxHeaderName(const LibraryModel &model) { return model.name + ".hpp"; }

std::string writeCxxHeader(const LibraryModel &model, const std::vector<EntryText> &entries) {
  std::string guard = "KILN_LIBRARY_" + StringRef(model.cName()).upper() + "_HPP", text, functions;
  std::set<std::string> helpers;
  for (const EntryText &entry : entries)
    functions += "\n" + EntryWriter(entry, helpers).write();
  raw_string_ostream out(text);
  out << "/* " << model.name << ": the functions of " << model.name
      << ".h for C++17, written by Kiln. Do not edit.\n *\n"
         " * Nothing throws. kiln.hpp describes spans, tensors, streams and results. */\n"
      << "#ifndef " << guard << "\n#define " << guard << "\n\n#include \"" << model.name
      << ".h\"\n#include \"kiln.hpp\"\n\nnamespace kiln {\nnamespace kernels {\nnamespace "
      << model.cName() << " {\n";
  if (!helpers.empty()) {
    // Functions of a header: one definition in the whole program.
    std::string definitions = Expression::cHelpers(helpers);
    for (size_t at; (at = definitions.find("static ")) != std::string::npos;)
      definitions.replace(at, strlen("static "), "inline ");
    out << "\nnamespace kiln_detail {\n" << definitions << "} // namespace kiln_detail\n";
  }
  out << functions;
  if (hasLibraryPrepare(model))
    out << "\n/* Of the whole library. */\n"
           "inline ::kiln::result<> prepare_library(kiln_device device) noexcept {\n  return ::"
        << model.cName() << "_prepare(device);\n}\n";
  out << "\ninline ::kiln::result<> unload_library() noexcept {\n  return ::" << model.cName()
      << "_unload();\n}\n";
  if (!packedTargets(model).empty())
    out << "\ninline ::kiln::result<> load_pack(const char *path) noexcept {\n  return ::"
        << model.cName() << "_load_pack(path);\n}\n";
  out << "\n} // namespace " << model.cName()
      << "\n} // namespace kernels\n} // namespace kiln\n\n#endif /* " << guard << " */\n";
  return text;
}

} // namespace kiln

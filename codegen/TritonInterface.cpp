//===- TritonInterface.cpp - what compile.py writes -----------------------===//
#include "codegen/TritonInterface.h"
#include "codegen/CWriter.h"
#include "codegen/LibraryText.h"
#include "codegen/SpecOptions.h"
#include "codegen/TritonVendors.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/FormatVariadic.h"
#include "llvm/Support/raw_ostream.h"

using namespace llvm;

namespace kiln {

TritonNames tritonNames(const TritonRequest &request) {
  SmallVector<StringRef> items;
  StringRef(request.signature).split(items, ',');
  SpecOptions others = request.options;
  std::string config =
      formatv("warps{0}xstages{1}", others.numWarps.value_or(1), others.numStages.value_or(3))
          .str();
  others.numWarps.reset();
  others.numStages.reset();
  for (auto [name, value] : givenOptions(others))
    config += formatv("x{0}{1}", name, value).str();
  std::string hashed, suffix, constants, ones;
  for (auto [index, item] : enumerate(items)) {
    item = item.trim(' ');
    hashed += item.str() + " ";
    StringRef hint = item.split(':').second;
    if (hint == "1")
      suffix += std::to_string(index) + "c", ones += "1x";
    else if (hint == "16")
      suffix += std::to_string(index) + "d";
    if (parseLiteral(item))
      constants += item.str() + "x";
  }
  std::string values = constants + ones;
  if (!values.empty())
    values.pop_back();
  for (char &c : values)
    c = isAlnum(c) ? c : '_';
  TritonNames names;
  names.specialization = sha256Of(hashed + config).substr(0, 8) + "_" + suffix;
  names.symbol = request.outName + "_" + names.specialization;
  names.algorithm = values + "_" + config;
  return names;
}

namespace {

/// Empty where there is none: the bits of a float, which compile.py takes a double for.
std::string typeOf(const TritonVendor &vendor, const EntryArgument &argument) {
  if (argument.type.isPointer())
    return vendor.pointer.str();
  std::string type = argument.type.cType();
  if (type == "bool")
    return "int8_t";
  return StringRef(type).starts_with("kiln_") ? "" : type;
}

Expected<const TritonVendor *> vendorOf(const LibraryModel &model) {
  const TritonVendor *found = nullptr;
  for (const TargetInfo &target : model.targets) {
    const TritonVendor *vendor = findTritonVendor(StringRef(target.name).split(':').first);
    if (!vendor || (found && vendor != found))
      return createStringError("Triton's interface needs targets of one vendor, cuda:… or hip:…, "
                               "got " +
                               target.name);
    found = vendor;
  }
  return found;
}

/// The function that compile.py would have written, over an entry point of Kiln's.
class InterfaceWriter {
public:
  InterfaceWriter(const TritonVendor &vendor, const EntryText &text, const TritonNames &names)
      : vendor(vendor), text(text), names(names) {}

  std::string header() const {
    std::string guard = "TT_KERNEL_" + StringRef(names.symbol).upper();
    std::string out;
    raw_string_ostream os(out);
    os << "/* " << names.symbol << ": Triton's interface, written by Kiln. Do not edit. */\n"
       << "#ifndef " << guard << "\n#define " << guard << "\n\n"
       << vendor.include << "#include <stdint.h>\n\n"
       << "#ifdef __cplusplus\nextern \"C\" {\n#endif\n\n"
       << "// tt-linker-backend: " << vendor.backend << "\n\n"
       << "void unload_" << names.symbol << "(void);\n"
       << "void load_" << names.symbol << "(void);\n"
       << "// tt-linker: " << names.symbol << ":" << parameters(/*withOnes=*/true) << ":"
       << names.algorithm << "\n"
       << "// kiln-hints:";
    for (unsigned i = 0; i < text.entry->arguments.size(); ++i)
      os << " " << hintOf(i);
    os << "\n"
       << declaration() << ";\n\n"
       << "#ifdef __cplusplus\n}\n#endif\n\n#endif\n";
    return out;
  }

  std::string source(StringRef headerName) const {
    std::string out;
    raw_string_ostream os(out);
    os << "\n/* --- Triton's interface --- */\n\n#include \"" << headerName << "\"\n\n"
       << "static " << vendor.result << " " << names.symbol << "_result(kiln_status status) {\n"
       << "  switch (status) {\n"
       << "  case KILN_SUCCESS:\n    return " << vendor.success << ";\n"
       << "  case KILN_ERROR_INVALID_ARGUMENT:\n  case KILN_ERROR_NO_VARIANT:\n"
       << "  case KILN_ERROR_GRID:\n    return " << vendor.invalidValue << ";\n"
       << "  case KILN_ERROR_OUT_OF_MEMORY:\n    return " << vendor.outOfMemory << ";\n"
       << "  case KILN_ERROR_NO_BINARY:\n    return " << vendor.noBinary << ";\n"
       << "  case KILN_ERROR_INVALID_DEVICE:\n    return " << vendor.invalidDevice << ";\n"
       << "  default: /* kiln_last_error() says more */\n    return " << vendor.unknown << ";\n"
       << "  }\n}\n\n"
       << "/* For the device of the calling thread. A failure shows at the first launch. */\n"
       << "void load_" << names.symbol << "(void) {\n"
       << "  kiln_device device;\n"
       << "  if (kiln_stream_device(" << vendor.makeStream << "(NULL), &device) == KILN_SUCCESS)\n"
       << "    (void)" << text.name << "_prepare(device);\n}\n\n"
       << "void unload_" << names.symbol << "(void) { (void)kiln_unload(&" << names.library()
       << "_library); }\n\n"
       << declaration() << " {\n"
       << "  return " << names.symbol << "_result(" << text.name << "(" << vendor.makeStream
       << "(stream)" << arguments() << "));\n}\n";
    return out;
  }

private:
  /// 1 and 16 as the signature promises them, else 0.
  unsigned hintOf(unsigned argument) const {
    for (const ArgumentFact &fact : text.entry->variants[0].facts)
      if (fact.argument == argument)
        return fact.equals == 1 ? 1 : fact.divisibility == 16 ? 16 : 0;
    return 0;
  }

  std::string parameters(bool withOnes) const {
    std::vector<std::string> all;
    for (auto [i, argument] : enumerate(text.entry->arguments))
      if (withOnes || hintOf(i) != 1)
        all.push_back(typeOf(vendor, argument) + " " + text.argumentNames[i]);
    return join(all, ", ");
  }

  std::string declaration() const {
    std::string rest = parameters(/*withOnes=*/false);
    return formatv("{0} {1}({2} stream{3}{4})", vendor.result, names.symbol, vendor.stream,
                   rest.empty() ? "" : ", ", rest)
        .str();
  }

  std::string arguments() const {
    std::string all;
    for (auto [i, argument] : enumerate(text.entry->arguments)) {
      bool isPointer = argument.type.isPointer();
      all +=
          ", " +
          (hintOf(i) == 1 ? "1" : (isPointer ? "(void *)(uintptr_t)" : "") + text.argumentNames[i]);
    }
    return all;
  }

  const TritonVendor &vendor;
  const EntryText &text;
  const TritonNames &names;
};

} // namespace

Error checkTritonInterface(const LibraryModel &model) {
  Expected<const TritonVendor *> vendor = vendorOf(model);
  if (!vendor)
    return vendor.takeError();
  const EntryModel &entry = model.entries.front();
  if (!entry.descriptors.empty())
    return createStringError("Triton's interface takes no tensor descriptors");
  for (const EntryArgument &argument : entry.arguments)
    if (typeOf(**vendor, argument).empty())
      return createStringError("Triton's interface has no C type for the argument '" +
                               argument.name + "', " + argument.type.spelling());
  return Error::success();
}

std::vector<OutputFile> addTritonInterface(const LibraryModel &model, const TritonNames &names,
                                           StringRef stem, GeneratedLibrary library) {
  const TritonVendor *vendor = cantFail(vendorOf(model));
  std::vector<EntryText> texts = makeEntryTexts(model);
  InterfaceWriter writer(*vendor, texts.front(), names);
  std::string name = (stem + "." + names.specialization).str();
  for (OutputFile &file : library.files)
    if (StringRef(file.name).ends_with(".c")) {
      file.name = name + ".c";
      file.bytes += writer.source(name + ".h");
    }
  library.files.push_back({name + ".h", writer.header()});
  return std::move(library.files);
}

} // namespace kiln

//===- CHeader.cpp - the header of a generated library --------------------===//
#include "codegen/CNames.h"
#include "codegen/CWriter.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/FormatVariadic.h"
#include "llvm/Support/raw_ostream.h"
#include <limits>

using namespace llvm;

namespace kiln {

std::string cString(StringRef text) {
  std::string out = "\"";
  for (unsigned char c : text) {
    if (c == '"' || c == '\\')
      out += std::string("\\") + char(c);
    else if (c == '?') // no trigraphs
      out += "\\?";
    else if (c >= 0x20 && c < 0x7f)
      out += char(c);
    else // octal, because a hexadecimal escape has no end
      out += formatv("\\{0}{1}{2}", c >> 6, (c >> 3) & 7, c & 7).str();
  }
  return out + "\"";
}

std::string cInteger(int64_t value) {
  bool isMinimum = value == std::numeric_limits<int64_t>::min();
  return isMinimum ? "INT64_MIN" : std::to_string(value);
}

std::string cComment(StringRef text) {
  std::string out;
  for (char c : text) {
    bool endsComment =
        !out.empty() && ((out.back() == '*' && c == '/') || (out.back() == '/' && c == '*'));
    if (endsComment)
      out += ' ';
    out += isPrint(c) ? c : ' ';
  }
  return out;
}

/// "int32_t M" or "void *a".
static std::string declarator(const ArgumentType &type, StringRef name) {
  std::string cType = type.cType();
  return cType + (cType.back() == '*' ? "" : " ") + name.str();
}

std::string EntryText::parameters() const {
  std::string text;
  if (hasCallersGrid())
    text += ", uint32_t grid_x, uint32_t grid_y, uint32_t grid_z";
  for (unsigned i : callerArguments(*entry))
    text +=
        ", " + (descriptorAt(*entry, i) ? "kiln_tensor " + argumentNames[i]
                                        : declarator(entry->arguments[i].type, argumentNames[i]));
  return text;
}

std::string wrapDeclaration(const std::string &line) {
  std::string out;
  StringRef rest = line;
  size_t width = 100;
  while (rest.size() > width) {
    size_t comma = rest.take_front(width).rfind(", ");
    if (comma == StringRef::npos)
      break;
    out += rest.take_front(comma + 1).str() + "\n    ";
    rest = rest.drop_front(comma + 2);
    width = 96;
  }
  return out + rest.str();
}

static std::string aboutArgument(const EntryText &text, unsigned i) {
  const ArgumentType &type = text.entry->arguments[i].type;
  std::string about = callerType(*text.entry, i);
  bool isBits =
      type.kind == ArgumentType::Kind::Scalar && StringRef(type.cType()).starts_with("kiln_");
  if (isBits)
    about += ", passed as its bits";
  if (text.entry->arguments[i].isForLaunch)
    about += ", for the launch alone";
  return about;
}

/// What every variant needs, which is what a caller has to keep to in any case.
static std::vector<std::string> commonConditions(const EntryText &text) {
  std::vector<std::string> common;
  const DispatchTables &tables = text.tables;
  for (size_t bit = 0; bit < tables.conditions.size(); ++bit)
    if (all_of(tables.needs, [&](const std::vector<uint64_t> &words) {
          return words[bit / 64] >> (bit % 64) & 1;
        }))
      common.push_back(tables.conditions[bit].text);
  return common;
}

static void writeEntryComment(raw_ostream &out, const EntryText &text) {
  const EntryModel &entry = *text.entry;
  out << "/* " << text.name << ": " << cComment(entry.kernel) << " of " << cComment(entry.source)
      << "\n *\n";
  for (unsigned i : callerArguments(entry))
    out << formatv(" *   {0,-16}  {1}\n", text.argumentNames[i], cComment(aboutArgument(text, i)));
  if (!text.hasCallersGrid()) {
    out << " *   grid: ";
    for (size_t i = 0; i < entry.grid.size(); ++i)
      out << (i ? ", " : "") << cComment(entry.grid[i].text());
    out << "\n";
  }
  std::vector<std::string> common = commonConditions(text);
  if (!common.empty()) {
    out << " *   needs:";
    for (size_t i = 0; i < common.size(); ++i)
      out << (i % 4 == 0 && i ? "\n *          " : " ") << cComment(common[i])
          << (i + 1 < common.size() ? "," : "");
    out << "\n";
  }
  out << " *   " << entry.variants.size() << (entry.variants.size() == 1 ? " variant" : " variants")
      << " */\n";
}

static void writeEntryDeclarations(raw_ostream &out, const EntryText &text) {
  std::string name = text.name, parameters = text.parameters();
  writeEntryComment(out, text);
  out << "extern const kiln_entry " << name << "_entry;\n\n";
  out << "/* Chooses a variant and launches it. */\n"
      << wrapDeclaration("kiln_status " + name + "(kiln_stream stream" + parameters + ");")
      << "\n\n";
  out << "/* Launches the variant `index` of " << name << "_variants. */\n"
      << wrapDeclaration("kiln_status " + name + "_variant(uint32_t index, kiln_stream stream" +
                         parameters + ");")
      << "\n\n";
  out << "/* Choose and load once, for arguments like these; run many times, on the same stream.\n"
         " * A plan has nothing to free. Running it checks what the chosen variant relies on. */\n"
      << "typedef struct " << name << "_plan {\n  kiln_plan plan;\n  uint32_t variant;\n} " << name
      << "_plan;\n"
      << wrapDeclaration("kiln_status " + name + "_plan_init(" + name +
                         "_plan *plan, kiln_stream stream" + parameters + ");")
      << "\n"
      << wrapDeclaration("kiln_status " + name + "_run(const " + name + "_plan *plan" + parameters +
                         ");")
      << "\n\n";
  out << "/* Loads every variant for a device, so that later calls there load nothing. */\n"
      << "kiln_status " << name << "_prepare(kiln_device device);\n"
      << "int " << name << "_is_ready(kiln_device device);\n\n"
      << "/* The number of variants; *variants, unless null, becomes their table. */\n"
      << "uint32_t " << name << "_variants(const kiln_variant **variants);\n\n";
}

bool hasLibraryPrepare(const LibraryModel &model) {
  return none_of(model.entries, [&](const EntryModel &entry) { return entry.name == model.name; });
}

/// With a prefix the library is for a runtime that was compiled with it.
static std::string runtimePrefix(const LibraryModel &model) {
  if (model.prefix.empty())
    return "";
  return formatv("/* For a runtime that is compiled with -DKILN_PREFIX={0}. */\n"
                 "#ifndef KILN_PREFIX\n#define KILN_PREFIX {0}\n#endif\n",
                 model.prefix)
      .str();
}

std::string writeHeader(const LibraryModel &model, const std::vector<EntryText> &entries) {
  std::string guard = "KILN_LIBRARY_" + StringRef(model.cName()).upper() + "_H", text;
  raw_string_ostream out(text);
  out << "/* " << model.name << ": a library of " << model.entries.size() << " kernel"
      << (model.entries.size() == 1 ? "" : "s") << ", written by Kiln. Do not edit.\n *\n"
      << " * targets: ";
  for (size_t i = 0; i < model.targets.size(); ++i)
    out << (i ? ", " : "") << cComment(model.targets[i].name);
  out << "\n *\n * Every function returns a kiln_status; kiln_last_error() has the message of a "
         "failure. Pointers\n * are the device's. kiln.h describes streams, devices and the "
         "statuses. */\n"
      << "#ifndef " << guard << "\n#define " << guard << "\n\n"
      << runtimePrefix(model)
      << "#include \"kiln.h\"\n#include <stdbool.h>\n#include <stdint.h>\n\n"
      << "#ifdef __cplusplus\nextern \"C\" {\n#endif\n\n";
  for (const EntryText &entry : entries)
    writeEntryDeclarations(out, entry);
  out << "/* The whole library. */\nextern const kiln_library " << model.cName() << "_library;\n";
  if (hasLibraryPrepare(model))
    out << "kiln_status " << model.cName() << "_prepare(kiln_device device);\n";
  out << "kiln_status " << model.cName() << "_unload(void);\n"
      << "/* The KILN_ABI_VERSION that this library was written for. */\n"
      << "uint32_t " << model.cName() << "_abi_version(void);\n";
  if (!packedTargets(model).empty())
    out << "/* Where the device binaries of one architecture are, when they are not beside the "
           "program or\n * shared library that this is part of (kiln_load_pack):";
  for (unsigned target : packedTargets(model))
    out << "\n * " << packFileName(model.name, model.targets[target].name);
  if (!packedTargets(model).empty())
    out << ". */\nkiln_status " << model.cName() << "_load_pack(const char *path);\n";
  out << "\n#ifdef __cplusplus\n}\n#endif\n\n#endif /* " << guard << " */\n";
  return text;
}

} // namespace kiln

//===- Inspect.cpp - reading what is in a library -------------------------===//
//
// Reads files that anybody may have made, so every access is checked. llvm::object trusts parts of
// what it reads (a fuzzer crashes ELFObjectFile::create), and the manifest's section is all that is
// wanted: the two formats are read here, as far as that needs.
//
//===----------------------------------------------------------------------===//
#include "codegen/JsonText.h"
#include "codegen/Manifest.h"
#include "llvm/BinaryFormat/ELF.h"
#include "llvm/Support/Endian.h"
#include "llvm/Support/FormatVariadic.h"
#include "llvm/Support/raw_ostream.h"
#include <cstddef>

using namespace llvm;

namespace kiln {

static const JsonValue *field(const JsonValue &object, StringRef key, JsonValue::Kind kind) {
  const JsonMember *member = object.find(key);
  return member && member->value.is(kind) ? &member->value : nullptr;
}

static std::string text(const JsonValue &object, StringRef key) {
  const JsonValue *value = field(object, key, JsonValue::Kind::String);
  return value ? value->text : "";
}

static uint64_t number(const JsonValue &object, StringRef key) {
  const JsonValue *value = field(object, key, JsonValue::Kind::Integer);
  return value && value->integer > 0 ? static_cast<uint64_t>(value->integer) : 0;
}

static const std::vector<JsonValue> &list(const JsonValue &object, StringRef key) {
  static const std::vector<JsonValue> none;
  const JsonValue *value = field(object, key, JsonValue::Kind::Array);
  return value ? value->elements : none;
}

/// All but a binary's fallback.
static BinarySummary readResources(const JsonValue &json) {
  BinarySummary binary;
  binary.target = text(json, "target");
  binary.format = text(json, "format");
  binary.bytes = number(json, "bytes");
  binary.registers = number(json, "registers");
  binary.spillStoreBytes = number(json, "spill_store_bytes");
  binary.stackBytes = number(json, "stack_bytes");
  binary.sharedBytes = number(json, "static_shared_bytes") + number(json, "dynamic_shared_bytes");
  binary.threads = number(json, "threads");
  binary.arenaBytes = number(json, "arena_bytes");
  binary.ptxasLevel = number(json, "ptxas_level");
  binary.registerLimit = number(json, "register_limit");
  for (const JsonValue &map : list(json, "tensor_maps"))
    binary.tensorMaps.push_back(text(map, "name"));
  return binary;
}

static BinarySummary readBinary(const JsonValue &json) {
  BinarySummary binary = readResources(json);
  if (const JsonValue *fallback = field(json, "fallback", JsonValue::Kind::Object))
    binary.fallback = std::make_shared<const BinarySummary>(readResources(*fallback));
  return binary;
}

static EntrySummary readEntry(const JsonValue &json) {
  EntrySummary entry;
  entry.name = text(json, "name");
  entry.source = text(json, "source");
  entry.kernel = text(json, "kernel");
  for (const JsonValue &argument : list(json, "arguments"))
    entry.arguments.push_back(text(argument, "name") + ": " + text(argument, "type"));
  for (const JsonValue &variant : list(json, "variants")) {
    entry.variants.push_back({text(variant, "name"), {}});
    for (const JsonValue &binary : list(variant, "binaries"))
      entry.variants.back().binaries.push_back(readBinary(binary));
  }
  return entry;
}

Expected<LibrarySummary> readManifest(StringRef bytes) {
  std::vector<JsonError> errors;
  std::optional<JsonValue> json = parseJson(bytes, errors);
  if (!json || !json->is(JsonValue::Kind::Object) || !number(*json, "kiln_manifest"))
    return createStringError("not a manifest that Kiln wrote");
  if (number(*json, "kiln_manifest") != uint64_t(kManifestVersion))
    return createStringError(formatv("the manifest has version {0}, this Kiln reads version {1}",
                                     number(*json, "kiln_manifest"), kManifestVersion)
                                 .str());
  LibrarySummary library;
  library.name = text(*json, "library");
  for (const JsonValue &target : list(*json, "targets")) {
    std::string name = text(target, "name"), resolved = text(target, "resolved");
    library.targets.push_back(resolved.empty() || resolved == name ? name : resolved);
  }
  if (const JsonValue *tools = field(*json, "tools", JsonValue::Kind::Object))
    for (const JsonMember &tool : tools->members)
      if (tool.value.is(JsonValue::Kind::String))
        library.tools.emplace_back(tool.key, tool.value.text);
  for (const JsonValue &entry : list(*json, "entries"))
    library.entries.push_back(readEntry(entry));
  return library;
}

/// The little-endian integer at `offset`, or empty past the end.
template <typename T> static std::optional<uint64_t> integerAt(StringRef bytes, uint64_t offset) {
  if (offset > bytes.size() || bytes.size() - offset < sizeof(T))
    return std::nullopt;
  return support::endian::read<T>(bytes.data() + offset, endianness::little);
}

/// The bytes of section `index` of an ELF64 object (System V gABI, chapter 4), or empty.
static std::optional<StringRef> sectionAt(StringRef object, uint64_t index, uint64_t &name) {
  auto table = integerAt<uint64_t>(object, offsetof(ELF::Elf64_Ehdr, e_shoff));
  if (!table || *table > object.size())
    return std::nullopt;
  StringRef header = object.substr(*table).substr(index * sizeof(ELF::Elf64_Shdr));
  auto itsName = integerAt<uint32_t>(header, offsetof(ELF::Elf64_Shdr, sh_name));
  auto offset = integerAt<uint64_t>(header, offsetof(ELF::Elf64_Shdr, sh_offset));
  auto size = integerAt<uint64_t>(header, offsetof(ELF::Elf64_Shdr, sh_size));
  if (!itsName || !offset || !size || *offset > object.size() || *size > object.size() - *offset)
    return std::nullopt;
  name = *itsName;
  return object.substr(*offset, *size);
}

/// The manifest's section of one object, or "" (also for what is no object).
static StringRef manifestOf(StringRef object) {
  const char ident[] = {0x7f, 'E', 'L', 'F', ELF::ELFCLASS64, ELF::ELFDATA2LSB};
  auto count = integerAt<uint16_t>(object, offsetof(ELF::Elf64_Ehdr, e_shnum));
  auto namesIndex = integerAt<uint16_t>(object, offsetof(ELF::Elf64_Ehdr, e_shstrndx));
  if (!object.starts_with(StringRef(ident, sizeof ident)) || !count || !namesIndex)
    return "";
  uint64_t name = 0;
  std::optional<StringRef> names = sectionAt(object, *namesIndex, name);
  for (uint64_t i = 0; names && i < *count; ++i) {
    std::optional<StringRef> section = sectionAt(object, i, name);
    if (section && names->substr(name).starts_with(kManifestSection))
      return *section;
  }
  return "";
}

/// Whether every offset in the archive's table of symbols lies in the archive. The table is the
/// first member: a count and the offsets, big-endian, then names.
static bool holdsItsSymbols(StringRef table, StringRef archive) {
  auto wordAt = [&](uint64_t offset) -> std::optional<uint64_t> {
    if (offset > table.size() || table.size() - offset < sizeof(uint32_t))
      return std::nullopt;
    return support::endian::read32be(table.data() + offset);
  };
  uint64_t count = wordAt(0).value_or(0);
  for (uint64_t i = 1; i <= count; ++i)
    if (wordAt(i * sizeof(uint32_t)).value_or(archive.size()) >= archive.size())
      return false;
  return true;
}

/// The first manifest among the members of an archive, "" without one: 60 bytes of header, the name
/// first, the size in decimal at its byte 48 and two characters at its end, and contents padded to
/// even. Looks at all members: the archive may be cut short behind its manifest.
static Expected<StringRef> manifestInArchive(StringRef archive) {
  constexpr size_t kHeaderBytes = 60, kSizeAt = 48, kSizeDigits = 10;
  StringRef rest = archive.drop_front(8), manifest;
  while (!rest.empty()) {
    uint64_t size = 0;
    StringRef header = rest.take_front(kHeaderBytes);
    bool isCut = header.size() < kHeaderBytes;
    if (!isCut && (!header.ends_with("`\n") ||
                   header.substr(kSizeAt, kSizeDigits).trim(' ').getAsInteger(10, size)))
      return createStringError("malformed archive: a member has no header");
    isCut = isCut || size > rest.size() - kHeaderBytes;
    StringRef member = rest.drop_front(header.size()).take_front(size);
    if (isCut || (header.starts_with("/ ") && !holdsItsSymbols(member, archive)))
      return createStringError("the archive is cut short");
    if (manifest.empty())
      manifest = manifestOf(member);
    rest = rest.drop_front(kHeaderBytes + size);
    rest = rest.drop_front(std::min<size_t>(rest.size(), size % 2));
  }
  return manifest;
}

Expected<LibrarySummary> inspectLibrary(StringRef bytes) {
  if (!bytes.starts_with("!<arch>\n"))
    return readManifest(bytes);
  Expected<StringRef> manifest = manifestInArchive(bytes);
  if (!manifest)
    return manifest.takeError();
  if (manifest->empty())
    return createStringError("the archive holds no manifest: Kiln did not write it");
  return readManifest(*manifest);
}

//===----------------------------------------------------------------------===//
// Printing
//===----------------------------------------------------------------------===//

/// What came from a file and goes to a terminal: no control characters.
static std::string printable(StringRef text) {
  std::string out;
  for (char c : text)
    out += static_cast<unsigned char>(c) < 0x20 || c == 0x7f ? '?' : c;
  return out;
}

static void printBinary(const BinarySummary &binary, StringRef name, raw_ostream &out) {
  out << formatv("    {0,-18} {1,-6} {2,5} {3,8} {4,8} {5,7} {6,9}", printable(name),
                 printable(binary.format), binary.registers, binary.sharedBytes,
                 binary.spillStoreBytes, binary.threads, binary.bytes);
  if (binary.ptxasLevel)
    out << "  ptxas -O" << binary.ptxasLevel;
  if (binary.registerLimit)
    out << "  limit " << binary.registerLimit;
  for (const std::string &map : binary.tensorMaps)
    out << (&map == &binary.tensorMaps.front() ? "  tensor maps " : ", ") << printable(map);
  out << "\n";
}

void printSummary(const LibrarySummary &library, raw_ostream &out) {
  uint64_t total = 0;
  out << "library " << printable(library.name) << "\n";
  // A processor's list of features is long; the manifest has all of it.
  constexpr size_t kTargetColumns = 100;
  for (StringRef target : library.targets)
    out << "  target " << printable(target.take_front(kTargetColumns))
        << (target.size() > kTargetColumns ? "..." : "") << "\n";
  for (const auto &[tool, version] : library.tools)
    out << "  made by " << printable(tool) << " " << printable(version) << "\n";
  for (const EntrySummary &entry : library.entries) {
    out << "\n"
        << printable(entry.name) << "  (" << printable(entry.kernel) << " of "
        << printable(entry.source) << ")\n  arguments:";
    for (const std::string &argument : entry.arguments)
      out << " " << printable(argument) << (&argument == &entry.arguments.back() ? "" : ",");
    out << formatv("\n    {0,-18} {1,-6} {2,5} {3,8} {4,8} {5,7} {6,9}\n", "target", "format",
                   "regs", "shared", "spills", "threads", "bytes");
    for (size_t i = 0; i < entry.variants.size(); ++i) {
      out << "  " << i << ": " << printable(entry.variants[i].name) << "\n";
      for (const BinarySummary &binary : entry.variants[i].binaries) {
        printBinary(binary, binary.target, out);
        total += binary.bytes;
        if (!binary.fallback)
          continue;
        printBinary(*binary.fallback, "  fallback", out);
        total += binary.fallback->bytes;
      }
    }
  }
  out << "\n" << total << " bytes of device binaries and host objects\n";
}

} // namespace kiln

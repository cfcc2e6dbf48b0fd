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

/// What a file says may be more than the number holds.
static uint32_t smallNumber(const JsonValue &object, StringRef key) {
  return static_cast<uint32_t>(std::min<uint64_t>(number(object, key), UINT32_MAX));
}

static MainLoop readMainLoop(const JsonValue &json) {
  return {text(json, "of") == "machine code", smallNumber(json, "instructions"),
          smallNumber(json, "matrix"),        smallNumber(json, "shared"),
          smallNumber(json, "global"),        smallNumber(json, "waits")};
}

/// All but a binary's fallback.
static BinarySummary readResources(const JsonValue &json, StringRef target) {
  BinarySummary binary;
  binary.target = text(json, "target");
  binary.format = text(json, "format");
  binary.bytes = number(json, "bytes");
  binary.hash = text(json, "sha256");
  binary.registers = number(json, "registers");
  binary.scalarRegisters = number(json, "scalar_registers");
  binary.spillStoreBytes = number(json, "spill_store_bytes");
  binary.spillLoadBytes = number(json, "spill_load_bytes");
  binary.stackBytes = number(json, "stack_bytes");
  binary.sharedBytes = number(json, "static_shared_bytes") + number(json, "dynamic_shared_bytes");
  binary.threads = number(json, "threads");
  binary.arenaBytes = number(json, "arena_bytes");
  binary.ptxasLevel = number(json, "ptxas_level");
  binary.registerLimit = number(json, "register_limit");
  if (const JsonValue *loop = field(json, "main_loop", JsonValue::Kind::Object))
    binary.mainLoop = readMainLoop(*loop);
  // Of PTX nobody has counted the registers yet.
  if (binary.format != "ptx")
    binary.occupancy =
        occupancyOf(target, {smallNumber(json, "threads"), smallNumber(json, "registers"),
                             std::min<uint64_t>(binary.sharedBytes, UINT32_MAX)});
  for (const JsonValue &map : list(json, "tensor_maps"))
    binary.tensorMaps.push_back(text(map, "name"));
  return binary;
}

static BinarySummary readBinary(const JsonValue &json) {
  std::string target = text(json, "target");
  BinarySummary binary = readResources(json, target);
  if (const JsonValue *fallback = field(json, "fallback", JsonValue::Kind::Object))
    binary.fallback = std::make_shared<const BinarySummary>(readResources(*fallback, target));
  return binary;
}

static std::optional<int64_t> integer(const JsonValue &object, StringRef key) {
  const JsonValue *value = field(object, key, JsonValue::Kind::Integer);
  return value ? std::optional(value->integer) : std::nullopt;
}

/// The declared ranges, and what was proven over them.
static void readDispatch(const JsonValue &json, EntrySummary &entry) {
  if (const JsonValue *ranges = field(json, "ranges", JsonValue::Kind::Object))
    for (const JsonMember &member : ranges->members) {
      ArgumentRange range;
      range.minimum = integer(member.value, "min");
      range.maximum = integer(member.value, "max");
      range.multipleOf = integer(member.value, "multiple_of").value_or(1);
      for (const JsonValue &value : list(member.value, "values"))
        if (value.is(JsonValue::Kind::Integer))
          range.values.push_back(value.integer);
      entry.ranges.push_back(member.key + ": " + range.text());
    }
  const JsonValue *dispatch = field(json, "dispatch", JsonValue::Kind::Object);
  if (!dispatch)
    return;
  entry.total = text(*dispatch, "total");
  for (const JsonValue &overlap : list(*dispatch, "overlaps")) {
    entry.overlaps.push_back({{}, text(overlap, "example"), text(overlap, "chosen_by")});
    for (const JsonValue &variant : list(overlap, "variants"))
      if (variant.is(JsonValue::Kind::Integer) && variant.integer >= 0)
        entry.overlaps.back().variants.push_back(static_cast<uint64_t>(variant.integer));
  }
}

static EntrySummary readEntry(const JsonValue &json) {
  EntrySummary entry;
  entry.name = text(json, "name");
  entry.source = text(json, "source");
  entry.kernel = text(json, "kernel");
  for (const JsonValue &argument : list(json, "arguments"))
    entry.arguments.push_back(text(argument, "name") + ": " + text(argument, "type"));
  for (const JsonValue &variant : list(json, "variants")) {
    entry.variants.push_back({text(variant, "name"), {}, text(variant, "id")});
    for (const JsonValue &binary : list(variant, "binaries"))
      entry.variants.back().binaries.push_back(readBinary(binary));
  }
  for (const JsonValue &tuning : list(json, "tuning"))
    entry.tuning.push_back(readTuning(tuning));
  readDispatch(json, entry);
  entry.tableBytes = number(json, "table_bytes");
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
  for (const JsonValue &size : list(*json, "sizes"))
    library.sizes.push_back({text(size, "target"), number(size, "code_bytes"),
                             number(size, "stored_bytes"), text(size, "pack")});
  library.compression = text(*json, "compress");
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

} // namespace kiln

//===- Inspect.cpp - reading what is in a library -------------------------===//
//
// Reads files that anybody may have made: every access is checked, and an archive's structure is
// left to llvm::object, which reports damage as errors.
//
//===----------------------------------------------------------------------===//
#include "codegen/JsonText.h"
#include "codegen/Manifest.h"
#include "llvm/Object/Archive.h"
#include "llvm/Object/ELFObjectFile.h"
#include "llvm/Support/FormatVariadic.h"
#include "llvm/Support/raw_ostream.h"

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

static BinarySummary readBinary(const JsonValue &json) {
  BinarySummary binary;
  binary.target = text(json, "target");
  binary.format = text(json, "format");
  binary.bytes = number(json, "bytes");
  binary.registers = number(json, "registers");
  binary.spillStoreBytes = number(json, "spill_store_bytes");
  binary.spillLoadBytes = number(json, "spill_load_bytes");
  binary.stackBytes = number(json, "stack_bytes");
  binary.sharedBytes = number(json, "static_shared_bytes") + number(json, "dynamic_shared_bytes");
  binary.threads = number(json, "threads");
  binary.arenaBytes = number(json, "arena_bytes");
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

/// The manifest's section of one object, or "" (also for what is no object).
static std::string manifestOf(MemoryBufferRef member) {
  Expected<std::unique_ptr<object::ObjectFile>> object =
      object::ObjectFile::createELFObjectFile(member);
  if (!object) {
    consumeError(object.takeError());
    return "";
  }
  for (const object::SectionRef &section : (*object)->sections()) {
    Expected<StringRef> name = section.getName();
    Expected<StringRef> contents = section.getContents();
    bool isManifest = name && contents && *name == kManifestSection;
    consumeError(name.takeError());
    if (isManifest)
      return contents->str();
    consumeError(contents.takeError());
  }
  return "";
}

Expected<LibrarySummary> inspectLibrary(StringRef bytes) {
  if (!bytes.starts_with("!<arch>\n"))
    return readManifest(bytes);
  Expected<std::unique_ptr<object::Archive>> archive =
      object::Archive::create(MemoryBufferRef(bytes, "archive"));
  if (!archive)
    return archive.takeError();
  Error error = Error::success();
  std::string manifest;
  for (const object::Archive::Child &child : (*archive)->children(error)) {
    Expected<MemoryBufferRef> member = child.getMemoryBufferRef();
    if (!member) {
      consumeError(member.takeError());
      continue;
    }
    manifest = manifestOf(*member);
    if (!manifest.empty())
      break;
  }
  if (error)
    return std::move(error);
  if (manifest.empty())
    return createStringError("the archive holds no manifest: Kiln did not write it");
  return readManifest(manifest);
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

static void printBinary(const BinarySummary &binary, raw_ostream &out) {
  out << formatv("    {0,-18} {1,-6} {2,5} {3,8} {4,8} {5,7} {6,9}\n", printable(binary.target),
                 printable(binary.format), binary.registers, binary.sharedBytes,
                 binary.spillStoreBytes + binary.spillLoadBytes, binary.threads, binary.bytes);
}

void printSummary(const LibrarySummary &library, raw_ostream &out) {
  uint64_t total = 0;
  out << "library " << printable(library.name) << "\n";
  for (const std::string &target : library.targets)
    out << "  target " << printable(target) << "\n";
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
        printBinary(binary, out);
        total += binary.bytes;
      }
    }
  }
  out << "\n" << total << " bytes of device binaries and host objects\n";
}

} // namespace kiln

//===- InspectOutput.cpp - what is in a library, as text and JSON ---------===//
#include "codegen/Manifest.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/FormatVariadic.h"
#include "llvm/Support/JSON.h"
#include "llvm/Support/raw_ostream.h"

using namespace llvm;

namespace kiln {

std::string printable(StringRef text) {
  std::string out;
  for (char c : text)
    out += static_cast<unsigned char>(c) < 0x20 || c == 0x7f ? '?' : c;
  return out;
}

static void printBinary(const BinarySummary &binary, StringRef name, raw_ostream &out) {
  out << formatv("    {0,-18} {1,-6} {2,5} {3,8} {4,8} {5,7} {6,9}", printable(name),
                 printable(binary.format), binary.registers, binary.sharedBytes,
                 binary.spillStoreBytes, binary.threads, binary.bytes);
  if (const std::optional<Occupancy> &held = binary.occupancy)
    out << formatv(" {0,6}  {1}", held->blocks, held->limits());
  if (binary.ptxasLevel)
    out << "  ptxas -O" << binary.ptxasLevel;
  if (binary.registerLimit)
    out << "  limit " << binary.registerLimit;
  for (const std::string &map : binary.tensorMaps)
    out << (&map == &binary.tensorMaps.front() ? "  tensor maps " : ", ") << printable(map);
  out << "\n";
}

static std::string variantList(const OverlapSummary &overlap) {
  return join(map_range(overlap.variants, [](uint64_t one) { return std::to_string(one); }), ", ");
}

static void printDispatch(const EntrySummary &entry, raw_ostream &out) {
  for (const std::string &range : entry.ranges)
    out << "  range " << printable(range) << "\n";
  if (!entry.total.empty())
    out << "  every call has a variant and a grid: " << printable(entry.total) << "\n";
  for (const OverlapSummary &overlap : entry.overlaps)
    out << "  legal together: " << variantList(overlap) << ", for " << printable(overlap.example)
        << "; chosen by " << printable(overlap.chosenBy) << "\n";
}

void printSummary(const LibrarySummary &library, raw_ostream &out) {
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
    out << "\n";
    printDispatch(entry, out);
    out << formatv("    {0,-18} {1,-6} {2,5} {3,8} {4,8} {5,7} {6,9} {7,6}  {8}\n", "target",
                   "format", "regs", "shared", "spills", "threads", "bytes", "blocks", "limit");
    for (size_t i = 0; i < entry.variants.size(); ++i) {
      out << "  " << i << ": " << printable(entry.variants[i].name) << "  "
          << printable(entry.variants[i].id) << "\n";
      for (const BinarySummary &binary : entry.variants[i].binaries) {
        printBinary(binary, binary.target, out);
        if (binary.fallback)
          printBinary(*binary.fallback, "  fallback", out);
      }
    }
  }
  TargetSize total = totalOf(library.sizes);
  out << "\n" << total.code << " bytes of device binaries and host objects";
  if (total.stored != total.code)
    out << ", " << total.stored << " as they are stored";
  out << "\n";
}

//===----------------------------------------------------------------------===//
// JSON
//===----------------------------------------------------------------------===//

static void writeOccupancy(json::OStream &json, const Occupancy &held) {
  json.attribute("blocks", held.blocks);
  json.attribute("warps", held.warps);
  json.attribute("max_warps", held.maxWarps);
  json.attribute("limits", held.limits());
}

static void writeMainLoop(json::OStream &json, const MainLoop &loop) {
  json.attribute("of", loop.isMachineCode ? "machine code" : "ptx");
  json.attribute("instructions", loop.instructions);
  json.attribute("matrix", loop.matrix);
  json.attribute("shared", loop.shared);
  json.attribute("global", loop.global);
  json.attribute("waits", loop.waits);
}

static void writeBinary(json::OStream &json, const BinarySummary &binary) {
  if (!binary.target.empty()) { // a fallback has that of its binary
    json.attribute("target", json::fixUTF8(binary.target));
    json.attribute("format", json::fixUTF8(binary.format));
  }
  json.attribute("bytes", binary.bytes);
  json.attribute("threads", binary.threads);
  json.attribute("registers", binary.registers);
  json.attribute("scalar_registers", binary.scalarRegisters);
  json.attribute("spill_store_bytes", binary.spillStoreBytes);
  json.attribute("spill_load_bytes", binary.spillLoadBytes);
  json.attribute("stack_bytes", binary.stackBytes);
  json.attribute("shared_bytes", binary.sharedBytes);
  json.attribute("ptxas_level", binary.ptxasLevel);
  json.attribute("register_limit", binary.registerLimit);
  json.attributeArray("tensor_maps", [&] {
    for (const std::string &map : binary.tensorMaps)
      json.value(json::fixUTF8(map));
  });
  if (binary.occupancy)
    json.attributeObject("occupancy", [&] { writeOccupancy(json, *binary.occupancy); });
  if (binary.mainLoop)
    json.attributeObject("main_loop", [&] { writeMainLoop(json, *binary.mainLoop); });
  if (binary.fallback)
    json.attributeObject("fallback", [&] { writeBinary(json, *binary.fallback); });
}

static void writeDispatch(json::OStream &json, const EntrySummary &entry) {
  if (entry.total.empty())
    return;
  json.attributeArray("ranges", [&] {
    for (const std::string &range : entry.ranges)
      json.value(json::fixUTF8(range));
  });
  json.attribute("total", json::fixUTF8(entry.total));
  json.attributeArray("overlaps", [&] {
    for (const OverlapSummary &overlap : entry.overlaps)
      json.object([&] {
        json.attribute("variants", json::Array(overlap.variants));
        json.attribute("example", json::fixUTF8(overlap.example));
        json.attribute("chosen_by", json::fixUTF8(overlap.chosenBy));
      });
  });
}

static void writeEntry(json::OStream &json, const EntrySummary &entry) {
  json.attribute("name", json::fixUTF8(entry.name));
  json.attribute("kernel", json::fixUTF8(entry.kernel));
  json.attribute("source", json::fixUTF8(entry.source));
  json.attribute("table_bytes", entry.tableBytes);
  json.attributeArray("arguments", [&] {
    for (const std::string &argument : entry.arguments)
      json.value(json::fixUTF8(argument));
  });
  if (!entry.tuning.empty())
    json.attributeArray("tuning", [&] {
      for (const TuningSummary &tuning : entry.tuning)
        json.object([&] { writeTuning(json, tuning); });
    });
  writeDispatch(json, entry);
  json.attributeArray("variants", [&] {
    for (const VariantSummary &variant : entry.variants)
      json.object([&] {
        json.attribute("name", json::fixUTF8(variant.name));
        json.attribute("id", json::fixUTF8(variant.id));
        json.attributeArray("binaries", [&] {
          for (const BinarySummary &binary : variant.binaries)
            json.object([&] { writeBinary(json, binary); });
        });
      });
  });
}

void writeSummaryJson(const LibrarySummary &library, raw_ostream &out) {
  json::OStream json(out, 2);
  json.object([&] {
    json.attribute("kiln_inspect", 1);
    json.attribute("library", json::fixUTF8(library.name));
    json.attribute("compress",
                   library.compression.empty() ? "none" : json::fixUTF8(library.compression));
    json.attributeArray("sizes", [&] {
      for (const TargetSize &size : library.sizes)
        json.object([&] {
          json.attribute("target", json::fixUTF8(size.target));
          json.attribute("code_bytes", size.code);
          json.attribute("stored_bytes", size.stored);
          if (!size.pack.empty())
            json.attribute("pack", json::fixUTF8(size.pack));
        });
    });
    json.attributeArray("targets", [&] {
      for (const std::string &target : library.targets)
        json.value(json::fixUTF8(target));
    });
    json.attributeObject("tools", [&] {
      for (const auto &[tool, version] : library.tools)
        json.attribute(json::fixUTF8(tool), json::fixUTF8(version));
    });
    json.attributeArray("entries", [&] {
      for (const EntrySummary &entry : library.entries)
        json.object([&] { writeEntry(json, entry); });
    });
  });
  out << "\n";
}

} // namespace kiln

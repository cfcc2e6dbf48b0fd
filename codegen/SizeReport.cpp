//===- SizeReport.cpp - what a library takes, by target and kernel --------===//
#include "codegen/Manifest.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/Support/FormatVariadic.h"
#include "llvm/Support/raw_ostream.h"
#include <map>

using namespace llvm;

namespace kiln {

namespace {

/// Bytes of binaries by target; each different binary counts where it comes first.
class SizeReport {
public:
  SizeReport(const LibrarySummary &library, raw_ostream &out) : library(library), out(out) {}

  void print() {
    out << "library " << printable(library.name);
    if (!library.compression.empty())
      out << ", compressed by " << printable(library.compression);
    out << "\n\n" << formatv("  {0,-40} {1,10} {2,10}\n", "target", "code", "stored");
    for (const TargetSize &size : library.sizes)
      printTarget(size);
    printTarget(totalOf(library.sizes));
    for (const EntrySummary &entry : library.entries)
      printEntry(entry);
  }

private:
  const LibrarySummary &library;
  raw_ostream &out;
  /// By hash: where a binary stands first.
  std::map<std::string, std::string> first;

  void printTarget(const TargetSize &size) {
    out << formatv("  {0,-40} {1,10} {2,10}", printable(size.target), size.code, size.stored);
    if (!size.pack.empty())
      out << "  in " << printable(size.pack);
    out << "\n";
  }

  void printEntry(const EntrySummary &entry) {
    std::string lines;
    raw_string_ostream variants(lines);
    uint64_t code = 0;
    for (const auto &[v, variant] : enumerate(entry.variants)) {
      variants << "  " << v << ": " << printable(variant.name) << "\n";
      std::string place = printable(entry.name) + " " + std::to_string(v);
      for (const BinarySummary &binary : variant.binaries) {
        code += printBinary(binary, binary.target, place, variants);
        if (binary.fallback)
          code += printBinary(*binary.fallback, "  fallback", place, variants);
      }
    }
    out << formatv("\n{0}: {1} of code, {2} of tables\n", printable(entry.name), code,
                   entry.tableBytes)
        << lines;
  }

  /// The bytes that it adds.
  uint64_t printBinary(const BinarySummary &binary, StringRef name, const std::string &place,
                       raw_ostream &variants) {
    auto [earlier, isFirst] = first.try_emplace(binary.hash, place);
    variants << formatv("    {0,-38} {1,10}", printable(name), binary.bytes);
    if (!isFirst)
      variants << "  stored with " << earlier->second;
    variants << "\n";
    return isFirst ? binary.bytes : 0;
  }
};

} // namespace

void printSizes(const LibrarySummary &library, raw_ostream &out) {
  SizeReport(library, out).print();
}

} // namespace kiln

//===- Manifest.h - what is in a library, as JSON ---------------*- C++ -*-===//
//
// Written beside every library (`<library>.json`) and into its archive, read by `kiln inspect`. The
// order of keys and lists is that of the model, so equal builds give equal bytes. It names no path
// but those that the spec and the search roots gave.
//
//===----------------------------------------------------------------------===//
#ifndef KILN_CODEGEN_MANIFEST_H
#define KILN_CODEGEN_MANIFEST_H

#include "codegen/LibraryModel.h"
#include "codegen/LibrarySizes.h"
#include "codegen/TuningSummary.h"
#include "compiler/Target/Occupancy.h"
#include "llvm/ADT/STLFunctionalExtras.h"
#include "llvm/Support/raw_ostream.h"
#include <memory>

namespace kiln {

inline constexpr int64_t kManifestVersion = 1;

std::string writeManifest(const LibraryModel &model, const LibrarySizes &sizes);

//--- What `kiln inspect` reads back ---

struct BinarySummary {
  std::string target, format;
  uint64_t bytes = 0;
  /// Equal for binaries that are stored once.
  std::string hash;
  uint64_t registers = 0, scalarRegisters = 0;
  uint64_t spillStoreBytes = 0, spillLoadBytes = 0, stackBytes = 0;
  uint64_t sharedBytes = 0; // static and dynamic, per block
  uint64_t threads = 0, arenaBytes = 0;
  /// The level at which ptxas made it where that is lower than the one asked for, else 0.
  uint64_t ptxasLevel = 0;
  /// What ptxas was held to so that more blocks run on a processor, else 0.
  uint64_t registerLimit = 0;
  std::optional<MainLoop> mainLoop;
  /// Of the target that it or its fallback is for, where that is known.
  std::optional<Occupancy> occupancy;
  /// What launchers make tensor maps of, by name.
  std::vector<std::string> tensorMaps;
  /// Where not all arguments have tensor maps; null: without one. Has no target and no format.
  std::shared_ptr<const BinarySummary> fallback;
};
struct VariantSummary {
  std::string name;
  std::vector<BinarySummary> binaries;
  /// Its lasting name.
  std::string id;
};
/// Variants that are legal together (VariantOverlap).
struct OverlapSummary {
  std::vector<uint64_t> variants;
  std::string example, chosenBy;
};
struct EntrySummary {
  std::string name, source, kernel;
  std::vector<std::string> arguments; // "M: i32"
  std::vector<VariantSummary> variants;
  std::vector<TuningSummary> tuning;
  /// "N: 1 to 64, a multiple of 8".
  std::vector<std::string> ranges;
  /// "proven", "has gaps", "undecided"; "" where nothing was declared.
  std::string total;
  std::vector<OverlapSummary> overlaps;
  uint64_t tableBytes = 0;
};
struct LibrarySummary {
  std::string name;
  std::vector<std::string> targets; // name and what it resolved to
  std::vector<std::pair<std::string, std::string>> tools;
  std::vector<EntrySummary> entries;
  std::vector<TargetSize> sizes;
  /// "zstd"; "" where the archive has binaries as they are.
  std::string compression;
};

/// Reads a manifest's text. Missing keys count as empty or zero; anything that is not a manifest is
/// an error, whatever the bytes.
llvm::Expected<LibrarySummary> readManifest(llvm::StringRef json);
/// Reads the manifest of `bytes`: a manifest itself, or an archive that holds one.
llvm::Expected<LibrarySummary> inspectLibrary(llvm::StringRef bytes);

/// What came from a file and goes to a terminal: no control characters.
std::string printable(llvm::StringRef text);

/// A table with one line per binary, and one for its fallback: variant, target, registers, shared
/// memory, spills, bytes, blocks of a processor.
void printSummary(const LibrarySummary &library, llvm::raw_ostream &out);
/// What each target, entry point and variant takes, docs/cli.md.
void printSizes(const LibrarySummary &library, llvm::raw_ostream &out);
/// All of these as JSON, docs/cli.md.
void writeSummaryJson(const LibrarySummary &library, llvm::raw_ostream &out);

} // namespace kiln

#endif // KILN_CODEGEN_MANIFEST_H

// What compiling one variant gave, in a form that crosses from a worker process to the driver.

#ifndef KILN_COMPILER_DRIVER_JOBS_VARIANTRESULT_H
#define KILN_COMPILER_DRIVER_JOBS_VARIANTRESULT_H

#include "codegen/LibraryModel.h"
#include "compiler/Driver/Reporting/RenderedDiagnostic.h"
#include "compiler/Target/DeviceBinary.h"
#include "llvm/Support/JSON.h"
#include <optional>

namespace kiln {

/// A note whose diagnostic the driver has yet to make.
struct PlacedNote {
  DiagKind kind;
  std::string text;
  /// Its range, in bytes of the file that is printed as `path`.
  std::string path;
  uint32_t begin = 0, end = 0;
};

/// Seconds that one stage took in the worker: passed, and of CPU (with the tools that it ran).
struct StageTime {
  std::string stage;
  double wallSeconds = 0, cpuSeconds = 0;
};

struct VariantResult {
  /// Empty when there were errors, and for `kiln check`.
  std::optional<DeviceBinary> binary;
  std::vector<RenderedDiagnostic> diagnostics;
  std::vector<StageTime> times;
  /// The stage that --emit asked for.
  std::string emitted;
  /// Files that nothing in the same process had read before: their paths as printed, and hashes of
  /// what was read.
  std::vector<InputFile> filesRead;
  /// Why the variant cannot run on its target, when that is the one error: too much shared memory,
  /// say.
  std::string doesNotFit;
  std::vector<PlacedNote> doesNotFitNotes;

  bool hasErrors() const;
};

llvm::json::Value toJson(const VariantResult &result);
/// Empty when the value is not a whole result.
std::optional<VariantResult> variantResultFrom(const llvm::json::Value &value);

/// The same as text.
std::string serialize(const VariantResult &result);
/// Empty when the bytes are not a whole result.
std::optional<VariantResult> deserialize(llvm::StringRef bytes);

} // namespace kiln

#endif

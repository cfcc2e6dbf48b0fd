//===- TuningSummary.h - what measurements decide in a library --*- C++ -*-===//
//
// Which variant a library takes in each measured shape, and what that costs beside the fastest of
// all that were measured. Part of the manifest, written and read back here.
//
//===----------------------------------------------------------------------===//
#ifndef KILN_CODEGEN_TUNINGSUMMARY_H
#define KILN_CODEGEN_TUNINGSUMMARY_H

#include "codegen/JsonText.h"
#include "codegen/LibraryModel.h"
#include "llvm/Support/JSON.h"

namespace kiln {

struct TunedShapeSummary {
  std::vector<int64_t> key;
  /// The variant's name in the library; "" where it has none of those that were measured.
  std::string variant;
  /// Microseconds, of that variant and of the fastest; 0 where no time is known.
  double time = 0, best = 0;

  double regret() const { return best > 0 && time > 0 ? time / best - 1 : 0; }
};

struct TuningSummary {
  std::string target;
  std::vector<std::string> devices, key;
  std::vector<TunedShapeSummary> shapes;
  /// Stable names of variants that the spec's bounds do without.
  std::vector<std::string> leftOut;

  /// The largest of all shapes, and that of the geometric mean of their slowdowns.
  double worstRegret() const;
  double meanRegret() const;
};

/// One for each target that was measured.
std::vector<TuningSummary> summarizeTuning(const LibraryModel &model, const EntryModel &entry);

/// The attributes of an object.
void writeTuning(llvm::json::OStream &json, const TuningSummary &tuning);
/// Missing keys count as empty or zero.
TuningSummary readTuning(const JsonValue &json);

} // namespace kiln

#endif // KILN_CODEGEN_TUNINGSUMMARY_H

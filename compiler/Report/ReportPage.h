// The page of `kiln report` and of `kiln run --count-html`: one file of HTML that needs no other,
// and no script to be read. docs/report.md describes it.

#ifndef KILN_COMPILER_REPORT_REPORTPAGE_H
#define KILN_COMPILER_REPORT_REPORTPAGE_H

#include "codegen/Manifest.h"
#include "compiler/Report/CountReport.h"
#include "compiler/Report/TimeBound.h"

namespace kiln {

struct ReportPage {
  std::string title;
  /// What was built; none: counts alone.
  std::optional<LibrarySummary> library;
  std::vector<CountReport> counts;
  /// Those whose bounds are wanted; each concerns the counts of its target.
  std::vector<const GpuModel *> gpus;
};

/// Well-formed as XML too, with its data as JSON in the element `kiln-report`.
std::string writeReportPage(const ReportPage &page);

/// The binary that was counted, as its GPU would run it; null where the library has none for that
/// target. An error where it has no such kernel or variant.
llvm::Expected<const BinarySummary *> findCounted(const LibrarySummary &library,
                                                  const CountReport &counts);

} // namespace kiln

#endif

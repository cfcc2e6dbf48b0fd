#include "compiler/Driver/CommandLine/ReportFlags.h"
#include "compiler/Driver/CommandLine/FlagValues.h"

namespace kiln {

InspectOptions ReportFlags::inspectOptions() const {
  return {required(inspected, "the path of a library's archive or manifest"), asJson, sizes};
}

ReportOptions ReportFlags::reportOptions() const {
  ReportOptions report;
  report.library = required(library, "the path of a library's archive or manifest");
  report.output = required(outputFile, "-o FILE, where the page goes");
  report.counts = valuesOf(counts);
  report.gpus = valuesOf(gpus);
  if (!report.gpus.empty() && report.counts.empty())
    usageError("--gpu: least times need counts, --counts FILE");
  return report;
}

} // namespace kiln

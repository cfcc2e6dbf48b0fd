#include "compiler/Driver/Run/RunCounts.h"
#include "compiler/Report/ReportPage.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"

namespace kiln {

CountedArgument countedArgument(const EntryArgument &argument, const RunValue &value,
                                llvm::StringRef text) {
  if (!value.array)
    return {argument.name, text.str(), 0};
  const std::vector<int64_t> &shape = value.array->shape;
  ElementType element = argument.type.element;
  uint64_t bytes = elementBytes(element);
  for (int64_t extent : shape)
    bytes *= uint64_t(extent);
  auto extents = llvm::map_range(shape, [](int64_t n) { return std::to_string(n); });
  return {argument.name, elementName(element).str() + "[" + llvm::join(extents, ", ") + "]", bytes};
}

std::string countPage(const CountReport &counts) {
  ReportPage page;
  page.title = counts.entry + " on " + counts.target;
  page.counts = {counts};
  for (const GpuModel &gpu : gpuModels())
    page.gpus.push_back(&gpu);
  return writeReportPage(page);
}

} // namespace kiln

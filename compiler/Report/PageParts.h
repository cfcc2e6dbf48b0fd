// The parts of a report's page, in their order, and what they share.

#ifndef KILN_COMPILER_REPORT_PAGEPARTS_H
#define KILN_COMPILER_REPORT_PAGEPARTS_H

#include "compiler/Report/ReportPage.h"

namespace kiln {

/// A bound of one of the page's counts.
struct PageBound {
  size_t count;
  TimeBound bound;
};
/// By count and, within one, by the page's list of GPUs.
std::vector<PageBound> boundsOf(const ReportPage &page);

/// "matmul_f16 on emu:sm_90a", and where that is not the only one " #2", its number on the page.
std::string launchTitle(const ReportPage &page, size_t launch);

/// A cell of a table that sorts: what it shows, and the number or text that it is sorted by. The
/// label names its column where the table becomes a list, on small screens.
struct PageCell {
  std::string label, text, key;
  /// 0 to 1: a bar behind the text.
  std::optional<double> bar;
  bool isBad = false;
};
void writeCell(llvm::raw_ostream &os, const PageCell &cell);
/// A table's head: a button for each column, which is at the left for text.
struct PageColumn {
  llvm::StringRef name, explanation;
  bool isText = false;
};
void writeHead(llvm::raw_ostream &os, llvm::ArrayRef<PageColumn> columns);

void writeBinaries(const ReportPage &page, llvm::raw_ostream &os);
/// Whether something about the library was measured.
bool isTuned(const LibrarySummary &library);
void writeTuning(const ReportPage &page, llvm::raw_ostream &os);
/// Ranges of arguments, what is proven over them, and which variants are legal together.
void writeDispatch(const ReportPage &page, llvm::raw_ostream &os);
void writeBounds(const ReportPage &page, llvm::ArrayRef<PageBound> bounds, llvm::raw_ostream &os);
void writeLaunches(const ReportPage &page, llvm::raw_ostream &os);
void writeSources(const ReportPage &page, llvm::raw_ostream &os);
/// For tools: a JSON object.
void writeData(const ReportPage &page, llvm::ArrayRef<PageBound> bounds, llvm::raw_ostream &os);

//--- Charts, as SVG in the page ---

struct ChartShare {
  std::string name;
  double amount;
};
/// One bar of shares, the largest first, with a legend.
void drawShares(std::vector<ChartShare> shares, llvm::raw_ostream &os);
/// What a GPU could reach at each intensity, and where the launches are.
void drawRoofline(const GpuModel &gpu, const ReportPage &page, llvm::ArrayRef<PageBound> bounds,
                  llvm::raw_ostream &os);

} // namespace kiln

#endif

#include "compiler/Report/ReportPage.h"

#include "compiler/Report/HtmlText.h"
#include "compiler/Report/PageParts.h"
#include "llvm/ADT/STLExtras.h"

namespace kiln {
namespace {

// clang-format off
#pragma clang diagnostic push
#pragma clang diagnostic ignored "-Wc23-extensions"
constexpr char style[] = {
#embed <compiler/Report/page.css>
    , 0};
constexpr char script[] = {
#embed <compiler/Report/page.js>
    , 0};
#pragma clang diagnostic pop
// clang-format on

/// Whether a kernel's arguments have ranges.
bool hasDispatch(const ReportPage &page) {
  return page.library && llvm::any_of(page.library->entries, [](const EntrySummary &entry) {
           return !entry.total.empty();
         });
}

void writeIntroduction(const ReportPage &page, llvm::ArrayRef<PageBound> bounds,
                       llvm::raw_ostream &os) {
  os << "<header><h1>" << escaped(page.title) << "</h1>\n";
  if (page.library) {
    os << "<p>";
    for (llvm::StringRef target : page.library->targets) // "cuda:sm_80 (nvptx64-nvidia-cuda …)"
      os << (target.data() == page.library->targets.front().data() ? "" : " · ") << "<span title=\""
         << escaped(target) << "\">" << escaped(target.split(" (").first) << "</span>";
    os << "</p>\n<p>made by";
    for (const auto &[tool, version] : page.library->tools)
      os << " " << escaped(tool) << " " << escaped(version);
    os << "</p>\n";
  }
  os << "</header>\n<nav>";
  auto link = [&](bool isThere, llvm::StringRef id, llvm::StringRef name) {
    if (isThere)
      os << "<a href=\"#" << id << "\">" << name << "</a> ";
  };
  link(page.library.has_value(), "variants", "Variants");
  link(page.library && isTuned(*page.library), "tuning", "Measured shapes");
  link(hasDispatch(page), "dispatch", "Calls");
  link(!bounds.empty(), "bounds", "Least times");
  link(!page.counts.empty(), "launches", "Launches");
  link(!page.counts.empty(), "source", "Source");
  os << "</nav>\n";
}

} // namespace

std::vector<PageBound> boundsOf(const ReportPage &page) {
  std::vector<PageBound> bounds;
  for (auto [index, counts] : llvm::enumerate(page.counts))
    for (const GpuModel *gpu : page.gpus)
      if (auto bound = boundOf(counts, *gpu))
        bounds.push_back({index, std::move(*bound)});
  return bounds;
}

std::string launchTitle(const ReportPage &page, size_t launch) {
  auto title = [](const CountReport &counts) { return counts.entry + " on " + counts.target; };
  std::string own = title(page.counts[launch]);
  bool isOnly =
      llvm::count_if(page.counts, [&](const CountReport &one) { return title(one) == own; }) == 1;
  return isOnly ? own : own + " #" + std::to_string(launch);
}

void writeCell(llvm::raw_ostream &os, const PageCell &cell) {
  os << "<td data-l=\"" << escaped(cell.label) << "\"";
  if (!cell.key.empty())
    os << " data-v=\"" << escaped(cell.key) << "\"";
  if (cell.bar || cell.isBad)
    os << " class=\"" << (cell.bar ? "bar" : "") << (cell.isBad ? " bad" : "") << "\"";
  if (cell.bar)
    os << " style=\"--share: " << withDigits(*cell.bar, 3) << "\"";
  os << ">" << (cell.text.empty() ? "–" : escaped(cell.text)) << "</td>";
}

void writeHead(llvm::raw_ostream &os, llvm::ArrayRef<PageColumn> columns) {
  os << "<thead><tr>";
  for (const PageColumn &column : columns)
    os << "<th scope=\"col\"" << (column.isText ? " class=\"text\"" : "") << " title=\""
       << escaped(column.explanation) << "\">" << escaped(column.name) << "</th>";
  os << "</tr></thead>\n";
}

llvm::Expected<const BinarySummary *> findCounted(const LibrarySummary &library,
                                                  const CountReport &counts) {
  auto entry = llvm::find_if(library.entries,
                             [&](const EntrySummary &one) { return one.name == counts.entry; });
  if (entry == library.entries.end())
    return llvm::createStringError("the library '" + library.name + "' has no kernel '" +
                                   counts.entry + "'");
  auto variant = llvm::find_if(
      entry->variants, [&](const VariantSummary &one) { return one.name == counts.variant; });
  if (variant == entry->variants.end())
    return llvm::createStringError("the library's '" + counts.entry + "' has no variant '" +
                                   counts.variant + "'");
  const BinarySummary *found = nullptr;
  for (const BinarySummary &binary : variant->binaries)
    if (binary.target == counts.hardwareTarget() && binary.format != "ptx")
      found = &binary;
  return found;
}

std::string writeReportPage(const ReportPage &page) {
  std::string text;
  llvm::raw_string_ostream os(text);
  std::vector<PageBound> bounds = boundsOf(page);
  os << "<!DOCTYPE html>\n<html lang=\"en\"><head><meta charset=\"utf-8\"/>\n"
     << "<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\"/>\n<title>"
     << escaped(page.title) << "</title>\n<style>\n"
     << style << "</style></head>\n<body>\n";
  writeIntroduction(page, bounds, os);
  if (page.library)
    writeBinaries(page, os);
  if (page.library && isTuned(*page.library))
    writeTuning(page, os);
  if (hasDispatch(page))
    writeDispatch(page, os);
  if (!bounds.empty())
    writeBounds(page, bounds, os);
  if (!page.counts.empty()) {
    writeLaunches(page, os);
    writeSources(page, os);
  }
  os << "<script type=\"application/json\" id=\"kiln-report\">";
  writeData(page, bounds, os);
  // Scripts are no text to be escaped in HTML, but are in XML.
  os << "</script>\n<script>/*<![CDATA[*/\n" << script << "/*]]>*/</script>\n</body></html>\n";
  return text;
}

} // namespace kiln

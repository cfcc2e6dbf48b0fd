#include "compiler/Report/HtmlText.h"
#include "compiler/Report/PageParts.h"
#include "llvm/ADT/STLExtras.h"

namespace kiln {

static void writeOverlaps(const EntrySummary &entry, llvm::raw_ostream &os) {
  os << "<ul>\n";
  for (const OverlapSummary &overlap : entry.overlaps) {
    os << "<li>legal together: ";
    for (auto [place, index] : llvm::enumerate(overlap.variants)) {
      bool isKnown = index < entry.variants.size();
      os << (place ? ", " : "") << "<span title=\""
         << escaped(isKnown ? entry.variants[index].name : "") << "\">" << index << "</span>";
    }
    os << ", for " << escaped(overlap.example) << "; chosen by " << escaped(overlap.chosenBy)
       << "</li>\n";
  }
  os << "</ul>\n";
}

void writeDispatch(const ReportPage &page, llvm::raw_ostream &os) {
  os << "<section id=\"dispatch\"><h2>Calls</h2>\n";
  for (const EntrySummary &entry : page.library->entries) {
    if (entry.total.empty())
      continue;
    os << "<h3>" << escaped(entry.name) << "</h3>\n<p>Every call";
    for (const std::string &range : entry.ranges)
      os << (&range == &entry.ranges.front() ? " with " : "; ") << escaped(range);
    os << " has a variant and a grid: " << escaped(entry.total) << "</p>\n";
    if (!entry.overlaps.empty())
      writeOverlaps(entry, os);
  }
  os << "</section>\n";
}

} // namespace kiln

// What was measured, and what dispatch makes of it: a row for each measured shape.

#include "compiler/Report/HtmlText.h"
#include "compiler/Report/PageParts.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"

namespace kiln {
namespace {

constexpr PageColumn columns[] = {
    {"kernel", "entry point", true},
    {"target", "whose measurements they are", true},
    {"shape", "the arguments of the dispatch key", true},
    {"variant", "which the library takes", true},
    {"time", "microseconds, of that variant"},
    {"best", "microseconds, of the fastest that was measured"},
    {"regret", "how much longer than the fastest"},
};

std::string percent(double share) { return withDigits(100 * share, 1) + "%"; }

std::string shapeText(const TuningSummary &tuning, const TunedShapeSummary &shape) {
  std::vector<std::string> parts;
  for (auto [name, value] : llvm::zip(tuning.key, shape.key))
    parts.push_back(name + "=" + std::to_string(value));
  return llvm::join(parts, " ");
}

void writeRow(const EntrySummary &entry, const TuningSummary &tuning,
              const TunedShapeSummary &shape, llvm::raw_ostream &os) {
  auto number = [&](const char *label, double value) {
    writeCell(os,
              {label, value > 0 ? withDigits(value, 2) : "", withDigits(value, 4), std::nullopt});
  };
  os << "<tr>";
  writeCell(os, {"kernel", entry.name, entry.name, std::nullopt});
  writeCell(os, {"target", tuning.target, tuning.target, std::nullopt});
  writeCell(os, {"shape", shapeText(tuning, shape), "", std::nullopt});
  writeCell(os, {"variant", shape.variant, shape.variant, std::nullopt});
  number("time", shape.time);
  number("best", shape.best);
  writeCell(os, {"regret", shape.variant.empty() || shape.best == 0 ? "" : percent(shape.regret()),
                 withDigits(shape.regret(), 5), std::nullopt});
  os << "</tr>\n";
}

/// "matmul on cuda:sm_90a, measured on NVIDIA H200: …"
void writeNote(const EntrySummary &entry, const TuningSummary &tuning, llvm::raw_ostream &os) {
  os << "<p class=\"note\">" << escaped(entry.name) << " on " << escaped(tuning.target)
     << ", measured on " << escaped(llvm::join(tuning.devices, ", ")) << ": "
     << tuning.shapes.size() << " shapes, regret " << percent(tuning.meanRegret())
     << " in the mean, " << percent(tuning.worstRegret()) << " at most";
  if (!tuning.leftOut.empty())
    os << "; left out: " << escaped(llvm::join(tuning.leftOut, " · "));
  os << ".</p>\n";
}

} // namespace

bool isTuned(const LibrarySummary &library) {
  return llvm::any_of(library.entries,
                      [](const EntrySummary &entry) { return !entry.tuning.empty(); });
}

void writeTuning(const ReportPage &page, llvm::raw_ostream &os) {
  os << "<section id=\"tuning\"><h2>Measured shapes</h2>\n<div class=\"wide\"><table class=\"sorts "
        "cards\">\n";
  writeHead(os, columns);
  os << "<tbody>\n";
  for (const EntrySummary &entry : page.library->entries)
    for (const TuningSummary &tuning : entry.tuning)
      for (const TunedShapeSummary &shape : tuning.shapes)
        writeRow(entry, tuning, shape, os);
  os << "</tbody></table></div>\n";
  for (const EntrySummary &entry : page.library->entries)
    for (const TuningSummary &tuning : entry.tuning)
      writeNote(entry, tuning, os);
  os << "<p class=\"note\">Calls in other shapes take the variant of the nearest measured "
        "one.</p>\n"
        "</section>\n";
}

} // namespace kiln

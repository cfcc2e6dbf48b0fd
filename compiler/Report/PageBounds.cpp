// The least time of each launch on each GPU: a row for each, and a chart for each GPU.

#include "compiler/Report/HtmlText.h"
#include "compiler/Report/PageParts.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"
#include <set>
#include <tuple>

namespace kiln {
namespace {

/// "M=512, N=512": what tells launches of one kernel apart; arrays follow from it.
std::string scalarsOf(const CountReport &counts) {
  std::string text;
  for (const CountedArgument &argument : counts.arguments)
    if (!argument.bytes)
      text += (text.empty() ? "" : ", ") + argument.name + "=" + argument.value;
  return text;
}

class BoundTable {
public:
  BoundTable(const ReportPage &page, llvm::ArrayRef<PageBound> bounds, llvm::raw_ostream &os)
      : page(page), bounds(bounds), os(os) {
    // The parts that any launch uses, those that take longest anywhere first.
    std::map<std::string, double> longest;
    for (const PageBound &one : bounds)
      for (const BoundTerm &term : one.bound.terms)
        longest[term.name] = std::max(longest[term.name], term.seconds / one.bound.seconds());
    for (const auto &[name, share] : longest)
      parts.push_back(name);
    llvm::sort(parts, [&](const std::string &a, const std::string &b) {
      return std::tie(longest[b], a) < std::tie(longest[a], b);
    });
  }

  void write() {
    os << "<section id=\"bounds\"><h2>Least times</h2>\n<div class=\"wide\">"
          "<table class=\"sorts cards\" id=\"bound-table\">\n";
    std::vector<PageColumn> columns = {
        {"launch", "kernel and target that were counted", true},
        {"arguments", "scalars of the launch", true},
        {"GPU", "", true},
        {"least time", "no launch with these counts is faster"},
        {"limit", "what takes longest", true},
        {"FLOP/s", "floating-point operations in the least time"},
        {"fullest", "work of the processor with most blocks, of its share"}};
    for (const std::string &part : parts)
      columns.push_back({part, "time that this part has work"});
    writeHead(os, columns);
    os << "<tbody>\n";
    for (const PageBound &one : bounds)
      writeRow(one);
    os << "</tbody></table></div>\n";
    writeNotes();
    os << "<div class=\"charts\">\n";
    for (const GpuModel *gpu : page.gpus)
      if (llvm::any_of(bounds, [&](const PageBound &one) { return one.bound.gpu == gpu; }))
        drawRoofline(*gpu, page, bounds, os);
    os << "</div></section>\n";
  }

private:
  void writeRow(const PageBound &one) {
    const CountReport &counts = page.counts[one.count];
    const TimeBound &bound = one.bound;
    os << "<tr>";
    auto word = [&](const char *label, const std::string &text) {
      writeCell(os, {label, text, text, std::nullopt});
    };
    word("launch", launchTitle(page, one.count));
    word("arguments", scalarsOf(counts));
    word("GPU", bound.gpu->title);
    writeCell(os, {"least time", duration(bound.seconds()), std::to_string(bound.seconds() * 1e9),
                   std::nullopt});
    word("limit", bound.limit());
    double speed = double(counts.total.flops) / bound.seconds();
    writeCell(os, {"FLOP/s", speed ? withPrefix(speed) : "", withDigits(speed, 0), std::nullopt});
    writeCell(os, {"fullest", withDigits(bound.imbalance, 2) + "x", withDigits(bound.imbalance, 4),
                   std::nullopt, bound.imbalance >= 1.5});
    for (const std::string &part : parts) {
      auto term =
          llvm::find_if(bound.terms, [&](const BoundTerm &one) { return one.name == part; });
      if (term == bound.terms.end())
        writeCell(os,
                  {part, llvm::is_contained(bound.missing, part) ? "?" : "", "-1", std::nullopt});
      else
        writeCell(os, {part, duration(term->seconds), std::to_string(term->seconds * 1e9),
                       term->seconds / bound.seconds()});
    }
    os << "</tr>\n";
  }

  void writeNotes() {
    os << "<p class=\"note\">Each part of a GPU has its share of what was counted and works at its "
          "published best, all of them at the same time; the one that takes longest is the limit. "
          "Memory: the arrays once, or what was accessed where that is less. Matrix instructions "
          "and arithmetic: operations. Shared memory: wavefronts, bank conflicts included. Issue: "
          "warp instructions, but integers, addresses, comparisons, conversions and branches, "
          "which "
          "back ends move and merge. All but memory: of the processor with most blocks. Latencies, "
          "caches, barriers and launches take time beside that. A question mark: the GPU's rate is "
          "not in the table.";
    std::set<std::string> without;
    for (const CountReport &counts : page.counts)
      if (llvm::none_of(page.gpus, [&](const GpuModel *gpu) {
            return gpu->target == counts.hardwareTarget();
          }))
        without.insert(counts.hardwareTarget());
    for (const std::string &target : without)
      os << " No GPU of " << escaped(target) << " was asked for.";
    os << "</p>\n";
  }

  const ReportPage &page;
  llvm::ArrayRef<PageBound> bounds;
  llvm::raw_ostream &os;
  std::vector<std::string> parts;
};

} // namespace

void writeBounds(const ReportPage &page, llvm::ArrayRef<PageBound> bounds, llvm::raw_ostream &os) {
  BoundTable(page, bounds, os).write();
}

} // namespace kiln

// What each launch did in all: its mix of instructions, and sums.

#include "compiler/Report/HtmlText.h"
#include "compiler/Report/PageParts.h"
#include "llvm/ADT/STLExtras.h"

namespace kiln {
namespace {

class LaunchWriter {
public:
  LaunchWriter(const CountReport &report, llvm::raw_ostream &os) : report(report), os(os) {}

  void write(const std::string &title, size_t number, bool hasLibrary,
             const BinarySummary *binary) {
    os << "<article id=\"launch-" << number << "\"><h3>" << escaped(title) << "</h3>\n<p>"
       << escaped(report.kernel) << ", variant " << escaped(report.variant) << "</p>\n<p>"
       << escaped(launchOf(report));
    for (const CountedArgument &argument : report.arguments)
      os << (&argument == &report.arguments.front() ? ": " : ", ") << escaped(argument.name) << "="
         << escaped(argument.value);
    os << "</p>\n";
    if (binary)
      writeBinaryFacts(*binary);
    else if (hasLibrary)
      os << "<p>The library has no binary for " << escaped(report.hardwareTarget()) << ".</p>\n";
    std::vector<ChartShare> mix;
    for (llvm::StringRef kind : countedClasses())
      if (uint64_t warps = report.total.warpsOf(kind))
        mix.push_back({kind.str(), double(warps)});
    drawShares(std::move(mix), os);
    writeSums();
    os << "</article>\n";
  }

private:
  void writeBinaryFacts(const BinarySummary &binary) {
    os << "<p>" << escaped(binary.target) << ": " << binary.registers << " registers, "
       << withSeparators(binary.sharedBytes) << " bytes of shared memory";
    if (const std::optional<Occupancy> &held = binary.occupancy)
      os << ", " << held->blocks << (held->blocks == 1 ? " block" : " blocks")
         << " on a processor (" << held->warps << " of " << held->maxWarps << " warps; limited by "
         << held->limits() << ")";
    os << "</p>\n";
  }

  void row(llvm::StringRef label, llvm::StringRef value, llvm::StringRef note = "",
           bool isBad = false) {
    os << "<tr><td>" << escaped(label) << "</td><td" << (isBad ? " class=\"bad\"" : "") << ">"
       << escaped(value) << "</td><td>" << escaped(note) << "</td></tr>\n";
  }
  void row(llvm::StringRef label, uint64_t value, llvm::StringRef note = "", bool isBad = false) {
    row(label, withSeparators(value), note, isBad);
  }
  void heading(llvm::StringRef text) {
    os << "<tr><th colspan=\"3\">" << escaped(text) << "</th></tr>\n";
  }

  void writeSums() {
    os << "<div class=\"sums\"><table>\n";
    writeInstructions();
    os << "</table><table>\n";
    writeExecution();
    os << "</table><table>\n";
    writeMemory();
    os << "</table></div>\n";
  }

  void writeInstructions() {
    const CountTotals &all = report.total;
    heading("Instructions of warps");
    for (llvm::StringRef kind : countedClasses())
      if (uint64_t warps = all.warpsOf(kind))
        row(kind, warps,
            withDigits(100.0 * double(warps) / double(all.instructions.warps), 1) + "%");
    row("all", all.instructions.warps);
  }

  void writeExecution() {
    const CountTotals &all = report.total;
    heading("Execution");
    row("thread instructions", all.instructions.threads);
    row("active lanes", withDigits(all.activeLanes(), 1), "of " + std::to_string(report.warpSize));
    row("divergent branches", all.divergentBranches, "of " + withSeparators(all.warpsOf("branch")),
        all.divergentBranches != 0);
    row("barriers", all.warpsOf("barrier"));
    heading("Arithmetic");
    row("FLOPs", all.flops);
    for (const auto &[kind, operations] : report.operations)
      row(kind, operations, "operations");
    if (all.intensity())
      row("FLOPs per byte", withDigits(*all.intensity(), 2), "of global memory");
  }

  void writeMemory() {
    const CountTotals &all = report.total;
    heading("Global memory");
    row("requests", all.globalRequests);
    row("sectors", all.sectors, "ideal " + withSeparators(all.idealSectors),
        all.hasExcessSectors());
    row("bytes read", all.globalRead);
    row("bytes written", all.globalWritten);
    heading("Shared memory");
    row("requests", all.sharedRequests);
    row("wavefronts", all.wavefronts, "ideal " + withSeparators(all.idealWavefronts));
    row("bank conflicts", all.bankConflicts(), "", all.bankConflicts() != 0);
    row("bytes read", all.sharedRead);
    row("bytes written", all.sharedWritten,
        all.asyncBytes ? withSeparators(all.asyncBytes) + " asynchronously" : "");
  }

  const CountReport &report;
  llvm::raw_ostream &os;
};

} // namespace

void writeLaunches(const ReportPage &page, llvm::raw_ostream &os) {
  os << "<section id=\"launches\"><h2>Counted launches</h2>\n";
  for (auto [number, counts] : llvm::enumerate(page.counts)) {
    const BinarySummary *binary = nullptr;
    if (page.library) {
      auto found = findCounted(*page.library, counts);
      if (found)
        binary = *found;
      else
        llvm::consumeError(found.takeError());
    }
    LaunchWriter(counts, os)
        .write(launchTitle(page, number), number, page.library.has_value(), binary);
  }
  os << "</section>\n";
}

} // namespace kiln

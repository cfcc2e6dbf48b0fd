// The table that `kiln run --count` prints: the kernel's sums, then the lines with most
// instructions.

#include "compiler/Report/CountReport.h"
#include "compiler/Report/HtmlText.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/Support/Format.h"
#include <tuple>

namespace kiln {
namespace {

constexpr unsigned mostLines = 20;
constexpr int labelWidth = 22, numberWidth = 16;

std::string percent(uint64_t part, uint64_t whole) {
  return whole ? withDigits(100.0 * double(part) / double(whole), 1) + "%" : "";
}

class TablePrinter {
public:
  TablePrinter(const CountReport &report, llvm::raw_ostream &os) : report(report), os(os) {}

  void print() {
    os << report.entry << " (" << report.kernel << ") on " << report.target << ", variant "
       << report.variant << "\n"
       << launchOf(report) << "\n\n";
    printInstructions();
    printMemory();
    printArithmetic();
    printLines();
  }

private:
  void row(llvm::StringRef label, uint64_t number, const std::string &rest = "") {
    os << llvm::left_justify(label, labelWidth)
       << llvm::right_justify(withSeparators(number), numberWidth);
    os << (rest.empty() ? "" : "  ") << rest << "\n";
  }

  void printInstructions() {
    const CountTotals &all = report.total;
    row("warp instructions", all.instructions.warps,
        withDigits(all.activeLanes(), 1) + " of " + std::to_string(report.warpSize) +
            " lanes active");
    for (llvm::StringRef kind : countedClasses())
      if (uint64_t number = all.warpsOf(kind))
        row("  " + kind.str(), number, percent(number, all.instructions.warps));
    row("thread instructions", all.instructions.threads);
    row("divergent branches", all.divergentBranches, "of " + withSeparators(all.warpsOf("branch")));
  }

  void printMemory() {
    const CountTotals &all = report.total;
    auto ratio = [](uint64_t made, uint64_t ideal) {
      return ideal ? " (" + withDigits(double(made) / double(ideal), 2) + "x)" : std::string();
    };
    os << "\n";
    row("global requests", all.globalRequests);
    row("  sectors", all.sectors,
        "ideal " + withSeparators(all.idealSectors) + ratio(all.sectors, all.idealSectors));
    row("  bytes read", all.globalRead);
    row("  bytes written", all.globalWritten);
    row("shared requests", all.sharedRequests);
    row("  wavefronts", all.wavefronts,
        "ideal " + withSeparators(all.idealWavefronts) + ", " +
            withSeparators(all.bankConflicts()) + " bank conflicts");
    row("  bytes read", all.sharedRead);
    row("  bytes written", all.sharedWritten,
        all.asyncBytes ? withSeparators(all.asyncBytes) + " by asynchronous copies" : "");
  }

  void printArithmetic() {
    const CountTotals &all = report.total;
    os << "\n";
    row("FLOPs", all.flops,
        all.intensity() ? withDigits(*all.intensity(), 2) + " for each byte of global memory" : "");
    row("matrix instructions", all.warpsOf("matrix"),
        withSeparators(all.matrixOperations) + " operations");
    row("barriers", all.warpsOf("barrier"));
  }

  void printLines() {
    std::vector<const CountedLine *> hottest;
    for (const CountedLine &line : report.lines)
      if (line.own.instructions.warps)
        hottest.push_back(&line);
    // Of equals the first in the report, whose lines stand side by side.
    llvm::sort(hottest, [](const CountedLine *a, const CountedLine *b) {
      return std::tie(b->own.instructions.warps, a) < std::tie(a->own.instructions.warps, b);
    });
    size_t shown = std::min<size_t>(hottest.size(), mostLines);
    os << "\n"
       << llvm::right_justify("warp instructions", 24) << "   lanes           FLOPs"
       << "  sectors/ideal  wavefronts/ideal  line\n";
    for (const CountedLine *line : llvm::ArrayRef(hottest).take_front(shown))
      printLine(*line);
    if (shown < hottest.size())
      os << "… and " << hottest.size() - shown << " lines with fewer instructions\n";
  }

  void printLine(const CountedLine &line) {
    const CountTotals &own = line.own;
    auto pair = [](uint64_t made, uint64_t ideal) {
      return made ? withSeparators(made) + "/" + withSeparators(ideal) : std::string();
    };
    os << llvm::right_justify(withSeparators(own.instructions.warps), 16)
       << llvm::right_justify(percent(own.instructions.warps, report.total.instructions.warps), 8)
       << llvm::right_justify(withDigits(own.activeLanes(), 1), 8)
       << llvm::right_justify(own.flops ? withSeparators(own.flops) : "", 16)
       << llvm::right_justify(pair(own.sectors, own.idealSectors), 15)
       << llvm::right_justify(pair(own.wavefronts, own.idealWavefronts), 18) << "  ";
    if (line.file.empty())
      os << "(no place)\n";
    else
      os << line.file << ":" << line.line << ": " << llvm::StringRef(line.source).trim() << "\n";
    std::vector<std::string> hints = countHints(own, report.warpSize);
    if (line.inclusive > own.instructions.warps)
      hints.push_back(withSeparators(line.inclusive) + " with the functions that are called here");
    for (const std::string &hint : hints)
      os << std::string(83, ' ') << "^ " << hint << "\n";
  }

  const CountReport &report;
  llvm::raw_ostream &os;
};

} // namespace

void writeCountTable(const CountReport &report, llvm::raw_ostream &os) {
  TablePrinter(report, os).print();
}

} // namespace kiln

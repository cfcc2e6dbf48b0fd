// Counts as the annotated source, in one HTML page that needs nothing else: no scripts, no other
// files. It is well-formed XML as well, so that any XML tool reads it.

#include "compiler/Driver/CountReport.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/Support/JSON.h"
#include <cmath>
#include <tuple>

namespace kiln {
namespace {

constexpr char style[] = R"(
:root { color-scheme: light dark; --back: #ffffff; --text: #1c1e21; --faint: #6b7078; --rule: #d9dce1;
  --heat: 224, 88, 28; --note: #9a4a00; --noteback: #fff4e5; }
@media (prefers-color-scheme: dark) {
  :root { --back: #16181c; --text: #e4e6ea; --faint: #9096a0; --rule: #33373e;
    --heat: 255, 120, 50; --note: #ffb469; --noteback: #2b2118; } }
body { background: var(--back); color: var(--text); font: 14px/1.4 system-ui, sans-serif; margin: 2em; }
h1 { font-size: 1.4em; margin: 0 0 .2em; } h2 { font-size: 1.1em; margin: 1.6em 0 .4em; }
p { margin: .2em 0; color: var(--faint); }
table { border-collapse: collapse; font-variant-numeric: tabular-nums; }
th, td { padding: .1em .7em; text-align: right; white-space: nowrap; }
th { position: sticky; top: 0; background: var(--back); border-bottom: 1px solid var(--rule);
  font-weight: 600; vertical-align: bottom; }
.sums { display: flex; flex-wrap: wrap; gap: 1em 3em; align-items: flex-start; }
.sums td:first-child, .sums th { text-align: left; } .sums th { position: static; }
.source td.code, .source th.code { text-align: left; white-space: pre; font-family: ui-monospace, monospace; }
.source td.code { tab-size: 4; } td.number { color: var(--faint); }
.heat { background: rgba(var(--heat), var(--share)); }
.bad { color: var(--note); font-weight: 600; }
tr.hint td { text-align: left; color: var(--note); background: var(--noteback); white-space: normal; }
)";

/// As text or an attribute's value. What is no UTF-8, or no character in XML, becomes U+FFFD.
std::string escaped(llvm::StringRef text) {
  std::string result;
  for (char letter : llvm::json::fixUTF8(text)) {
    switch (letter) {
    case '&':
      result += "&amp;";
      break;
    case '<':
      result += "&lt;";
      break;
    case '>':
      result += "&gt;";
      break;
    case '"':
      result += "&quot;";
      break;
    default:
      if (static_cast<unsigned char>(letter) < ' ' && letter != '\n' && letter != '\t')
        result += "\xEF\xBF\xBD";
      else
        result += letter;
    }
  }
  return result;
}

class HtmlWriter {
public:
  HtmlWriter(const CountReport &report, llvm::raw_ostream &os) : report(report), os(os) {
    for (const CountedLine &line : report.lines) {
      hottest = std::max(hottest, line.own.instructions.warps);
      byPlace[{line.file, line.line}] = &line;
    }
  }

  void write() {
    os << "<!DOCTYPE html>\n<html lang=\"en\"><head><meta charset=\"utf-8\"/>\n"
       << "<meta name=\"viewport\" content=\"width=device-width\"/>\n<title>"
       << escaped(report.entry) << " on " << escaped(report.target) << "</title>\n<style>" << style
       << "</style></head>\n<body>\n";
    writeHead();
    writeSums();
    for (const std::string &file : filesByHeat())
      writeSource(file, report.sources.at(file));
    writeRest();
    os << "</body></html>\n";
  }

private:
  void writeHead() {
    os << "<h1>" << escaped(report.entry) << "</h1>\n<p>" << escaped(report.kernel) << " on "
       << escaped(report.target) << ", variant " << escaped(report.variant) << "</p>\n<p>"
       << launchOf(report) << "</p>\n";
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
    const CountTotals &all = report.total;
    os << "<div class=\"sums\"><table>\n";
    heading("Instructions of warps");
    for (llvm::StringRef kind : countedClasses())
      if (uint64_t number = all.warpsOf(kind))
        row(kind, number,
            withDigits(100.0 * double(number) / double(all.instructions.warps), 1) + "%");
    row("all", all.instructions.warps);
    os << "</table><table>\n";
    heading("Execution");
    row("thread instructions", all.instructions.threads);
    row("active lanes", withDigits(all.activeLanes(), 1), "of " + std::to_string(report.warpSize));
    row("divergent branches", all.divergentBranches, "of " + withSeparators(all.warpsOf("branch")),
        all.divergentBranches != 0);
    row("barriers", all.warpsOf("barrier"));
    heading("Arithmetic");
    row("FLOPs", all.flops);
    row("matrix instructions", all.warpsOf("matrix"));
    row("matrix operations", all.matrixOperations);
    if (all.intensity())
      row("FLOPs per byte", withDigits(*all.intensity(), 2), "of global memory");
    os << "</table><table>\n";
    heading("Global memory");
    row("requests", all.globalRequests);
    row("sectors", all.sectors, "ideal " + withSeparators(all.idealSectors),
        isExcess(all.sectors, all.idealSectors));
    row("bytes read", all.globalRead);
    row("bytes written", all.globalWritten);
    heading("Shared memory");
    row("requests", all.sharedRequests);
    row("wavefronts", all.wavefronts, "ideal " + withSeparators(all.idealWavefronts));
    row("bank conflicts", all.bankConflicts(), "", all.bankConflicts() != 0);
    row("bytes read", all.sharedRead);
    row("bytes written", all.sharedWritten,
        all.asyncBytes ? withSeparators(all.asyncBytes) + " asynchronously" : "");
    os << "</table></div>\n";
  }

  /// As countHints has it.
  static bool isExcess(uint64_t made, uint64_t ideal) { return made * 8 > ideal * 9; }

  void openTable() {
    os << "<table class=\"source\">\n<tr><th>line</th><th>warp<br/>instructions</th>"
          "<th>with<br/>helpers</th><th>active<br/>lanes</th><th>FLOPs</th><th>matrix</th>"
          "<th>sectors</th><th>ideal</th><th>wavefronts</th><th>ideal</th><th>divergent</th>"
          "<th class=\"code\">source</th></tr>\n";
  }

  /// Those with a source, most instructions first.
  std::vector<std::string> filesByHeat() const {
    std::map<std::string, uint64_t> sums;
    for (const CountedLine &line : report.lines)
      sums[line.file] += line.own.instructions.warps;
    std::vector<std::string> files;
    for (const auto &[file, lines] : report.sources)
      if (!lines.empty())
        files.push_back(file);
    llvm::sort(files, [&](const std::string &a, const std::string &b) {
      return std::tie(sums[b], a) < std::tie(sums[a], b);
    });
    return files;
  }

  void writeSource(const std::string &file, const std::vector<std::string> &lines) {
    os << "<h2>" << escaped(file) << "</h2>\n";
    openTable();
    for (uint32_t number = 1; number <= lines.size(); ++number) {
      auto found = byPlace.find({file, number});
      writeLine(number, found == byPlace.end() ? nullptr : found->second, lines[number - 1]);
      byPlace.erase({file, number});
    }
    os << "</table>\n";
  }

  /// Places without a source.
  void writeRest() {
    if (byPlace.empty())
      return;
    os << "<h2>Without source</h2>\n";
    openTable();
    for (const auto &[place, line] : byPlace)
      writeLine(line->line, line, line->file.empty() ? "(no place)" : line->file);
    os << "</table>\n";
  }

  void cell(uint64_t number, bool isBad = false) {
    os << "<td" << (isBad ? " class=\"bad\"" : "") << ">" << (number ? withSeparators(number) : "")
       << "</td>";
  }

  /// "integer 1,024, address 96"
  static std::string classesOf(const CountTotals &counts) {
    std::string text;
    for (llvm::StringRef kind : countedClasses())
      if (uint64_t number = counts.warpsOf(kind))
        text += (text.empty() ? "" : ", ") + kind.str() + " " + withSeparators(number);
    return text;
  }

  void writeLine(uint32_t number, const CountedLine *line, llvm::StringRef source) {
    CountTotals own = line ? line->own : CountTotals();
    uint64_t warps = own.instructions.warps;
    os << "<tr><td class=\"number\">" << number << "</td><td";
    if (warps) // the square root keeps lines apart that are far below the hottest
      os << " class=\"heat\" style=\"--share: "
         << withDigits(0.75 * std::sqrt(double(warps) / double(hottest)), 3) << "\" title=\""
         << classesOf(own) << "\"";
    os << ">" << (warps ? withSeparators(warps) : "") << "</td>";
    cell(line && line->inclusive != warps ? line->inclusive : 0);
    os << "<td>" << (warps ? withDigits(own.activeLanes(), 1) : "") << "</td>";
    cell(own.flops);
    cell(own.warpsOf("matrix"));
    cell(own.sectors, isExcess(own.sectors, own.idealSectors));
    cell(own.idealSectors);
    cell(own.wavefronts, own.bankConflicts() != 0);
    cell(own.idealWavefronts);
    cell(own.divergentBranches, own.divergentBranches != 0);
    os << "<td class=\"code\">" << escaped(source) << "</td></tr>\n";
    for (const std::string &hint : countHints(own, report.warpSize))
      os << "<tr class=\"hint\"><td colspan=\"11\"></td><td>" << escaped(hint) << "</td></tr>\n";
  }

  const CountReport &report;
  llvm::raw_ostream &os;
  uint64_t hottest = 0;
  std::map<std::pair<std::string, uint32_t>, const CountedLine *> byPlace;
};

} // namespace

std::string writeCountHtml(const CountReport &report) {
  std::string text;
  llvm::raw_string_ostream os(text);
  HtmlWriter(report, os).write();
  return text;
}

} // namespace kiln

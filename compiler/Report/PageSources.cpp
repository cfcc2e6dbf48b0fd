// Sources with counts beside each line, the launches side by side. Lines that no launch reached are
// folded, but for one on each side of what ran.

#include "compiler/Report/HtmlText.h"
#include "compiler/Report/PageParts.h"
#include "llvm/ADT/STLExtras.h"
#include <cmath>
#include <map>
#include <tuple>

namespace kiln {
namespace {

/// What is counted of a line; the first is shown where there are several launches.
constexpr PageColumn metrics[] = {
    {"warp instructions", "executions by warps of what stands in the line"},
    {"with helpers", "and of the functions that it calls"},
    {"active lanes", "on average, of a warp's"},
    {"FLOPs", "floating-point operations"},
    {"matrix", "matrix instructions"},
    {"sectors", "of 32 bytes of global memory, and how many would do"},
    {"wavefronts", "of shared memory, and how many would do without bank conflicts"},
    {"divergent", "branches that split a warp"},
};

/// Where lines of a file were counted, in one launch.
using LaunchLines = std::map<uint32_t, const CountedLine *>;

struct File {
  std::string name;
  const std::vector<std::string> *lines = nullptr;
  /// By number of the launch.
  std::map<size_t, LaunchLines> launches;
  uint64_t instructions = 0;
};

/// Those of which lines were counted, most instructions first.
std::vector<File> filesOf(const ReportPage &page) {
  std::map<std::string, File> byName;
  for (auto [number, counts] : llvm::enumerate(page.counts))
    for (const CountedLine &line : counts.lines) {
      File &file = byName[line.file];
      file.name = line.file;
      file.launches[number][line.line] = &line;
      file.instructions += line.own.instructions.warps;
      auto source = counts.sources.find(line.file);
      if (!file.lines && source != counts.sources.end() && !source->second.empty())
        file.lines = &source->second;
    }
  std::vector<File> files;
  for (auto &[name, file] : byName)
    files.push_back(std::move(file));
  llvm::sort(files, [](const File &a, const File &b) {
    return std::tie(b.instructions, a.name) < std::tie(a.instructions, b.name);
  });
  return files;
}

class SourceTable {
public:
  SourceTable(const ReportPage &page, const File &file, llvm::raw_ostream &os)
      : page(page), file(file), os(os) {
    for (const auto &[launch, lines] : file.launches)
      for (const auto &[number, line] : lines)
        hottest[launch] = std::max(hottest[launch], line->own.instructions.warps);
  }

  void write() {
    os << "<h3>" << escaped(file.name.empty() ? "No place" : file.name)
       << "</h3>\n<table class=\"source" << (file.launches.size() > 1 ? " several" : "") << "\">\n";
    writeTableHead();
    if (file.lines)
      writeFolded();
    else
      writeWithoutSource();
    os << "</table>\n";
  }

private:
  /// Those that are shown: all of one launch, or one of each.
  size_t numColumns() const {
    return 2 + (file.launches.size() > 1 ? file.launches.size() : std::size(metrics));
  }

  void writeTableHead() {
    os << "<thead>";
    if (file.launches.size() > 1) {
      os << "<tr><th colspan=\"2\"></th>";
      for (const auto &[launch, lines] : file.launches)
        os << "<th class=\"launch r" << launch << "\">" << escaped(launchTitle(page, launch))
           << "</th>";
      os << "</tr>";
    }
    os << "<tr><th>line</th><th class=\"text\">source</th>";
    for (const auto &[launch, lines] : file.launches)
      for (auto [number, metric] : llvm::enumerate(metrics))
        os << "<th class=\"r" << launch << " m" << number << "\" title=\""
           << escaped(metric.explanation) << "\">" << metric.name << "</th>";
    os << "</tr></thead>\n";
  }

  bool hasRun(uint32_t number) const {
    return llvm::any_of(file.launches,
                        [&](const auto &launch) { return launch.second.count(number); });
  }

  /// Whether a line, or one beside it, has run.
  bool isShown(uint32_t number) const {
    return hasRun(number) || hasRun(number + 1) || (number > 1 && hasRun(number - 1));
  }

  /// The first line behind `number` that is folded where it is not, or the other way around. Folds
  /// of a line or two would save nothing.
  uint32_t endOfPart(uint32_t number, bool isFolded) const {
    constexpr uint32_t leastFold = 3;
    auto last = uint32_t(file.lines->size());
    while (number <= last) {
      uint32_t end = number;
      while (end <= last && isShown(end) == isShown(number))
        ++end;
      bool folds = !isShown(number) && end - number >= leastFold;
      if (folds != isFolded)
        break;
      number = end;
    }
    return number;
  }

  void writeFolded() {
    auto last = uint32_t(file.lines->size());
    bool isFolded = false;
    for (uint32_t number = 1; number <= last; isFolded = !isFolded) {
      uint32_t end = endOfPart(number, isFolded);
      if (end == number)
        continue;
      if (isFolded)
        os << "<tbody class=\"fold\"><tr><td colspan=\"" << numColumns()
           << "\"><label><input type=\"checkbox\"/> " << end - number
           << " lines that did not run</label></td></tr></tbody>";
      os << "<tbody" << (isFolded ? " class=\"cold\"" : "") << ">\n";
      for (; number < end; ++number)
        writeLine(number, (*file.lines)[number - 1]);
      os << "</tbody>\n";
    }
  }

  void writeWithoutSource() {
    std::map<uint32_t, std::string> numbers;
    for (const auto &[launch, lines] : file.launches)
      for (const auto &[number, line] : lines)
        numbers[number] = line->source;
    os << "<tbody>\n";
    for (const auto &[number, source] : numbers)
      writeLine(number, source);
    os << "</tbody>\n";
  }

  void writeLine(uint32_t number, const std::string &source) {
    os << "<tr" << (hasRun(number) ? "" : " class=\"still\"") << "><td class=\"number\">";
    if (number)
      os << number;
    os << "</td><td class=\"code\">" << escaped(source) << "</td>";
    std::vector<std::pair<size_t, std::string>> hints;
    for (const auto &[launch, lines] : file.launches) {
      auto found = lines.find(number);
      const CountedLine *line = found == lines.end() ? nullptr : found->second;
      writeMetrics(launch, line);
      if (line)
        for (std::string &hint : countHints(line->own, page.counts[launch].warpSize))
          hints.emplace_back(launch, std::move(hint));
    }
    os << "</tr>\n";
    for (const auto &[launch, hint] : hints) {
      os << "<tr class=\"hint r" << launch << "\"><td></td><td colspan=\"" << numColumns() - 1
         << "\">";
      if (file.launches.size() > 1)
        os << escaped(launchTitle(page, launch)) << ": ";
      os << escaped(hint) << "</td></tr>\n";
    }
  }

  /// "integer 1,024, address 96"
  static std::string classesOf(const CountTotals &counts) {
    std::string text;
    for (llvm::StringRef kind : countedClasses())
      if (uint64_t number = counts.warpsOf(kind))
        text += (text.empty() ? "" : ", ") + kind.str() + " " + withSeparators(number);
    return text;
  }

  void writeMetrics(size_t launch, const CountedLine *line) {
    size_t next = 0;
    std::string which; // on small screens, which have no head
    if (file.launches.size() > 1)
      which = " data-r=\"" + escaped(page.counts[launch].target) + "\"";
    auto cell = [&](const std::string &text, bool isBad = false, const std::string &more = "") {
      os << "<td class=\"r" << launch << " m" << next << (isBad ? " bad" : "")
         << (text.empty() ? " none" : "") << "\" data-l=\"" << metrics[next].name << "\"" << which
         << more << ">" << text << "</td>";
      ++next;
    };
    auto number = [&](uint64_t value, bool isBad = false) {
      cell(value ? withSeparators(value) : "", isBad);
    };
    auto ofIdeal = [&](uint64_t made, uint64_t ideal, bool isBad) {
      cell(made ? withSeparators(made) + " / " + withSeparators(ideal) : "", isBad);
    };
    CountTotals own = line ? line->own : CountTotals();
    uint64_t warps = own.instructions.warps;
    std::string heat;
    if (warps) // the square root keeps lines apart that are far below the hottest
      heat =
          " style=\"--share: " + withDigits(std::sqrt(double(warps) / double(hottest[launch])), 3) +
          "\" title=\"" + escaped(classesOf(own)) + "\"";
    cell(warps ? withSeparators(warps) : "", false, heat);
    number(line && line->inclusive != warps ? line->inclusive : 0);
    cell(warps ? withDigits(own.activeLanes(), 1) : "");
    number(own.flops);
    number(own.warpsOf("matrix"));
    ofIdeal(own.sectors, own.idealSectors, own.hasExcessSectors());
    ofIdeal(own.wavefronts, own.idealWavefronts, own.bankConflicts() != 0);
    number(own.divergentBranches, own.divergentBranches != 0);
  }

  const ReportPage &page;
  const File &file;
  llvm::raw_ostream &os;
  std::map<size_t, uint64_t> hottest;
};

} // namespace

void writeSources(const ReportPage &page, llvm::raw_ostream &os) {
  os << "<section id=\"source\"><h2>Source</h2>\n<div class=\"tools\"><label><input "
        "type=\"checkbox\" id=\"unfold\"/> lines that did not run</label>"
        "<span class=\"filters\" data-for=\"source\"></span></div>\n";
  for (const File &file : filesOf(page))
    SourceTable(page, file, os).write();
  os << "</section>\n";
}

} // namespace kiln

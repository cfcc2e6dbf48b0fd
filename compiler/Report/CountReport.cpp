#include "compiler/Report/CountReport.h"
#include "compiler/Report/HtmlText.h"
#include "compiler/Target/TargetInfo.h"

#include "llvm/ADT/STLExtras.h"
#include <set>

namespace kiln {

llvm::ArrayRef<llvm::StringRef> countedClasses() {
  static constexpr llvm::StringRef names[] = {
#define KILN_INSTRUCTION_CLASS(ENUMERATOR, NAME) NAME,
#include "runtime/emulator/instruction_classes.def"
#undef KILN_INSTRUCTION_CLASS
  };
  return names;
}

void CountTotals::add(const kiln_emulator_count &count) {
  instructions.warps += count.instructions;
  instructions.threads += count.thread_instructions;
  if (count.instructions) {
    Instructions &sum = classes[count.kind];
    sum.warps += count.instructions;
    sum.threads += count.thread_instructions;
  }
  divergentBranches += count.divergent_branches;
  flops += count.flops;
  matrixOperations += count.matrix_operations;
  globalRequests += count.global_requests;
  sectors += count.sectors;
  idealSectors += count.ideal_sectors;
  globalRead += count.global_read;
  globalWritten += count.global_written;
  sharedRequests += count.shared_requests;
  wavefronts += count.wavefronts;
  idealWavefronts += count.ideal_wavefronts;
  sharedRead += count.shared_read;
  sharedWritten += count.shared_written;
  if (llvm::StringRef(count.kind) == "async copy")
    asyncBytes += count.shared_written;
}

uint64_t CountTotals::warpsOf(llvm::StringRef kind) const {
  auto found = classes.find(kind.str());
  return found == classes.end() ? 0 : found->second.warps;
}

double CountTotals::activeLanes() const {
  return instructions.warps ? double(instructions.threads) / double(instructions.warps) : 0;
}

std::optional<double> CountTotals::intensity() const {
  if (!globalBytes())
    return std::nullopt;
  return double(flops) / double(globalBytes());
}

std::string matrixTypeOf(llvm::StringRef operation) {
  static constexpr std::pair<llvm::StringLiteral, llvm::StringLiteral> types[] = {
      {"f8f6f4", "f8"}, {"f8f6f4", "f8"}, {"e4m3", "f8"},   {"e5m2", "f8"},   {"fp8", "f8"},
      {"bf8", "f8"},    {"bf16", "bf16"}, {"tf32", "tf32"}, {"xf32", "tf32"}, {"f16", "f16"},
      {"f64", "f64"},   {"i8", "i8"},     {"iu8", "i8"},    {"s8", "i8"},     {"u8", "i8"}};
  for (const auto &[part, type] : types)
    if (operation.contains(part))
      return type.str();
  return "f32";
}

namespace {

/// Lines as text, with tabs and other control characters as blanks.
std::vector<std::string> linesOf(const SourceFile &file) {
  std::vector<std::string> lines;
  for (uint32_t number = 1; number <= file.getNumLines(); ++number) {
    std::string line = file.getLine(number).str();
    for (char &letter : line)
      if (static_cast<unsigned char>(letter) < ' ')
        letter = ' ';
    lines.push_back(line);
  }
  while (!lines.empty() && lines.back().empty())
    lines.pop_back();
  return lines;
}

class Collector {
public:
  Collector(CountReport &report, SourceManager &manager) : report(report), manager(manager) {}

  void add(const kiln_emulator_count &count) {
    report.total.add(count);
    if (!count.instructions)
      return;
    report.places.push_back(count);
    addOperations(count);
    at(count.file, count.line).own.add(count);
    // A line counts once, also where a function calls itself.
    std::set<std::pair<std::string, uint32_t>> around = {{count.file, count.line}};
    for (const kiln_emulator_position *caller = count.caller; caller; caller = caller->caller)
      around.insert({caller->file, caller->line});
    for (const auto &[file, line] : around)
      at(file, line).inclusive += count.instructions;
  }

  void finish() {
    for (auto &[place, line] : lines)
      report.lines.push_back(std::move(line));
    auto key = [](const kiln_emulator_count &count) {
      return std::make_tuple(llvm::StringRef(count.file), count.line, count.column,
                             llvm::StringRef(count.operation), llvm::StringRef(count.kind));
    };
    llvm::sort(report.places, [&](const auto &a, const auto &b) { return key(a) < key(b); });
  }

private:
  void addOperations(const kiln_emulator_count &count) {
    std::string kind = count.kind;
    if (count.matrix_operations)
      report.operations["matrix " + matrixTypeOf(count.operation)] += count.matrix_operations;
    else if (count.flops)
      report.operations[kind] += count.flops;
  }

  CountedLine &at(const std::string &file, uint32_t number) {
    CountedLine &line = lines[{file, number}];
    if (!line.file.empty() || line.line || file.empty())
      return line;
    line.file = file;
    line.line = number;
    const std::vector<std::string> &text = sourceOf(file);
    if (number >= 1 && number <= text.size())
      line.source = text[number - 1];
    return line;
  }

  const std::vector<std::string> &sourceOf(const std::string &file) {
    auto [place, isNew] = report.sources.try_emplace(file);
    if (!isNew)
      return place->second;
    const SourceFile *source = manager.find(file);
    if (!source)
      if (auto loaded = manager.load(file))
        source = *loaded;
    if (source)
      place->second = linesOf(*source);
    return place->second;
  }

  CountReport &report;
  SourceManager &manager;
  std::map<std::pair<std::string, uint32_t>, CountedLine> lines;
};

} // namespace

void CountReport::collect(kiln_emulator *emulator, SourceManager &manager) {
  kiln_emulator_kernel counted;
  for (uint32_t i = 0; i < kiln_emulator_num_kernels(emulator); ++i) {
    if (kiln_emulator_kernel_at(emulator, i, &counted) != KILN_SUCCESS)
      continue;
    kernel = counted.name;
    blocks += counted.blocks;
    threads = counted.threads;
    warpSize = counted.warp_size;
  }
  Collector collector(*this, manager);
  kiln_emulator_count count;
  for (uint32_t i = 0; i < kiln_emulator_num_counts(emulator); ++i)
    if (kiln_emulator_count_at(emulator, i, &count) == KILN_SUCCESS)
      collector.add(count);
  collector.finish();
}

std::string launchOf(const CountReport &report) {
  return withSeparators(report.blocks) + (report.blocks == 1 ? " block of " : " blocks of ") +
         std::to_string(report.threads) + " threads, warps of " + std::to_string(report.warpSize);
}

std::string CountReport::hardwareTarget() const {
  auto parsed = parseTarget(target);
  if (parsed)
    return parsed->hardwareName();
  llvm::consumeError(parsed.takeError());
  return target;
}

std::vector<std::string> countHints(const CountTotals &counts, uint32_t warpSize) {
  std::vector<std::string> hints;
  if (counts.hasExcessSectors())
    hints.push_back(withDigits(double(counts.sectors) / double(counts.idealSectors), 2) +
                    " times the ideal sectors: lanes access memory misaligned or with gaps");
  if (counts.bankConflicts())
    hints.push_back(withSeparators(counts.bankConflicts()) +
                    " bank conflicts: lanes access different words of one bank");
  if (counts.divergentBranches)
    hints.push_back(withSeparators(counts.divergentBranches) + " of " +
                    withSeparators(counts.warpsOf("branch")) +
                    " branches split a warp: its lanes go different ways");
  else if (counts.instructions.warps && counts.activeLanes() < 0.75 * warpSize)
    hints.push_back("only " + withDigits(counts.activeLanes(), 1) + " of " +
                    std::to_string(warpSize) + " lanes are active");
  return hints;
}

} // namespace kiln

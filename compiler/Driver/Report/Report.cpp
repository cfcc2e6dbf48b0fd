// kiln report: what is in a library, and what its kernels did when they were counted, as a page.

#include "compiler/Driver/Report/Report.h"
#include "codegen/OutputSet.h"
#include "compiler/Basic/NameSuggestion.h"
#include "compiler/Basic/RegularFile.h"
#include "compiler/Driver/Session/Session.h"
#include "compiler/Report/ReportPage.h"
#include "llvm/ADT/STLExtras.h"

namespace kiln {
namespace {

class ReportMaker {
public:
  explicit ReportMaker(const CommandLine &line) : asked(line.report), session(line.compiler) {}

  bool execute() {
    if (!readLibrary() || !readCounts() || !chooseGpus())
      return false;
    session.checkOutputs({{asked.output, "-o"}});
    if (session.reporter.errors())
      return false;
    page.title = page.library->name;
    return write();
  }

private:
  template <typename... Args> Diagnostic &report(DiagKind kind, const Args &...args) {
    return session.diagnostics.report(kind, DiagPlace(), args...);
  }
  bool flush() {
    session.reporter.report(session.diagnostics, session.sources);
    session.diagnostics.clear();
    return session.reporter.errors() == 0;
  }

  /// What `read` makes of a file's bytes.
  template <typename T>
  std::optional<T> readFile(const std::string &path, uint64_t maxBytes,
                            llvm::Expected<T> (*read)(llvm::StringRef)) {
    session.noteInput(path);
    auto file = readRegularFile(path, maxBytes);
    if (!file) {
      report(DiagKind::DriverCannotRead, path, file.getError().message());
      return std::nullopt;
    }
    auto result = read((*file)->getBuffer());
    if (result)
      return std::move(*result);
    report(DiagKind::DriverCannotRead, path, llvm::toString(result.takeError()));
    return std::nullopt;
  }

  bool readLibrary() {
    page.library = readFile(asked.library, uint64_t(1) << 40, inspectLibrary);
    return flush();
  }

  bool readCounts() {
    for (const std::string &path : asked.counts) {
      auto counts = readFile(path, uint64_t(1) << 32, readCountJson);
      if (!counts)
        continue;
      auto found = findCounted(*page.library, *counts);
      if (!found)
        report(DiagKind::DriverOtherCounts, path, llvm::toString(found.takeError()));
      page.counts.push_back(std::move(*counts));
    }
    return flush();
  }

  /// Those that were asked for, or else all that run what was counted.
  bool chooseGpus() {
    std::vector<llvm::StringRef> known;
    for (const GpuModel &gpu : gpuModels()) {
      known.push_back(gpu.name);
      if (asked.gpus.empty() && isCounted(gpu))
        page.gpus.push_back(&gpu);
    }
    for (const std::string &name : asked.gpus) {
      const GpuModel *gpu = findGpu(name);
      if (!gpu)
        report(DiagKind::DriverNoGpu, name, llvm::join(known, ", "))
            .withHint(suggestName(name, known));
      else if (!isCounted(*gpu))
        report(DiagKind::DriverGpuNotCounted, name, gpu->target);
      else if (!llvm::is_contained(page.gpus, gpu))
        page.gpus.push_back(gpu);
    }
    return flush();
  }

  bool isCounted(const GpuModel &gpu) const {
    return llvm::any_of(page.counts, [&](const CountReport &counts) {
      return counts.hardwareTarget() == gpu.target;
    });
  }

  bool write() {
    OutputSet files;
    llvm::Error error = files.open(asked.output);
    if (!error)
      error = files.add(asked.output, writeReportPage(page));
    if (!error)
      error = files.commit();
    if (error)
      report(DiagKind::DriverCannotWrite, llvm::toString(std::move(error)));
    return flush();
  }

  const ReportOptions &asked;
  Session session;
  ReportPage page;
};

} // namespace

int runReport(const CommandLine &line) { return ReportMaker(line).execute() ? 0 : 1; }

} // namespace kiln

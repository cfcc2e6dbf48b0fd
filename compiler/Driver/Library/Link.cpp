// kiln link: a library out of the pieces that kiln build --objects has made.

#include "compiler/Basic/RegularFile.h"
#include "compiler/Driver/Jobs/PortablePath.h"
#include "compiler/Driver/Library/Library.h"
#include "compiler/Driver/Library/PieceFile.h"
#include "compiler/Driver/Process/Interrupt.h"
#include "compiler/Driver/Session/BuildOutputs.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/Path.h"

namespace kiln {
namespace {

/// Reads files of pieces, and holds each piece against what the plan wants for its job.
class PieceReader {
public:
  PieceReader(Session &session, const CompilerOptions &options, const BuildPlan &plan)
      : session(session), options(options), plan(plan), results(plan.jobs.size()),
        origins(plan.jobs.size()) {
    for (auto [index, job] : llvm::enumerate(plan.jobs))
      jobs[job.piece] = index;
  }

  void read(const std::string &path) {
    session.noteDependency(path);
    auto bytes = readRegularFile(path, /*maxBytes=*/uint64_t(1) << 40);
    if (!bytes) {
      report(DiagKind::DriverCannotRead, path, bytes.getError().message());
      return;
    }
    llvm::Expected<PieceFile> file = readPieceFile((*bytes)->getBuffer());
    if (!file)
      report(DiagKind::DriverPieceFile, path, llvm::toString(file.takeError()));
    else if (file->tool != describeTool())
      report(DiagKind::DriverPieceTool, path, file->tool, describeTool());
    else if (file->options != describeOptions(options))
      report(DiagKind::DriverPieceOptions, path, file->options, describeOptions(options));
    else if (hasCurrentSources(path, *file))
      for (Piece &piece : file->pieces)
        take(path, std::move(piece));
  }

  /// In the order of the plan's jobs; empty after an error.
  std::vector<VariantResult> finish() {
    unsigned missing = 0;
    std::string first;
    for (auto [job, origin] : llvm::zip(plan.jobs, origins))
      if (origin.empty() && missing++ == 0)
        first = job.piece;
    // Pieces of a file that was refused are not missing.
    if (missing && !session.diagnostics.hasErrors())
      report(DiagKind::DriverPieceMissing, missing, plan.jobs.size(), first);
    if (!session.diagnostics.hasErrors())
      checkImports();
    bool isGood = !session.diagnostics.hasErrors();
    session.reporter.report(session.diagnostics, session.sources);
    session.diagnostics.clear();
    return isGood ? std::move(results) : std::vector<VariantResult>();
  }

private:
  template <typename... Args> void report(DiagKind kind, const Args &...args) {
    session.diagnostics.report(kind, DiagPlace(), args...);
  }

  /// An import may lead to another file than when the pieces were compiled, which all are as they
  /// were.
  void checkImports() {
    FileId spec = 1;
    for (FileId file = spec + 1; file <= session.sources.getNumFiles(); ++file) {
      llvm::StringRef path = session.sources.get(file).getPath();
      if (!known.contains(absolutePath(path)))
        report(DiagKind::DriverPieceStale, plan.model.name,
               "no piece was compiled from '" + path.str() + "', which its kernels read now");
    }
  }

  std::string placeOf(llvm::StringRef pathFromSpec) const {
    llvm::SmallString<256> place(options.specFolder);
    llvm::sys::path::append(place, pathFromSpec);
    llvm::sys::path::remove_dots(place, /*remove_dot_dot=*/true);
    return place.str().str();
  }

  /// The hash of a source as it is now, or why there is none.
  llvm::ErrorOr<std::string> hashNow(const std::string &path) {
    auto [entry, isNew] = hashes.try_emplace(path, std::string());
    if (isNew) {
      auto bytes = readRegularFile(path, /*maxBytes=*/uint64_t(1) << 32);
      entry->second = bytes ? llvm::ErrorOr<std::string>(sha256Of((*bytes)->getBuffer()))
                            : llvm::ErrorOr<std::string>(bytes.getError());
    }
    return entry->second;
  }

  bool hasCurrentSources(const std::string &path, const PieceFile &file) {
    for (const InputFile &source : file.sources) {
      std::string place = placeOf(source.path);
      known.insert(absolutePath(place));
      llvm::ErrorOr<std::string> now = hashNow(place);
      if (now && *now == source.sha256)
        continue;
      report(
          DiagKind::DriverPieceStale, path,
          "'" + source.path +
              (now ? "' is not what it was compiled from"
                   : "', which it was compiled from, cannot be read: " + now.getError().message()));
      return false;
    }
    return true;
  }

  void take(const std::string &path, Piece piece) {
    auto job = jobs.find(piece.name);
    if (job == jobs.end())
      return report(DiagKind::DriverPieceUnknown, path, piece.name);
    unsigned index = job->second;
    if (piece.recipe != recipeOf(plan, plan.jobs[index]))
      return report(DiagKind::DriverPieceStale, path,
                    "'" + piece.name +
                        "' was compiled from another spec, or with other options of the command "
                        "line");
    if (!origins[index].empty())
      return report(DiagKind::DriverPieceTwice, piece.name, origins[index], path);
    origins[index] = path;
    for (InputFile &source : piece.result.filesRead)
      source.path = placeOf(source.path);
    results[index] = std::move(piece.result);
  }

  Session &session;
  const CompilerOptions &options;
  const BuildPlan &plan;
  llvm::StringMap<unsigned> jobs;
  std::vector<VariantResult> results;
  /// The file that each job's result comes from; empty: none yet.
  std::vector<std::string> origins;
  llvm::StringMap<llvm::ErrorOr<std::string>> hashes;
  /// The places of all sources that the files name.
  llvm::StringSet<> known;
};

} // namespace

int runLink(const CommandLine &line) {
  const CompilerOptions &options = line.compiler;
  Session session(options);
  session.hideKnownWarnings();
  auto spec = session.readSpecFile(line.build.spec, line.build.name, line.build.prefix);
  auto plan = spec ? session.plan(*spec, line.build.spec) : std::nullopt;
  if (!plan)
    return 1;
  PieceReader reader(session, options, *plan);
  for (const std::string &path : line.build.pieces)
    reader.read(path);
  std::vector<VariantResult> results = reader.finish();
  if (results.empty())
    return 1;
  session.noteFilesOf(results);
  BuildOutputs outputs(session, options,
                       libraryOutputs(line.build.outputFolder, plan->model, "-o or --name"));
  if (!outputs.open() || interruptSignal())
    return 1;
  bool isWhole = session.assemble(*plan, std::move(results)) && session.checkAssembled(*plan);
  return isWhole && outputs.writeLibrary(plan->model) ? 0 : 1;
}

} // namespace kiln

// What build, check and compile share: reading a spec, planning, and assembling the library from
// the results.

#ifndef KILN_COMPILER_DRIVER_SESSION_SESSION_H
#define KILN_COMPILER_DRIVER_SESSION_SESSION_H

#include "codegen/Spec.h"
#include "compiler/Driver/Jobs/CompileVariant.h"
#include "compiler/Driver/Planning/BuildPlan.h"
#include "compiler/Driver/Reporting/Reporter.h"
#include "llvm/ADT/StringSet.h"

namespace kiln {

/// A file that a command writes.
struct Output {
  std::string path;
  /// What gave it this path: "-o or --name".
  llvm::StringRef option;
};

/// The files of a library in `folder`.
std::vector<Output> libraryOutputs(llvm::StringRef folder, const LibraryModel &model,
                                   llvm::StringRef option);

/// One run of the tool over one spec. Its methods report what goes wrong and then give nothing.
class Session {
public:
  explicit Session(const CompilerOptions &options);

  /// Reads a spec from a file, with the command line's targets and name in place of its own, and
  /// of its entry points those that --only names.
  std::optional<Spec> readSpecFile(llvm::StringRef path, llvm::StringRef libraryName,
                                   llvm::StringRef prefix = "");
  std::optional<BuildPlan> plan(const Spec &spec, llvm::StringRef specPath);
  /// No output, --timing's among them, would take the place of a file that was read (a manifest is
  /// called like its library, and so are many specs) or of another output.
  bool checkOutputs(llvm::ArrayRef<Output> outputs);
  /// Compiles the plan's jobs (CompilePlan.h) and writes what --timing asks for. Modules that only
  /// the workers have read count as inputs from now on: checks the outputs again.
  std::vector<VariantResult> run(const BuildPlan &plan, const VariantGoal &goal);
  /// Says of each config that does not fit its target that it is left out, or that it cannot be.
  /// False after any error so far.
  bool reportMisfits(const BuildPlan &plan, llvm::ArrayRef<VariantResult> results);
  /// Moves the results' binaries into the plan's model; variants without one are left out.
  bool assemble(BuildPlan &plan, std::vector<VariantResult> results);
  /// Reports the calls that have no variant because of those that were left out (DispatchChecks.h).
  bool checkAssembled(BuildPlan &plan);
  /// In place of run(): what was read to compile results that are there already.
  void noteFilesOf(llvm::ArrayRef<VariantResult> results);

  /// After run(): all sources that were read, the spec among them, without repeats, in order of
  /// first reading: their paths as printed, and hashes of what was read.
  const std::vector<InputFile> &filesRead() const { return files; }

  /// The warnings of spec and sources are shown by the builds of the pieces; but not those of
  /// definitions, which concern all sources.
  void hideKnownWarnings() { knowsWarnings = true; }

  /// A file that was read and is no source: an array, a tool.
  void noteInput(llvm::StringRef path) { otherInputs.push_back(path.str()); }
  /// The same, where outputs have to be made again when the file changes: a device library, pieces.
  void noteDependency(llvm::StringRef path) {
    noteInput(path);
    otherDependencies.push_back(path.str());
  }
  /// The paths of all files by which outputs are decided, for make rules.
  std::vector<std::string> dependencies() const;

  SourceManager sources;
  ModuleLoader loader;
  DiagnosticEngine diagnostics;
  Reporter reporter;

private:
  void flush();
  bool checkNotedOutputs();
  void noteFile(InputFile file);
  void recordInputs(LibraryModel &model);
  bool isInput(const std::string &path) const;
  const CompilerOptions &options;
  std::vector<Output> outputs;
  std::vector<InputFile> files;
  /// Equal for all ways to write a path.
  llvm::StringSet<> filePaths;
  std::vector<std::string> otherInputs, otherDependencies;
  bool knowsWarnings = false;
};

} // namespace kiln

#endif

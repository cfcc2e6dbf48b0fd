// What build, check and compile share: reading a spec, planning, and assembling the library from
// the results.

#ifndef KILN_COMPILER_DRIVER_SESSION_H
#define KILN_COMPILER_DRIVER_SESSION_H

#include "codegen/Spec.h"
#include "compiler/Driver/BuildPlan.h"
#include "compiler/Driver/CompileVariant.h"
#include "compiler/Driver/Reporter.h"
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

  /// Reads a spec from a file, with the command line's targets and name in place of its own.
  std::optional<Spec> readSpecFile(llvm::StringRef path, llvm::StringRef libraryName);
  std::optional<BuildPlan> plan(const Spec &spec, llvm::StringRef specPath);
  /// --only names variants that the plan has.
  bool checkOnly(const BuildPlan &plan);
  /// No output, --timing's among them, would take the place of a file that was read (a manifest is
  /// called like its library, and so are many specs) or of another output.
  bool checkOutputs(llvm::ArrayRef<Output> outputs);
  /// Compiles the plan's jobs (RunPlan.h) and writes what --timing asks for. Modules that only the
  /// workers have read count as inputs from now on: checks the outputs again.
  std::vector<VariantResult> run(const BuildPlan &plan, const VariantGoal &goal);
  /// Moves the results' binaries into the plan's model. Configs that may be dropped and do not fit
  /// are left out with a warning; any other failure has been reported and gives false.
  bool assemble(BuildPlan &plan, std::vector<VariantResult> results);

  /// After run(): all sources that were read, the spec among them, without repeats, in order of
  /// first reading: their paths as printed, and hashes of what was read.
  const std::vector<InputFile> &filesRead() const { return files; }

  /// A file that was read and is no source: an array, a device library.
  void noteInput(llvm::StringRef path) { otherInputs.push_back(path.str()); }

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
  llvm::StringSet<> filePaths;
  std::vector<std::string> otherInputs;
};

} // namespace kiln

#endif

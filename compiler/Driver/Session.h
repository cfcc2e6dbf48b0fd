// What build, check and compile share: reading a spec, planning, and assembling the library from
// the results.

#ifndef KILN_COMPILER_DRIVER_SESSION_H
#define KILN_COMPILER_DRIVER_SESSION_H

#include "codegen/Spec.h"
#include "compiler/Driver/BuildPlan.h"
#include "compiler/Driver/Reporter.h"

namespace kiln {

/// One run of the tool over one spec. Its methods report what goes wrong and then give nothing.
class Session {
public:
  explicit Session(const CompilerOptions &options);

  /// Reads a spec from a file, with the command line's targets and name in place of its own.
  std::optional<Spec> readSpecFile(llvm::StringRef path, llvm::StringRef libraryName);
  std::optional<BuildPlan> plan(const Spec &spec, llvm::StringRef specPath);
  /// --only names variants that the plan has.
  bool checkOnly(const BuildPlan &plan);
  /// No file of the library would take the place of one that was read: a manifest is called like
  /// its library, and so are many specs.
  bool checkOutputs(llvm::StringRef folder, llvm::StringRef library);
  /// The same for one file, or several.
  bool checkOutputs(llvm::ArrayRef<std::string> paths);
  /// Moves the results' binaries into the plan's model. Configs that may be dropped and do not fit
  /// are left out with a warning; any other failure has been reported and gives false.
  bool assemble(BuildPlan &plan, std::vector<VariantResult> results);

  /// All files that were read, the spec among them, without repeats, in order of first reading:
  /// their paths as printed, and hashes of what was read.
  const std::vector<InputFile> &filesRead() const { return files; }

  SourceManager sources;
  ModuleLoader loader;
  DiagnosticEngine diagnostics;
  Reporter reporter;

private:
  void flush();
  void recordInputs(LibraryModel &model);
  const CompilerOptions &options;
  std::vector<InputFile> files;
};

} // namespace kiln

#endif

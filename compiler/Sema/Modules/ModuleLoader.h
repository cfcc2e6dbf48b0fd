// Finds and parses the Python files of a kernel: each once, for all variants and threads.
//
// An absolute import is looked up in the -I roots, then in every ancestor folder of the importing
// file: real repositories keep their packages at their root, or under src/ or python/, and are
// compiled without being installed.
#ifndef KILN_COMPILER_SEMA_MODULES_MODULELOADER_H
#define KILN_COMPILER_SEMA_MODULES_MODULELOADER_H

#include "compiler/Basic/Diagnostics.h"
#include "compiler/Syntax/AST.h"

#include "llvm/ADT/STLFunctionalExtras.h"
#include "llvm/ADT/StringMap.h"

#include <memory>
#include <mutex>
#include <string>
#include <vector>

namespace kiln {

/// A parsed file. Immutable.
struct LoadedModule {
  /// As in the file system; empty for text that is not a file.
  std::string path;
  /// `__init__.py`: relative imports start in its own folder.
  bool isPackage = false;
  std::unique_ptr<ast::Module> tree;
  /// What the parser said.
  std::vector<Diagnostic> diagnostics;
};

/// What an import found.
struct ImportResult {
  /// The module; null when nothing was found or when it is a folder without `__init__.py`.
  const LoadedModule *module = nullptr;
  /// The folders of a namespace package.
  std::vector<std::string> folders;

  explicit operator bool() const { return module || !folders.empty(); }
};

/// What is kept with modules, because it refers to them.
struct ModuleAttachment {
  virtual ~ModuleAttachment() = default;
};

class ModuleLoader {
public:
  /// `roots` are searched first, in order. Of a file's syntax errors `maxErrors` are kept.
  explicit ModuleLoader(SourceManager &sources, std::vector<std::string> roots = {},
                        unsigned maxErrors = DiagnosticEngine::defaultErrorLimit);

  /// Parses the file at `path`. Null, with an error in `diags`, when it cannot be read. Syntax
  /// errors go to `diags` too; the module then holds what could be parsed.
  const LoadedModule *load(llvm::StringRef path, DiagnosticEngine &diags);
  /// Parses text that is not a file.
  const LoadedModule *loadText(const SourceFile &file, DiagnosticEngine &diags);

  /// Resolves `import name` (level 0) or `from ..name import` (level 2) in `importer`. `name` may
  /// be empty with a level.
  ImportResult resolve(const LoadedModule &importer, unsigned level, llvm::StringRef name);
  /// Resolves `name` below the -I roots alone.
  ImportResult resolveInRoots(llvm::StringRef name);
  /// Resolves `name` (no dots) inside the folders of a package.
  ImportResult resolveIn(llvm::ArrayRef<std::string> folders, llvm::StringRef name);

  SourceManager &getSources() { return sources; }

  /// What is kept with the modules; made by the first who asks.
  ModuleAttachment &
  getAttachment(llvm::function_ref<std::unique_ptr<ModuleAttachment>(ModuleLoader &)> make);

private:
  const LoadedModule *parseFile(const std::string &path);
  ImportResult findIn(const std::string &folder, llvm::StringRef dottedName);
  ImportResult lookUp(const std::string &folder, llvm::StringRef dottedName);

  SourceManager &sources;
  std::vector<std::string> roots;
  unsigned maxErrors;
  std::mutex mutex;
  llvm::StringMap<std::unique_ptr<LoadedModule>> modules;
  /// What look-ups of a name in a folder have found, by both.
  llvm::StringMap<ImportResult> lookUps;
  std::unique_ptr<ModuleAttachment> attachment;
};

} // namespace kiln

#endif // KILN_COMPILER_SEMA_MODULES_MODULELOADER_H

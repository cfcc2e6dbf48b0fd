// The names that a kernel's source, and every module it imports, mention: to tell a mistyped -D
// from a useful one, and to list the files that a kernel may need.
//
// The files are parsed again, apart from the build's own: what a build reads stays what its kernels
// need, and a module that no variant reaches is no input of it.
#ifndef KILN_COMPILER_DRIVER_PLANNING_SOURCENAMES_H
#define KILN_COMPILER_DRIVER_PLANNING_SOURCENAMES_H

#include "compiler/Sema/Modules/ModuleLoader.h"

#include "llvm/ADT/StringSet.h"

namespace kiln {

class SourceNames {
public:
  explicit SourceNames(std::vector<std::string> importRoots)
      : loader(sources, std::move(importRoots)) {}

  /// Adds the source at `path`, and what it imports.
  void add(llvm::StringRef path);

  bool mentions(llvm::StringRef name) const { return names.contains(name); }
  /// The paths of all sources that were added.
  std::vector<std::string> files() const;
  /// "did you mean 'x'?", or "".
  std::string suggest(llvm::StringRef name) const;

private:
  void add(const LoadedModule &module);
  void addImport(const LoadedModule &importer, unsigned level, llvm::StringRef module,
                 llvm::ArrayRef<ast::ImportedName> names);

  SourceManager sources;
  ModuleLoader loader;
  std::vector<const LoadedModule *> found;
  llvm::StringSet<> names;
};

} // namespace kiln

#endif // KILN_COMPILER_DRIVER_PLANNING_SOURCENAMES_H

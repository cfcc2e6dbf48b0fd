#include "compiler/Driver/Planning/SourceNames.h"
#include "compiler/Basic/NameSuggestion.h"
#include "compiler/Syntax/Walk.h"
#include "llvm/ADT/STLExtras.h"

namespace kiln {

void SourceNames::add(llvm::StringRef path) {
  DiagnosticEngine ignored; // the build reports them
  size_t next = found.size();
  if (const LoadedModule *module = loader.load(path, ignored))
    if (!llvm::is_contained(found, module))
      found.push_back(module);
  for (; next < found.size(); ++next)
    add(*found[next]);
}

/// A module, and those of its names that are modules.
void SourceNames::addImport(const LoadedModule &importer, unsigned level, llvm::StringRef module,
                            llvm::ArrayRef<ast::ImportedName> imported) {
  auto addModule = [&](const LoadedModule *one) {
    if (one && !llvm::is_contained(found, one))
      found.push_back(one);
  };
  ImportResult result = loader.resolve(importer, level, module);
  addModule(result.module);
  for (const ast::ImportedName &name : imported) {
    if (result.module && result.module->isPackage)
      addModule(loader.resolve(*result.module, 1, name.name.name).module);
    else if (!result.module)
      addModule(loader.resolveIn(result.folders, name.name.name).module);
  }
}

void SourceNames::add(const LoadedModule &module) {
  auto visit = [&](const ast::Node &node) {
    if (const auto *name = llvm::dyn_cast<ast::NameExpr>(&node))
      names.insert(name->name);
    if (const auto *function = llvm::dyn_cast<ast::FunctionDef>(&node))
      names.insert(function->name.name);
    if (const auto *import = llvm::dyn_cast<ast::ImportStmt>(&node))
      for (const ast::ImportedName &imported : import->names)
        addImport(module, 0, imported.name.name, {});
    if (const auto *from = llvm::dyn_cast<ast::ImportFromStmt>(&node)) {
      addImport(module, from->level, from->module.name, from->names);
      for (const ast::ImportedName &imported : from->names)
        names.insert(imported.alias.empty() ? imported.name.name : imported.alias.name);
    }
    return true;
  };
  for (const ast::Stmt *stmt : module.tree->getBody())
    walk(*stmt, visit);
}

std::vector<std::string> SourceNames::files() const {
  std::vector<std::string> paths;
  for (const LoadedModule *module : found)
    paths.push_back(module->path);
  return paths;
}

std::string SourceNames::suggest(llvm::StringRef name) const {
  std::vector<llvm::StringRef> candidates;
  for (const auto &entry : names)
    candidates.push_back(entry.first());
  llvm::sort(candidates); // the set's order is not a stable one
  return suggestName(name, candidates);
}

} // namespace kiln

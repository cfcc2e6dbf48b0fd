#include "compiler/Sema/Modules/ModuleLoader.h"

#include "compiler/Syntax/Parser.h"

#include "llvm/Support/FileSystem.h"
#include "llvm/Support/Path.h"

namespace kiln {
namespace {

namespace path = llvm::sys::path;

std::string joinPath(llvm::StringRef folder, llvm::StringRef name) {
  llvm::SmallString<128> result(folder);
  path::append(result, name);
  return result.str().str();
}

std::string parentOf(llvm::StringRef file) {
  llvm::StringRef parent = path::parent_path(file);
  return parent.empty() ? "." : parent.str();
}

/// The folder around `folder`, by names: packages are what they are called, not where a link leads.
std::string packageAround(llvm::StringRef folder) {
  llvm::StringRef last = path::filename(folder);
  return last == "." || last == ".." ? joinPath(folder, "..") : parentOf(folder);
}

bool isFile(const std::string &name) {
  return llvm::sys::fs::exists(name) && !llvm::sys::fs::is_directory(name);
}

std::unique_ptr<LoadedModule> parse(const SourceFile &file, llvm::StringRef name,
                                    unsigned maxErrors) {
  auto module = std::make_unique<LoadedModule>();
  DiagnosticEngine diags(maxErrors);
  module->path = name.str();
  module->isPackage = path::filename(name) == "__init__.py";
  module->tree = parseModule(file, diags);
  module->diagnostics.assign(diags.getDiagnostics().begin(), diags.getDiagnostics().end());
  return module;
}

} // namespace

ModuleLoader::ModuleLoader(SourceManager &sources, std::vector<std::string> roots,
                           unsigned maxErrors)
    : sources(sources), roots(std::move(roots)), maxErrors(maxErrors) {}

ModuleAttachment &ModuleLoader::getAttachment(
    llvm::function_ref<std::unique_ptr<ModuleAttachment>(ModuleLoader &)> make) {
  std::lock_guard<std::mutex> lock(mutex);
  if (!attachment)
    attachment = make(*this);
  return *attachment;
}

const LoadedModule *ModuleLoader::parseFile(const std::string &written) {
  llvm::SmallString<128> plain(written);
  path::remove_dots(plain); // ./a.py is a.py
  std::string name = plain.str().str();
  std::lock_guard<std::mutex> lock(mutex);
  auto &entry = modules[name];
  if (entry)
    return entry.get();
  llvm::ErrorOr<const SourceFile *> file = sources.load(name);
  if (!file) {
    modules.erase(name);
    return nullptr;
  }
  entry = parse(**file, name, maxErrors);
  return entry.get();
}

const LoadedModule *ModuleLoader::load(llvm::StringRef name, DiagnosticEngine &diags) {
  const LoadedModule *module = parseFile(name.str());
  if (!module) {
    std::error_code error = llvm::sys::fs::is_directory(name)
                                ? std::make_error_code(std::errc::is_a_directory)
                                : sources.load(name).getError();
    diags.report(DiagKind::SemaCannotRead, DiagPlace(name), name, error.message());
    return nullptr;
  }
  for (const Diagnostic &diagnostic : module->diagnostics)
    diags.add(diagnostic);
  return module;
}

const LoadedModule *ModuleLoader::loadText(const SourceFile &file, DiagnosticEngine &diags) {
  std::lock_guard<std::mutex> lock(mutex);
  auto &entry = modules[("<text " + llvm::Twine(file.getId()) + ">").str()];
  if (!entry)
    entry = parse(file, "", maxErrors);
  for (const Diagnostic &diagnostic : entry->diagnostics)
    diags.add(diagnostic);
  return entry.get();
}

/// a.b.c below `folder`: folder/a/b/c.py, folder/a/b/c/__init__.py, or the folder itself.
ImportResult ModuleLoader::findIn(const std::string &folder, llvm::StringRef dottedName) {
  std::string key = folder + "\n" + dottedName.str();
  {
    std::lock_guard<std::mutex> lock(mutex);
    if (auto known = lookUps.find(key); known != lookUps.end())
      return known->second;
  }
  ImportResult result = lookUp(folder, dottedName);
  std::lock_guard<std::mutex> lock(mutex);
  return lookUps[key] = result;
}

ImportResult ModuleLoader::lookUp(const std::string &folder, llvm::StringRef dottedName) {
  std::string base = folder;
  while (!dottedName.empty()) {
    auto [head, tail] = dottedName.split('.');
    base = joinPath(base, head);
    dottedName = tail;
  }
  ImportResult result;
  std::string package = joinPath(base, "__init__.py");
  if (isFile(package))
    result.module = parseFile(package);
  else if (isFile(base + ".py"))
    result.module = parseFile(base + ".py");
  else if (llvm::sys::fs::is_directory(base))
    result.folders.push_back(base);
  return result;
}

ImportResult ModuleLoader::resolve(const LoadedModule &importer, unsigned level,
                                   llvm::StringRef name) {
  if (level) {
    if (importer.path.empty())
      return {};
    std::string folder = parentOf(importer.path);
    for (unsigned step = 1; step < level; ++step)
      folder = packageAround(folder);
    return findIn(folder, name);
  }
  if (ImportResult found = resolveInRoots(name))
    return found;
  if (importer.path.empty())
    return {};
  ImportResult namespacePackage;
  llvm::SmallString<128> folder(importer.path);
  llvm::sys::fs::make_absolute(folder);
  bool relative = path::is_relative(importer.path);
  std::string printed = parentOf(importer.path);
  while (path::has_parent_path(folder)) {
    path::remove_filename(folder);
    ImportResult found = findIn(relative ? printed : folder.str().str(), name);
    if (found.module)
      return found;
    // A folder that only happens to have the name must not hide a real package above it.
    if (found && !namespacePackage)
      namespacePackage = found;
    if (folder == path::root_path(folder))
      break;
    printed = packageAround(printed);
  }
  return namespacePackage;
}

ImportResult ModuleLoader::resolveInRoots(llvm::StringRef name) {
  for (const std::string &root : roots)
    if (ImportResult found = findIn(root, name))
      return found;
  return {};
}

ImportResult ModuleLoader::resolveIn(llvm::ArrayRef<std::string> folders, llvm::StringRef name) {
  for (const std::string &folder : folders)
    if (ImportResult found = findIn(folder, name))
      return found;
  return {};
}

} // namespace kiln

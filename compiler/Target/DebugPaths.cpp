//===- DebugPaths.cpp - File names in debug information -----------------------===//
//
// Every file name in a module's debug information goes through the prefix map, so
// that binaries built in two folders are equal and no build path is published.
//
//===----------------------------------------------------------------------===//

#include "compiler/Target/CodeGeneration.h"
#include "llvm/ADT/SmallPtrSet.h"
#include "llvm/BinaryFormat/Dwarf.h"
#include "llvm/IR/DebugInfo.h"
#include "llvm/IR/Module.h"
#include "llvm/Support/Path.h"

namespace kiln {

static std::string remapped(llvm::StringRef path, const EmitOptions &options) {
  for (const auto &[from, to] : options.pathMap) {
    if (from.empty() || !path.starts_with(from))
      continue;
    llvm::StringRef rest = path.substr(from.size());
    // A prefix ends where a path component ends: /home/me is not a prefix of /home/mean.
    if (!rest.empty() && rest.front() != '/' && from.back() != '/')
      continue;
    rest = rest.ltrim('/');
    llvm::SmallString<128> result(to);
    if (!rest.empty()) // append() of nothing would end the name of a file with a separator
      llvm::sys::path::append(result, rest);
    return result.str().str();
  }
  return options.sourceName ? options.sourceName(path) : path.str();
}

/// The file with its path remapped as a whole and kept in the name: a directory of its own would
/// come out as the compilation folder.
static llvm::DIFile *remappedFile(const llvm::DIFile &file, const EmitOptions &options) {
  llvm::SmallString<128> path;
  if (!llvm::sys::path::is_absolute(file.getFilename()))
    path = file.getDirectory();
  llvm::sys::path::append(path, file.getFilename());
  return llvm::DIFile::get(file.getContext(), remapped(path, options), /*Directory=*/"");
}

void remapDebugPaths(llvm::Module &module, const EmitOptions &options) {
  if (!options.lineInfo) {
    llvm::StripDebugInfo(module);
    return;
  }
  llvm::DebugInfoFinder finder;
  finder.processModule(module);
  llvm::SmallPtrSet<llvm::MDNode *, 16> holders;
  holders.insert(finder.compile_units().begin(), finder.compile_units().end());
  holders.insert(finder.subprograms().begin(), finder.subprograms().end());
  holders.insert(finder.scopes().begin(), finder.scopes().end());
  holders.insert(finder.types().begin(), finder.types().end());
  for (llvm::MDNode *holder : holders)
    for (unsigned i = 0, e = holder->getNumOperands(); i != e; ++i)
      if (auto *file = llvm::dyn_cast_or_null<llvm::DIFile>(holder->getOperand(i).get()))
        holder->replaceOperandWith(i, remappedFile(*file, options));
  if (!module.getModuleFlag("Debug Info Version"))
    module.addModuleFlag(llvm::Module::Warning, "Debug Info Version", llvm::DEBUG_METADATA_VERSION);
}

} // namespace kiln

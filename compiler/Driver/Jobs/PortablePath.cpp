#include "compiler/Driver/Jobs/PortablePath.h"
#include "llvm/ADT/SmallString.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/Path.h"

namespace path = llvm::sys::path;

namespace kiln {
namespace {

/// `file` from `folder`, both absolute; empty when they share fewer folders, of which the root is
/// the first.
std::string relativeTo(llvm::StringRef folder, llvm::StringRef file, unsigned leastShared = 2) {
  auto from = path::begin(folder), fromEnd = path::end(folder);
  auto to = path::begin(file), toEnd = path::end(file);
  unsigned shared = 0;
  for (; from != fromEnd && to != toEnd && *from == *to; ++from, ++to)
    ++shared;
  if (shared < leastShared)
    return "";
  llvm::SmallString<256> relative;
  for (; from != fromEnd; ++from)
    path::append(relative, "..");
  for (; to != toEnd; ++to)
    path::append(relative, *to);
  return relative.str().str();
}

} // namespace

std::string absolutePath(llvm::StringRef name) {
  llvm::SmallString<256> whole(name);
  if (llvm::sys::fs::make_absolute(whole))
    return name.str(); // the current folder is gone
  path::remove_dots(whole, /*remove_dot_dot=*/true);
  return whole.str().str();
}

std::string pathFromSpec(llvm::StringRef name, const CompilerOptions &options) {
  return relativeTo(absolutePath(options.specFolder), absolutePath(name), /*leastShared=*/0);
}

std::string portablePath(llvm::StringRef name, const CompilerOptions &options) {
  std::string file = absolutePath(name), specFolder = absolutePath(options.specFolder);
  std::string fromSpec = relativeTo(specFolder, file);
  if (!fromSpec.empty() && !llvm::StringRef(fromSpec).starts_with(".."))
    return fromSpec;
  for (const std::string &root : options.importRoots) {
    std::string fromRoot = relativeTo(absolutePath(root), file);
    if (!fromRoot.empty() && !llvm::StringRef(fromRoot).starts_with(".."))
      return fromRoot;
  }
  return fromSpec.empty() ? path::filename(file).str() : fromSpec;
}

} // namespace kiln

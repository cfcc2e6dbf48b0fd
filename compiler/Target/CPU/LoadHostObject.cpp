//===- LoadHostObject.cpp - Run a host object in this process -----------------===//
#include "compiler/Target/CPU/LoadHostObject.h"
#include "compiler/Target/LinkShared.h"
#include "compiler/Target/TargetError.h"
#include <dlfcn.h>

namespace kiln {

llvm::Expected<void *> loadHostObject(llvm::StringRef object, llvm::StringRef symbol) {
  auto folder = linkShared(object, "-Bsymbolic", "");
  if (!folder)
    return folder.takeError();
  // The mapping outlives the file.
  std::string path = (folder->path() + "/" + linkedName).str();
  void *library = dlopen(path.c_str(), RTLD_NOW | RTLD_LOCAL);
  void *address = library ? dlsym(library, symbol.str().c_str()) : nullptr;
  if (!address)
    return targetError("cannot load the kernel's code: ", dlerror());
  return address;
}

} // namespace kiln

//===- LinkHsaco.cpp - An AMD object to an HSACO ------------------------------===//

#include "compiler/Target/AMD/LinkHsaco.h"
#include "compiler/Target/LinkShared.h"

namespace kiln {

llvm::Expected<std::vector<char>> linkHsaco(llvm::StringRef object, llvm::StringRef temporaryRoot) {
  auto folder = linkShared(object, "--no-undefined", temporaryRoot);
  if (!folder)
    return folder.takeError();
  return folder->read(linkedName);
}

} // namespace kiln

//===- TargetError.cpp - An error with a place in the kernel ------------------===//

#include "compiler/Target/TargetError.h"

namespace kiln {

char TargetError::ID = 0;

void TargetError::log(llvm::raw_ostream &os) const {
  if (!path.empty())
    os << path << ":" << line << ":" << column << ": ";
  os << message;
}

} // namespace kiln

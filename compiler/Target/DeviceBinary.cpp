//===- DeviceBinary.cpp - Names of the formats -------------------------------===//

#include "compiler/Target/DeviceBinary.h"
#include "llvm/Support/ErrorHandling.h"

namespace kiln {

llvm::StringRef formatName(BinaryFormat format) {
  switch (format) {
  case BinaryFormat::Cubin:
    return "cubin";
  case BinaryFormat::PTX:
    return "ptx";
  case BinaryFormat::HSACO:
    return "hsaco";
  case BinaryFormat::HostObject:
    return "obj";
  }
  llvm_unreachable("every format has a name");
}

} // namespace kiln

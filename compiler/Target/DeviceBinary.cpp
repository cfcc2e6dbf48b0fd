//===- DeviceBinary.cpp - Names of formats and elements ----------------------===//

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

namespace {
struct Element {
  llvm::StringLiteral name;
  unsigned bytes;
  bool isFloat;
};
constexpr Element elements[] = {
#define KILN_TENSOR_ELEMENT(NAME, SPEC, BYTES, IS_FLOAT, ...) {SPEC, BYTES, IS_FLOAT},
#include "runtime/tensor_elements.def"
};

const Element &recordOf(TensorMapElement element) { return elements[static_cast<size_t>(element)]; }
} // namespace

llvm::StringRef elementName(TensorMapElement element) { return recordOf(element).name; }
unsigned elementBytes(TensorMapElement element) { return recordOf(element).bytes; }
bool hasNaN(TensorMapElement element) { return recordOf(element).isFloat; }

} // namespace kiln

// PTX ISA, "tensormap.replace", and its table "Tensormap new_val validity", as LLVM's intrinsics.

#include "compiler/Conversion/TileGPUToNVVM/NVVMLowering.h"

using namespace mlir;

namespace kiln {
namespace {

struct Field {
  StringRef name;
  bool isOfAxis = false;
};

Field fieldOf(MapField field) {
  switch (field) {
  case MapField::Address:
    return {"global.address"};
  case MapField::Rank:
    return {"rank"};
  case MapField::Box:
    return {"box.dim", true};
  case MapField::Extent:
    return {"global.dim", true};
  case MapField::Stride:
    return {"global.stride", true};
  case MapField::ElementStride:
    return {"element.stride", true};
  case MapField::Element:
    return {"elemtype"};
  case MapField::Interleave:
    return {"interleave.layout"};
  case MapField::Swizzle:
    return {"swizzle.mode"};
  case MapField::Fill:
    return {"fill.mode"};
  }
  llvm_unreachable("unknown field of a tensor map");
}

} // namespace

void replaceMapField(OpBuilder &b, Location loc, Value image, MapField field, unsigned axis,
                     Value value) {
  Field described = fieldOf(field);
  SmallVector<Value> operands{image};
  if (described.isOfAxis)
    operands.push_back(LLVM::ConstantOp::create(b, loc, b.getI32IntegerAttr(int32_t(axis))));
  operands.push_back(value);
  LLVM::CallIntrinsicOp::create(
      b, loc, b.getStringAttr("llvm.nvvm.tensormap.replace." + described.name), operands);
}

unsigned numberOfMapElement(Type type, bool isSigned) {
  static constexpr unsigned numbers[] = {
#define KILN_TENSOR_ELEMENT(NAME, SPEC, BYTES, IS_FLOAT, CUDA, PTX) PTX,
#include "runtime/tensor_elements.def"
  };
  return numbers[static_cast<size_t>(tilegpu::tensorMapElement(type, isSigned))];
}

} // namespace kiln

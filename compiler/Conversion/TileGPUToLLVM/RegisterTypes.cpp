// Types in registers, and addresses of shared memory.

#include "compiler/Conversion/TileGPUToLLVM/Lowering.h"

using namespace mlir;

namespace kiln {

static Type registerType(Type type) {
  if (isa<tile::PtrType>(type))
    return LLVM::LLVMPointerType::get(type.getContext(), 1);
  if (isa<FloatType>(type) && type.getIntOrFloatBitWidth() == 8)
    return IntegerType::get(type.getContext(), 8);
  return type;
}

RegisterTypeConverter::RegisterTypeConverter() {
  addConversion([](Type type) { return registerType(type); });
  addConversion([](tilegpu::BufferType type) -> Type {
    return LLVM::LLVMPointerType::get(type.getContext(), 3);
  });
  addConversion([](tile::DescriptorType type) -> Type {
    return LLVM::LLVMPointerType::get(type.getContext());
  });
  addConversion([](RankedTensorType type,
                   SmallVectorImpl<Type> &registers) -> std::optional<LogicalResult> {
    if (!tilegpu::layoutAttrOf(type))
      return failure();
    registers.append(tilegpu::layoutOf(type).numRegisters(), registerType(type.getElementType()));
    return success();
  });
}

Type Lowering::elementType(Type tileType) const {
  return registerType(tile::elementTypeOf(tileType));
}

Value Lowering::sharedAddress(const ScalarBuilder &s, int64_t offset) const {
  OpBuilder &b = s.builder();
  Value base = LLVM::AddressOfOp::create(
      b, s.location(), LLVM::LLVMPointerType::get(b.getContext(), 3), sharedMemorySymbol);
  return s.byteOffset(base, s.i32(offset));
}

BinaryVector Lowering::equalNeighbours(Value tensor) const {
  const LayoutSpace &out = tilegpu::layoutOf(tensor.getType()).out();
  AxisInfo info = facts.get(tensor);
  BinaryVector bits = 0;
  for (unsigned axis = 0; axis < info.rank(); ++axis) {
    int64_t constancy = std::min(info.constancy[axis], out.size(Dim::axis(axis)));
    bits |= BinaryVector(constancy - 1) << out.position(Dim::axis(axis));
  }
  return bits;
}

Value Lowering::scratch(const ScalarBuilder &s, Operation *op) const {
  auto offset = op->getAttrOfType<IntegerAttr>(tilegpu::TileGPUDialect::offsetAttr);
  if (!offset) {
    op->emitOpError("needs scratch in shared memory, but allocation gave it none");
    return {};
  }
  return sharedAddress(s, offset.getInt());
}

} // namespace kiln

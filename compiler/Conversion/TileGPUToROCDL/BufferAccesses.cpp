// Buffers: descriptors, accesses, and the bits that say which caches an access goes through.

#include "compiler/Conversion/TileGPUToROCDL/ROCDLLowering.h"

#include "compiler/Conversion/TargetLowering/ScalarBuilder.h"
#include "compiler/Expansion/AtomicInstructions/AtomicInstructions.h"
#include "compiler/Target/MemoryFeatures.h"
#include "mlir/Dialect/LLVMIR/ROCDLDialect.h"

using namespace mlir;

namespace kiln {
namespace {

/// Word 3 of a buffer's descriptor (CDNA3 ISA, "Buffer Resource Descriptor"; RDNA3 ISA, the same).
/// The data format must be one, any will do for raw accesses. RDNA wants bit 24 set, and OOB_SELECT
/// of bits 28 and 29 to compare the offset with the number of bytes.
int64_t descriptorFlags(const TargetInfo &info) {
  constexpr int64_t format = 7 << 12 | 4 << 15;
  return info.matrix.wmmaGeneration ? format | 1 << 24 | 3 << 28 : format;
}

/// Words as the instructions move them.
Type transferType(OpBuilder &b, unsigned bits) {
  return bits <= 32 ? Type(b.getIntegerType(bits)) : VectorType::get(bits / 32, b.getI32Type());
}

unsigned bitsOf(Type type) {
  auto vector = dyn_cast<VectorType>(type);
  return vector ? scalarBits(vector.getElementType()) * vector.getNumElements() : scalarBits(type);
}

} // namespace

/// LLVM, "User Guide for AMDGPU Backend": operand `aux` of llvm.amdgcn.raw.ptr.buffer.load, and
/// "Memory Model" for what an access of a scope, or a non-temporal one, has on each target.
int32_t cacheBits(const TargetInfo &info, bool isStore, tile::CacheModifier cache,
                  tile::EvictionPolicy evict) {
  using tile::CacheModifier;
  bool isStreaming = cache == CacheModifier::CS || evict == tile::EvictionPolicy::First;
  bool isOfSystem = isStore && cache == CacheModifier::WT;
  bool isOfDevice = !isStore && cache == CacheModifier::CG;
  switch (info.archNumber >> 8) {
  case 0x9: {
    bool isNamedByScope = info.archNumber >= 0x940;
    constexpr int32_t glc = 1, slc = 2, scope0 = 1, nonTemporal = 2, scope1 = 16;
    if (isNamedByScope)
      return (isStreaming ? nonTemporal : 0) | (isOfSystem ? scope0 : 0) |
             (isOfSystem || isOfDevice ? scope1 : 0);
    return isStreaming ? glc | slc : isOfDevice ? glc : 0;
  }
  case 0x11: {
    constexpr int32_t glc = 1, slc = 2, dlc = 4;
    return (!isStreaming ? 0 : isStore ? glc | slc | dlc : slc | dlc) | (isOfDevice ? glc : 0);
  }
  default: {
    constexpr int32_t nonTemporal = 1, highTemporal = 2, device = 2 << 3, system = 3 << 3;
    int32_t temporal = isStreaming                           ? nonTemporal
                       : evict == tile::EvictionPolicy::Last ? highTemporal
                                                             : 0;
    return temporal | (isOfSystem ? system : isOfDevice ? device : 0);
  }
  }
}

/// LLVM, "User Guide for AMDGPU Backend", "Memory Model": up to the device gfx12 alone names it.
int32_t scopeBits(const TargetInfo &info, tile::MemoryScope scope) {
  constexpr int32_t workgroupProcessor = 1 << 3, device = 2 << 3;
  if (info.matrix.wmmaGeneration < 4)
    return 0;
  return scope == tile::MemoryScope::CTA ? workgroupProcessor : device;
}

Value makeBufferResource(OpBuilder &b, Location loc, Value base, Value bytes,
                         const TargetInfo &info) {
  auto constant = [&](Type type, int64_t value) -> Value {
    return LLVM::ConstantOp::create(b, loc, type, b.getIntegerAttr(type, value));
  };
  Value records = arith::ExtUIOp::create(b, loc, b.getI64Type(), bytes);
  return ROCDL::MakeBufferRsrcOp::create(b, loc, LLVM::LLVMPointerType::get(b.getContext(), 8),
                                         base, constant(b.getI16Type(), 0), records,
                                         constant(b.getI32Type(), descriptorFlags(info)));
}

Value loadFromBuffer(OpBuilder &b, Location loc, Type type, Value buffer, Value offset,
                     int32_t bits, bool bypassesCaches) {
  ScalarBuilder s(b, loc);
  Type moved = transferType(b, bitsOf(type));
  auto loaded = ROCDL::RawPtrBufferLoadOp::create(
      b, loc, moved, buffer, offset, s.i32(0), s.i32(bits), ArrayAttr(), ArrayAttr(), ArrayAttr());
  if (bypassesCaches)
    loaded->setAttr(bypassesCachesAttr, b.getUnitAttr());
  Value value = loaded;
  return moved == type ? value : LLVM::BitcastOp::create(b, loc, type, value).getResult();
}

void storeToBuffer(OpBuilder &b, Location loc, Value value, Value buffer, Value offset,
                   int32_t bits) {
  ScalarBuilder s(b, loc);
  Type moved = transferType(b, bitsOf(value.getType()));
  if (moved != value.getType())
    value = LLVM::BitcastOp::create(b, loc, moved, value);
  ROCDL::RawPtrBufferStoreOp::create(b, loc, value, buffer, offset, s.i32(0), s.i32(bits),
                                     ArrayAttr(), ArrayAttr(), ArrayAttr());
}

Value reduceInBuffer(OpBuilder &b, Location loc, tile::AtomicKind kind, Value value, Value buffer,
                     Value offset, int32_t bits) {
  ScalarBuilder s(b, loc);
  SmallVector<Value> operands{value, buffer, offset, s.i32(0), s.i32(bits)};
  return LLVM::CallIntrinsicOp::create(
             b, loc, value.getType(), b.getStringAttr(bufferIntrinsicOf(atomicInstructionOf(kind))),
             operands)
      .getResult(0);
}

} // namespace kiln

// Registration of the TileGPU dialect, and what its users ask of types and modules.

#include "compiler/Dialect/TileGPU/TileGPU.h"
#include "compiler/Target/MemoryFeatures.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/DialectImplementation.h"
#include "llvm/ADT/TypeSwitch.h"

using namespace mlir;

namespace kiln::tilegpu {
namespace {
/// Layouts are long: types print them as aliases (#layout, #layout1, …).
struct TileGPUAliases : public OpAsmDialectInterface {
  using OpAsmDialectInterface::OpAsmDialectInterface;
  AliasResult getAlias(Attribute attr, raw_ostream &os) const override {
    if (isa<LayoutAttr>(attr))
      os << "layout";
    else if (isa<SharedLayoutAttr>(attr))
      os << "shared";
    else
      return AliasResult::NoAlias;
    return AliasResult::FinalAlias;
  }
};
} // namespace

LayoutAttr layoutAttrOf(Type type) {
  auto tensor = dyn_cast<RankedTensorType>(type);
  return tensor ? dyn_cast_or_null<LayoutAttr>(tensor.getEncoding()) : LayoutAttr();
}

const LinearLayout &layoutOf(Type type) {
  LayoutAttr attr = layoutAttrOf(type);
  assert(attr && "expected a tensor with a layout");
  return attr.getLayout();
}

RankedTensorType withLayout(RankedTensorType type, LayoutAttr layout) {
  return RankedTensorType::get(type.getShape(), type.getElementType(), layout);
}

RankedTensorType withLayout(RankedTensorType type, const LinearLayout &layout) {
  return withLayout(type, LayoutAttr::get(type.getContext(), layout));
}

ArrayRef<int64_t> shapeOfOperand(Value operand) {
  if (auto buffer = dyn_cast<BufferType>(operand.getType()))
    return buffer.getShape();
  return cast<RankedTensorType>(operand.getType()).getShape();
}

Type elementOfOperand(Value operand) {
  if (auto buffer = dyn_cast<BufferType>(operand.getType()))
    return buffer.getElementType();
  return cast<RankedTensorType>(operand.getType()).getElementType();
}

unsigned storageBits(Type elementType) {
  if (isa<tile::PtrType>(elementType))
    return 64;
  return std::max(8u, elementType.getIntOrFloatBitWidth());
}

TensorMapElement tensorMapElement(Type elementType, bool isSigned) {
  if (elementType.isF16() || elementType.isBF16())
    return elementType.isF16() ? TensorMapElement::F16 : TensorMapElement::BF16;
  if (elementType.isF32() || elementType.isF64())
    return elementType.isF32() ? TensorMapElement::F32 : TensorMapElement::F64;
  switch (storageBits(elementType)) {
  case 8:
    return TensorMapElement::U8;
  case 16:
    return TensorMapElement::U16;
  case 32:
    return isSigned ? TensorMapElement::I32 : TensorMapElement::U32;
  default:
    return isSigned ? TensorMapElement::I64 : TensorMapElement::U64;
  }
}

llvm::Expected<TargetInfo> targetOf(Operation *op) {
  auto module = isa<ModuleOp>(op) ? cast<ModuleOp>(op) : op->getParentOfType<ModuleOp>();
  auto name = module ? module->getAttrOfType<StringAttr>(TileGPUDialect::targetAttr) : StringAttr();
  if (!name)
    return llvm::createStringError("expected the module to have '" +
                                   TileGPUDialect::targetAttr.str() + "', got none");
  llvm::Expected<TargetInfo> target = parseTarget(name.getValue());
  if (target && module->hasAttr(TileGPUDialect::wholeOperandsAttr))
    target->matrix.takeOperandsAsLoaded();
  if (target && module->hasAttr(TileGPUDialect::plainResultsAttr))
    target->matrix.neighboursOfResults = false;
  return target;
}

/// An operation on a block of a tensor that neither the launcher nor the kernel makes a map of.
static Operation *findUnserved(Operation *kernel) {
  Operation *found = nullptr;
  kernel->walk([&](Operation *op) {
    bool isUnserved =
        isa<tile::TileDialect, TileGPUDialect>(op->getDialect()) &&
        llvm::any_of(op->getOperands(), [](Value operand) {
          return isa<tile::DescriptorType>(operand.getType()) && !hasTensorMap(operand);
        });
    found = isUnserved ? op : nullptr;
    return found ? WalkResult::interrupt() : WalkResult::advance();
  });
  return found;
}

std::optional<TargetInfo> targetOfKernel(Operation *kernel) {
  llvm::Expected<TargetInfo> target = targetOf(kernel);
  if (!target) {
    kernel->emitError(llvm::toString(target.takeError()));
    return std::nullopt;
  }
  if (Operation *op = findUnserved(kernel)) {
    op->emitError("expected a descriptor that a tensor map serves, got another; "
                  "kiln-expand-descriptors makes pointers and masks of it");
    return std::nullopt;
  }
  return *target;
}

unsigned reductionBits(Type element, const TargetInfo &target) {
  if (!element.isF16() && !element.isBF16() && !element.isF32())
    return 0;
  if (memoryFeaturesOf(target).pairedAdditions)
    return 32;
  return element.isF16()    ? target.reduction.f16
         : element.isBF16() ? target.reduction.bf16
                            : target.reduction.f32;
}

unsigned reductionBits(tile::AtomicRMWOp atomic, const TargetInfo &target) {
  if (atomic.getKind() != tile::AtomicKind::FAdd || !isa<RankedTensorType>(atomic.getType()))
    return 0;
  Type element = getElementTypeOrSelf(atomic.getType());
  bool givesPairs = memoryFeaturesOf(target).pairedAdditions && storageBits(element) == 16;
  return atomic->use_empty() || givesPairs ? reductionBits(element, target) : 0;
}

unsigned bufferReductionBits(tile::AtomicRMWOp atomic, const TargetInfo &target) {
  BufferAtomics atomics = memoryFeaturesOf(target).bufferAtomics;
  Type element = getElementTypeOrSelf(atomic.getType());
  unsigned bits = storageBits(element);
  bool isOfTile = isa<RankedTensorType>(atomic.getType()) &&
                  !cast<ScratchOpInterface>(*atomic).getScratchBytes(target);
  bool isPromised =
      atomic->getParentOfType<func::FuncOp>()->hasAttr(tile::TileDialect::deviceMemoryAttr);
  // Whom the whole system is to see may be anywhere.
  if (!isOfTile || atomic.getScope() == tile::MemoryScope::System)
    return 0;
  bool hasWord = atomics.ofIntegers && (bits == 32 || bits == 64);
  switch (atomic.getKind()) {
  case tile::AtomicKind::FAdd: {
    bool addsOne = (element.isF32() && atomics.addsF32) || (element.isF64() && atomics.addsF64);
    bool addsTwo = (element.isF16() && atomics.addsF16) || (element.isBF16() && atomics.addsBF16);
    if (addsOne)
      return isPromised || atomics.addsAnywhere ? bits : 0;
    return isPromised && addsTwo ? 2 * bits : 0;
  }
  case tile::AtomicKind::Add:
    return hasWord ? bits : 0;
  case tile::AtomicKind::And:
  case tile::AtomicKind::Or:
  case tile::AtomicKind::Xor:
  case tile::AtomicKind::SMax:
  case tile::AtomicKind::SMin:
  case tile::AtomicKind::UMax:
  case tile::AtomicKind::UMin:
    return hasWord && isPromised ? bits : 0;
  default:
    return 0;
  }
}

SharedMemoryShape sharedMemoryOf(const TargetInfo &target) {
  SharedMemoryShape shape;
  if (target.sharedBanks)
    shape.banks = target.sharedBanks;
  shape.bankBytes = target.sharedBankBytes;
  shape.maxVectorBits = target.maxVectorBits;
  // ldmatrix turns words around by itself.
  shape.countsRepackedWords = !target.matrix.matrixLoads;
  shape.transposedReads = target.matrix.transposedReads;
  // gfx950, whose copies and reads across rows want buffers of their own, gained nothing by it.
  shape.countsMovedWords = target.matrix.mfmaGeneration && !target.matrix.transposedReads;
  // Reads are the most where the halves of a wave read the same.
  shape.movesParts = target.matrix.operandsByHalves || shape.countsMovedWords;
  shape.ordersWarps = target.matrix.mfmaGeneration;
  shape.swappedLanes = target.swappedLanes;
  return shape;
}

static IntegerAttr numberOnKernel(Operation *op, StringRef name) {
  auto kernel =
      isa<func::FuncOp>(op) ? cast<func::FuncOp>(op) : op->getParentOfType<func::FuncOp>();
  return kernel ? kernel->getAttrOfType<IntegerAttr>(name) : IntegerAttr();
}

unsigned numWarpsOf(Operation *op) {
  IntegerAttr number = numberOnKernel(op, tile::TileDialect::numWarpsAttr);
  return number ? number.getInt() : 4;
}

bool multiplies(Operation *op) {
  return op->walk([](DotOp) { return WalkResult::interrupt(); }).wasInterrupted();
}

unsigned clusterBlocksOf(Operation *op) {
  IntegerAttr number = numberOnKernel(op, tile::TileDialect::numCtasAttr);
  return number ? number.getInt() : 1;
}

unsigned producerWarpsOf(Operation *op) {
  IntegerAttr number = numberOnKernel(op, TileGPUDialect::producerWarpsAttr);
  return number ? number.getInt() : 0;
}

std::optional<MatrixElement> matrixElementOf(Type type, tile::InputPrecision precision) {
  return llvm::TypeSwitch<Type, std::optional<MatrixElement>>(type)
      .Case([](Float16Type) { return MatrixElement::F16; })
      .Case([](BFloat16Type) { return MatrixElement::BF16; })
      .Case([&](Float32Type) {
        return precision == tile::InputPrecision::TF32 ? MatrixElement::TF32 : MatrixElement::F32;
      })
      .Case([](Float64Type) { return MatrixElement::F64; })
      .Case<Float8E4M3FNType, Float8E4M3FNUZType>([](Type) { return MatrixElement::F8E4M3; })
      .Case<Float8E5M2Type, Float8E5M2FNUZType>([](Type) { return MatrixElement::F8E5M2; })
      .Case([](IntegerType integer) -> std::optional<MatrixElement> {
        if (integer.getWidth() == 8)
          return MatrixElement::I8;
        if (integer.getWidth() == 32)
          return MatrixElement::I32;
        return std::nullopt;
      })
      .Default([](Type) { return std::nullopt; });
}

void TileGPUDialect::initialize() {
  registerAttributesAndTypes();
  attachScratchModels();
  addOperations<
#define GET_OP_LIST
#include "compiler/Dialect/TileGPU/TileGPUOps.cpp.inc"
      >();
  addInterfaces<TileGPUAliases>();
}

} // namespace kiln::tilegpu

#include "compiler/Dialect/TileGPU/TileGPUDialect.cpp.inc"

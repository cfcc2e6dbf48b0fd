// Accesses to memory: calls where the address is global or shared, host accesses elsewhere.

#include "compiler/Emulator/ThreadCode.h"
#include "compiler/Target/MemoryFeatures.h"

#include "compiler/Dialect/TileGPU/TileGPU.h"
#include "mlir/Dialect/LLVMIR/NVVMDialect.h"
#include "runtime/emulator/kiln_emu.h"
#include "llvm/ADT/StringSwitch.h"
#include "llvm/ADT/TypeSwitch.h"
#include "llvm/Support/MathExtras.h"

using namespace mlir;

namespace kiln {
namespace {

/// Numbers of address spaces, the same on NVIDIA and AMD (LLVM, "NVPTX" and "AMDGPU" user guides).
constexpr unsigned genericSpace = 0, globalSpace = 1, sharedSpace = 3, constantSpace = 4;

unsigned spaceOf(Value pointer) {
  return cast<LLVM::LLVMPointerType>(pointer.getType()).getAddressSpace();
}

/// The emulator's number of an address space, or none for memory of the host code:
/// local variables and the dispatch packet.
std::optional<int> emulatedSpace(Value pointer) {
  switch (spaceOf(pointer)) {
  case globalSpace:
    return KILN_EMU_GLOBAL;
  case sharedSpace:
    return KILN_EMU_SHARED;
  default:
    return std::nullopt;
  }
}

bool isHostSpace(Value pointer) {
  unsigned space = spaceOf(pointer);
  return space == genericSpace || space == constantSpace || space == 5;
}

Value predicateOf(OpBuilder &b, Location loc, ThreadCode &code, Value predicate) {
  if (!predicate)
    return code.i32(b, loc, 1);
  return LLVM::ZExtOp::create(b, loc, b.getI32Type(), predicate);
}

/// What an access without an alignment of its own promises: the whole value's.
uint32_t alignmentOf(std::optional<uint64_t> alignment, uint32_t bytes) {
  return alignment ? uint32_t(*alignment) : uint32_t(llvm::PowerOf2Ceil(bytes));
}

void makeLoad(OpBuilder &b, Operation *op, ThreadCode &code, int space, Value pointer,
              uint32_t alignment, Value predicate, Value other) {
  Location loc = op->getLoc();
  Type type = op->getResult(0).getType();
  uint32_t bytes = code.bytesOf(type);
  Value out = code.slot(0);
  if (predicate) {
    if (!other)
      other = LLVM::ZeroOp::create(b, loc, type);
    LLVM::StoreOp::create(b, loc, other, out);
  }
  code.call(b, op, "kiln_emu_load", {},
            {code.i32(b, loc, space), pointer, out, code.i32(b, loc, bytes),
             code.i32(b, loc, alignment), predicateOf(b, loc, code, predicate)});
  op->getResult(0).replaceAllUsesWith(LLVM::LoadOp::create(b, loc, type, out));
  op->erase();
}

void makeStore(OpBuilder &b, Operation *op, ThreadCode &code, int space, Value pointer, Value value,
               uint32_t alignment, Value predicate) {
  Location loc = op->getLoc();
  Value in = code.pass(b, loc, 0, value);
  code.call(b, op, "kiln_emu_store", {},
            {code.i32(b, loc, space), pointer, in, code.i32(b, loc, code.bytesOf(value.getType())),
             code.i32(b, loc, alignment), predicateOf(b, loc, code, predicate)});
  op->erase();
}

/// A load whose value comes from where all the device's blocks see it.
void bypassCache(OpBuilder &b, Operation *load, ThreadCode &code, Value pointer) {
  if (!memoryFeaturesOf(code.target()).loadCaches || emulatedSpace(pointer) != KILN_EMU_GLOBAL)
    return;
  code.call(b, load, "kiln_emu_bypass", {},
            {pointer, code.i32(b, load->getLoc(), code.bytesOf(load->getResult(0).getType()))},
            /*hasPlace=*/false);
}

/// One load for each element that is there: the hardware may read others, the program does not.
void loadElements(OpBuilder &b, tilegpu::GlobalLoadOp op, ThreadCode &code) {
  Location loc = op.getLoc();
  auto type = cast<VectorType>(op.getType());
  Type element = type.getElementType();
  Value result = LLVM::PoisonOp::create(b, loc, type);
  for (auto [index, isThere] : llvm::enumerate(op.getElements())) {
    Value place = code.i32(b, loc, int32_t(index)), other;
    if (op.getOther())
      other = LLVM::ExtractElementOp::create(b, loc, op.getOther(), place);
    Value address = LLVM::GEPOp::create(b, loc, op.getPtr().getType(), element, op.getPtr(),
                                        ArrayRef<LLVM::GEPArg>{int32_t(index)});
    auto load =
        tilegpu::GlobalLoadOp::create(b, loc, element, address, isThere, other, ValueRange(),
                                      op.getCache(), op.getEvict(), op.getIsVolatile());
    auto insertion = LLVM::InsertElementOp::create(b, loc, result, load, place);
    result = insertion;
    OpBuilder before(load);
    makeLoad(before, load, code, 0, address, code.bytesOf(element), isThere, other);
  }
  op.replaceAllUsesWith(result);
  op.erase();
}

/// An atomic of the host for each element, at the address that the emulator gives: where the
/// predicate is false, one of the thread's own.
void makeReduction(OpBuilder &b, tilegpu::GlobalReduceOp op, ThreadCode &code) {
  Location loc = op.getLoc();
  Type type = op.getValue().getType(), element = getElementTypeOrSelf(type);
  Value nowhere = code.pass(b, loc, 0, Value(LLVM::ZeroOp::create(b, loc, type)));
  Value base = code.call(b, op, "kiln_emu_reduce", nowhere.getType(),
                         {op.getPtr(), nowhere, code.i32(b, loc, code.bytesOf(type)),
                          code.i32(b, loc, code.bytesOf(element)),
                          predicateOf(b, loc, code, op.getPredicate())});
  combineElements(b, loc, LLVM::AtomicBinOp::fadd, base, op.getValue());
  op.erase();
}

/// KILN_EMU_ACQUIRE, KILN_EMU_RELEASE, or both.
int32_t emulatedOrdering(LLVM::AtomicOrdering ordering) {
  switch (ordering) {
  case LLVM::AtomicOrdering::acquire:
    return KILN_EMU_ACQUIRE;
  case LLVM::AtomicOrdering::release:
    return KILN_EMU_RELEASE;
  case LLVM::AtomicOrdering::acq_rel:
  case LLVM::AtomicOrdering::seq_cst:
    return KILN_EMU_ACQUIRE_RELEASE;
  default:
    return KILN_EMU_RELAXED;
  }
}

/// Of a scope's name (LLVM, "NVPTX" and "AMDGPU" user guides, "Memory Scopes"). Names of the
/// same scope for one address space alone end in "-one-as".
int32_t emulatedScope(StringRef name) {
  name.consume_back("-one-as");
  return llvm::StringSwitch<int32_t>(name)
      .Cases({"singlethread", "wavefront"}, KILN_EMU_SCOPE_WARP)
      .Cases({"block", "workgroup"}, KILN_EMU_SCOPE_BLOCK)
      .Default(KILN_EMU_SCOPE_DEVICE);
}

/// The operation stays; the emulator sees the address first, and what it orders.
template <typename Op>
void announceAtomic(OpBuilder &b, Op op, ThreadCode &code, Value pointer, Type type, int32_t access,
                    LLVM::AtomicOrdering ordering) {
  Location loc = op.getLoc();
  int32_t scope = emulatedScope(op.getSyncscope().value_or(""));
  // Attributes of the GPU's back end, and its scopes' names, mean nothing on the host.
  for (NamedAttribute attribute : llvm::to_vector(op->getDiscardableAttrs()))
    op->removeDiscardableAttr(attribute.getName());
  op.removeSyncscopeAttr();
  code.call(b, op, "kiln_emu_atomic", {},
            {code.i32(b, loc, emulatedSpace(pointer).value_or(KILN_EMU_GLOBAL)), pointer,
             code.i32(b, loc, code.bytesOf(type)), code.i32(b, loc, access),
             code.i32(b, loc, emulatedOrdering(ordering)), code.i32(b, loc, scope)});
}

FailureOr<bool> convert(LLVM::LoadOp op, OpBuilder &b, ThreadCode &code) {
  std::optional<int> space = emulatedSpace(op.getAddr());
  if (op.getOrdering() != LLVM::AtomicOrdering::not_atomic) {
    announceAtomic(b, op, code, op.getAddr(), op.getType(), KILN_EMU_READS, op.getOrdering());
    return true;
  }
  if (op.getVolatile_()) {
    code.call(b, op, "kiln_emu_yield", {}, {}, /*hasPlace=*/false);
    bypassCache(b, op, code, op.getAddr());
  }
  if (space)
    makeLoad(b, op, code, *space, op.getAddr(),
             alignmentOf(op.getAlignment(), code.bytesOf(op.getType())), {}, {});
  return true;
}

FailureOr<bool> convert(LLVM::StoreOp op, OpBuilder &b, ThreadCode &code) {
  std::optional<int> space = emulatedSpace(op.getAddr());
  if (op.getOrdering() != LLVM::AtomicOrdering::not_atomic)
    announceAtomic(b, op, code, op.getAddr(), op.getValue().getType(), KILN_EMU_WRITES,
                   op.getOrdering());
  else if (space)
    makeStore(b, op, code, *space, op.getAddr(), op.getValue(),
              alignmentOf(op.getAlignment(), code.bytesOf(op.getValue().getType())), {});
  return true;
}

void announceFence(OpBuilder &b, Operation *op, ThreadCode &code, int32_t space,
                   LLVM::AtomicOrdering ordering, int32_t scope) {
  Location loc = op->getLoc();
  code.call(b, op, "kiln_emu_fence", {},
            {code.i32(b, loc, space), code.i32(b, loc, emulatedOrdering(ordering)),
             code.i32(b, loc, scope)},
            /*hasPlace=*/false);
}

/// The operation stays too: it orders what the host does.
FailureOr<bool> convert(LLVM::FenceOp fence, OpBuilder &b, ThreadCode &code) {
  StringRef scope = fence.getSyncscope().value_or("");
  int32_t orders = scope == sharedFenceScope  ? KILN_EMU_SHARED
                   : scope == readsFenceScope ? KILN_EMU_GLOBAL_READS
                                              : KILN_EMU_GLOBAL;
  announceFence(b, fence, code, orders, fence.getOrdering(),
                orders == KILN_EMU_GLOBAL ? emulatedScope(scope) : KILN_EMU_SCOPE_BLOCK);
  fence.removeSyncscopeAttr();
  return true;
}

FailureOr<bool> convert(NVVM::MembarOp fence, OpBuilder &b, ThreadCode &code) {
  constexpr LLVM::AtomicOrdering ordering = LLVM::AtomicOrdering::seq_cst;
  bool isOfBlock = fence.getScope() == NVVM::MemScopeKind::CTA;
  announceFence(b, fence, code, KILN_EMU_GLOBAL, ordering,
                isOfBlock ? KILN_EMU_SCOPE_BLOCK : KILN_EMU_SCOPE_DEVICE);
  LLVM::FenceOp::create(b, fence.getLoc(), ordering);
  fence.erase();
  return true;
}

} // namespace

FailureOr<bool> emulateMemory(Operation *op, ThreadCode &code) {
  OpBuilder b(op);
  if (FailureOr<bool> done = emulateBuffers(op, code); failed(done) || *done)
    return done;
  for (Value operand : op->getOperands())
    if (isa<LLVM::LLVMPointerType>(operand.getType()) && !emulatedSpace(operand) &&
        !isHostSpace(operand))
      return op->emitError() << "address space " << spaceOf(operand) << " is not emulated";
  return llvm::TypeSwitch<Operation *, FailureOr<bool>>(op)
      .Case([&](tilegpu::GlobalLoadOp load) {
        if (load.getIsVolatile() || load.getCache() == tile::CacheModifier::CV)
          code.call(b, op, "kiln_emu_yield", {}, {}, /*hasPlace=*/false);
        if (load.getIsVolatile() || load.getCache() == tile::CacheModifier::CV ||
            load.getCache() == tile::CacheModifier::CG)
          bypassCache(b, op, code, load.getPtr());
        if (!load.getElements().empty()) {
          loadElements(b, load, code);
          return true;
        }
        makeLoad(b, op, code, 0, load.getPtr(), code.bytesOf(load.getType()), load.getPredicate(),
                 load.getOther());
        return true;
      })
      .Case([&](tilegpu::GlobalStoreOp store) {
        makeStore(b, op, code, 0, store.getPtr(), store.getValue(),
                  code.bytesOf(store.getValue().getType()), store.getPredicate());
        return true;
      })
      .Case([&](tilegpu::GlobalReduceOp reduce) {
        makeReduction(b, reduce, code);
        return true;
      })
      .Case<LLVM::LoadOp, LLVM::StoreOp, LLVM::FenceOp, NVVM::MembarOp>(
          [&](auto access) { return convert(access, b, code); })
      .Case([&](LLVM::AtomicRMWOp atomic) {
        announceAtomic(b, atomic, code, atomic.getPtr(), atomic.getVal().getType(),
                       KILN_EMU_READS | KILN_EMU_WRITES, atomic.getOrdering());
        return true;
      })
      .Case([&](LLVM::AtomicCmpXchgOp atomic) {
        announceAtomic(b, atomic, code, atomic.getPtr(), atomic.getVal().getType(),
                       KILN_EMU_READS | KILN_EMU_WRITES, atomic.getSuccessOrdering());
        return true;
      })
      .Default([](Operation *) { return false; });
}

} // namespace kiln

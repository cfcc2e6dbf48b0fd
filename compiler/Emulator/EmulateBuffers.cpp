// AMD's raw buffer accesses: a resource is its descriptor, the 128 bits of the real one
// (CDNA3 ISA, "Buffer Resource Descriptor"): the address, the number of bytes, flags.

#include "compiler/Emulator/ThreadCode.h"
#include "compiler/Expansion/AtomicInstructions/AtomicInstructions.h"
#include "compiler/Target/MemoryFeatures.h"

#include "mlir/Dialect/LLVMIR/ROCDLDialect.h"
#include "llvm/ADT/TypeSwitch.h"

using namespace mlir;

namespace kiln {
namespace {

/// RDNA3 ISA, OOB_SELECT: bits 29 and 28 of the flags; 2: nothing is out of range.
constexpr int64_t oobSelectShift = 28, oobSelectNone = 2;

class BufferCode {
public:
  BufferCode(Operation *op, ThreadCode &code) : op(op), b(op), loc(op->getLoc()), code(code) {}

  FailureOr<bool> make(ROCDL::MakeBufferRsrcOp make) {
    auto stride = make.getStride().getDefiningOp<LLVM::ConstantOp>();
    auto value = stride ? dyn_cast<IntegerAttr>(stride.getValue()) : IntegerAttr();
    if (!value || !value.getValue().isZero())
      return op->emitError() << "'" << op->getName() << "' with a stride is not emulated";
    Type wide = b.getIntegerType(128);
    Value address = LLVM::PtrToIntOp::create(b, loc, wide, make.getBase());
    Value bytes = LLVM::TruncOp::create(b, loc, b.getI32Type(), make.getNumRecords());
    if (code.target().matrix.wmmaGeneration) {
      Value mask = code.i32(b, loc, 3 << oobSelectShift);
      Value select = LLVM::AndOp::create(b, loc, make.getFlags(), mask);
      Value isUnchecked = LLVM::ICmpOp::create(b, loc, LLVM::ICmpPredicate::eq, select,
                                               code.i32(b, loc, oobSelectNone << oobSelectShift));
      bytes = LLVM::SelectOp::create(b, loc, isUnchecked, code.i32(b, loc, -1), bytes);
    }
    Value shift = LLVM::ConstantOp::create(b, loc, wide, b.getIntegerAttr(wide, 64));
    Value high = LLVM::ShlOp::create(b, loc, LLVM::ZExtOp::create(b, loc, wide, bytes), shift);
    Value descriptor = LLVM::OrOp::create(b, loc, address, high);
    return become(LLVM::IntToPtrOp::create(b, loc, make.getType(), descriptor));
  }

  FailureOr<bool> load(ROCDL::RawPtrBufferLoadOp load) {
    Type type = load.getType();
    Value out = code.slot(0);
    if (load->hasAttr(bypassesCachesAttr)) {
      Value from = placeOf(load.getRsrc(), load.getOffset());
      code.call(b, op, "kiln_emu_bypass", {}, {from, code.i32(b, loc, code.bytesOf(type))},
                /*hasPlace=*/false);
    }
    call("kiln_emu_buffer_load", {}, load.getRsrc(), load.getOffset(), load.getSoffset(),
         {out, code.i32(b, loc, code.bytesOf(type))});
    return become(LLVM::LoadOp::create(b, loc, type, out));
  }

  FailureOr<bool> store(ROCDL::RawPtrBufferStoreOp store) {
    Value in = code.pass(b, loc, 0, store.getVdata());
    call("kiln_emu_buffer_store", {}, store.getRsrc(), store.getOffset(), store.getSoffset(),
         {in, code.i32(b, loc, code.bytesOf(store.getVdata().getType()))});
    return become({});
  }

  /// All 16 bytes are in range, or none: a copy's elements have one mask.
  FailureOr<bool> copy(tilegpu::WarpBufferCopyOp copy) {
    constexpr int64_t bytes = 16;
    Value size = partsOf(copy.getFrom()).second;
    Type wide = b.getI64Type();
    Value offset = LLVM::ZExtOp::create(b, loc, wide, copy.getOffset());
    Value end = LLVM::AddOp::create(
        b, loc, offset, LLVM::ConstantOp::create(b, loc, wide, b.getI64IntegerAttr(bytes)));
    Value isInRange = LLVM::ICmpOp::create(b, loc, LLVM::ICmpPredicate::ule, end,
                                           LLVM::ZExtOp::create(b, loc, wide, size));
    code.call(b, op, "kiln_emu_warp_copy", {},
              {copy.getTo(), placeOf(copy.getFrom(), copy.getOffset()),
               LLVM::ZExtOp::create(b, loc, b.getI32Type(), isInRange)});
    return become({});
  }

  /// An atomic operation of the host for each element.
  FailureOr<bool> modify(LLVM::CallIntrinsicOp atomic, LLVM::AtomicBinOp kind) {
    Value value = atomic.getArgs()[0], resource = atomic.getArgs()[1];
    // Zeros of the thread's own where it is out of range.
    Value nowhere = code.pass(b, loc, 0, Value(LLVM::ZeroOp::create(b, loc, value.getType())));
    Value address =
        call("kiln_emu_buffer_atomic", nowhere.getType(), resource, atomic.getArgs()[2],
             atomic.getArgs()[3], {nowhere, code.i32(b, loc, code.bytesOf(value.getType()))});
    return become(combineElements(b, loc, kind, address, value));
  }

private:
  FailureOr<bool> become(Value value) {
    if (value)
      op->getResult(0).replaceAllUsesWith(value);
    op->erase();
    return true;
  }

  /// The address of what is so many bytes (i32, without sign) behind the beginning of a resource.
  Value placeOf(Value resource, Value offset) {
    Value base = partsOf(resource).first;
    Value wide = LLVM::ZExtOp::create(b, loc, b.getI64Type(), offset);
    return LLVM::GEPOp::create(b, loc, base.getType(), b.getI8Type(), base, wide);
  }

  /// A resource's address and number of bytes.
  std::pair<Value, Value> partsOf(Value resource) {
    Type wide = b.getIntegerType(128);
    Value descriptor = LLVM::PtrToIntOp::create(b, loc, wide, resource);
    Value shift = LLVM::ConstantOp::create(b, loc, wide, b.getIntegerAttr(wide, 64));
    Value high = LLVM::LShrOp::create(b, loc, descriptor, shift);
    Value low = LLVM::TruncOp::create(b, loc, b.getI64Type(), descriptor);
    return {LLVM::IntToPtrOp::create(b, loc, LLVM::LLVMPointerType::get(b.getContext()), low),
            LLVM::TruncOp::create(b, loc, b.getI32Type(), high)};
  }

  Value call(StringRef name, Type result, Value resource, Value offset, Value scalarOffset,
             ArrayRef<Value> others) {
    auto [address, bytes] = partsOf(resource);
    SmallVector<Value> arguments{address, bytes, offset, scalarOffset};
    llvm::append_range(arguments, others);
    return code.call(b, op, name, result, arguments);
  }

  Operation *op;
  OpBuilder b;
  Location loc;
  ThreadCode &code;
};

} // namespace

FailureOr<bool> emulateBuffers(Operation *op, ThreadCode &code) {
  BufferCode buffers(op, code);
  return llvm::TypeSwitch<Operation *, FailureOr<bool>>(op)
      .Case([&](ROCDL::MakeBufferRsrcOp make) { return buffers.make(make); })
      .Case([&](ROCDL::RawPtrBufferLoadOp load) { return buffers.load(load); })
      .Case([&](ROCDL::RawPtrBufferStoreOp store) { return buffers.store(store); })
      .Case([&](tilegpu::WarpBufferCopyOp copy) { return buffers.copy(copy); })
      .Case([&](LLVM::CallIntrinsicOp call) -> FailureOr<bool> {
        std::optional<LLVM::AtomicBinOp> kind = bufferInstructionOf(call.getIntrin());
        return kind ? buffers.modify(call, *kind) : FailureOr<bool>(false);
      })
      .Default([](Operation *) { return false; });
}

} // namespace kiln

#include "compiler/Emulator/InstructionClass.h"

#include "compiler/Dialect/TileGPU/TileGPU.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/LLVMIR/NVVMDialect.h"
#include "mlir/Dialect/LLVMIR/ROCDLDialect.h"
#include "llvm/ADT/TypeSwitch.h"
#include "llvm/Support/MathExtras.h"
#include <cstdio>

using namespace mlir;

namespace kiln {
namespace {

using Class = InstructionClass;

Type elementOf(Type type) {
  auto vector = dyn_cast<VectorType>(type);
  return vector ? vector.getElementType() : type;
}

unsigned elementsOf(Type type) {
  auto vector = dyn_cast<VectorType>(type);
  return vector ? unsigned(vector.getNumElements()) : 1;
}

/// Instructions that a value of this type takes.
unsigned registersOf(Type type) {
  unsigned elements = elementsOf(type);
  Type element = elementOf(type);
  unsigned bits = element.isIntOrFloat() ? element.getIntOrFloatBitWidth() : 32;
  return bits >= 32 ? elements : unsigned(llvm::divideCeil(uint64_t(elements) * bits, 32));
}

/// `op` as arithmetic on its first operand's type, each element of which costs `flops`.
Instruction arithmetic(Operation *op, Class kind, unsigned flops = 0) {
  Type type = op->getOperand(0).getType();
  Instruction result{kind, registersOf(type), flops * elementsOf(type)};
  if (op->getNumResults() && kind == Class::Conversion)
    result.number = std::max(result.number, registersOf(op->getResult(0).getType()));
  return result;
}

Instruction floating(Operation *op, unsigned flops) {
  Type element = elementOf(op->getOperand(0).getType());
  return arithmetic(op,
                    element.isF64()   ? Class::Float64
                    : element.isF32() ? Class::Float32
                                      : Class::Float16,
                    flops);
}

/// By the pointer's address space: the same numbers on NVIDIA and AMD (LLVM's user guides for
/// NVPTX and AMDGPU).
Instruction access(Value pointer, Class global, Class shared) {
  unsigned space = cast<LLVM::LLVMPointerType>(pointer.getType()).getAddressSpace();
  return {space == 1 ? global : space == 3 ? shared : Class::Other};
}

/// A matrix instruction, by the shape in its name: ".m16n8k16", ".16x16x32".
Instruction matrix(StringRef name, Type result) {
  unsigned m = 0, n = 0, k = 0;
  for (StringRef rest = name; !rest.empty() && !k; rest = rest.split('.').second) {
    std::string part = rest.split('.').first.str();
    if (std::sscanf(part.c_str(), "m%un%uk%u", &m, &n, &k) != 3 &&
        std::sscanf(part.c_str(), "%ux%ux%u", &m, &n, &k) != 3)
      k = 0;
  }
  if (auto fragments = dyn_cast<LLVM::LLVMStructType>(result))
    result = fragments.getBody().front();
  unsigned operations = 2 * m * n * k;
  return {Class::Matrix, 1, isa<FloatType>(elementOf(result)) ? operations : 0, operations};
}

/// A warp has 16 of the 64 rows.
Instruction product(tilegpu::WgmmaOp op) {
  unsigned operations = 2 * 16 * op.getN() * op.stepSize() * op.numSteps();
  return {Class::Matrix, op.numSteps(), op.getAccumulator() == "s32" ? 0 : operations, operations};
}

/// An intrinsic or a target's operation, by its name: "llvm.nvvm.rsqrt.approx.f",
/// "rocdl.cvt.pk...".
Instruction named(Operation *op, StringRef name) {
  auto has = [&](StringRef part) { return name.contains(part); };
  Type result = op->getNumResults() ? op->getResult(0).getType() : Type();
  if (result && (has(".mma.") || has(".mfma.") || has(".wmma.")))
    return matrix(name, result);
  if (has("buffer.load"))
    return {Class::GlobalLoad};
  if (has("buffer.store"))
    return {Class::GlobalStore};
  if (has("buffer.atomic"))
    return {Class::Atomic};
  if (has("cvt") || has("convert") || has(".f2") || has(".ff2") || has(".d2") || has(".i2"))
    return {Class::Conversion};
  if (has(".fma."))
    return floating(op, 2);
  if (has("fmin") || has("fmax") || has("fmed3"))
    return arithmetic(op, Class::Select);
  for (StringRef function : {".sqrt", ".rsq", ".rcp", ".ex2", ".exp", ".lg2", ".log", ".sin",
                             ".cos", ".tan", ".pow", ".div."})
    if (has(function) && op->getNumOperands())
      return arithmetic(op, Class::Special, 1);
  return {Class::Other};
}

/// Arithmetic of LLVM's dialect.
std::optional<Instruction> arithmeticOf(Operation *op) {
  using namespace LLVM;
  return llvm::TypeSwitch<Operation *, std::optional<Instruction>>(op)
      .Case<AddOp, SubOp, MulOp, UDivOp, SDivOp, URemOp, SRemOp, AndOp, OrOp, XOrOp, ShlOp, LShrOp,
            AShrOp, AbsOp, CtPopOp, CountLeadingZerosOp, CountTrailingZerosOp, BitReverseOp,
            ByteSwapOp, FshlOp, FshrOp>([&](auto) { return arithmetic(op, Class::Integer); })
      .Case<ICmpOp, FCmpOp, SMaxOp, SMinOp, UMaxOp, UMinOp, MaxNumOp, MinNumOp, MaximumOp,
            MinimumOp>([&](auto) { return arithmetic(op, Class::Select); })
      .Case([&](SelectOp select) {
        return Instruction{Class::Select, registersOf(select.getType())};
      })
      .Case<TruncOp, ZExtOp, SExtOp, FPTruncOp, FPExtOp, FPToSIOp, FPToUIOp, SIToFPOp, UIToFPOp>(
          [&](auto) { return arithmetic(op, Class::Conversion); })
      .Case<FAddOp, FSubOp, FMulOp, FDivOp, FRemOp>([&](auto) { return floating(op, 1); })
      .Case<FMAOp, FMulAddOp>([&](auto) { return floating(op, 2); })
      .Case<FNegOp, FAbsOp, CopySignOp, FCeilOp, FFloorOp, FTruncOp, RoundOp, RoundEvenOp, RintOp,
            NearbyintOp>([&](auto) { return floating(op, 0); })
      .Case<SqrtOp, ExpOp, Exp2Op, Exp10Op, LogOp, Log2Op, Log10Op, SinOp, CosOp, TanOp, ASinOp,
            ACosOp, ATanOp, ATan2Op, SinhOp, CoshOp, TanhOp, PowOp, PowIOp>(
          [&](auto) { return arithmetic(op, Class::Special, 1); })
      .Default([](Operation *) { return std::nullopt; });
}

/// Whether the terminator may go several ways.
bool isBranch(Operation *op) {
  return op->getNumSuccessors() > 1 && !llvm::all_equal(op->getSuccessors());
}

bool isNoInstruction(Operation *op) {
  using namespace LLVM;
  if (auto address = dyn_cast<GEPOp>(op))
    return address.getDynamicIndices().empty(); // the offset is part of the access
  if (auto intrinsic = dyn_cast<LLVM::CallIntrinsicOp>(op))
    return intrinsic.getIntrin() == "llvm.amdgcn.wave.barrier"; // for the compiler alone
  return isa<ConstantOp, ZeroOp, UndefOp, PoisonOp, AddressOfOp, BitcastOp, PtrToIntOp, IntToPtrOp,
             AddrSpaceCastOp, ExtractElementOp, InsertElementOp, ExtractValueOp, InsertValueOp,
             ShuffleVectorOp, AssumeOp, FreezeOp, AllocaOp>(op) ||
         (op->hasTrait<OpTrait::IsTerminator>() && !isBranch(op));
}

/// Accesses to memory, and what threads do together.
std::optional<Instruction> exchangeOf(Operation *op) {
  return llvm::TypeSwitch<Operation *, std::optional<Instruction>>(op)
      .Case([](tilegpu::GlobalLoadOp) { return Instruction{Class::GlobalLoad}; })
      .Case([](tilegpu::GlobalStoreOp) { return Instruction{Class::GlobalStore}; })
      .Case([](LLVM::LoadOp load) {
        return access(load.getAddr(), Class::GlobalLoad, Class::SharedLoad);
      })
      .Case([](LLVM::StoreOp store) {
        return access(store.getAddr(), Class::GlobalStore, Class::SharedStore);
      })
      .Case<NVVM::LdMatrixOp, ROCDL::ds_read_tr16_b64, ROCDL::ds_read_tr8_b64>(
          [](auto) { return Instruction{Class::SharedLoad}; })
      .Case([](NVVM::StMatrixOp) { return Instruction{Class::SharedStore}; })
      .Case<LLVM::AtomicRMWOp, LLVM::AtomicCmpXchgOp, tilegpu::GlobalReduceOp>(
          [](auto) { return Instruction{Class::Atomic}; })
      .Case<NVVM::Barrier0Op, NVVM::BarrierOp, NVVM::SyncWarpOp, ROCDL::BarrierOp,
            ROCDL::SBarrierOp, NVVM::MBarrierInitOp, NVVM::MBarrierInvalOp, NVVM::MBarrierArriveOp,
            NVVM::MBarrierArriveExpectTxOp, NVVM::MBarrierExpectTxOp, NVVM::MBarrierCompleteTxOp,
            NVVM::MBarrierTestWaitOp, NVVM::MBarrierTryWaitOp, NVVM::MBarrierTryWaitParityOp,
            NVVM::BarrierArriveOp, NVVM::ClusterArriveOp, NVVM::ClusterWaitOp, NVVM::MapaOp,
            NVVM::FenceMbarrierInitOp, NVVM::FenceProxyOp, NVVM::WgmmaFenceAlignedOp,
            NVVM::WgmmaGroupSyncAlignedOp, NVVM::WgmmaWaitGroupSyncOp, tilegpu::WgmmaWaitOp>(
          [](auto) { return Instruction{Class::Barrier}; })
      .Case<NVVM::ShflOp, NVVM::VoteSyncOp, NVVM::ReduxOp, NVVM::ElectSyncOp, ROCDL::DsBpermuteOp,
            ROCDL::DsSwizzleOp, ROCDL::DPPUpdateOp, ROCDL::PermlaneX16Op, ROCDL::Permlane16SwapOp,
            ROCDL::Permlane32SwapOp, ROCDL::BallotOp, ROCDL::ReadlaneOp, ROCDL::ReadfirstlaneOp>(
          [](auto) { return Instruction{Class::Shuffle}; })
      .Case<tilegpu::GlobalCopyOp, tilegpu::WarpCopyOp, tilegpu::WarpBufferCopyOp,
            ROCDL::SWaitcntOp, NVVM::CpAsyncOp, NVVM::CpAsyncCommitGroupOp,
            NVVM::CpAsyncWaitGroupOp, NVVM::CpAsyncMBarrierArriveOp,
            NVVM::CpAsyncBulkTensorGlobalToSharedClusterOp,
            NVVM::CpAsyncBulkTensorSharedCTAToGlobalOp, NVVM::CpAsyncBulkTensorReduceOp,
            NVVM::CpAsyncBulkCommitGroupOp, NVVM::CpAsyncBulkWaitGroupOp>(
          [](auto) { return Instruction{Class::AsyncCopy}; })
      .Case<NVVM::SetMaxRegisterOp, NVVM::PrefetchOp>(
          [](auto) { return Instruction{Class::Other}; })
      .Case([](tilegpu::WgmmaOp op) { return product(op); })
      .Case([](NVVM::MmaOp mma) {
        auto shape = mma.getShape();
        return matrix(
            ("m" + Twine(shape.getM()) + "n" + Twine(shape.getN()) + "k" + Twine(shape.getK()))
                .str(),
            mma.getType());
      })
      .Default([](Operation *) { return std::nullopt; });
}

} // namespace

StringRef nameOf(InstructionClass kind) {
  static constexpr StringRef names[] = {
#define KILN_INSTRUCTION_CLASS(ENUMERATOR, NAME) NAME,
#include "runtime/emulator/instruction_classes.def"
#undef KILN_INSTRUCTION_CLASS
  };
  return names[size_t(kind)];
}

std::optional<Instruction> instructionOf(Operation *op) {
  if (isNoInstruction(op))
    return std::nullopt;
  if (isBranch(op))
    return Instruction{Class::Branch};
  if (isa<LLVM::GEPOp>(op))
    return Instruction{Class::Address};
  if (std::optional<Instruction> exchange = exchangeOf(op))
    return exchange;
  if (std::optional<Instruction> arithmetic = arithmeticOf(op))
    return arithmetic;
  auto intrinsic = dyn_cast<LLVM::CallIntrinsicOp>(op);
  return named(op, intrinsic ? intrinsic.getIntrin() : op->getName().getStringRef());
}

} // namespace kiln

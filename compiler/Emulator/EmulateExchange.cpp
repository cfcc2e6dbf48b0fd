// Where a thread is, barriers, and exchange between the lanes of a warp.

#include "compiler/Emulator/ThreadCode.h"

#include "mlir/Dialect/LLVMIR/NVVMDialect.h"
#include "mlir/Dialect/LLVMIR/ROCDLDialect.h"
#include "mlir/IR/Matchers.h"
#include "llvm/ADT/TypeSwitch.h"

using namespace mlir;

namespace kiln {
namespace {

/// Replaces `op` by `value`.
FailureOr<bool> become(Operation *op, Value value) {
  op->getResult(0).replaceAllUsesWith(value);
  op->erase();
  return true;
}

/// One that has no result.
FailureOr<bool> gone(Operation *op) {
  op->erase();
  return true;
}

Value extended(OpBuilder &b, Location loc, Value boolean) {
  return LLVM::ZExtOp::create(b, loc, b.getI32Type(), boolean);
}

FailureOr<bool> position(Operation *op, OpBuilder &b, ThreadCode &code) {
  Location loc = op->getLoc();
  auto field = [&](ThreadField which, unsigned axis) {
    return become(op, code.field(b, loc, which, axis));
  };
  return llvm::TypeSwitch<Operation *, FailureOr<bool>>(op)
      .Case<NVVM::ThreadIdXOp, ROCDL::ThreadIdXOp>(
          [&](auto) { return field(ThreadField::Thread, 0); })
      // Blocks have one thread along y and z.
      .Case<NVVM::ThreadIdYOp, NVVM::ThreadIdZOp, ROCDL::ThreadIdYOp, ROCDL::ThreadIdZOp>(
          [&](auto) { return become(op, code.i32(b, loc, 0)); })
      .Case<NVVM::BlockDimYOp, NVVM::BlockDimZOp>(
          [&](auto) { return become(op, code.i32(b, loc, 1)); })
      .Case([&](NVVM::BlockDimXOp) { return field(ThreadField::Threads, 0); })
      .Case<NVVM::BlockIdXOp, ROCDL::BlockIdXOp>(
          [&](auto) { return field(ThreadField::Program, 0); })
      .Case<NVVM::BlockIdYOp, ROCDL::BlockIdYOp>(
          [&](auto) { return field(ThreadField::Program, 1); })
      .Case<NVVM::BlockIdZOp, ROCDL::BlockIdZOp>(
          [&](auto) { return field(ThreadField::Program, 2); })
      .Case([&](NVVM::GridDimXOp) { return field(ThreadField::Programs, 0); })
      .Case([&](NVVM::GridDimYOp) { return field(ThreadField::Programs, 1); })
      .Case([&](NVVM::GridDimZOp) { return field(ThreadField::Programs, 2); })
      .Case([&](NVVM::ClusterIdXOp) { return field(ThreadField::Program, 0); })
      .Case([&](NVVM::ClusterDimXOp) { return field(ThreadField::Programs, 0); })
      .Case([&](NVVM::ClusterId) { return field(ThreadField::Rank, 0); })
      .Case([&](NVVM::LaneIdOp) {
        Value mask = code.i32(b, loc, code.target().warpSize - 1);
        Value thread = code.field(b, loc, ThreadField::Thread);
        return become(op, LLVM::AndOp::create(b, loc, thread, mask));
      })
      .Case([&](NVVM::WarpSizeOp) { return become(op, code.i32(b, loc, code.target().warpSize)); })
      .Default([](Operation *) { return false; });
}

/// One of the fields that make up the processor's number: as many bits of the host's. Others are
/// not emulated.
FailureOr<bool> registerField(LLVM::CallIntrinsicOp read, OpBuilder &b, ThreadCode &code) {
  APInt immediate;
  if (!matchPattern(read.getArgs()[0], m_ConstantInt(&immediate)))
    return false;
  unsigned word = immediate.getZExtValue(), shift = 0;
  Location loc = read.getLoc();
  for (const RegisterField &field : code.target().processorFields) {
    if (word == field.immediate()) {
      Value number = code.call(b, read, "kiln_emu_processor", b.getI32Type(), {});
      Value shifted = LLVM::LShrOp::create(b, loc, number, code.i32(b, loc, shift));
      Value mask = code.i32(b, loc, (1 << field.bits) - 1);
      return become(read, LLVM::AndOp::create(b, loc, shifted, mask));
    }
    shift += field.bits;
  }
  return false;
}

/// The host stands in for the processor and for the clock.
FailureOr<bool> deviceRegister(Operation *op, OpBuilder &b, ThreadCode &code) {
  auto intrinsic = dyn_cast<LLVM::CallIntrinsicOp>(op);
  StringRef name = intrinsic ? intrinsic.getIntrin() : StringRef();
  if (name == "llvm.amdgcn.s.getreg")
    return registerField(intrinsic, b, code);
  if (isa<NVVM::SmIdOp>(op))
    return become(op, code.call(b, op, "kiln_emu_processor", b.getI32Type(), {}));
  if (isa<NVVM::GlobalTimerOp>(op))
    return become(op, code.call(b, op, "kiln_emu_nanoseconds", b.getI64Type(), {}));
  if (name != "llvm.readsteadycounter")
    return false;
  // AMD's counts at 100 MHz.
  Location loc = op->getLoc();
  Value time = code.call(b, op, "kiln_emu_nanoseconds", b.getI64Type(), {});
  Value ten = LLVM::ConstantOp::create(b, loc, b.getI64Type(), b.getI64IntegerAttr(10));
  return become(op, LLVM::UDivOp::create(b, loc, time, ten));
}

FailureOr<bool> barrier(Operation *op, OpBuilder &b, ThreadCode &code) {
  Location loc = op->getLoc();
  auto blockBarrier = [&](Value id, Value count) {
    Value zero = code.i32(b, loc, 0);
    code.call(b, op, "kiln_emu_barrier", {}, {id ? id : zero, count ? count : zero});
    return gone(op);
  };
  auto warpBarrier = [&](Value mask) {
    code.call(b, op, "kiln_emu_warp_barrier", {}, mask);
    return gone(op);
  };
  return llvm::TypeSwitch<Operation *, FailureOr<bool>>(op)
      .Case<NVVM::Barrier0Op, ROCDL::BarrierOp>([&](auto) { return blockBarrier({}, {}); })
      .Case([&](ROCDL::SBarrierOp) {
        code.call(b, op, "kiln_emu_s_barrier", {}, {});
        return gone(op);
      })
      .Case([&](NVVM::BarrierOp plain) -> FailureOr<bool> {
        if (plain.getReductionOp())
          return false;
        return blockBarrier(plain.getBarrierId(), plain.getNumberOfThreads());
      })
      .Case([&](NVVM::BarrierArriveOp arrive) {
        Value id = arrive.getBarrierId() ? Value(arrive.getBarrierId()) : code.i32(b, loc, 0);
        code.call(b, op, "kiln_emu_barrier_arrive", {}, {id, arrive.getNumberOfThreads()});
        return gone(op);
      })
      .Case([&](NVVM::ClusterArriveOp) {
        code.call(b, op, "kiln_emu_cluster_arrive", {}, {});
        return gone(op);
      })
      .Case([&](NVVM::ClusterWaitOp) {
        code.call(b, op, "kiln_emu_cluster_wait", {}, {});
        return gone(op);
      })
      .Case([&](NVVM::SyncWarpOp sync) {
        return warpBarrier(LLVM::ZExtOp::create(b, loc, b.getI64Type(), sync.getMask()));
      })
      .Case([&](LLVM::CallIntrinsicOp intrinsic) -> FailureOr<bool> {
        if (intrinsic.getIntrin() != "llvm.amdgcn.wave.barrier")
          return false;
        int64_t all = int64_t(~uint64_t(0) >> (64 - code.target().warpSize));
        return warpBarrier(LLVM::ConstantOp::create(b, loc, b.getI64IntegerAttr(all)));
      })
      .Default([](Operation *) { return false; });
}

int32_t kindOf(NVVM::ShflKind kind) {
  switch (kind) {
  case NVVM::ShflKind::bfly:
    return 0;
  case NVVM::ShflKind::up:
    return 1;
  case NVVM::ShflKind::down:
    return 2;
  case NVVM::ShflKind::idx:
    return 3;
  }
  llvm_unreachable("unknown shuffle");
}

std::optional<int32_t> kindOf(NVVM::ReduxKind kind) {
  switch (kind) {
  case NVVM::ReduxKind::ADD:
    return 0;
  case NVVM::ReduxKind::AND:
    return 1;
  case NVVM::ReduxKind::OR:
    return 2;
  case NVVM::ReduxKind::XOR:
    return 3;
  case NVVM::ReduxKind::MIN:
    return 4;
  case NVVM::ReduxKind::MAX:
    return 5;
  case NVVM::ReduxKind::UMIN:
    return 6;
  case NVVM::ReduxKind::UMAX:
    return 7;
  default:
    return std::nullopt;
  }
}

FailureOr<bool> nvidia(Operation *op, OpBuilder &b, ThreadCode &code) {
  Location loc = op->getLoc();
  Type word = b.getI32Type();
  return llvm::TypeSwitch<Operation *, FailureOr<bool>>(op)
      .Case([&](NVVM::ShflOp shuffle) -> FailureOr<bool> {
        if (!shuffle.getType().isInteger(32) && !shuffle.getType().isF32())
          return false;
        Value value = LLVM::BitcastOp::create(b, loc, word, shuffle.getVal());
        Value result =
            code.call(b, op, "kiln_emu_shuffle", word,
                      {code.i32(b, loc, kindOf(shuffle.getKind())), shuffle.getThreadMask(), value,
                       shuffle.getOffset(), shuffle.getMaskAndClamp()});
        return become(op, LLVM::BitcastOp::create(b, loc, shuffle.getType(), result));
      })
      .Case([&](NVVM::VoteSyncOp vote) {
        bool isBallot = vote.getKind() == NVVM::VoteSyncKind::ballot;
        int32_t kind = vote.getKind() == NVVM::VoteSyncKind::any   ? 0
                       : vote.getKind() == NVVM::VoteSyncKind::all ? 1
                       : isBallot                                  ? 3
                                                                   : 2;
        Value mask = LLVM::ZExtOp::create(b, loc, b.getI64Type(), vote.getMask());
        Value result = code.call(b, op, "kiln_emu_vote", b.getI64Type(),
                                 {code.i32(b, loc, kind), mask, extended(b, loc, vote.getPred())});
        return become(op, LLVM::TruncOp::create(b, loc, vote.getType(), result));
      })
      .Case([&](NVVM::ReduxOp redux) -> FailureOr<bool> {
        std::optional<int32_t> kind = kindOf(redux.getKind());
        if (!kind || !redux.getType().isInteger(32))
          return false;
        return become(
            op, code.call(b, op, "kiln_emu_redux", word,
                          {code.i32(b, loc, *kind), redux.getMaskAndClamp(), redux.getVal()}));
      })
      .Case([&](NVVM::ElectSyncOp elect) {
        Value mask = elect.getMembermask() ? elect.getMembermask() : code.i32(b, loc, -1);
        Value result = code.call(b, op, "kiln_emu_elect", word, mask);
        return become(op, LLVM::TruncOp::create(b, loc, b.getI1Type(), result));
      })
      .Default([](Operation *) { return false; });
}

template <typename Swap>
FailureOr<bool> swapLanes(Swap swap, int32_t lanes, OpBuilder &b, ThreadCode &code) {
  Value out = code.slot(0);
  code.call(b, swap, "kiln_emu_permlane_swap", {},
            {code.i32(b, swap.getLoc(), lanes), swap.getOld(), swap.getSrc(), out});
  return become(swap, LLVM::LoadOp::create(b, swap.getLoc(), swap.getType(), out));
}

template <typename Read>
FailureOr<bool> readAcross(Read read, int32_t elementBytes, OpBuilder &b, ThreadCode &code) {
  Value out = code.slot(0);
  code.call(b, read, "kiln_emu_ds_read_tr", {},
            {read.getPtr(), code.i32(b, read.getLoc(), elementBytes), out});
  return become(read, LLVM::LoadOp::create(b, read.getLoc(), read.getType(), out));
}

FailureOr<bool> amd(Operation *op, OpBuilder &b, ThreadCode &code) {
  Location loc = op->getLoc();
  Type word = b.getI32Type();
  auto isWord = [&](Type type) { return type == word || type.isF32(); };
  /// `lane` is null for the first active one.
  auto readLane = [&](Value value, Value lane) -> FailureOr<bool> {
    if (!isWord(value.getType()))
      return false;
    Value bits = LLVM::BitcastOp::create(b, loc, word, value);
    Value result = lane ? code.call(b, op, "kiln_emu_readlane", word, {bits, lane})
                        : code.call(b, op, "kiln_emu_readfirstlane", word, bits);
    return become(op, LLVM::BitcastOp::create(b, loc, value.getType(), result));
  };
  return llvm::TypeSwitch<Operation *, FailureOr<bool>>(op)
      .Case([&](ROCDL::DsBpermuteOp permute) {
        return become(op, code.call(b, op, "kiln_emu_ds_bpermute", word,
                                    {permute.getIndex(), permute.getSrc()}));
      })
      .Case([&](ROCDL::DsSwizzleOp swizzle) {
        return become(op, code.call(b, op, "kiln_emu_ds_swizzle", word,
                                    {swizzle.getSrc(), swizzle.getOffset()}));
      })
      .Case([&](ROCDL::PermlaneX16Op permute) -> FailureOr<bool> {
        if (!isWord(permute.getType()))
          return false;
        Value source = LLVM::BitcastOp::create(b, loc, word, permute.getSrc0());
        Value result = code.call(b, op, "kiln_emu_permlanex16", word,
                                 {source, permute.getSrc1(), permute.getSrc2()});
        return become(op, LLVM::BitcastOp::create(b, loc, permute.getType(), result));
      })
      .Case([&](ROCDL::Permlane16SwapOp swap) { return swapLanes(swap, 16, b, code); })
      .Case([&](ROCDL::Permlane32SwapOp swap) { return swapLanes(swap, 32, b, code); })
      .Case([&](ROCDL::DPPUpdateOp dpp) -> FailureOr<bool> {
        if (!isWord(dpp.getType()))
          return false;
        Value old = LLVM::BitcastOp::create(b, loc, word, dpp.getOld());
        Value source = LLVM::BitcastOp::create(b, loc, word, dpp.getSrc());
        Value result = code.call(
            b, op, "kiln_emu_dpp", word,
            {old, source, code.i32(b, loc, dpp.getDppCtrl()), code.i32(b, loc, dpp.getRowMask()),
             code.i32(b, loc, dpp.getBankMask()), code.i32(b, loc, dpp.getBoundCtrl())});
        return become(op, LLVM::BitcastOp::create(b, loc, dpp.getType(), result));
      })
      .Case([&](ROCDL::BallotOp ballot) {
        Value every = LLVM::ConstantOp::create(b, loc, b.getI64Type(), b.getI64IntegerAttr(-1));
        Value result = code.call(b, op, "kiln_emu_vote", b.getI64Type(),
                                 {code.i32(b, loc, 3), every, extended(b, loc, ballot.getPred())});
        if (ballot.getType() != b.getI64Type())
          result = LLVM::TruncOp::create(b, loc, ballot.getType(), result);
        return become(op, result);
      })
      .Case([&](ROCDL::ds_read_tr16_b64 read) { return readAcross(read, 2, b, code); })
      .Case([&](ROCDL::ds_read_tr8_b64 read) { return readAcross(read, 1, b, code); })
      .Case([&](ROCDL::ReadlaneOp read) { return readLane(read.getSrc0(), read.getSrc1()); })
      .Case([&](ROCDL::ReadfirstlaneOp read) { return readLane(read.getSrc(), {}); })
      .Default([](Operation *) { return false; });
}

} // namespace

FailureOr<bool> emulateExchange(Operation *op, ThreadCode &code) {
  OpBuilder b(op);
  for (auto convert : {position, deviceRegister, barrier, nvidia, amd}) {
    FailureOr<bool> done = convert(op, b, code);
    if (failed(done) || *done)
      return done;
  }
  return false;
}

} // namespace kiln

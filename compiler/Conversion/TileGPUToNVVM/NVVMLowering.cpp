// NVIDIA GPUs: what the shared lowering asks, in NVVM operations.

#include "compiler/Conversion/TileGPUToNVVM/NVVMLowering.h"

#include "compiler/Conversion/TargetLowering/ScalarBuilder.h"
#include "mlir/Dialect/LLVMIR/NVVMDialect.h"
#include "mlir/Dialect/Utils/StaticValueUtils.h"

using namespace mlir;

namespace kiln {
namespace {

class NVVMLowering final : public TargetLowering {
public:
  using TargetLowering::TargetLowering;

  //--- Where a thread is ---

  Value threadId(OpBuilder &b, Location loc) const override {
    return NVVM::ThreadIdXOp::create(b, loc, b.getI32Type());
  }
  Value programId(OpBuilder &b, Location loc, unsigned axis,
                  unsigned clusterBlocks) const override {
    switch (axis) {
    case 0:
      if (clusterBlocks > 1)
        return NVVM::ClusterIdXOp::create(b, loc, b.getI32Type());
      return NVVM::BlockIdXOp::create(b, loc, b.getI32Type());
    case 1:
      return NVVM::BlockIdYOp::create(b, loc, b.getI32Type());
    default:
      return NVVM::BlockIdZOp::create(b, loc, b.getI32Type());
    }
  }
  Value numPrograms(OpBuilder &b, Location loc, unsigned axis, unsigned,
                    unsigned clusterBlocks) const override {
    switch (axis) {
    case 0:
      if (clusterBlocks > 1)
        return NVVM::ClusterDimXOp::create(b, loc, b.getI32Type());
      return NVVM::GridDimXOp::create(b, loc, b.getI32Type());
    case 1:
      return NVVM::GridDimYOp::create(b, loc, b.getI32Type());
    default:
      return NVVM::GridDimZOp::create(b, loc, b.getI32Type());
    }
  }
  Value clusterRank(OpBuilder &b, Location loc) const override {
    return NVVM::ClusterId::create(b, loc, b.getI32Type());
  }
  Value processorNumber(OpBuilder &b, Location loc) const override {
    return NVVM::SmIdOp::create(b, loc, b.getI32Type());
  }
  Value nanoseconds(OpBuilder &b, Location loc) const override {
    return NVVM::GlobalTimerOp::create(b, loc, b.getI64Type());
  }

  //--- Between threads ---

  Value shuffleXor(OpBuilder &b, Location loc, Value value, unsigned mask) const override {
    return shuffle(b, loc, value, ScalarBuilder(b, loc).i32(mask), NVVM::ShflKind::bfly);
  }
  Value shuffleIndex(OpBuilder &b, Location loc, Value value, Value lane) const override {
    return shuffle(b, loc, value, lane, NVVM::ShflKind::idx);
  }
  void barrier(OpBuilder &b, Location loc) const override { NVVM::Barrier0Op::create(b, loc); }

  void barrierOfAll(OpBuilder &b, Location loc, unsigned threads) const override {
    barrierOf(b, loc, /*number=*/1, threads);
  }
  void warpBarrier(OpBuilder &b, Location loc) const override {
    Value all = LLVM::ConstantOp::create(b, loc, b.getI32IntegerAttr(-1));
    NVVM::SyncWarpOp::create(b, loc, all);
  }
  /// ptxas moves no access across it, and where all of a warp come to it it becomes nothing.
  void startLoads(OpBuilder &b, Location loc) const override { warpBarrier(b, loc); }
  /// PTX ISA, "fma": from sm_80 on.
  bool fusesBF16() const override { return true; }

  void arriveAtCluster(OpBuilder &b, Location loc) const override {
    NVVM::ClusterArriveOp::create(b, loc, /*aligned=*/UnitAttr());
  }
  void waitForCluster(OpBuilder &b, Location loc) const override {
    NVVM::ClusterWaitOp::create(b, loc, /*aligned=*/UnitAttr());
  }
  Value addressInBlock(OpBuilder &b, Location loc, Value address, Value rank) const override {
    return NVVM::MapaOp::create(b, loc, ofCluster(b), address, rank);
  }

  //--- Copies ---

  void copyAsync(OpBuilder &b, Location loc, Value to, Value from, unsigned bytes, Value copied,
                 Value predicate) const override {
    bool isWhole = getConstantIntValue(copied) == int64_t(bytes);
    if (isWhole)
      copied = Value();
    if (predicate) {
      tilegpu::GlobalCopyOp::create(b, loc, to, from, predicate, copied, bytes);
      return;
    }
    NVVM::LoadCacheModifierKind cache = cacheOfCopy(bytes);
    NVVM::CpAsyncOp::create(b, loc, to, from, bytes, cache, copied);
  }
  void commitCopies(OpBuilder &b, Location loc) const override {
    NVVM::CpAsyncCommitGroupOp::create(b, loc);
  }
  void waitForCopies(OpBuilder &b, Location loc, unsigned pending) const override {
    NVVM::CpAsyncWaitGroupOp::create(b, loc, pending);
  }

  //--- Copies of blocks ---

  void initMBarrier(OpBuilder &b, Location loc, Value mbarrier, unsigned arrivals) const override {
    Value count = LLVM::ConstantOp::create(b, loc, b.getI32IntegerAttr(int32_t(arrivals)));
    NVVM::MBarrierInitOp::create(b, loc, mbarrier, count, Value());
  }
  void invalidateMBarrier(OpBuilder &b, Location loc, Value mbarrier) const override {
    NVVM::MBarrierInvalOp::create(b, loc, mbarrier);
  }
  void fenceMBarriers(OpBuilder &b, Location loc) const override {
    NVVM::FenceMbarrierInitOp::create(b, loc);
  }
  void announceBytes(OpBuilder &b, Location loc, Value mbarrier, int64_t bytes) const override {
    Value count = LLVM::ConstantOp::create(b, loc, b.getI32IntegerAttr(int32_t(bytes)));
    NVVM::MBarrierArriveExpectTxOp::create(b, loc, TypeRange(), mbarrier, count,
                                           NVVM::MemScopeKind::CTA, /*relaxed=*/false, Value());
  }
  void arrive(OpBuilder &b, Location loc, Value mbarrier) const override {
    // Also at another block's, which learns of reads that are complete: NVIDIA's own products
    // (CUTLASS, "ClusterBarrier") arrive so. Of the cluster's scope it would be a fence of the
    // device.
    NVVM::MBarrierArriveOp::create(b, loc, TypeRange(), mbarrier, /*count=*/Value(),
                                   NVVM::MemScopeKind::CTA, /*relaxed=*/false);
  }
  void copyBox(OpBuilder &b, Location loc, Value to, Value map, ValueRange coordinates,
               Value mbarrier, unsigned sharers) const override {
    Value all;
    if (sharers > 1) {
      all = LLVM::ConstantOp::create(b, loc, b.getI16IntegerAttr(int16_t((1 << sharers) - 1)));
      to = LLVM::AddrSpaceCastOp::create(b, loc, ofCluster(b), to);
    }
    NVVM::CpAsyncBulkTensorGlobalToSharedClusterOp::create(
        b, loc, to, map, coordinates, mbarrier, /*im2colOffsets=*/ValueRange(),
        /*multicastMask=*/all, /*l2CacheHint=*/Value(), NVVM::TMALoadMode::TILE,
        /*isCTAOnly=*/!all, NVVM::CTAGroupKindAttr(), /*predicate=*/Value());
  }
  void copyBoxBack(OpBuilder &b, Location loc, Value map, Value from, ValueRange coordinates,
                   std::optional<tile::AtomicKind> kind) const override {
    if (kind) {
      NVVM::CpAsyncBulkTensorReduceOp::create(b, loc, map, from, reduxKind(*kind),
                                              NVVM::TMAStoreMode::TILE, coordinates,
                                              /*l2CacheHint=*/Value());
      return;
    }
    NVVM::CpAsyncBulkTensorSharedCTAToGlobalOp::create(b, loc, map, from, coordinates,
                                                       /*l2CacheHint=*/Value(),
                                                       NVVM::TMAStoreMode::TILE,
                                                       /*predicate=*/Value());
  }
  void waitForCopiesBack(OpBuilder &b, Location loc, bool isRead) const override {
    NVVM::CpAsyncBulkCommitGroupOp::create(b, loc);
    NVVM::CpAsyncBulkWaitGroupOp::create(b, loc, b.getI32IntegerAttr(/*group=*/0),
                                         isRead ? b.getUnitAttr() : UnitAttr());
  }
  void waitForPhase(OpBuilder &b, Location loc, Value mbarrier, Value parity) const override {
    // How long the hardware may let the thread sleep, in nanoseconds: as long as it likes.
    Value ticks = LLVM::ConstantOp::create(b, loc, b.getI32IntegerAttr(10'000'000));
    NVVM::MBarrierTryWaitParityOp::create(b, loc, mbarrier, parity, ticks);
  }
  void fenceForEngine(OpBuilder &b, Location loc) const override {
    NVVM::FenceProxyOp::create(b, loc,
                               NVVM::ProxyKindAttr::get(b.getContext(), NVVM::ProxyKind::async),
                               NVVM::SharedSpaceAttr());
  }

  //--- Tensor maps that the kernel makes ---

  void writeMapField(OpBuilder &b, Location loc, Value image, MapField field, unsigned axis,
                     Value value) const override {
    replaceMapField(b, loc, image, field, axis, value);
  }
  unsigned mapElement(Type type, bool isSigned) const override {
    return numberOfMapElement(type, isSigned);
  }
  void acquireMap(OpBuilder &b, Location loc, Value map) const override {
    Value bytes = LLVM::ConstantOp::create(b, loc, b.getI32IntegerAttr(MapRecord::mapBytes));
    NVVM::FenceProxyAcquireOp::create(b, loc, NVVM::MemScopeKind::GPU, map, bytes);
    // ptxas (13.0) makes an invalidation of the engine's cache of it that nothing waits for.
    // Waiting for copies does, of which there are none.
    waitForCopiesBack(b, loc, /*isRead=*/false);
  }

  void setRegisters(OpBuilder &b, Location loc, unsigned count, bool isMore) const override {
    NVVM::SetMaxRegisterOp::create(b, loc, count,
                                   isMore ? NVVM::SetMaxRegisterAction::increase
                                          : NVVM::SetMaxRegisterAction::decrease);
  }

  //--- Arithmetic ---

  Value divideApproximately(OpBuilder &b, Location loc, Value a, Value c) const override {
    return intrinsic(b, loc, "llvm.nvvm.div.full", {a, c});
  }
  Value reciprocalSqrt(OpBuilder &b, Location loc, Value x) const override {
    return intrinsic(b, loc, "llvm.nvvm.rsqrt.approx.f", {x});
  }
  Value reciprocal(OpBuilder &b, Location loc, Value x) const override {
    return intrinsic(b, loc, "llvm.nvvm.rcp.approx.ftz.f", {x});
  }
  Value exp2(OpBuilder &b, Location loc, Value x) const override {
    return intrinsic(b, loc, "llvm.nvvm.ex2.approx.ftz", {x});
  }
  Value log2(OpBuilder &b, Location loc, Value x) const override {
    return intrinsic(b, loc, "llvm.nvvm.lg2.approx.f", {x});
  }
  Value tanh(OpBuilder &b, Location loc, Value x) const override {
    return LLVM::TanhOp::create(b, loc, x, LLVM::FastmathFlags::afn);
  }

  Value narrowPair(OpBuilder &b, Location loc, Value low, Value high, Type format) const override {
    // sm_89 and later, which multiply them as well.
    if (!info.matrix.mmaFP8 || !isa<Float8E4M3FNType, Float8E5M2Type>(format))
      return {};
    ScalarBuilder s(b, loc);
    Value codes = NVVM::ConvertF32x2ToF8x2Op::create(b, loc, b.getI16Type(), high, low,
                                                     NVVM::FPRoundingMode::RN,
                                                     NVVM::SaturationMode::SATFINITE,
                                                     /*relu=*/false, format);
    // Any NaN has become 0x7f. All others' codes have the sign anyway.
    Value signs = permuteBytes(b, loc, s.bitcast(low, b.getI32Type()),
                               s.bitcast(high, b.getI32Type()), s.i32(0x7373));
    signs = s.make<arith::TruncIOp>(b.getI16Type(), s.bitAnd(signs, 0x8080));
    return s.bitOr(codes, signs);
  }

  Value permuteBytes(OpBuilder &b, Location loc, Value low, Value high,
                     Value selectors) const override {
    return intrinsic(b, loc, "llvm.nvvm.prmt", {low, high, selectors});
  }

  Value widenPair(OpBuilder &b, Location loc, Value low, Value high, Type format,
                  Type to) const override {
    if (!info.matrix.mmaFP8 || !isa<Float8E4M3FNType, Float8E5M2Type>(format))
      return {};
    // NaNs that are not quiet f32 would make so, but LLVM leaves the way from f16 to f16 out.
    if (to.isF16() && isa<Float8E5M2Type>(format))
      return {};
    ScalarBuilder s(b, loc);
    auto halves = VectorType::get(2, b.getF16Type());
    Value codes = s.joinBytes(low, high);
    // Each code in the upper byte of a half: sign and exponent are where those of e5m2 are.
    Value bits = permuteBytes(b, loc, s.make<arith::ExtUIOp>(b.getI32Type(), codes), s.i32(0),
                              s.i32(0x1404));
    if (isa<Float8E4M3FNType>(format)) {
      Value widened = LLVM::CallIntrinsicOp::create(
                          b, loc, halves, b.getStringAttr("llvm.nvvm.e4m3x2.to.f16x2.rn"), codes)
                          .getResult(0);
      // Any NaN has become 0x7fff. Numbers have the sign of the code, and zeros below its mantissa.
      widened = s.bitAnd(s.bitcast(widened, b.getI32Type()), 0x7F807F80);
      bits = s.bitOr(widened, s.bitAnd(bits, int32_t(0x80008000)));
    }
    return s.bitcast(bits, halves);
  }

  //--- Matrix units ---

  SmallVector<Value> packFragment(OpBuilder &b, Location loc, const MatrixInstruction &unit,
                                  MatrixOperand slot, ValueRange elements,
                                  bool isExact) const override {
    if (unit.family != MatrixFamily::MmaSync && unit.family != MatrixFamily::Wgmma)
      return {};
    ScalarBuilder s(b, loc);
    bool accumulator = slot == MatrixOperand::C;
    MatrixElement type = accumulator ? unit.accumulator : unit.operand;
    unsigned perWord = 32 / elementBits(type);
    SmallVector<Value> words;
    for (unsigned first = 0; first < elements.size(); first += perWord) {
      Value word = s.pack(elements.slice(first, perWord));
      if (type == MatrixElement::TF32 && !isExact)
        word = NVVM::ConvertFloatToTF32Op::create(b, loc, b.getI32Type(), word,
                                                  info.convertTF32 ? NVVM::FPRoundingMode::RN
                                                                   : NVVM::FPRoundingMode::RNA);
      else if (!accumulator && type != MatrixElement::F16)
        word = s.bitcast(word, b.getI32Type());
      words.push_back(word);
    }
    return words;
  }

  SmallVector<Value> multiplyMatrices(OpBuilder &b, Location loc, const MatrixInstruction &unit,
                                      ValueRange a, ValueRange factorB,
                                      ValueRange accumulator) const override {
    SmallVector<Type> types(accumulator.getTypes());
    auto result = LLVM::LLVMStructType::getLiteral(b.getContext(), types);
    Value product = isSmallFloat(unit.operand)
                        ? multiplySmallFloats(b, loc, unit, result, a, factorB, accumulator)
                        : multiply(b, loc, unit, result, a, factorB, accumulator);
    SmallVector<Value> words;
    for (int64_t index = 0; index < int64_t(types.size()); ++index)
      words.push_back(LLVM::ExtractValueOp::create(b, loc, product, ArrayRef<int64_t>{index}));
    return words;
  }

  SmallVector<Value> loadMatrices(OpBuilder &b, Location loc, Value row, unsigned matrices,
                                  bool transposed) const override {
    Type word = b.getI32Type(), all = word;
    if (matrices > 1)
      all = LLVM::LLVMStructType::getLiteral(b.getContext(), SmallVector<Type>(matrices, word));
    auto layout = transposed ? NVVM::MMALayout::col : NVVM::MMALayout::row;
    auto shape = NVVM::LdStMatrixShapeAttr::get(b.getContext(), 8, 8);
    Value loaded = NVVM::LdMatrixOp::create(b, loc, all, row, matrices, layout, shape,
                                            NVVM::LdStMatrixEltType::B16);
    if (matrices == 1)
      return {loaded};
    SmallVector<Value> words;
    for (int64_t index = 0; index < matrices; ++index)
      words.push_back(LLVM::ExtractValueOp::create(b, loc, loaded, ArrayRef<int64_t>{index}));
    return words;
  }
  void fenceForUnits(OpBuilder &b, Location loc) const override {
    NVVM::FenceProxyOp::create(
        b, loc, NVVM::ProxyKindAttr::get(b.getContext(), NVVM::ProxyKind::async_shared),
        NVVM::SharedSpaceAttr::get(b.getContext(), NVVM::SharedSpace::shared_cta));
  }
  void commitProducts(OpBuilder &b, Location loc) const override {
    NVVM::WgmmaGroupSyncAlignedOp::create(b, loc);
  }

  //--- The kernel ---

  StringRef syncScope(tile::MemoryScope scope) const override {
    switch (scope) {
    case tile::MemoryScope::CTA:
      return "block";
    case tile::MemoryScope::GPU:
      return "device";
    case tile::MemoryScope::System:
      return "";
    }
    llvm_unreachable("unknown memory scope");
  }
  void markKernel(LLVM::LLVMFuncOp kernel, unsigned numThreads,
                  unsigned producerThreads) const override {
    OpBuilder b(kernel.getContext());
    kernel->setAttr(NVVM::NVVMDialect::getKernelFuncAttrName(), b.getUnitAttr());
    kernel->setAttr(NVVM::NVVMDialect::getReqntidAttrName(),
                    b.getDenseI32ArrayAttr({int32_t(numThreads + producerThreads), 1, 1}));
    // Of a block of one warp bar.sync would wait for the warp's loads as well.
    bool isOneWarp = numThreads + producerThreads == info.warpSize;
    if (producerThreads || isOneWarp)
      kernel.walk([&](NVVM::Barrier0Op barrier) {
        b.setInsertionPoint(barrier);
        if (isOneWarp)
          warpBarrier(b, barrier.getLoc());
        else
          barrierOf(b, barrier.getLoc(), /*number=*/0, numThreads);
        barrier.erase();
      });
    // What is passed by value is read where the launcher has put it.
    for (unsigned index = 0; index < kernel.getNumArguments(); ++index)
      if (kernel.getArgAttr(index, LLVM::LLVMDialect::getByValAttrName()))
        kernel.setArgAttr(index, NVVM::NVVMDialect::getGridConstantAttrName(), b.getUnitAttr());
  }

  LogicalResult expandLoad(tilegpu::GlobalLoadOp op, OpBuilder &b) const override {
    return expandLoadToPTX(op, b);
  }
  LogicalResult expandStore(tilegpu::GlobalStoreOp op, OpBuilder &b) const override {
    return expandStoreToPTX(op, b);
  }
  LogicalResult expandReduce(tilegpu::GlobalReduceOp op, OpBuilder &b) const override {
    return expandReduceToPTX(op, target(), b);
  }
  LogicalResult expandPrint(tilegpu::PrintOp op, OpBuilder &b) const override {
    return expandPrintToCall(op, b);
  }
  LogicalResult expandFail(tilegpu::FailOp op, OpBuilder &b) const override {
    return expandFailToCall(op, b);
  }
  LogicalResult expandWgmma(tilegpu::WgmmaOp op, OpBuilder &b) const override {
    return hasWarpGroups() ? expandWgmmaToPTX(op) : TargetLowering::expandWgmma(op, b);
  }
  LogicalResult expandWgmmaWait(tilegpu::WgmmaWaitOp op, OpBuilder &b) const override {
    return hasWarpGroups() ? expandWgmmaWaitToPTX(op, b) : TargetLowering::expandWgmmaWait(op, b);
  }
  LogicalResult expandCopy(tilegpu::GlobalCopyOp op, OpBuilder &b) const override {
    return expandCopyToPTX(op, b);
  }
  LogicalResult expandCopy(NVVM::CpAsyncOp op, OpBuilder &b) const override {
    return expandCopyToPTX(op, b);
  }
  void shareDivisors(ModuleOp module) const override { kiln::shareDivisors(module); }
  LogicalResult expandClaim(tilegpu::ClaimMapsOp op, OpBuilder &b) const override {
    return expandClaimToPTX(op, b);
  }
  LogicalResult expandRelease(tilegpu::ReleaseMapsOp op, OpBuilder &b) const override {
    return expandReleaseToPTX(op, b);
  }
  LogicalResult expandPublish(tilegpu::PublishMapOp op, OpBuilder &b) const override {
    return expandPublishToPTX(op, b);
  }
  LogicalResult expandPhaseWait(NVVM::MBarrierTryWaitParityOp op, OpBuilder &b) const override {
    return expandPhaseWaitToPTX(op, b);
  }

private:
  static void barrierOf(OpBuilder &b, Location loc, unsigned number, unsigned threads) {
    auto constant = [&](unsigned value) -> Value {
      return LLVM::ConstantOp::create(b, loc, b.getI32IntegerAttr(int32_t(value)));
    };
    NVVM::BarrierOp::create(b, loc, TypeRange(), constant(number), constant(threads),
                            NVVM::BarrierReductionAttr(), Value());
  }
  /// A pointer to shared memory of any block of the cluster.
  static Type ofCluster(OpBuilder &b) {
    return LLVM::LLVMPointerType::get(b.getContext(),
                                      static_cast<unsigned>(NVVM::NVVMMemorySpace::SharedCluster));
  }
  /// Hopper alone has them.
  bool hasWarpGroups() const { return info.matrix.wgmma; }
  static bool isSmallFloat(MatrixElement element) {
    return element == MatrixElement::F8E4M3 || element == MatrixElement::F8E5M2;
  }
  static Value multiply(OpBuilder &b, Location loc, const MatrixInstruction &unit, Type result,
                        ValueRange a, ValueRange factorB, ValueRange accumulator) {
    std::optional<std::array<NVVM::MMATypes, 2>> operandTypes;
    if (NVVM::MMATypes type; unit.operand != MatrixElement::F16) {
      type = ptxType(unit.operand);
      operandTypes = {{type, type}};
    }
    std::optional<NVVM::MMAIntOverflow> overflow;
    if (unit.operand == MatrixElement::I8)
      overflow = NVVM::MMAIntOverflow::wrapped;
    return NVVM::MmaOp::create(
        b, loc, result, a, factorB, accumulator, ArrayRef<int64_t>{unit.m, unit.n, unit.k},
        std::nullopt, overflow, operandTypes,
        std::array<NVVM::MMALayout, 2>{NVVM::MMALayout::row, NVVM::MMALayout::col});
  }
  /// nvvm.mma.sync has no 8-bit floats.
  static Value multiplySmallFloats(OpBuilder &b, Location loc, const MatrixInstruction &unit,
                                   Type result, ValueRange a, ValueRange factorB,
                                   ValueRange accumulator) {
    SmallVector<Value> operands(a);
    llvm::append_range(operands, factorB);
    llvm::append_range(operands, accumulator);
    return LLVM::CallIntrinsicOp::create(b, loc, result,
                                         b.getStringAttr("llvm." + unit.issue.str()), operands)
        .getResult(0);
  }
  static Value shuffle(OpBuilder &b, Location loc, Value value, Value offset, NVVM::ShflKind kind) {
    ScalarBuilder s(b, loc);
    return NVVM::ShflOp::create(b, loc, b.getI32Type(), s.i32(-1), value, offset, s.i32(31), kind,
                                UnitAttr());
  }
  static Value intrinsic(OpBuilder &b, Location loc, StringRef name, ValueRange operands) {
    return LLVM::CallIntrinsicOp::create(b, loc, operands[0].getType(), b.getStringAttr(name),
                                         operands)
        .getResult(0);
  }
  /// The types are the tensor map's.
  static NVVM::TMAReduxKind reduxKind(tile::AtomicKind kind) {
    using tile::AtomicKind;
    switch (kind) {
    case AtomicKind::SMin:
    case AtomicKind::UMin:
    case AtomicKind::FMin:
      return NVVM::TMAReduxKind::MIN;
    case AtomicKind::SMax:
    case AtomicKind::UMax:
    case AtomicKind::FMax:
      return NVVM::TMAReduxKind::MAX;
    case AtomicKind::And:
      return NVVM::TMAReduxKind::AND;
    case AtomicKind::Or:
      return NVVM::TMAReduxKind::OR;
    case AtomicKind::Xor:
      return NVVM::TMAReduxKind::XOR;
    default:
      return NVVM::TMAReduxKind::ADD;
    }
  }
  static NVVM::MMATypes ptxType(MatrixElement element) {
    switch (element) {
    case MatrixElement::BF16:
      return NVVM::MMATypes::bf16;
    case MatrixElement::TF32:
      return NVVM::MMATypes::tf32;
    case MatrixElement::I8:
      return NVVM::MMATypes::s8;
    case MatrixElement::F8E4M3:
      return NVVM::MMATypes::e4m3;
    case MatrixElement::F8E5M2:
      return NVVM::MMATypes::e5m2;
    default:
      return NVVM::MMATypes::f16;
    }
  }
};

} // namespace

std::unique_ptr<TargetLowering> makeNVVMLowering(const TargetInfo &info) {
  return std::make_unique<NVVMLowering>(info);
}

} // namespace kiln

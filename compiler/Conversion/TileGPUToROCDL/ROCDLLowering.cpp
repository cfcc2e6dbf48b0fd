// AMD GPUs: what the shared lowering asks, in ROCDL operations.

#include "compiler/Conversion/TileGPUToROCDL/ROCDLLowering.h"
#include "compiler/Conversion/TileGPUToROCDL/WidenBytes.h"

#include "compiler/Conversion/TargetLowering/ScalarBuilder.h"
#include "compiler/Dialect/TileGPU/SmallFloats.h"
#include "compiler/Target/MemoryFeatures.h"
#include "mlir/Dialect/LLVMIR/ROCDLDialect.h"
#include "mlir/IR/Matchers.h"
#include "mlir/Interfaces/FunctionInterfaces.h"

using namespace mlir;

namespace kiln {
namespace {

/// DPP controls (GCN3 to RDNA4 ISA, "Data Parallel Primitives"): lanes 1 0 3 2 and 2 3 0 1 of each
/// quad, and a rotation of each row of 16 lanes by 8.
constexpr int32_t dppQuadXor1 = 0xB1, dppQuadXor2 = 0x4E, dppRowRotate8 = 0x128;
/// With the distance in the lower bits: a lane behind in the row, and one in front.
constexpr int32_t dppRowShiftLeft = 0x100, dppRowShiftRight = 0x110;
/// The lane that mirrors it within 8; of GCN3 to CDNA, the last lane of the row in front, and of
/// the 32 lanes in front.
constexpr int32_t dppHalfMirror = 0x141, dppRowBroadcast15 = 0x142, dppRowBroadcast31 = 0x143;
/// RDNA's, with the mask in the lower bits: the lane of the row that differs by it.
constexpr int32_t dppRowXorMask = 0x160;

class ROCDLLowering final : public TargetLowering {
public:
  using TargetLowering::TargetLowering;

  //--- Where a thread is ---

  Value threadId(OpBuilder &b, Location loc) const override {
    return ROCDL::ThreadIdXOp::create(b, loc, b.getI32Type());
  }
  Value programId(OpBuilder &b, Location loc, unsigned axis, unsigned) const override {
    switch (axis) {
    case 0:
      return ROCDL::BlockIdXOp::create(b, loc, b.getI32Type());
    case 1:
      return ROCDL::BlockIdYOp::create(b, loc, b.getI32Type());
    default:
      return ROCDL::BlockIdZOp::create(b, loc, b.getI32Type());
    }
  }
  /// The dispatch packet has the grid's size in work-items (HSA Platform System Architecture,
  /// "Kernel dispatch packet": grid_size_x at byte 12). Blocks have one thread along y and z.
  Value numPrograms(OpBuilder &b, Location loc, unsigned axis, unsigned numThreads,
                    unsigned) const override {
    ScalarBuilder s(b, loc);
    auto pointer = LLVM::LLVMPointerType::get(b.getContext(), 4);
    Value packet = LLVM::CallIntrinsicOp::create(
                       b, loc, pointer, b.getStringAttr("llvm.amdgcn.dispatch.ptr"), ValueRange())
                       .getResult(0);
    Value items = LLVM::LoadOp::create(b, loc, b.getI32Type(),
                                       s.byteOffset(packet, s.i32(12 + 4 * int64_t(axis))), 4);
    return axis == 0 ? s.make<arith::DivUIOp>(items, s.i32(numThreads)) : items;
  }
  /// The fields side by side: no two processors of a device have one number, but there are gaps.
  Value processorNumber(OpBuilder &b, Location loc) const override {
    ScalarBuilder s(b, loc);
    Value number;
    unsigned shift = 0;
    for (const RegisterField &field : info.processorFields) {
      Value bits = LLVM::CallIntrinsicOp::create(b, loc, b.getI32Type(),
                                                 b.getStringAttr("llvm.amdgcn.s.getreg"),
                                                 ValueRange(s.i32(field.immediate())))
                       .getResult(0);
      number = number ? s.bitOr(number, s.shiftLeft(bits, shift)) : bits;
      shift += field.bits;
    }
    return number;
  }
  /// The real-time counter runs at 100 MHz.
  Value nanoseconds(OpBuilder &b, Location loc) const override {
    Value ticks =
        LLVM::CallIntrinsicOp::create(b, loc, b.getI64Type(),
                                      b.getStringAttr("llvm.readsteadycounter"), ValueRange())
            .getResult(0);
    return ScalarBuilder(b, loc).mul(ticks, 10);
  }

  //--- Between threads ---

  Value shuffleXor(OpBuilder &b, Location loc, Value value, unsigned mask) const override {
    ScalarBuilder s(b, loc);
    bool isRdna = info.warpSize == 32;
    if (isRdna && mask >= 16) {
      // v_permlanex16_b32: lane i of a row reads the other row of its 32 lanes, at nibble i.
      uint64_t places = 0;
      for (uint64_t lane = 0; lane < 16; ++lane)
        places |= (lane ^ (mask & 15)) << (4 * lane);
      return ROCDL::PermlaneX16Op::create(b, loc, b.getI32Type(), value, value,
                                          s.i32(int32_t(places)), s.i32(int32_t(places >> 32)),
                                          /*fi=*/false, /*boundControl=*/true);
    }
    if (isRdna || mask == 1 || mask == 2 || mask == 8) {
      int32_t control = mask == 1   ? dppQuadXor1
                        : mask == 2 ? dppQuadXor2
                        : isRdna    ? dppRowXorMask | int32_t(mask)
                                    : dppRowRotate8;
      return moveByDpp(b, loc, value, control);
    }
    if (swapsLanes(mask)) {
      auto [ofClear, ofSet] = swapLanes(b, loc, value, value, mask);
      Value isClear = s.equal(s.bitAnd(threadId(b, loc), mask), 0);
      return s.select(isClear, ofSet, ofClear);
    }
    // ds_swizzle in bit mode: and 0x1f, or 0, xor mask, within 32 lanes.
    if (mask < 32)
      return ROCDL::DsSwizzleOp::create(b, loc, b.getI32Type(), value, s.i32(mask << 10 | 0x1F));
    Value lane = s.bitAnd(threadId(b, loc), info.warpSize - 1);
    return shuffleIndex(b, loc, value, s.bitXor(lane, s.i32(mask)));
  }
  bool swapsLanes(unsigned mask) const override {
    return llvm::has_single_bit(mask) && (info.swappedLanes & mask);
  }
  /// CDNA4 ISA, "V_PERMLANE16_SWAP_B32", "V_PERMLANE32_SWAP_B32".
  std::pair<Value, Value> swapLanes(OpBuilder &b, Location loc, Value first, Value second,
                                    unsigned mask) const override {
    ScalarBuilder s(b, loc);
    Type both = LLVM::LLVMStructType::getLiteral(b.getContext(), {b.getI32Type(), b.getI32Type()});
    auto swap = [&](auto op) -> Value {
      return s.make<decltype(op)>(both, first, second, /*fi=*/false, /*boundControl=*/false);
    };
    Value words = mask == 16 ? swap(ROCDL::Permlane16SwapOp()) : swap(ROCDL::Permlane32SwapOp());
    return {s.make<LLVM::ExtractValueOp>(words, 0), s.make<LLVM::ExtractValueOp>(words, 1)};
  }
  Value shuffleTotals(OpBuilder &b, Location loc, Value value, unsigned bit) const override {
    constexpr unsigned bitOfRows = 4;
    if (info.warpSize == 32 && bit == bitOfRows) {
      // Lane 0 of the other row.
      Value zero = ScalarBuilder(b, loc).i32(0);
      return ROCDL::PermlaneX16Op::create(b, loc, b.getI32Type(), value, value, zero, zero,
                                          /*fi=*/false, /*boundControl=*/true);
    }
    return info.warpSize == 64 && bit == 2 ? moveByDpp(b, loc, value, dppHalfMirror)
                                           : shuffleXor(b, loc, value, 1u << bit);
  }
  std::optional<unsigned> totalsToLastLane() const override {
    return info.warpSize == 64 ? std::optional<unsigned>(4) : std::nullopt;
  }
  unsigned lanesOfRow() const override { return 16; }
  Value shiftInRow(OpBuilder &b, Location loc, Value value, Value none, unsigned distance,
                   bool isBehind) const override {
    int32_t control = (isBehind ? dppRowShiftLeft : dppRowShiftRight) | int32_t(distance);
    return ROCDL::DPPUpdateOp::create(b, loc, b.getI32Type(), none, value, control, 0xF, 0xF,
                                      /*boundCtrl=*/false);
  }
  Value lastBefore(OpBuilder &b, Location loc, Value value, unsigned bit) const override {
    if (info.warpSize == 64)
      return moveByDpp(b, loc, value, bit == 4 ? dppRowBroadcast15 : dppRowBroadcast31);
    // Lane 15 of the other row.
    Value last = ScalarBuilder(b, loc).i32(-1);
    return ROCDL::PermlaneX16Op::create(b, loc, b.getI32Type(), value, value, last, last,
                                        /*fi=*/false, /*boundControl=*/true);
  }
  Value ofLastLane(OpBuilder &b, Location loc, Value value) const override {
    return ROCDL::ReadlaneOp::create(b, loc, b.getI32Type(), value,
                                     ScalarBuilder(b, loc).i32(info.warpSize - 1));
  }
  Value shuffleIndex(OpBuilder &b, Location loc, Value value, Value lane) const override {
    // The index counts bytes.
    return ROCDL::DsBpermuteOp::create(b, loc, b.getI32Type(),
                                       ScalarBuilder(b, loc).shiftLeft(lane, 2), value);
  }
  void barrier(OpBuilder &b, Location loc) const override { ROCDL::BarrierOp::create(b, loc); }
  void sharedBarrier(OpBuilder &b, Location loc) const override {
    partialBarrier(b, loc, {sharedFenceScope});
  }
  void readsBarrier(OpBuilder &b, Location loc, bool withShared) const override {
    if (withShared)
      return partialBarrier(b, loc, {readsFenceScope, sharedFenceScope});
    partialBarrier(b, loc, {readsFenceScope});
  }
  /// A block's fence keeps stores in front of the wait, and is no instruction itself.
  void waitForStores(OpBuilder &b, Location loc) const override {
    LLVM::FenceOp::create(b, loc, LLVM::AtomicOrdering::release, "workgroup");
    ROCDL::SWaitcntOp::create(b, loc, waitForLoads(0));
  }
  /// No instruction: neither the compiler nor memory change the order of accesses.
  void warpBarrier(OpBuilder &b, Location loc) const override {
    constexpr StringLiteral scope = "wavefront";
    LLVM::FenceOp::create(b, loc, LLVM::AtomicOrdering::release, scope);
    LLVM::CallIntrinsicOp::create(b, loc, b.getStringAttr("llvm.amdgcn.wave.barrier"),
                                  ValueRange());
    LLVM::FenceOp::create(b, loc, LLVM::AtomicOrdering::acquire, scope);
  }

  //--- Buffers ---

  Value makeBuffer(OpBuilder &b, Location loc, Value base, Value bytes) const override {
    return makeBufferResource(b, loc, base, bytes, info);
  }
  Value loadBuffer(OpBuilder &b, Location loc, Type type, Value buffer, Value offset,
                   tile::CacheModifier cache, tile::EvictionPolicy evict) const override {
    return loadFromBuffer(b, loc, type, buffer, offset,
                          cacheBits(info, /*isStore=*/false, cache, evict),
                          cache == tile::CacheModifier::CG);
  }
  void storeBuffer(OpBuilder &b, Location loc, Value value, Value buffer, Value offset,
                   tile::CacheModifier cache, tile::EvictionPolicy evict) const override {
    storeToBuffer(b, loc, value, buffer, offset, cacheBits(info, /*isStore=*/true, cache, evict));
  }
  Value reduceBuffer(OpBuilder &b, Location loc, tile::AtomicKind kind, Value value, Value buffer,
                     Value offset, tile::MemoryScope scope) const override {
    return reduceInBuffer(b, loc, kind, value, buffer, offset, scopeBits(info, scope));
  }

  //--- Copies ---

  /// In front of all else: LLVM does not take it out of loops.
  Value warpNumber(OpBuilder &b, Location loc) const override {
    OpBuilder::InsertionGuard guard(b);
    Operation *parent = b.getInsertionBlock()->getParentOp();
    auto kernel = dyn_cast<FunctionOpInterface>(parent);
    if (!kernel)
      kernel = parent->getParentOfType<FunctionOpInterface>();
    b.setInsertionPointToStart(&kernel.getFunctionBody().front());
    ScalarBuilder s(b, loc);
    Value number = s.shiftRight(threadId(b, loc), llvm::Log2_32(info.warpSize));
    return ROCDL::ReadfirstlaneOp::create(b, loc, b.getI32Type(), number);
  }
  void copyByWarp(OpBuilder &b, Location loc, Value to, Value from,
                  Value predicate) const override {
    tilegpu::WarpCopyOp::create(b, loc, to, from, predicate);
  }
  void copyBufferByWarp(OpBuilder &b, Location loc, Value to, Value buffer,
                        Value offset) const override {
    tilegpu::WarpBufferCopyOp::create(b, loc, to, buffer, offset);
  }
  /// Instructions are counted as they come.
  void commitCopies(OpBuilder &, Location) const override {}
  void waitForCopies(OpBuilder &b, Location loc, unsigned pending) const override {
    ROCDL::SWaitcntOp::create(b, loc, waitForLoads(pending));
  }

  //--- Arithmetic ---

  Value divideApproximately(OpBuilder &b, Location loc, Value a, Value c) const override {
    // v_rcp_f32 is good to 1 ulp, but takes no denormal results: LLVM scales where it must.
    return {};
  }

  /// The instruction makes infinity or NaN of numbers beyond the largest, and so gets the largest
  /// in place of them, and NaNs as they are. Whose bits but the sign are not all set (E5M2) gets
  /// them behind it.
  Value narrowPair(OpBuilder &b, Location loc, Value low, Value high, Type format) const override {
    if (!convertsFormat(format))
      return {};
    ScalarBuilder s(b, loc);
    Type i32 = b.getI32Type();
    bool isFnuz = isa<Float8E4M3FNUZType, Float8E5M2FNUZType>(format);
    bool isE5M2 = isa<Float8E5M2Type, Float8E5M2FNUZType>(format);
    const double bound = isE5M2 ? 57344 : isFnuz ? 240 : 448;
    Value largest = s.real(b.getF32Type(), bound);
    Value nans = s.i32(0);
    auto bounded = [&](Value value, int32_t nan) -> Value {
      auto isNan = [&] { return s.make<arith::CmpFOp>(arith::CmpFPredicate::UNO, value, value); };
      if (isFnuz) {
        Value number = LLVM::CallIntrinsicOp::create(
                           b, loc, value.getType(), b.getStringAttr("llvm.amdgcn.fmed3"),
                           ValueRange{value, s.real(b.getF32Type(), -bound), largest})
                           .getResult(0);
        return s.select(isNan(), value, number);
      }
      // Processors with the other formats have instructions that keep NaNs.
      if (isE5M2)
        nans = s.bitOr(nans, s.select(isNan(), s.i32(nan), s.i32(0)));
      return s.make<arith::MaximumFOp>(s.make<arith::MinimumFOp>(value, largest),
                                       s.real(b.getF32Type(), -bound));
    };
    Value first = bounded(low, 0x7f), second = bounded(high, 0x7f00);
    Value none = LLVM::UndefOp::create(b, loc, i32);
    Value codes =
        isE5M2 ? ROCDL::CvtPkBf8F32Op::create(b, loc, i32, first, second, none, false).getResult()
               : ROCDL::CvtPkFp8F32Op::create(b, loc, i32, first, second, none, false).getResult();
    codes = s.make<arith::TruncIOp>(b.getI16Type(), s.bitOr(codes, nans));
    return s.bitcast(codes, VectorType::get(2, b.getI8Type()));
  }

  SmallVector<Value> widenWord(OpBuilder &b, Location loc, ArrayRef<Value> codes, Type format,
                               Type to) const override {
    ScalarBuilder s(b, loc);
    if (!convertsFormat(format))
      return to.isF16() ? widenBytesToHalves(s, codes, format) : SmallVector<Value>();
    bool isAtOnce = info.matrix.mfmaGeneration >= 4 && (to.isF16() || to.isBF16());
    return convertBytes(s, codes, format, isAtOnce ? to : b.getF32Type());
  }

  SmallVector<Value> widenScaled(OpBuilder &b, Location loc, ArrayRef<Value> codes,
                                 ArrayRef<Value> scales, Type format, bool isUpper,
                                 Type to) const override {
    if (info.matrix.mfmaGeneration < 4)
      return {};
    ScalarBuilder s(b, loc);
    return format.isInteger(8) ? widenScaledPairs(s, codes, scales, isUpper, to)
                               : widenScaledBytes(s, codes, scales, format, to);
  }

  Value reciprocalSqrt(OpBuilder &b, Location loc, Value x) const override {
    return LLVM::CallIntrinsicOp::create(b, loc, x.getType(),
                                         b.getStringAttr("llvm.amdgcn.rsq.f32"), ValueRange(x))
        .getResult(0);
  }

  /// Made of V_LOG_F32, which is within 1 ulp (ISA documents, "V_LOG_F32").
  bool hasLogarithms() const override { return true; }

  //--- Matrix units ---

  unsigned instructionsOf(const MatrixInstruction &unit) const override {
    if (unit.hasFormats())
      return 1;
    // amdgcn.mfma.f32.32x32x8f16
    StringRef shape = unit.issue;
    for (unsigned part = 0; part < 3; ++part)
      shape = shape.split('.').second;
    unsigned m, n, k;
    bool isOther = shape.consumeInteger(10, m) || !shape.consume_front("x") ||
                   shape.consumeInteger(10, n) || !shape.consume_front("x") ||
                   shape.consumeInteger(10, k);
    assert(!isOther && m == unit.m && n == unit.n && "expected an intrinsic named by its shape");
    return unit.k / k;
  }

  SmallVector<Value> packFragment(OpBuilder &b, Location loc, const MatrixInstruction &unit,
                                  MatrixOperand slot, ValueRange elements,
                                  bool isExact) const override {
    if (unit.family == MatrixFamily::MmaSync)
      return {};
    ScalarBuilder s(b, loc);
    if (slot == MatrixOperand::C)
      return {s.pack(elements)};
    unsigned count = elements.size() / instructionsOf(unit);
    Type type = operandType(b, unit, count);
    SmallVector<Value> packed;
    for (unsigned first = 0; first < elements.size(); first += count) {
      Value vector = s.pack(elements.slice(first, count));
      packed.push_back(type ? s.bitcast(vector, type) : vector);
    }
    return packed;
  }

  SmallVector<Value> multiplyMatrices(OpBuilder &b, Location loc, const MatrixInstruction &unit,
                                      ValueRange a, ValueRange factorB,
                                      ValueRange accumulator) const override {
    if (unit.hasFormats()) {
      // LLVM takes scales of zero for none ("User Guide for AMDGPU Backend").
      auto typeOf = [&](MatrixElement element) -> Type {
        if (element == MatrixElement::F8E5M2)
          return Float8E5M2Type::get(b.getContext());
        return Float8E4M3FNType::get(b.getContext());
      };
      Value none = LLVM::ConstantOp::create(b, loc, b.getI32Type(), 0);
      return multiplyFormats(b, loc, unit, {a[0], none, typeOf(unit.operand)},
                             {factorB[0], none, typeOf(unit.operandB)}, accumulator);
    }
    std::string name = "rocdl." + unit.issue.drop_front(StringRef("amdgcn.").size()).str();
    if (!unit.isMfma()) {
      // ROCDL joins the operand formats of its WMMA names.
      auto [before, last] = StringRef(name).rsplit('.');
      if (before.ends_with(".fp8") || before.ends_with(".bf8"))
        name = (before + "_" + last).str();
    }
    OperationState state(loc, name);
    state.addTypes(accumulator[0].getType());
    state.addOperands({a[0], factorB[0], accumulator[0]});
    if (unit.isMfma()) {
      // No broadcast of A, no permutation of B.
      Value none = LLVM::ConstantOp::create(b, loc, b.getI32Type(), 0);
      state.addOperands({none, none, none});
    } else if (unit.operand == MatrixElement::I8) {
      state.addAttribute("signA", b.getBoolAttr(true));
      state.addAttribute("signB", b.getBoolAttr(true));
    }
    return {b.create(state)->getResult(0)};
  }

  SmallVector<Value> multiplyScaledMatrices(OpBuilder &b, Location loc,
                                            const MatrixInstruction &unit,
                                            const ScaledFragment &left, const ScaledFragment &right,
                                            ValueRange accumulator) const override {
    // LLVM takes words that are known to be zero for no scales: of others the lowest byte is one.
    auto marked = [&](ScaledFragment side) {
      auto byte = side.scale.getDefiningOp<LLVM::ZExtOp>();
      if (matchPattern(byte ? byte.getArg() : side.scale, m_Zero()))
        side.scale = LLVM::ConstantOp::create(b, loc, b.getI32Type(), 1 << 8);
      return side;
    };
    return multiplyFormats(b, loc, unit, marked(left), marked(right), accumulator);
  }

  Value readTransposed(OpBuilder &b, Location loc, Type type, Value address) const override {
    if (cast<VectorType>(type).getElementTypeBitWidth() == 16)
      return ROCDL::ds_read_tr16_b64::create(b, loc, type, address);
    auto words = VectorType::get(2, b.getI32Type());
    return LLVM::BitcastOp::create(b, loc, type,
                                   ROCDL::ds_read_tr8_b64::create(b, loc, words, address));
  }

  //--- The kernel ---

  StringRef syncScope(tile::MemoryScope scope) const override {
    switch (scope) {
    case tile::MemoryScope::CTA:
      return "workgroup";
    case tile::MemoryScope::GPU:
      return "agent";
    case tile::MemoryScope::System:
      return "";
    }
    llvm_unreachable("unknown memory scope");
  }
  /// Hardware drops additions, and other operations, to memory that is fine-grained or on another
  /// device, and says nothing (LLVM, "User Guide for AMDGPU Backend", "LLVM IR Metadata"); a loop
  /// of compare-and-swap stands for what is not safe anywhere. gfx942 and later need it for little.
  void annotateAtomic(LLVM::AtomicRMWOp op, bool isDeviceMemory) const override {
    // Whom the whole system is to see may be anywhere.
    if (op.getSyncscope().value_or("").empty())
      return;
    OpBuilder b(op.getContext());
    if (isDeviceMemory) {
      op->setAttr("rocdl.no_fine_grained_memory", b.getUnitAttr());
      op->setAttr("rocdl.no_remote_memory", b.getUnitAttr());
    }
    if (op.getBinOp() == LLVM::AtomicBinOp::fadd)
      op->setAttr("rocdl.ignore_denormal_mode", b.getUnitAttr());
  }
  void markKernel(LLVM::LLVMFuncOp kernel, unsigned numThreads,
                  unsigned /*producerThreads*/) const override {
    OpBuilder b(kernel.getContext());
    auto &dialect = *b.getContext()->getLoadedDialect<ROCDL::ROCDLDialect>();
    dialect.getKernelAttrHelper().setAttr(kernel, b.getUnitAttr());
    dialect.getReqdWorkGroupSizeAttrHelper().setAttr(
        kernel, b.getDenseI32ArrayAttr({int32_t(numThreads), 1, 1}));
    // Left alone, the kernel attribute bounds the size by 256, whatever is required.
    std::string size = std::to_string(numThreads);
    dialect.getFlatWorkGroupSizeAttrHelper().setAttr(kernel, b.getStringAttr(size + "," + size));
  }

  LogicalResult expandLoad(tilegpu::GlobalLoadOp op, OpBuilder &b) const override {
    return expandGlobalLoad(op, b);
  }
  LogicalResult expandStore(tilegpu::GlobalStoreOp op, OpBuilder &b) const override {
    return expandGlobalStore(op, b);
  }
  LogicalResult expandReduce(tilegpu::GlobalReduceOp op, OpBuilder &b) const override {
    bool isDeviceMemory = op.getIsDeviceMemory();
    return expandGlobalReduce(
        op, syncScope(op.getScope()),
        [&](LLVM::AtomicRMWOp atomic) { annotateAtomic(atomic, isDeviceMemory); }, b);
  }
  LogicalResult expandCopy(tilegpu::WarpCopyOp op, OpBuilder &b) const override {
    return expandWarpCopy(op, b);
  }
  LogicalResult expandCopy(tilegpu::WarpBufferCopyOp op, OpBuilder &b) const override {
    return expandWarpCopy(op, b);
  }
  LogicalResult expandPrint(tilegpu::PrintOp op, OpBuilder &b) const override {
    return expandPrintToRecord(op, b);
  }
  LogicalResult expandFail(tilegpu::FailOp op, OpBuilder &b) const override {
    return expandFailToRecord(op, b);
  }

private:
  /// The matrix unit's formats of 8 bits, from CDNA 3 and RDNA 4 on.
  bool convertsFormat(Type format) const {
    bool hasConversions = info.matrix.mfmaGeneration >= 3 || info.matrix.wmmaGeneration >= 4;
    return hasConversions && tilegpu::readsFormat(info, format);
  }

  static SmallVector<Value> multiplyFormats(OpBuilder &b, Location loc,
                                            const MatrixInstruction &unit,
                                            const ScaledFragment &left, const ScaledFragment &right,
                                            ValueRange accumulator) {
    auto word = [&](int32_t value) -> Value {
      return LLVM::ConstantOp::create(b, loc, b.getI32Type(), value);
    };
    // LLVM's description of the intrinsic: cbsz and blgp name the formats.
    auto format = [&](Type element) {
      return word(element.isInteger(8) ? 4 : isa<Float8E5M2Type>(element) ? 1 : 0);
    };
    Value lowestByte = word(0);
    OperationState state(loc, "rocdl." + unit.issue.drop_front(StringRef("amdgcn.").size()).str());
    state.addTypes(accumulator[0].getType());
    state.addOperands({left.fragment, right.fragment, accumulator[0], format(left.element),
                       format(right.element), lowestByte, left.scale, lowestByte, right.scale});
    return {b.create(state)->getResult(0)};
  }

  void partialBarrier(OpBuilder &b, Location loc, ArrayRef<StringRef> fenceScopes) const {
    if (!memoryFeaturesOf(info).partialBarriers)
      return barrier(b, loc);
    for (StringRef scope : fenceScopes)
      LLVM::FenceOp::create(b, loc, LLVM::AtomicOrdering::release, scope);
    ROCDL::SBarrierOp::create(b, loc);
    for (StringRef scope : llvm::reverse(fenceScopes))
      LLVM::FenceOp::create(b, loc, LLVM::AtomicOrdering::acquire, scope);
  }

  static Value moveByDpp(OpBuilder &b, Location loc, Value value, int32_t control) {
    return ROCDL::DPPUpdateOp::create(b, loc, b.getI32Type(), value, value, control, 0xF, 0xF,
                                      true);
  }

  /// The type that an instruction wants for A and B; null if it is the vector of elements.
  static Type operandType(OpBuilder &b, const MatrixInstruction &unit, unsigned count) {
    bool wmma = !unit.isMfma();
    if (unit.hasFormats())
      return VectorType::get(count / 4, b.getI32Type());
    switch (unit.operand) {
    case MatrixElement::BF16:
      // CDNA 4's instructions alone speak of bf16; the older ones are named "1k".
      if (!wmma && !unit.issue.ends_with("1k"))
        return {};
      return VectorType::get(count, b.getI16Type());
    case MatrixElement::I8:
    case MatrixElement::F8E4M3:
    case MatrixElement::F8E5M2:
      // The older instructions of 8 bytes take them as one number.
      if (!wmma && count <= 8)
        return b.getIntegerType(count * 8);
      return VectorType::get(count / 4, b.getI32Type());
    default:
      return {};
    }
  }
};

} // namespace

std::unique_ptr<TargetLowering> makeROCDLLowering(const TargetInfo &info) {
  return std::make_unique<ROCDLLowering>(info);
}

} // namespace kiln

//===- EmitAMD.cpp - LLVM IR to HSACO -----------------------------------------===//
//
// No device library takes part: what LLVM cannot select (f64 transcendentals) has
// to be lowered before, and a call that remains is an error here.
//
//===----------------------------------------------------------------------===//

#include "compiler/Target/AMD/EmitAMD.h"
#include "compiler/Target/AMD/CarryDescriptors.h"
#include "compiler/Target/AMD/CarryHalves.h"
#include "compiler/Target/AMD/CompareInLanes.h"
#include "compiler/Target/AMD/DelayWrites.h"
#include "compiler/Target/AMD/DeviceInstructions.h"
#include "compiler/Target/AMD/DistributeStrides.h"
#include "compiler/Target/AMD/FoldLanes.h"
#include "compiler/Target/AMD/HoistZeros.h"
#include "compiler/Target/AMD/HoldReads.h"
#include "compiler/Target/AMD/HsacoListing.h"
#include "compiler/Target/AMD/HsacoReader.h"
#include "compiler/Target/AMD/IssueEstimate.h"
#include "compiler/Target/AMD/JoinComparisons.h"
#include "compiler/Target/AMD/JoinCopies.h"
#include "compiler/Target/AMD/KeepLaneMoves.h"
#include "compiler/Target/AMD/KeepLatches.h"
#include "compiler/Target/AMD/KeepOffsets.h"
#include "compiler/Target/AMD/KeepReads.h"
#include "compiler/Target/AMD/KeepWaits.h"
#include "compiler/Target/AMD/LinkHsaco.h"
#include "compiler/Target/AMD/MixHalves.h"
#include "compiler/Target/AMD/MoreBlocks.h"
#include "compiler/Target/AMD/MoveBounds.h"
#include "compiler/Target/AMD/PackSingles.h"
#include "compiler/Target/AMD/PairHalves.h"
#include "compiler/Target/AMD/PermuteBytes.h"
#include "compiler/Target/AMD/PlaceLoads.h"
#include "compiler/Target/AMD/ReachForward.h"
#include "compiler/Target/AMD/ReadInSteps.h"
#include "compiler/Target/AMD/RecomputeIndices.h"
#include "compiler/Target/AMD/ReloadArguments.h"
#include "compiler/Target/AMD/ReloadEstimate.h"
#include "compiler/Target/AMD/RoundPairs.h"
#include "compiler/Target/AMD/ScalarWaves.h"
#include "compiler/Target/AMD/ScheduleProducts.h"
#include "compiler/Target/AMD/ShortConversions.h"
#include "compiler/Target/AMD/SinkAddresses.h"
#include "compiler/Target/AMD/SinkMasks.h"
#include "compiler/Target/AMD/SpaceAssembly.h"
#include "compiler/Target/AMD/SplitBarriers.h"
#include "compiler/Target/AMD/Waits.h"
#include "compiler/Target/AMD/WidenInLoops.h"
#include "compiler/Target/AMD/ZeroSums.h"
#include "compiler/Target/CodeGeneration.h"
#include "compiler/Target/CompareCode.h"
#include "compiler/Target/FieldsToHalves.h"
#include "compiler/Target/HalfWordAtomics.h"
#include "compiler/Target/KeepRoundings.h"
#include "compiler/Target/MemoryFeatures.h"
#include "compiler/Target/NextCounts.h"
#include "compiler/Target/Occupancy.h"
#include "compiler/Target/TargetError.h"
#include "runtime/hip_messages.h"
#include "llvm/Analysis/LoopInfo.h"
#include "llvm/IR/Dominators.h"
#include "llvm/IR/IRBuilder.h"
#include "llvm/IR/InstIterator.h"
#include "llvm/IR/IntrinsicInst.h"
#include "llvm/IR/IntrinsicsAMDGPU.h"
#include "llvm/IR/MemoryModelRelaxationAnnotations.h"
#include "llvm/IR/Module.h"
#include "llvm/MC/MCSubtargetInfo.h"
#include "llvm/Target/TargetMachine.h"

namespace kiln {

/// LLVM, "User Guide for AMDGPU Backend": LLVM IR Attributes. The flat size is set beside the
/// required one, as the back end otherwise plans registers for 1024 threads, or 256 where ROCDL
/// said so.
static void annotateKernel(llvm::Function &kernel, const KernelFacts &facts) {
  llvm::LLVMContext &context = kernel.getContext();
  std::string threads = std::to_string(facts.launch.threadsPerBlock);
  kernel.setCallingConv(llvm::CallingConv::AMDGPU_KERNEL);
  kernel.addFnAttr("amdgpu-flat-work-group-size", threads + "," + threads);
  kernel.addFnAttr("uniform-work-group-size", "true");
  // The kernel ABI has no hidden arguments.
  kernel.addFnAttr("amdgpu-implicitarg-num-bytes", "0");
  if (facts.minOccupancy)
    kernel.addFnAttr("amdgpu-waves-per-eu", std::to_string(facts.minOccupancy));
  llvm::Type *i32 = llvm::Type::getInt32Ty(context);
  auto constant = [&](uint32_t value) {
    return llvm::ConstantAsMetadata::get(llvm::ConstantInt::get(i32, value));
  };
  kernel.setMetadata("reqd_work_group_size",
                     llvm::MDNode::get(context, {constant(facts.launch.threadsPerBlock),
                                                 constant(1), constant(1)}));
}

/// Restricts a fence to shared memory (LLVM, "User Guide for AMDGPU Backend", "Memory Model
/// Relaxation Annotations").
static void restrictToShared(llvm::FenceInst &fence) {
  fence.setMetadata(
      llvm::LLVMContext::MD_mmra,
      llvm::MMRAMetadata::getTagMD(fence.getContext(), "amdgpu-synchronize-as", "local"));
}

/// Fences of `sharedFenceScope` become the block's, restricted to shared memory. Those of
/// `readsFenceScope` keep LLVM from moving accesses, and in front of the barrier of several waves
/// have what was loaded arrive. In a block of one wave so does the block's for global memory, where
/// RDNA would wait for stores and drop what the unit's cache holds: nobody else is in the scope,
/// and lanes of a wave see each other's accesses in the program's order ("Memory Model
/// GFX10-GFX11").
static void restrictFences(llvm::Function &kernel, const TargetInfo &target, bool isOneWave) {
  llvm::LLVMContext &context = kernel.getContext();
  llvm::SyncScope::ID ofShared = context.getOrInsertSyncScopeID(sharedFenceScope),
                      ofReads = context.getOrInsertSyncScopeID(readsFenceScope),
                      block = context.getOrInsertSyncScopeID("workgroup"),
                      wave = context.getOrInsertSyncScopeID("wavefront");
  bool isWaveEnough = isOneWave && memoryFeaturesOf(target).partialBarriers;
  for (llvm::Instruction &instruction : llvm::make_early_inc_range(llvm::instructions(kernel))) {
    auto *fence = llvm::dyn_cast<llvm::FenceInst>(&instruction);
    if (!fence)
      continue;
    llvm::IRBuilder<> b(fence);
    if (fence->getSyncScopeID() == ofShared) {
      fence->setSyncScopeID(block);
      restrictToShared(*fence);
    } else if (fence->getSyncScopeID() == ofReads) {
      fence->setSyncScopeID(wave);
      if (fence->getOrdering() == llvm::AtomicOrdering::Release && !isOneWave)
        waitFor({.ofShared = true, .ofLoads = true}, b, target);
    } else if (fence->getSyncScopeID() == block && isWaveEnough) {
      b.CreateFence(fence->getOrdering(), wave);
      restrictToShared(*fence);
    }
  }
}

/// The runtime writes where messages go to the variable `kiln_messages`.
static void exportMessages(llvm::Module &module) {
  if (llvm::GlobalVariable *messages = module.getNamedGlobal(KILN_HIP_MESSAGES_SYMBOL)) {
    messages->setLinkage(llvm::GlobalValue::ExternalLinkage);
    messages->setVisibility(llvm::GlobalValue::ProtectedVisibility);
    messages->setExternallyInitialized(true);
  }
}

/// How many bytes a buffer has a wave knows once. LLVM knows that, but where it has chosen an
/// instruction of lanes for the number, it goes over lanes to make descriptors.
static void keepDescriptorsScalar(llvm::Function &kernel) {
  constexpr unsigned records = 2;
  for (llvm::Instruction &instruction : llvm::instructions(kernel)) {
    auto *call = llvm::dyn_cast<llvm::IntrinsicInst>(&instruction);
    if (!call || call->getIntrinsicID() != llvm::Intrinsic::amdgcn_make_buffer_rsrc ||
        llvm::isa<llvm::Constant>(call->getArgOperand(records)))
      continue;
    llvm::IRBuilder<> b(call);
    llvm::Value *bytes = b.CreateTrunc(call->getArgOperand(records), b.getInt32Ty());
    bytes = b.CreateIntrinsic(llvm::Intrinsic::amdgcn_readfirstlane, b.getInt32Ty(), bytes);
    call->setArgOperand(records, b.CreateZExt(bytes, b.getInt64Ty()));
  }
}

/// Exponentials of f32 become the instruction alone, which flushes results below 2^-126, as
/// Triton's are: to keep them takes four instructions more.
static void flushExponentials(llvm::Function &kernel) {
  for (llvm::Instruction &instruction : llvm::make_early_inc_range(llvm::instructions(kernel))) {
    auto *call = llvm::dyn_cast<llvm::IntrinsicInst>(&instruction);
    if (!call || call->getIntrinsicID() != llvm::Intrinsic::exp2 || !call->getType()->isFloatTy())
      continue;
    llvm::IRBuilder<> b(call);
    call->replaceAllUsesWith(
        b.CreateIntrinsic(llvm::Intrinsic::amdgcn_exp2, call->getType(), call->getArgOperand(0)));
    call->eraseFromParent();
  }
}

/// To integers of 64 bits, which the processor has no instruction for: LLVM's own sequence leaves
/// open what becomes of numbers that these cannot hold. Saturated as all others.
static void saturateConversions(llvm::Function &kernel) {
  for (llvm::Instruction &op : llvm::make_early_inc_range(llvm::instructions(kernel))) {
    bool isSigned = op.getOpcode() == llvm::Instruction::FPToSI;
    if ((!isSigned && op.getOpcode() != llvm::Instruction::FPToUI) ||
        op.getType()->getScalarSizeInBits() != 64)
      continue;
    llvm::IRBuilder<> b(&op);
    op.replaceAllUsesWith(
        b.CreateIntrinsic(isSigned ? llvm::Intrinsic::fptosi_sat : llvm::Intrinsic::fptoui_sat,
                          {op.getType(), op.getOperand(0)->getType()}, {op.getOperand(0)}));
    op.eraseFromParent();
  }
}

/// What comes from another lane stands in front of its user: LLVM makes one instruction of both
/// (`v_add_f32_dpp`) where few are between them, but not of a reduction of many elements, which has
/// all of them move and then adds them.
static void placeLaneMoves(llvm::Function &kernel) {
  llvm::SmallVector<llvm::Instruction *> moves;
  for (llvm::Instruction &instruction : llvm::instructions(kernel)) {
    auto *call = llvm::dyn_cast<llvm::IntrinsicInst>(&instruction);
    if (call && call->getIntrinsicID() == llvm::Intrinsic::amdgcn_update_dpp)
      moves.push_back(call);
  }
  auto userOf = [](llvm::Instruction *value) {
    return value->hasOneUse() ? llvm::cast<llvm::Instruction>(*value->user_begin()) : nullptr;
  };
  for (llvm::Instruction *move : moves) {
    llvm::SmallVector<llvm::Instruction *, 2> chain{move};
    llvm::Instruction *taker = userOf(move);
    for (; llvm::isa_and_nonnull<llvm::BitCastInst>(taker); taker = userOf(taker))
      chain.push_back(taker);
    if (taker && taker->getParent() == move->getParent() && !llvm::isa<llvm::PHINode>(taker))
      for (llvm::Instruction *part : chain)
        part->moveBefore(taker->getIterator());
  }
}

static bool multiplies(const llvm::Function &kernel) {
  return llvm::any_of(llvm::instructions(kernel), isProduct);
}

static bool hasLoops(llvm::Function &kernel) {
  llvm::DominatorTree tree(kernel);
  return !llvm::LoopInfo(tree).empty();
}

/// Of 32 bits, that a thread can have: CDNA's accumulation registers among them where there are
/// products, which alone compute on these.
static unsigned registersOfThread(const llvm::Function &kernel, const KernelFacts &facts,
                                  const TargetInfo &target) {
  bool isCdna = target.matrix.mfmaGeneration;
  unsigned most = isCdna && multiplies(kernel) ? 512 : 256;
  return std::min(most, registerFileOf(target)->all / std::max(1u, facts.launch.threadsPerBlock));
}

/// LLVM's register allocator takes minutes when a thread holds thousands of values and most of its
/// instructions read what was spilled (29 s for 15,000 that compute on 1,024 of them). Such a
/// kernel lives on spilled registers however they are chosen, so they are then assigned without a
/// search, which takes under 2 s, and its author is told. Long code that has registers to spare, as
/// of loops that the source unrolls (unless more than half of it would be reloads), or that reads
/// back little of what it holds, as sums of products do (30,000 instructions: 12 s, and a third of
/// the spills), takes no longer than its length.
static void boundRegisterAllocation(const llvm::Function &kernel, unsigned instructions,
                                    const KernelFacts &facts, const TargetInfo &target,
                                    llvm::TargetMachine &machine,
                                    std::vector<std::string> &warnings) {
  constexpr unsigned maxOptimised = 8192, ofReloads = 4, ofReloadsAtMost = 2;
  if (instructions <= maxOptimised)
    return;
  // The estimate of registers takes what is loaded for every use of it as loaded again each time.
  bool hasSpare = facts.spareRegisters >= 0;
  if (estimateReloads(kernel, registersOfThread(kernel, facts, target)) <=
      instructions / (hasSpare ? ofReloadsAtMost : ofReloads))
    return;
  machine.setOptLevel(llvm::CodeGenOptLevel::None);
  warnings.push_back("each thread has " + std::to_string(instructions) +
                     " instructions: registers are assigned without optimisation above " +
                     std::to_string(maxOptimised) + "; use more warps or smaller tiles");
}

/// Where a thread has as many registers to spare, or fewer, it spills whatever is done.
static constexpr int lacking = -16;
/// So few registers that products of RDNA may spill.
static constexpr int nearlyNone = 48;
/// So many that a product has room for two of its steps beside one another.
static constexpr int manySpare = 104;
/// So many too few that these spill in any case.
static constexpr int beyondHelp = -64;

/// No estimate tells with which a kernel spills less. What lacks few registers has mostly less to
/// do with constants; of the codes that are made of a kernel that spills (Pipeline.cpp) that with
/// whole operands has places, and of what lacks many registers that with plain results alone
/// constants.
static HiddenOfAddresses hiddenOfAddresses(int spareRegisters, const MatrixFeatures &matrix) {
  bool hidesConstants =
      matrix.operandsByHalves && (spareRegisters > beyondHelp || !matrix.neighboursOfResults);
  return hidesConstants ? HiddenOfAddresses::Constants : HiddenOfAddresses::Places;
}

/// For RDNA's threads, of which products need most of 256 registers: loads and stores stand where
/// they wait least, and what LLVM would hold all through a loop is computed again. Kernels that
/// lack registers spill in any case, and were seen to spill more with loads together, or with
/// indices computed again, and to wait longer with words that need two others at a time, unless
/// they did already.
static void orderForRegisters(llvm::Function &kernel, int spareRegisters,
                              const TargetInfo &target) {
  constexpr int inFlight = 8;
  delayWrites(kernel);
  if (spareRegisters > beyondHelp) {
    pairHalves(kernel,
               spareRegisters > lacking ? PairedHalves::Any : PairedHalves::OfChoicesAndStores);
    placeLoads(kernel);
  }
  if (spareRegisters < nearlyNone && spareRegisters > beyondHelp)
    recomputeIndices(kernel, IndexPlaces::BehindLoop, heldNumberOf(target));
  // As with hidden places.
  if (spareRegisters <= beyondHelp && !target.matrix.operandsByHalves)
    kernel.addFnAttr(zerosInRegisters);
  if (spareRegisters < inFlight)
    sinkAddresses(kernel, hiddenOfAddresses(spareRegisters, target.matrix));
  readInSteps(kernel, /*inPairs=*/spareRegisters >= manySpare);
}

/// CDNA's waves begin with the first words of the arguments in scalar registers, as far as there is
/// room beside the arguments' address: others are loaded, which takes as long as any load. Firmware
/// that does not know of it starts a wave where LLVM has these loaded.
static void preloadArguments(llvm::Function &kernel) {
  constexpr unsigned mostBytes = 4 * (16 - 2);
  const llvm::DataLayout &layout = kernel.getDataLayout();
  for (llvm::Argument &argument : kernel.args()) {
    uint64_t end = argumentOffset(argument) + layout.getTypeAllocSize(argument.getType());
    if (end > mostBytes || argument.hasByRefAttr())
      return;
    argument.addAttr(llvm::Attribute::InReg);
  }
}

/// What LLVM's code generation gets wrong.
static void keepMeaning(llvm::Function &kernel, const TargetInfo &target) {
  keepRoundings(kernel, "v", "v");
  holdProducts(kernel);
  holdReads(kernel);
  if (target.matrix.wmmaGeneration)
    keepLaneMoves(kernel);
}

/// Short numbers are converted as few times as can be, and f32 computed on two at a time, where the
/// processor has instructions for that: its sums and products take f16 as it is.
static void useShortNumbers(llvm::Function &kernel, const KernelFacts &facts,
                            const TargetInfo &target, const llvm::TargetMachine &machine) {
  const llvm::MCSubtargetInfo &processor = *machine.getMCSubtargetInfo();
  bool packsSingles = processor.checkFeatures("+packed-fp32-ops");
  bool packsHalves = processor.checkFeatures("+gfx950-insts");
  convertFieldsInPairs(kernel, {/*subtractsBF16=*/false, /*takesBytes=*/packsHalves});
  shortenConversions(kernel, packsHalves);
  // Where threads lack registers, and no two operations are one that takes no halves.
  if (target.matrix.wmmaGeneration && multiplies(kernel) && facts.spareRegisters < nearlyNone)
    widenInLoops(kernel);
  mixHalves(kernel, packsSingles,
            /*fusesProducts=*/machine.Options.AllowFPOpFusion == llvm::FPOpFusion::Fast);
  if (packsSingles)
    packSingles(kernel);
  if (!target.convertBF16)
    roundPairs(kernel);
}

/// On gfx12 the program's numbers along y and z share a register. LLVM takes the upper half for
/// zero where the kernel does not ask for the latter, which holds for grids that are flat there
/// alone.
static void tellApartNumbersOfPrograms(llvm::Function &kernel, const llvm::TargetMachine &machine) {
  if (machine.getMCSubtargetInfo()->checkFeatures("+architected-sgprs"))
    kernel.removeFnAttr("amdgpu-no-workgroup-id-z");
}

/// What LLVM's optimisations would undo, and what its code generation needs.
static void rewriteOptimised(llvm::Function &kernel, const KernelFacts &facts,
                             const TargetInfo &target, const llvm::TargetMachine &machine) {
  // Two fences that differ in this alone LLVM would take for one.
  restrictFences(kernel, target, facts.launch.threadsPerBlock <= target.warpSize);
  keepWaitsOfReleases(kernel, target);
  keepDescriptorsScalar(kernel);
  hideHalfWords(*kernel.getParent(), "v");
  // Without products, and on RDNA, the scalar unit gets more to do than the vector unit is rid of.
  if (target.matrix.mfmaGeneration && multiplies(kernel))
    scalariseWaves(kernel, target.warpSize);
  compareInLanes(kernel, target.warpSize);
  if (facts.spareRegisters >= nearlyNone)
    distributeStrides(kernel);
  // RDNA was seen to spill more with rows of 32 bits where few registers are to spare.
  moveBounds(kernel, machine,
             /*movesWords=*/multiplies(kernel) &&
                 (target.matrix.mfmaGeneration || facts.spareRegisters >= manySpare));
  flushExponentials(kernel);
  placeLaneMoves(kernel);
  // Nothing was seen to gain by it on CDNA.
  if (target.matrix.wmmaGeneration && multiplies(kernel))
    foldLanes(kernel);
  permuteBytes(kernel);
  useShortNumbers(kernel, facts, target, machine);
  // RDNA selects from scalar registers: nothing is copied, and registers are what products lack.
  if (target.matrix.mfmaGeneration || !multiplies(kernel))
    hoistZeros(kernel);
  scheduleProducts(kernel);
  if (target.matrix.wmmaGeneration)
    orderForRegisters(kernel, facts.spareRegisters, target);
  if (target.matrix.mfmaGeneration && multiplies(kernel))
    shareMaskedOffsets(kernel);
  // What lanes carry LLVM cannot compute again where registers do not suffice.
  compareNextCounts(*kernel.getParent());
  carryDescriptors(kernel, /*mayMoveOffsets=*/!target.matrix.wmmaGeneration ||
                               facts.spareRegisters >= nearlyNone);
  joinCopies(kernel);
  if (target.matrix.mfmaGeneration || facts.spareRegisters > beyondHelp || !multiplies(kernel))
    joinComparisons(kernel, /*ofWords=*/!multiplies(kernel));
  bool hasSpare = facts.spareRegisters >= nearlyNone;
  if (!multiplies(kernel)) {
    reachForward(kernel);
    // Two thirds of what all waves of a processor leave: of RDNA's own kernels less is slower.
    constexpr unsigned mostOfCdna = 42, mostOfRdna = 64;
    if (hasSpare) {
      gatherLoads(kernel, target.matrix.mfmaGeneration ? mostOfCdna : mostOfRdna);
      sinkMasks(kernel);
    }
  } else if (target.matrix.wmmaGeneration && hasSpare && !hasLoops(kernel)) {
    // More of them were seen to take longer.
    constexpr unsigned mostBesideProducts = 16;
    gatherLoads(kernel, mostBesideProducts);
  }
  reloadArguments(kernel);
  if (target.matrix.mfmaGeneration)
    preloadArguments(kernel);
  keepMeaning(kernel, target);
  if (memoryFeaturesOf(target).splitBarriers)
    splitBarriers(kernel);
}

/// Makes binaries of a kernel's module as it stands.
class CodeGenerator {
public:
  CodeGenerator(llvm::Function &kernel, const KernelFacts &facts, const TargetInfo &target,
                llvm::TargetMachine &machine, const EmitOptions &options)
      : kernel(kernel), module(*kernel.getParent()), facts(facts), target(target), machine(machine),
        options(options), attributes(kernel.getAttributes()) {}

  /// Products are so much a matter of registers that code is read back, and may be made again.
  llvm::Expected<DeviceBinary> run() {
    if (writesHalvesToo())
      kernel.addFnAttr("target-features", ("-" + halves).str());
    if (!multiplies(kernel) || machine.getOptLevel() == llvm::CodeGenOptLevel::None)
      return generate();
    if (!target.matrix.wmmaGeneration)
      return runForBlocks();
    auto binary = runForRdna();
    return binary && writesHalvesToo() ? writingHalves(std::move(*binary)) : std::move(binary);
  }

private:
  /// Whether the code is made once more from the start, with instructions that write halves.
  bool writesHalvesToo() const { return llvm::StringRef(target.llvmFeatures).contains(halves); }

  /// With what it takes and what its main loop issues.
  llvm::Expected<DeviceBinary> generate() {
    DiagnosticCapture diagnostics(module);
    DeviceBinary binary = describeBinary(module, facts, target, BinaryFormat::HSACO, options);
    auto object = generateObject(module, machine, options, diagnostics, binary);
    if (!object)
      return object.takeError();
    auto linked = linkHsaco(*object, options.temporaryRoot);
    if (!linked)
      return linked.takeError();
    options.stageDone("hsaco");
    binary.bytes = std::move(*linked);
    llvm::StringRef bytes(binary.bytes.data(), binary.bytes.size());
    auto info = readHsaco(bytes);
    if (!info)
      return info.takeError();
    if (info->kernels.size() == 1)
      binary.resources = info->kernels.front().resources;
    binary.spillsScalars = llvm::any_of(
        info->kernels, [](const HsacoKernel &kernel) { return kernel.spilledScalars != 0; });
    auto code = listHsaco(bytes, facts.symbol, machine);
    if (!code)
      return code.takeError();
    if (reachesBarrierInFlight(*code, machine)) {
      if (keepsWaits)
        return targetError("internal error: LLVM leaves an access of '", facts.symbol,
                           "' in flight at a barrier");
      keepsWaits = true;
      keepWaits(kernel, target);
      return generate();
    }
    binary.mainLoop = findMainLoop(code->listing);
    if (binary.mainLoop)
      binary.mainLoop->isMachineCode = true;
    if (multiplies(kernel)) {
      IssueEstimate estimate = estimateIssue(*code, machine);
      binary.cycles = estimate.cycles;
      binary.busyCycles = estimate.busy;
      binary.spillsOfLoops = estimate.spills;
    }
    return binary;
  }

  std::optional<DeviceBinary> attempt() {
    auto binary = generate();
    if (binary)
      return std::move(*binary);
    llvm::consumeError(binary.takeError());
    return std::nullopt;
  }

  /// Whether a processor holds as many blocks where threads have all registers that there are:
  /// shared memory has room for no more.
  bool isBoundBySharedMemory() const {
    constexpr uint32_t mostRegisters = 256;
    uint64_t bytes = 0;
    for (const llvm::GlobalVariable &variable : module.globals())
      if (variable.getAddressSpace() == sharedSpace)
        bytes += module.getDataLayout().getTypeAllocSize(variable.getValueType());
    std::optional<Occupancy> occupancy =
        occupancyOf(target.name, {facts.launch.threadsPerBlock, mostRegisters, bytes});
    auto room = [&](OccupancyLimit limit) { return occupancy->room[size_t(limit)]; };
    return occupancy && room(OccupancyLimit::SharedMemory) <= room(OccupancyLimit::Registers);
  }

  llvm::Expected<DeviceBinary> runForBlocks() {
    auto first = generate();
    if (!first)
      return first;
    return fitMoreBlocks(std::move(*first), kernel, target, [&] { return attempt(); });
  }

  /// Where few registers are lacking, loops may have them by offsets that accesses add to, and by
  /// computing rows and columns again.
  std::optional<DeviceBinary> withoutFewSpills(std::optional<DeviceBinary> binary) {
    constexpr uint32_t few = 64;
    constexpr unsigned mostInstructions = 2;
    constexpr int64_t reachOfRdna3 = 4096, reachOfRdna4 = 1 << 23;
    if (!binary || !binary->resources.spilledBytes() || binary->resources.spilledBytes() > few)
      return binary;
    HeldIndices reached{
        reachBehindMasks(kernel, target.matrix.wmmaGeneration >= 4 ? reachOfRdna4 : reachOfRdna3),
        {}};
    HeldIndices held = recomputeInLoops(kernel, mostInstructions, heldNumberOf(target));
    std::optional<DeviceBinary> other = attempt();
    holdAgain(held);
    holdAgain(reached);
    bool isBetter = other && isWorthNoSpills(*other, *binary);
    return isBetter ? std::move(other) : std::move(binary);
  }

  /// LLVM orders RDNA's instructions for as many waves as registers allow, and so reads operands of
  /// products one after the other, each when it is needed, and loads what it loads in as many
  /// rounds. It can order them for their latencies: the code of that where more waves are of no
  /// use, unless something spills, or where it takes a wave less time.
  llvm::Expected<DeviceBinary> runForRdna() {
    constexpr llvm::StringLiteral forLatencies = "max-ilp";
    kernel.addFnAttr(strategy, forLatencies);
    std::optional<DeviceBinary> byLatencies = withoutFewSpills(attempt());
    bool isBound = isBoundBySharedMemory();
    if (byLatencies && isBound && facts.spareRegisters > lacking && spillsNothing(*byLatencies))
      return std::move(*byLatencies);
    kernel.removeFnAttr(strategy);
    auto byWaves = isBound ? generate() : runForBlocks();
    if (!byLatencies)
      return byWaves;
    if (!byWaves) {
      llvm::consumeError(byWaves.takeError());
      return std::move(*byLatencies);
    }
    kernel.addFnAttr(strategy, forLatencies);
    uint64_t ofLatencies = byLatencies->resources.spilledBytes() ? byLatencies->cycles : UINT64_MAX;
    DeviceBinary best = isShorter(*byLatencies, *byWaves) ? std::move(*byLatencies)
                                                          : withAsMany(*byLatencies, *byWaves);
    best = withOneMore(std::move(best), *byWaves);
    best.isLongerForSpills = !best.resources.spilledBytes() && ofLatencies <= best.cycles / 4 * 3;
    return best;
  }

  /// The code whose instructions write halves of registers, where it is shorter and no more work:
  /// what narrows results puts them together by itself, but halves of other registers take two
  /// moves in place of one permutation.
  DeviceBinary writingHalves(DeviceBinary best) {
    kernel.setAttributes(attributes);
    auto other = runForRdna();
    if (!other) {
      llvm::consumeError(other.takeError());
      return best;
    }
    return isShorterForAll(*other, best) ? std::move(*other) : std::move(best);
  }

  /// Instructions in the order that the kernel asks for, with the registers that so many blocks
  /// leave, if these are less than `binary` has by at most a share of them.
  std::optional<DeviceBinary> attemptFor(uint64_t blocks, const DeviceBinary &binary,
                                         uint32_t share) {
    const ResourceUsage &used = binary.resources;
    std::optional<uint32_t> registers = registersForBlocks(
        target.name, needsOf(binary), uint32_t(blocks), used.registers - used.registers / share);
    if (!registers || used.spilledBytes())
      return std::nullopt;
    kernel.addFnAttr("amdgpu-num-vgpr", std::to_string(*registers));
    return attempt();
  }

  /// The order for latencies may still be shorter with the registers that the blocks of `byWaves`
  /// leave. It is tried where it is shorter by a share that is worth the time.
  DeviceBinary withAsMany(const DeviceBinary &byLatencies, DeviceBinary byWaves) {
    if (32 * byLatencies.cycles > 31 * byWaves.cycles)
      return byWaves;
    std::optional<DeviceBinary> other = attemptFor(blocksOf(byWaves), byLatencies, 5);
    if (other && isShorter(*other, byWaves))
      return std::move(*other);
    // With one block more than it has by itself, if what those of `byWaves` are more is not worth
    // its cycles.
    uint64_t between = blocksOf(byLatencies) + 1;
    if (between < blocksOf(byWaves))
      other = attemptFor(between, byLatencies, 5);
    bool isBetter = between < blocksOf(byWaves) && other && !other->resources.spilledBytes() &&
                    blocksOf(*other) >= between && other->cycles < byWaves.cycles &&
                    !isWorthItsBlocks(byWaves, *other);
    return isBetter ? std::move(*other) : std::move(byWaves);
  }

  /// One block more for cycles that are more by at most a quarter of what blocks are: in the order
  /// for latencies, or else in that of `byWaves`, which takes fewer registers, with indices and
  /// addresses computed again if something would spill.
  DeviceBinary withOneMore(DeviceBinary best, const DeviceBinary &byWaves) {
    uint64_t more = blocksOf(best) + 1;
    std::optional<DeviceBinary> other = attemptFor(more, best, 8);
    if (other && isWorthItsBlocks(*other, best))
      return std::move(*other);
    kernel.removeFnAttr(strategy);
    other = attemptFor(more, byWaves, 8);
    if (other && other->resources.spilledBytes() && !writesHalvesToo()) {
      recomputeIndices(kernel, IndexPlaces::BehindLoop, heldNumberOf(target));
      sinkAddresses(kernel, hiddenOfAddresses(facts.spareRegisters, target.matrix));
      other = attempt();
    }
    return other && isWorthItsBlocks(*other, best) ? std::move(*other) : std::move(best);
  }

  llvm::Function &kernel;
  const llvm::Module &module;
  const KernelFacts &facts;
  const TargetInfo &target;
  llvm::TargetMachine &machine;
  const EmitOptions &options;
  /// The kernel's, before any code was made.
  llvm::AttributeList attributes;
  /// LLVM's name of what it orders instructions for.
  static constexpr llvm::StringLiteral strategy = "amdgpu-sched-strategy";
  /// LLVM's name of instructions on halves, which it has as a default for RDNA 3 alone.
  static constexpr llvm::StringLiteral halves = "real-true16";
  /// Whether waits stand in front of the kernel's fences that LLVM does not drop.
  bool keepsWaits = false;
};

/// LDS is static here: the kernel's own allocation is the whole of it.
llvm::Expected<DeviceBinary> emitAMD(llvm::Module &module, const KernelFacts &facts,
                                     const TargetInfo &target, const EmitOptions &options) {
  DiagnosticCapture diagnostics(module);
  auto machine = createMachine(target, options);
  if (!machine)
    return machine.takeError();
  // Places are of files as they were found.
  placeAssembly(module);
  auto kernel = prepareModule(module, facts, **machine, options);
  if (!kernel)
    return kernel.takeError();
  annotateKernel(**kernel, facts);
  useInlineZeros();
  keepOffsets();
  keepReads();
  spaceAssembly();
  exportMessages(module);
  // Code object version 5: the first with dynamic-stack facts, read by every ROCm since 5.4.
  module.setModuleFlag(llvm::Module::Error, "amdhsa_code_object_version", 500u);

  saturateConversions(**kernel);
  keepLatches(**kernel);
  optimizeModule(module, **machine, target, options);
  releaseLatches(**kernel);
  rewriteOptimised(**kernel, facts, target, **machine);
  tellApartNumbersOfPrograms(**kernel, **machine);
  carryHalvesAsWords(**kernel, **machine);
  if (llvm::Error error = checkExternalCalls(
          module, [](llvm::StringRef) { return false; }, target.name))
    return std::move(error);
  auto instructions = countInstructions(module);
  if (!instructions)
    return instructions.takeError();
  boundRegisterAllocation(**kernel, *instructions, facts, target, **machine, diagnostics.warnings);
  if (llvm::Error error = diagnostics.takeErrors())
    return std::move(error);
  auto binary = CodeGenerator(**kernel, facts, target, **machine, options).run();
  if (binary)
    llvm::append_range(binary->warnings, diagnostics.warnings);
  return binary;
}

} // namespace kiln

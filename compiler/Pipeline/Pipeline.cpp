#include "compiler/Pipeline/Pipeline.h"
#include "compiler/Conversion/TileGPUToLLVM/TileGPUToLLVM.h"
#include "compiler/Conversion/TileToCPU/TileToCPU.h"
#include "compiler/Conversion/TileToTileGPU/TileToTileGPU.h"
#include "compiler/Dialect/Tile/Tile.h"
#include "compiler/Dialect/Tile/Transforms/CountLoops.h"
#include "compiler/Dialect/Tile/Transforms/ExpandDescriptors.h"
#include "compiler/Dialect/Tile/Transforms/FoldComparisons.h"
#include "compiler/Dialect/Tile/Transforms/LoadOnce.h"
#include "compiler/Dialect/Tile/Transforms/LoopResults.h"
#include "compiler/Dialect/Tile/Transforms/MakeTensorMaps.h"
#include "compiler/Dialect/Tile/Transforms/MaskScalars.h"
#include "compiler/Dialect/Tile/Transforms/MergeBounds.h"
#include "compiler/Dialect/Tile/Transforms/NarrowDots.h"
#include "compiler/Dialect/Tile/Transforms/PadShapes.h"
#include "compiler/Dialect/Tile/Transforms/Simplification.h"
#include "compiler/Dialect/Tile/Transforms/SplitDots.h"
#include "compiler/Dialect/Tile/Transforms/SplitPrograms.h"
#include "compiler/Dialect/Tile/Transforms/SplitTiles.h"
#include "compiler/Dialect/Tile/Transforms/SpreadRanges.h"
#include "compiler/Dialect/Tile/Transforms/TrimDots.h"
#include "compiler/Dialect/Tile/Transforms/UnclampAddresses.h"
#include "compiler/Dialect/Tile/Transforms/UseTensorMaps.h"
#include "compiler/Dialect/TileGPU/TileGPU.h"
#include "compiler/Dialect/TileGPU/Transforms/Passes.h"
#include "compiler/Dialect/TileGPU/Transforms/RegisterEstimate.h"
#include "compiler/Dialect/TileGPU/Transforms/RowEnds.h"
#include "compiler/Dialect/TileGPU/Transforms/StoragePlan.h"
#include "compiler/Emulator/LowerToEmulator.h"
#include "compiler/Pipeline/DiagnosticBridge.h"
#include "compiler/Target/CompareCode.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/ControlFlow/IR/ControlFlowOps.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/LLVMIR/NVVMDialect.h"
#include "mlir/Dialect/LLVMIR/ROCDLDialect.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/UB/IR/UBOps.h"
#include "mlir/IR/Verifier.h"
#include "mlir/Pass/PassManager.h"
#include "mlir/Transforms/Passes.h"

using namespace mlir;

namespace kiln {
namespace {

/// One compilation: the steps below share these.
struct Compilation {
  ModuleOp module;
  const TargetInfo &target;
  const PipelineOptions &options;
  DiagnosticEngine &diagnostics;
  const SourceManager &sources;
  std::optional<kiln::Diagnostic> &doesNotFit;
  /// The same kernel was compiled before, with tensor maps of pointers.
  bool isFallback = false;

  bool stageDone(StringRef stage) {
    return !options.afterStage || options.afterStage(stage, module);
  }
};

/// Verifies after the last pass alone, as each look at all operations takes as long as a pass does.
/// kiln-opt verifies after each.
LogicalResult runAndVerify(PassManager &passes, ModuleOp module) {
  passes.enableVerifier(false);
  return failed(passes.run(module)) ? failure() : mlir::verify(module);
}

LogicalResult simplify(ModuleOp module) {
  PassManager passes(module.getContext());
  // After it a loop that counts says how often it runs.
  passes.addNestedPass<func::FuncOp>(createCountLoopsPass());
  // After it masks that are true for all iterations of a loop, and all programs, are constants.
  passes.addNestedPass<func::FuncOp>(createFoldComparisonsPass());
  // After it nobody asks loops how far they have moved addresses, which can then run ahead.
  passes.addNestedPass<func::FuncOp>(createSimplifyLoopResultsPass());
  addSimplification(passes);
  // After it addresses have no bounds that their accesses' masks have: of masks that are alike
  // there is one now.
  passes.addNestedPass<func::FuncOp>(createUnclampAddressesPass());
  // After it loops carry nothing that each iteration computes alike.
  passes.addPass(createCanonicalizerPass());
  return runAndVerify(passes, module);
}

/// Runs a pass on the kernel.
LogicalResult runOn(ModuleOp module, std::unique_ptr<Pass> pass) {
  PassManager passes(module.getContext());
  passes.addNestedPass<func::FuncOp>(std::move(pass));
  return runAndVerify(passes, module);
}

CPUOptions cpuOptionsOf(const TargetInfo &target, const EmitOptions &emit) {
  CPUOptions options;
  options.vectorBits = target.maxVectorBits;
  options.vectorRegisters = target.maxVectorBits == 256 ? 16 : 32;
  options.hasFMA = target.archNumber != 2;
  options.fusesProducts = emit.fusesProducts;
  return options;
}

/// All that the lowerings produce: a pass manager would load them, free functions do not. Only the
/// target's own, as each has hundreds of operations to register.
void loadDialects(MLIRContext &context, const TargetInfo &target) {
  context.loadDialect<arith::ArithDialect, cf::ControlFlowDialect, func::FuncDialect,
                      LLVM::LLVMDialect, math::MathDialect, scf::SCFDialect, tile::TileDialect,
                      tilegpu::TileGPUDialect, ub::UBDialect>();
  if (target.backend == Backend::CUDA)
    context.loadDialect<NVVM::NVVMDialect>();
  if (target.backend == Backend::HIP)
    context.loadDialect<ROCDL::ROCDLDialect>();
}

/// What the launcher must know, from the attributes that the lowering left on the kernel.
KernelFacts kernelFacts(ModuleOp module, const TargetInfo &target) {
  KernelFacts facts;
  auto kernel = *module.getOps<func::FuncOp>().begin();
  facts.symbol = kernel.getName().str();
  if (auto numWarps = kernel->getAttrOfType<IntegerAttr>(tile::TileDialect::numWarpsAttr))
    facts.launch.threadsPerBlock =
        target.backend == Backend::CPU ? 1 : target.threadsPerBlock(numWarps.getInt());
  facts.launch.warpSize = target.warpSize;
  facts.launch.clusterDims[0] = tilegpu::clusterBlocksOf(kernel);
  return facts;
}

/// Whether the engine compares by this map, as signed numbers.
bool comparesSigned(BlockArgument map) {
  return llvm::any_of(map.getUsers(), [](Operation *user) {
    auto store = dyn_cast<tilegpu::TmaStoreOp>(user);
    return store &&
           (store.getKind() == tile::AtomicKind::SMin || store.getKind() == tile::AtomicKind::SMax);
  });
}

std::vector<LaunchNumber> launchNumbers(ArrayRef<int64_t> arguments, ArrayRef<int64_t> constants) {
  std::vector<LaunchNumber> numbers;
  for (auto [argument, constant] : llvm::zip_equal(arguments, constants)) {
    numbers.emplace_back().constant = constant;
    if (argument >= 0)
      numbers.back().parameter = uint32_t(argument);
  }
  return numbers;
}

/// What the launcher is to make, from the attributes of the kernel's arguments.
std::vector<TensorMapFacts> tensorMapsOf(func::FuncOp kernel) {
  std::vector<TensorMapFacts> maps;
  for (BlockArgument argument : kernel.getArguments()) {
    tile::TensorMapAttr map = tilegpu::tensorMapOf(argument);
    if (!map)
      continue;
    auto type = cast<tile::DescriptorType>(argument.getType());
    tilegpu::TensorBox box = tilegpu::boxOfMap(argument);
    TensorMapFacts facts;
    if (auto name = dyn_cast<NameLoc>(argument.getLoc()))
      facts.name = name.getName().str();
    facts.base = map.getBase();
    facts.element = tilegpu::tensorMapElement(type.getElementType(), comparesSigned(argument));
    facts.extents = launchNumbers(map.getExtentArguments(), map.getExtents());
    facts.strides = launchNumbers(map.getStrideArguments(), map.getStrides());
    for (auto [stride, factor] :
         llvm::zip_equal(facts.strides, map.getStrideFactors().asArrayRef()))
      if (factor >= 0)
        stride.factor = uint32_t(factor);
    facts.box.assign(box.shape.begin(), box.shape.end());
    facts.swizzleBytes = box.swizzleBytes;
    facts.isWritten = llvm::any_of(argument.getUsers(), llvm::IsaPred<tilegpu::TmaStoreOp>);
    facts.fillsWithNaN = type.getPadding() == tile::Padding::NaN;
    maps.push_back(std::move(facts));
  }
  return maps;
}

int64_t attributeOr(Operation *op, StringRef name, int64_t otherwise) {
  auto attribute = op->getAttrOfType<IntegerAttr>(name);
  return attribute ? attribute.getInt() : otherwise;
}

/// CPU: Tile IR to loop nests over vectors, in the LLVM dialect.
LogicalResult lowerForCPU(Compilation &compilation, KernelFacts &facts) {
  if (failed(lowerTileToCPU(compilation.module,
                            cpuOptionsOf(compilation.target, compilation.options.emit))))
    return failure();
  Operation *kernel = SymbolTable::lookupSymbolIn(compilation.module, facts.symbol);
  facts.launch.arenaBytes = attributeOr(kernel, cpuArenaBytesAttr, 0);
  return success(compilation.stageDone("llvm"));
}

bool isForPtxas(const TargetInfo &target) { return target.ptxVersion != 0; }

/// Warns of spills before the assembler makes them. A fallback's are for the manifest to tell.
void checkRegisters(Compilation &compilation, func::FuncOp kernel) {
  const TargetInfo &target = compilation.target;
  if (!isForPtxas(target) || compilation.isFallback)
    return;
  unsigned needed = attributeOr(kernel, registersAttr, 0);
  unsigned available = registersOfThread(kernel, target);
  if (needed > available)
    compilation.diagnostics.report(DiagKind::DriverToolWarning, compilation.options.place,
                                   compilation.options.variant, target.name,
                                   ("a thread needs about " + llvm::Twine(needed) +
                                    " registers, of " + llvm::Twine(available) +
                                    " that it can have: try more warps or smaller tiles")
                                       .str());
}

/// After it the blocks of a cluster each have a part of the program, where there are clusters;
/// elsewhere a program has one block.
LogicalResult splitProgram(ModuleOp module, const TargetInfo &target) {
  auto kernel = *module.getOps<func::FuncOp>().begin();
  if (tilegpu::clusterBlocksOf(kernel) == 1)
    return success();
  if (target.maxClusterSize > 1)
    return failed(runOn(module, createSplitProgramsPass())) ? failure() : simplify(module);
  kernel->setAttr(tile::TileDialect::numCtasAttr, Builder(kernel).getI32IntegerAttr(1));
  return success();
}

/// GPU, from Tile IR on: layouts.
void addLayoutPasses(PassManager &passes, const TargetInfo &target) {
  // After it what masks set to zero is a number for a row, not a sum for each element, where it
  // can.
  passes.addNestedPass<func::FuncOp>(createMaskScalarsPass());
  // After it choices compare an index with one bound, where they compared it with two.
  passes.addNestedPass<func::FuncOp>(createMergeBoundsPass());
  // After it all extents are powers of two.
  passes.addNestedPass<func::FuncOp>(createPadShapesPass());
  // After it shared memory has room for what a product is made of, if that can be.
  if (target.matrix.wmmaGeneration) {
    // RDNA 3 multiplies no floats of 8 bits.
    bool hasSmallFloats = target.matrix.wmmaGeneration >= 4;
    passes.addNestedPass<func::FuncOp>(
        createSplitDotsPass(target.maxSharedBytes, hasSmallFloats ? 8 : 16));
  }
  // After it a thread holds at most 256 elements of a tile that need not be there as a whole.
  passes.addNestedPass<func::FuncOp>(createSplitTilesPass(target.warpSize));
  // After it no loop carries a range that is rows of one tile and columns of another.
  passes.addNestedPass<func::FuncOp>(createSpreadRangesPass());
  // After it no load reads an address more than once because neighbours in its tile share it.
  passes.addNestedPass<func::FuncOp>(createLoadOncePass());
  // After it every tensor has a layout, and layouts change only at tilegpu.convert_layout.
  passes.addPass(createTileToTileGPUPass(target.name));
  addSimplification(passes);
}

/// GPU: loops whose loads run ahead of their work.
void addLoopPasses(PassManager &passes) {
  // After it loops' totals are combined across threads behind them.
  passes.addNestedPass<func::FuncOp>(createDeferReductionsPass());
  // After it operands of dots go through buffers, not through conversions.
  passes.addNestedPass<func::FuncOp>(createStageOperandsPass());
  // After it a loop's products begin a new sum by themselves.
  passes.addNestedPass<func::FuncOp>(createResetSumsPass());
  // After it loads that feed dots may run ahead where only equal arguments would forbid it.
  passes.addNestedPass<func::FuncOp>(createVersionLoopsPass());
  // After it a warp of its own copies blocks, where that is all that products read.
  passes.addNestedPass<func::FuncOp>(createSpecialiseWarpsPass());
  // After these loads that feed dots in loops are copies that run ahead, laid out for warps.
  passes.addNestedPass<func::FuncOp>(createArrangeCopiesPass());
  passes.addNestedPass<func::FuncOp>(createPipelineLoopsPass());
  // After it they are loads to registers that run ahead, where there are no such copies.
  passes.addNestedPass<func::FuncOp>(createPrefetchOperandsPass());
  // After it an attention's second product runs beside the next block's softmax.
  passes.addNestedPass<func::FuncOp>(createDelayDotsPass());
  // After it what loads read for the last time leaves the cache first.
  passes.addNestedPass<func::FuncOp>(createEvictReadPass());
  // After it other loads of loops that ask for stages run ahead, too.
  passes.addNestedPass<func::FuncOp>(createPrefetchLoadsPass());
  // After it threads hold of what they load as much as they have registers for, if that can be.
  passes.addNestedPass<func::FuncOp>(createSinkLoadsPass());
  // After it small loads of an iteration wait for memory together.
  passes.addNestedPass<func::FuncOp>(createLiftLoadsPass());
  // After it loads say how much of them starts ahead of stores to the same addresses.
  passes.addNestedPass<func::FuncOp>(createStartLoadsPass());
}

/// GPU: shared memory and barriers.
void addMemoryPasses(PassManager &passes) {
  // After it there are no loads and stores of described blocks.
  passes.addNestedPass<func::FuncOp>(createCopyBlocksPass());
  // After it no tile is stored twice for dots that could read one buffer.
  passes.addNestedPass<func::FuncOp>(createShareBuffersPass());
  // After it no tile goes through shared memory again that lies there for a dot.
  passes.addNestedPass<func::FuncOp>(createReadStagedPass());
  // After it threads do not wait for what the copy engine reads until they write there again.
  passes.addNestedPass<func::FuncOp>(createDeferReadsPass());
  // After it a product's operands share memory where more blocks fit a processor for it.
  passes.addNestedPass<func::FuncOp>(createTakeTurnsPass());
  // After it accesses say whose rows do not reach into each other, of which masks tell.
  passes.addNestedPass<func::FuncOp>(createFindRowEndsPass());
  // After it loops of products do not ask whether there is a next iteration to load for.
  passes.addNestedPass<func::FuncOp>(createPeelLoopsPass());
  // After it every scratch and buffer has an offset, and the kernel its total.
  passes.addNestedPass<func::FuncOp>(createAllocateSharedMemoryPass());
  // After it accesses of different threads to an element are in program order.
  passes.addNestedPass<func::FuncOp>(createInsertBarriersPass());
  // After it dots that go on with each other's sums are waited for once.
  passes.addNestedPass<func::FuncOp>(createChainDotsPass());
  // After it short code has no conditional barriers where those are slow.
  passes.addNestedPass<func::FuncOp>(createVersionBarriersPass());
  // After it the kernel says how many registers it needs.
  passes.addNestedPass<func::FuncOp>(createEstimateRegistersPass());
  // After it tiles at short offsets are in buffers with hardware bounds, where there are such.
  passes.addNestedPass<func::FuncOp>(createUseBuffersPass());
  // After it loops hold no indices that only what stands behind them uses.
  passes.addNestedPass<func::FuncOp>(createSinkIndicesPass());
  // After it short loops that stream are half as many iterations, where no assembler sees to that.
  passes.addNestedPass<func::FuncOp>(createUnrollLoopsPass());
}

/// GPU: layouts and all that follows from them, then the program of one thread.
LogicalResult lowerForGPU(Compilation &compilation, KernelFacts &facts) {
  ModuleOp module = compilation.module;
  const TargetInfo &target = compilation.target;
  bool asksForWaves = target.backend == Backend::HIP && facts.minOccupancy;
  unsigned most = asksForWaves ? registersOfWaves(target, facts.minOccupancy) : facts.maxRegisters;
  if (most)
    SymbolTable::lookupSymbolIn(module, facts.symbol)
        ->setAttr(tilegpu::TileGPUDialect::launchRegistersAttr,
                  Builder(module.getContext()).getI32IntegerAttr(int32_t(most)));
  PassManager passes(module.getContext());
  addLayoutPasses(passes, target);
  addLoopPasses(passes);
  addMemoryPasses(passes);
  bool ran = succeeded(runAndVerify(passes, module));
  auto kernel = cast<func::FuncOp>(SymbolTable::lookupSymbolIn(module, facts.symbol));
  uint32_t sharedBytes = attributeOr(kernel, tilegpu::TileGPUDialect::sharedBytesAttr, 0);
  if (!ran && sharedBytes > target.maxSharedBytes) {
    compilation.doesNotFit = compilation.diagnostics.getDiagnostics().back();
    compilation.diagnostics.clear();
  }
  if (!ran)
    return failure();
  facts.launch.dynamicSharedBytes = target.dynamicShared ? sharedBytes : 0;
  facts.launch.tensorMaps = tensorMapsOf(kernel);
  facts.launch.threadsPerBlock += target.threadsPerBlock(tilegpu::producerWarpsOf(kernel));
  facts.maxRegisters =
      attributeOr(kernel, tilegpu::TileGPUDialect::launchRegistersAttr, facts.maxRegisters);
  facts.spareRegisters = int(registersOfThread(kernel, target)) -
                         int(attributeOr(kernel, registersAttr, 0)) -
                         int(uncountedRegisters(target));
  facts.loadsWait = kernel->hasAttr(loadsWaitAttr);
  // The assembler takes it at its word, and a block of as many could not be launched.
  if (facts.maxRegisters && isForPtxas(target))
    facts.maxRegisters = std::min(facts.maxRegisters, registerShare(kernel, target));
  checkRegisters(compilation, kernel);
  if (!compilation.stageDone("tilegpu"))
    return failure();
  // After it there are no tensors: the LLVM dialect, NVVM or ROCDL, and target operations of ours.
  if (failed(lowerTileGPUToLLVM(module, target)) || !compilation.stageDone("llvm"))
    return failure();
  // After it the program of a thread is host code that calls the emulator.
  if (target.emulated)
    return lowerToEmulator(module, target, {facts.symbol, facts.launch.threadsPerBlock});
  // After it everything translates to LLVM IR.
  return expandTargetOperations(module, target);
}

/// Moves a back-end failure, located or not, to the diagnostics.
void reportTargetError(Compilation &compilation, llvm::Error error) {
  auto report = [&](DiagPlace place, const std::string &message) {
    compilation.diagnostics.report(DiagKind::DriverVariantTool, place, compilation.options.variant,
                                   compilation.target.name, message);
  };
  llvm::handleAllErrors(
      std::move(error),
      [&](const TargetError &located) {
        DiagPlace place = compilation.options.place;
        if (const SourceFile *file = compilation.sources.find(located.path))
          place = SourceLoc{file->getId(), file->getOffset({located.line, located.column})};
        report(place, located.message);
      },
      [&](const llvm::ErrorInfoBase &other) {
        report(compilation.options.place, other.message());
      });
}

/// Afterwards there are no descriptors but those of which there is a tensor map: the launcher's,
/// where it knows all of them, or of pointers; else the kernel's; else they are pointers.
LogicalResult lowerDescriptors(ModuleOp module, StringRef symbol, const TargetInfo &target,
                               bool &mapsOfPointers) {
  if (!target.tensorMaps)
    return runOn(module, createExpandDescriptorsPass());
  if (failed(runOn(module, createUseTensorMapsPass(mapsOfPointers))) ||
      failed(runOn(module, createMakeTensorMapsPass(/*ofArrays=*/!mapsOfPointers))))
    return failure();
  bool hasOthers =
      module.walk([](tile::MakeDescriptorOp) { return WalkResult::interrupt(); }).wasInterrupted();
  OwningOpRef<ModuleOp> before = mapsOfPointers && hasOthers ? module.clone() : ModuleOp();
  if (failed(runOn(module, createExpandDescriptorsPass())))
    return failure();
  if (!mapsOfPointers)
    return success();
  auto kernel = [&] { return cast<func::FuncOp>(SymbolTable::lookupSymbolIn(module, symbol)); };
  unsigned arguments = kernel().getNumArguments();
  if (failed(runOn(module, createUseTensorMapsPass(/*ofPointers=*/true))))
    return failure();
  if (before && kernel().getNumArguments() == arguments) {
    // The launcher has no map of what has become pointers.
    module.getBodyRegion().takeBody(before->getBodyRegion());
    if (failed(runOn(module, createMakeTensorMapsPass(/*ofArrays=*/true))) ||
        failed(runOn(module, createExpandDescriptorsPass())))
      return failure();
  }
  mapsOfPointers = kernel()->hasAttr(tile::TileDialect::mapsOfPointersAttr);
  return success();
}

/// Of tiles that end in zeros AMD's threads load, store and multiply what holds anything. (wgmma,
/// whose copies bring zeros for nothing, multiplies fewer of them.)
LogicalResult narrowDots(ModuleOp module) {
  if (failed(runOn(module, createTrimDotsPass())) || failed(runOn(module, createNarrowDotsPass())))
    return failure();
  bool isNarrower =
      module
          .walk([](tile::DotOp dot) {
            return dot->hasAttr(narrowedByAttr) ? WalkResult::interrupt() : WalkResult::advance();
          })
          .wasInterrupted();
  // Masks may hold for all of what is left.
  return isNarrower ? simplify(module) : success();
}

/// From Tile IR in canonical form to what the back end translates; none after an error, or where
/// the observer stopped it. `mapsOfPointers`: whether tensor maps of pointers may be used, and
/// then, whether they are.
std::optional<KernelFacts> lowerSimplified(Compilation &compilation, bool &mapsOfPointers) {
  ModuleOp module = compilation.module;
  const TargetInfo &target = compilation.target;
  KernelFacts facts = kernelFacts(module, target);
  facts.maxRegisters = compilation.options.maxRegisters;
  facts.minOccupancy = compilation.options.minOccupancy;
  facts.launch.waitsForEarlier = compilation.options.waitsForEarlier;
  facts.launch.isCooperative = compilation.options.isCooperative;
  DiagnosticBridge bridge(module.getContext(), compilation.diagnostics, compilation.sources);
  // After it dots say where their tiles end in zeros, where the unit need not multiply those.
  if (target.matrix.wgmma && failed(runOn(module, createTrimDotsPass())))
    return std::nullopt;
  if (failed(lowerDescriptors(module, facts.symbol, target, mapsOfPointers)))
    return std::nullopt;
  bool isAMD = target.matrix.mfmaGeneration || target.matrix.wmmaGeneration;
  if (isAMD && failed(narrowDots(module)))
    return std::nullopt;
  bool lowered = succeeded(target.backend == Backend::CPU ? lowerForCPU(compilation, facts)
                                                          : lowerForGPU(compilation, facts));
  if (!lowered || compilation.diagnostics.hasErrors())
    return std::nullopt;
  return facts;
}

/// The back end reports through llvm::Error. `whileAssembling`: as emitDeviceBinary has it.
std::optional<DeviceBinary> emitLowered(Compilation &compilation, const KernelFacts &facts,
                                        const std::function<void()> &whileAssembling = nullptr) {
  llvm::Expected<DeviceBinary> binary = emitDeviceBinary(
      compilation.module, facts, compilation.target, compilation.options.emit, whileAssembling);
  if (!binary) {
    reportTargetError(compilation, binary.takeError());
    return std::nullopt;
  }
  return std::move(*binary);
}

/// From Tile IR in canonical form to a binary.
std::optional<DeviceBinary>
compileSimplified(Compilation &compilation, bool &mapsOfPointers,
                  const std::function<void()> &whileAssembling = nullptr) {
  std::optional<KernelFacts> facts = lowerSimplified(compilation, mapsOfPointers);
  return facts ? emitLowered(compilation, *facts, whileAssembling) : std::nullopt;
}

std::optional<DeviceBinary> compileWithoutMaps(Compilation &compilation) {
  bool mapsOfPointers = false;
  return compileSimplified(compilation, mapsOfPointers);
}

/// The kernel of `copy`, which asks for something else by an attribute of its module; none where
/// that fails, or changes nothing of what was compiled.
std::optional<DeviceBinary> compileOtherwise(const Compilation &compiled, ModuleOp copy,
                                             const TargetInfo &target) {
  PipelineOptions options = compiled.options;
  options.afterStage = nullptr;
  kiln::DiagnosticEngine diagnostics{/*errorLimit=*/UINT_MAX};
  std::optional<kiln::Diagnostic> doesNotFit;
  Compilation again{copy, target, options, diagnostics, compiled.sources, doesNotFit};
  bool mapsOfPointers = false;
  std::optional<KernelFacts> facts = lowerSimplified(again, mapsOfPointers);
  if (!facts || OperationEquivalence::isRegionEquivalentTo(
                    &ModuleOp(compiled.module).getBodyRegion(), &copy.getBodyRegion(),
                    OperationEquivalence::IgnoreLocations))
    return std::nullopt;
  return emitLowered(again, *facts);
}

/// With operands that neither lie by halves nor move in parts, nor come in runs of single elements.
std::optional<DeviceBinary> compileWithWholeOperands(const Compilation &compiled, ModuleOp copy) {
  copy->setAttr(tilegpu::TileGPUDialect::wholeOperandsAttr, UnitAttr::get(copy.getContext()));
  TargetInfo target = compiled.target;
  target.matrix.takeOperandsAsLoaded();
  return compileOtherwise(compiled, copy, target);
}

/// With results as the unit has them.
std::optional<DeviceBinary> compileWithPlainResults(const Compilation &compiled, ModuleOp copy) {
  copy->setAttr(tilegpu::TileGPUDialect::plainResultsAttr, UnitAttr::get(copy.getContext()));
  TargetInfo target = compiled.target;
  target.matrix.neighboursOfResults = false;
  return compileOtherwise(compiled, copy, target);
}

/// With results that change their layout in as many slices as leave shared memory for the blocks
/// that the code has registers for.
std::optional<DeviceBinary> compileForBlocks(const Compilation &compiled, ModuleOp copy,
                                             uint64_t sharedBytes) {
  copy->setAttr(sharedLimitAttr,
                Builder(copy.getContext()).getI32IntegerAttr(int32_t(sharedBytes)));
  return compileOtherwise(compiled, copy, compiled.target);
}

/// With loads that run ahead though threads may lack registers for them.
std::optional<DeviceBinary> compileWithLoadsAhead(const Compilation &compiled, ModuleOp copy) {
  copy->setAttr(loadsAheadAttr, UnitAttr::get(copy.getContext()));
  return compileOtherwise(compiled, copy, compiled.target);
}

/// Where the vector unit waits for the few waves that there are, as shared memory has no room for
/// more, code whose operands take turns there, if a SIMD takes an eighth less time.
DeviceBinary takingTurns(const Compilation &compiled, DeviceBinary best, ModuleOp source) {
  if (!compiled.target.matrix.operandsByHalves || cyclesOfSimd(best) <= best.busyCycles ||
      !sharedBytesForMore(best))
    return best;
  OwningOpRef<ModuleOp> copy = source.clone();
  copy.get()->setAttr(operandsInTurnAttr, UnitAttr::get(source.getContext()));
  std::optional<DeviceBinary> other = compileOtherwise(compiled, *copy, compiled.target);
  bool isShorter = other && 8 * cyclesOfSimd(*other) <= 7 * cyclesOfSimd(best);
  return isShorter ? std::move(*other) : std::move(best);
}

/// Of a kernel that spills, or would in a shorter order, the shortest of several codes.
DeviceBinary spillingLess(const Compilation &compilation, DeviceBinary best, ModuleOp source) {
  auto take = [&](std::optional<DeviceBinary> other) {
    if (other && (isShorter(*other, best) || isWorthNoSpills(*other, best)))
      best = std::move(*other);
  };
  OwningOpRef<ModuleOp> plain = source.clone(), whole = source.clone();
  if (compilation.target.matrix.neighboursOfResults)
    take(compileWithPlainResults(compilation, *plain));
  if (best.resources.spilledBytes() && compilation.target.matrix.operandsByHalves)
    take(compileWithWholeOperands(compilation, *whole));
  return best;
}

/// Operands by halves, and results in rows, are fewer instructions, but of other registers, and
/// LLVM may spill more for it: no estimate tells which kernel. One that spills is compiled without,
/// too, and is the shortest of these. Nor does the estimate tell for sure whether loads can run
/// ahead, or how many blocks there are registers for: where they would by little more, or shared
/// memory has room for fewer blocks, there is a second code.
std::optional<DeviceBinary> compileForRdna(Compilation &compilation) {
  OwningOpRef<ModuleOp> copy = compilation.module.clone();
  bool mapsOfPointers = false;
  std::optional<KernelFacts> facts = lowerSimplified(compilation, mapsOfPointers);
  std::optional<DeviceBinary> binary = facts ? emitLowered(compilation, *facts) : std::nullopt;
  if (!binary || !binary->cycles)
    return binary;
  if (binary->resources.spilledBytes() || binary->isLongerForSpills)
    binary = spillingLess(compilation, std::move(*binary), *copy);
  binary = takingTurns(compilation, std::move(*binary), *copy);
  if (binary->resources.spilledBytes())
    return binary;
  if (facts->loadsWait) {
    OwningOpRef<ModuleOp> again = copy->clone();
    std::optional<DeviceBinary> ahead = compileWithLoadsAhead(compilation, *again);
    // Whether there is a next iteration is asked for each load, by instructions that other waves
    // pay for, too.
    bool isWorthIt = ahead && isShorter(*ahead, *binary) && 8 * ahead->cycles <= 7 * binary->cycles;
    if (isWorthIt || (ahead && isWorthLessBlocks(*ahead, *binary)))
      return ahead;
  }
  std::optional<uint64_t> bytes = sharedBytesForMore(*binary);
  if (!bytes)
    return binary;
  std::optional<DeviceBinary> other = compileForBlocks(compilation, *copy, *bytes);
  return other && isWorthItsBlocks(*other, *binary) ? std::move(other) : std::move(binary);
}

/// The same kernel without tensor maps of pointers: for arguments that they cannot describe, or
/// because their blocks have no room.
struct Fallback {
  explicit Fallback(Compilation &main)
      : main(main), copy(main.module.clone()), options(main.options) {}

  /// Does nothing the second time. `isBeside`: there is a binary with such maps, whose stages were
  /// shown.
  void compile(bool isBeside) {
    if (std::exchange(isCompiled, true))
      return;
    if (isBeside)
      options.afterStage = nullptr;
    Compilation again{*copy, main.target, options, diagnostics, main.sources, doesNotFit, isBeside};
    binary = compileWithoutMaps(again);
  }

  Compilation &main;
  OwningOpRef<ModuleOp> copy;
  PipelineOptions options;
  bool isCompiled = false;
  std::optional<DeviceBinary> binary;
  kiln::DiagnosticEngine diagnostics{/*errorLimit=*/UINT_MAX};
  std::optional<kiln::Diagnostic> doesNotFit;
};

/// With tensor maps of pointers where they are of use, and then also without, while ptxas, which is
/// another process, is at the first.
std::optional<DeviceBinary> compileTwice(Compilation &compilation) {
  Fallback fallback(compilation);
  bool mapsOfPointers = true;
  std::optional<DeviceBinary> binary = compileSimplified(compilation, mapsOfPointers, [&] {
    if (mapsOfPointers)
      fallback.compile(/*isBeside=*/true);
  });
  bool isStopped = !binary && !compilation.doesNotFit;
  if (!mapsOfPointers || compilation.diagnostics.hasErrors() || isStopped)
    return binary;
  fallback.compile(bool(binary));
  compilation.diagnostics.merge(std::move(fallback.diagnostics));
  compilation.doesNotFit = std::move(fallback.doesNotFit);
  if (!binary || !fallback.binary)
    return std::move(fallback.binary);
  binary->fallback = std::make_shared<DeviceBinary>(std::move(*fallback.binary));
  return binary;
}

} // namespace

std::optional<DeviceBinary> runPipeline(ModuleOp module, const TargetInfo &target,
                                        const PipelineOptions &options,
                                        DiagnosticEngine &diagnostics, const SourceManager &sources,
                                        std::optional<kiln::Diagnostic> &doesNotFit) {
  loadDialects(*module.getContext(), target);
  Compilation compilation{module, target, options, diagnostics, sources, doesNotFit};
  {
    // Tile IR in canonical form.
    DiagnosticBridge bridge(module.getContext(), diagnostics, sources);
    if (failed(simplify(module)) || !compilation.stageDone("tile"))
      return std::nullopt;
    if (failed(splitProgram(module, target)))
      return std::nullopt;
  }
  if (target.tensorMaps)
    return compileTwice(compilation);
  return target.matrix.wmmaGeneration ? compileForRdna(compilation)
                                      : compileWithoutMaps(compilation);
}

} // namespace kiln

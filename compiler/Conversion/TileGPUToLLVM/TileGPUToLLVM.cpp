// From tensors with layouts to the program of one thread: the steps in order.

#include "compiler/Conversion/TileGPUToLLVM/TileGPUToLLVM.h"
#include "compiler/Conversion/TileGPUToLLVM/ExactOperands.h"

#include "compiler/Conversion/TileGPUToLLVM/Lowering.h"
#include "compiler/Conversion/TileGPUToLLVM/PackCarried.h"
#include "compiler/Dialect/TileGPU/Transforms/RegisterEstimate.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/Func/Transforms/FuncConversions.h"
#include "mlir/Dialect/LLVMIR/NVVMDialect.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/SCF/Transforms/Patterns.h"
#include "mlir/Dialect/UB/IR/UBOps.h"
#include "mlir/IR/Dominance.h"
#include "mlir/Transforms/CSE.h"
#include "llvm/ADT/TypeSwitch.h"

using namespace mlir;

namespace kiln {
namespace {

struct ProgramIdDistribution : DistributionPattern<tile::ProgramIdOp> {
  using DistributionPattern::DistributionPattern;
  LogicalResult distribute(tile::ProgramIdOp op, Adaptor, const ScalarBuilder &,
                           ConversionPatternRewriter &rewriter) const override {
    rewriter.replaceOp(
        op, lowering.device.programId(rewriter, op.getLoc(), op.getAxis(), lowering.clusterBlocks));
    return success();
  }
};

struct ClusterRankDistribution : DistributionPattern<tile::ClusterRankOp> {
  using DistributionPattern::DistributionPattern;
  LogicalResult distribute(tile::ClusterRankOp op, Adaptor, const ScalarBuilder &,
                           ConversionPatternRewriter &rewriter) const override {
    rewriter.replaceOp(op, lowering.device.clusterRank(rewriter, op.getLoc()));
    return success();
  }
};

struct NumProgramsDistribution : DistributionPattern<tile::NumProgramsOp> {
  using DistributionPattern::DistributionPattern;
  LogicalResult distribute(tile::NumProgramsOp op, Adaptor, const ScalarBuilder &,
                           ConversionPatternRewriter &rewriter) const override {
    rewriter.replaceOp(op,
                       lowering.device.numPrograms(rewriter, op.getLoc(), op.getAxis(),
                                                   lowering.numThreads(), lowering.clusterBlocks));
    return success();
  }
};

/// Threads read a clock at different times: one reads for all. The processor is the same for all.
struct ReadRegisterDistribution : DistributionPattern<tile::ReadRegisterOp> {
  using DistributionPattern::DistributionPattern;
  LogicalResult distribute(tile::ReadRegisterOp op, Adaptor, const ScalarBuilder &s,
                           ConversionPatternRewriter &rewriter) const override {
    const TargetLowering &device = lowering.device;
    Location loc = op.getLoc();
    if (op.use_empty()) {
      rewriter.eraseOp(op);
      return success();
    }
    if (op.getReg() == tile::DeviceRegister::Processor) {
      rewriter.replaceOp(op, device.processorNumber(rewriter, loc));
      return success();
    }
    Value scratch = lowering.scratch(s, op);
    if (!scratch)
      return failure();
    auto branch = scf::IfOp::create(rewriter, loc, s.equal(device.threadId(rewriter, loc), 0),
                                    /*withElseRegion=*/false);
    {
      OpBuilder::InsertionGuard guard(rewriter);
      rewriter.setInsertionPointToStart(branch.thenBlock());
      LLVM::StoreOp::create(rewriter, loc, device.nanoseconds(rewriter, loc), scratch);
    }
    device.sharedBarrier(rewriter, loc);
    rewriter.replaceOpWithNewOp<LLVM::LoadOp>(op, rewriter.getI64Type(), scratch);
    return success();
  }
};

struct AssumeDistribution : DistributionPattern<tile::AssumeOp> {
  using DistributionPattern::DistributionPattern;
  LogicalResult distribute(tile::AssumeOp op, Adaptor adaptor, const ScalarBuilder &,
                           ConversionPatternRewriter &rewriter) const override {
    rewriter.replaceOpWithNewOp<LLVM::AssumeOp>(op, adaptor.getCondition()[0]);
    return success();
  }
};

/// Gives errors about operations without a pattern the words of a user's error, once.
class UnsupportedReporter {
public:
  UnsupportedReporter(MLIRContext *context, const TargetInfo &target)
      : handler(context, [this, &target](Diagnostic &diagnostic) {
          if (diagnostic.getSeverity() != DiagnosticSeverity::Error)
            return failure();
          bool generic = StringRef(diagnostic.str()).starts_with("failed to legalize");
          if (generic && reported)
            return success();
          if (!generic || rewording) {
            reported = true;
            return failure();
          }
          std::string text = diagnostic.str();
          StringRef name = StringRef(text).split('\'').second.split('\'').first;
          rewording = true;
          emitError(diagnostic.getLocation())
              << "'" << name << "' is not supported on " << target.name << " yet";
          rewording = false;
          return success();
        }) {}

private:
  bool reported = false, rewording = false;
  ScopedDiagnosticHandler handler;
};

/// The launcher's tensor map is passed by value.
void prepareTensorMap(func::FuncOp kernel, unsigned index) {
  // CUDA Driver API, "CUtensorMap".
  constexpr unsigned bytes = 128, alignment = 64;
  Builder b(kernel.getContext());
  kernel.removeArgAttr(index, tile::TileDialect::tensorMapAttr);
  kernel.setArgAttr(index, LLVM::LLVMDialect::getByValAttrName(),
                    TypeAttr::get(LLVM::LLVMArrayType::get(b.getI8Type(), bytes)));
  kernel.setArgAttr(index, LLVM::LLVMDialect::getAlignAttrName(), b.getI64IntegerAttr(alignment));
}

/// Booleans are a byte in the kernel's parameters, and facts about pointers are LLVM's `align`.
void prepareSignature(func::FuncOp kernel) {
  OpBuilder b = OpBuilder::atBlockBegin(&kernel.front());
  for (BlockArgument argument : kernel.getArguments()) {
    unsigned index = argument.getArgNumber();
    if (isa<tile::DescriptorType>(argument.getType())) {
      prepareTensorMap(kernel, index);
      continue;
    }
    auto divisibility =
        kernel.getArgAttrOfType<IntegerAttr>(index, tile::TileDialect::divisibilityAttr);
    kernel.removeArgAttr(index, tile::TileDialect::divisibilityAttr);
    if (divisibility && isa<tile::PtrType>(argument.getType()))
      kernel.setArgAttr(index, LLVM::LLVMDialect::getAlignAttrName(),
                        b.getI64IntegerAttr(divisibility.getInt() & -divisibility.getInt()));
    if (!argument.getType().isInteger(1))
      continue;
    argument.setType(b.getI8Type());
    Value truth = arith::TruncIOp::create(b, argument.getLoc(), b.getI1Type(), argument);
    argument.replaceAllUsesExcept(truth, truth.getDefiningOp());
  }
  kernel.setFunctionType(
      b.getFunctionType(kernel.getBody().getArgumentTypes(), kernel.getResultTypes()));
}

unsigned neededRegistersOf(func::FuncOp kernel) {
  auto needed = kernel->getAttrOfType<IntegerAttr>(registersAttr);
  return needed ? unsigned(needed.getInt()) : 0;
}

static bool hasTensorHints(func::FuncOp kernel) {
  return kernel
      .walk([](tile::HintOp hint) {
        return isa<RankedTensorType>(hint.getType()) ? WalkResult::interrupt()
                                                     : WalkResult::advance();
      })
      .wasInterrupted();
}

/// Step 1: no tensor remains.
LogicalResult distributeTensors(func::FuncOp kernel, const TargetLowering &device) {
  MLIRContext *context = kernel.getContext();
  RegisterTypeConverter types;
  AxisInfoAnalysis facts(kernel);
  std::optional<AxisInfoAnalysis> proven;
  if (hasTensorHints(kernel))
    proven.emplace(kernel, TensorHints::Ignored);
  prepareSignature(kernel);
  Lowering lowering{types,
                    device,
                    facts,
                    proven ? *proven : facts,
                    tilegpu::numWarpsOf(kernel),
                    claimMapRecord(kernel, device),
                    tilegpu::clusterBlocksOf(kernel),
                    neededRegistersOf(kernel)};

  RewritePatternSet patterns(context);
  patterns.add<ProgramIdDistribution, NumProgramsDistribution, ClusterRankDistribution,
               ReadRegisterDistribution, AssumeDistribution>(lowering, context);
  populateElementwisePatterns(patterns, lowering);
  populateSmallFloatPatterns(patterns, lowering);
  populateShapePatterns(patterns, lowering);
  populateMemoryPatterns(patterns, lowering);
  populateBufferPatterns(patterns, lowering);
  populateAtomicPatterns(patterns, lowering);
  populateReducePatterns(patterns, lowering);
  populateScanPatterns(patterns, lowering);
  populateGatherPatterns(patterns, lowering);
  populateMapPatterns(patterns, lowering);
  populateAssemblyPatterns(patterns, lowering);
  populateDebugPatterns(patterns, lowering);
  populateSharedPatterns(patterns, lowering);
  populateTensorCopyPatterns(patterns, lowering);
  populateTensorMapPatterns(patterns, lowering);
  populateConvertLayoutPatterns(patterns, lowering);
  populateDotPatterns(patterns, lowering);
  populateFunctionOpInterfaceTypeConversionPattern<func::FuncOp>(patterns, types);

  ConversionTarget target(*context);
  target.addLegalDialect<LLVM::LLVMDialect>();
  target.addLegalOp<tilegpu::GlobalLoadOp, tilegpu::GlobalStoreOp, tilegpu::GlobalReduceOp,
                    tilegpu::GlobalCopyOp, tilegpu::WarpCopyOp, tilegpu::WarpBufferCopyOp,
                    tilegpu::WgmmaOp, tilegpu::WgmmaWaitOp, tilegpu::PrintOp, tilegpu::FailOp,
                    tilegpu::ClaimMapsOp, tilegpu::ReleaseMapsOp, tilegpu::PublishMapOp>();
  target.addIllegalDialect<tile::TileDialect, tilegpu::TileGPUDialect>();
  target.addDynamicallyLegalOp<func::FuncOp>([&](func::FuncOp op) {
    return types.isSignatureLegal(op.getFunctionType()) && types.isLegal(&op.getBody());
  });
  scf::populateSCFStructuralTypeConversionsAndLegality(types, patterns, target);
  // Everything else is legal once it is scalar.
  target.markUnknownOpDynamicallyLegal([&](Operation *op) { return types.isLegal(op); });
  return applyFullConversion(kernel, target, std::move(patterns));
}

/// The symbol that shared addresses are relative to.
void declareSharedMemory(ModuleOp module, func::FuncOp kernel, const TargetInfo &target) {
  auto bytes = kernel->getAttrOfType<IntegerAttr>(tilegpu::TileGPUDialect::sharedBytesAttr);
  if (!bytes || bytes.getInt() == 0)
    return;
  OpBuilder b = OpBuilder::atBlockBegin(module.getBody());
  int64_t size = target.dynamicShared ? 0 : bytes.getInt();
  auto type = LLVM::LLVMArrayType::get(b.getI8Type(), size);
  auto linkage = target.dynamicShared ? LLVM::Linkage::External : LLVM::Linkage::Internal;
  auto global = LLVM::GlobalOp::create(b, kernel.getLoc(), type, /*isConstant=*/false, linkage,
                                       sharedMemorySymbol, Attribute(),
                                       /*alignment=*/target.asyncCopies ? 1024 : 16,
                                       /*addrSpace=*/3);
  if (!target.dynamicShared) {
    OpBuilder::InsertionGuard guard(b);
    b.createBlock(&global.getInitializerRegion());
    Value undefined = LLVM::UndefOp::create(b, kernel.getLoc(), type);
    LLVM::ReturnOp::create(b, kernel.getLoc(), undefined);
  }
}

} // namespace

LogicalResult lowerTileGPUToLLVM(ModuleOp module, const TargetInfo &target) {
  std::unique_ptr<TargetLowering> device = makeTargetLowering(target);
  if (!device)
    return module.emitError() << "expected a GPU target, got " << target.name;
  UnsupportedReporter reporter(module.getContext(), target);
  for (auto kernel : llvm::make_early_inc_range(module.getOps<func::FuncOp>())) {
    declareSharedMemory(module, kernel, target);
    markExactOperands(kernel);
    if (failed(distributeTensors(kernel, *device)))
      return failure();
    packCarriedValues(kernel);
  }
  IRRewriter rewriter(module.getContext());
  DominanceInfo dominance;
  eliminateCommonSubExpressions(rewriter, dominance, module);
  if (failed(expandMath(module, *device)))
    return failure();
  return finishScalars(module, *device);
}

LogicalResult expandTargetOperations(ModuleOp module, const TargetInfo &target) {
  std::unique_ptr<TargetLowering> device = makeTargetLowering(target);
  if (!device)
    return module.emitError() << "expected a GPU target, got " << target.name;
  device->shareDivisors(module);
  SmallVector<Operation *> operations;
  module.walk([&](Operation *op) {
    if (isa<tilegpu::GlobalLoadOp, tilegpu::GlobalStoreOp, tilegpu::GlobalReduceOp,
            tilegpu::GlobalCopyOp, tilegpu::WarpCopyOp, tilegpu::WarpBufferCopyOp, tilegpu::PrintOp,
            tilegpu::FailOp, tilegpu::WgmmaOp, tilegpu::WgmmaWaitOp, tilegpu::ClaimMapsOp,
            tilegpu::ReleaseMapsOp, tilegpu::PublishMapOp, NVVM::CpAsyncOp,
            NVVM::MBarrierTryWaitParityOp>(op))
      operations.push_back(op);
  });
  // From the last to the first: some become branches, and all that stands behind one is moved.
  for (Operation *op : llvm::reverse(operations)) {
    OpBuilder b(op);
    LogicalResult result =
        llvm::TypeSwitch<Operation *, LogicalResult>(op)
            .Case([&](tilegpu::GlobalLoadOp load) { return device->expandLoad(load, b); })
            .Case([&](tilegpu::GlobalStoreOp store) { return device->expandStore(store, b); })
            .Case([&](tilegpu::GlobalReduceOp reduce) { return device->expandReduce(reduce, b); })
            .Case([&](tilegpu::PrintOp print) { return device->expandPrint(print, b); })
            .Case([&](tilegpu::FailOp fail) { return device->expandFail(fail, b); })
            .Case([&](tilegpu::WgmmaOp product) { return device->expandWgmma(product, b); })
            .Case([&](tilegpu::WgmmaWaitOp wait) { return device->expandWgmmaWait(wait, b); })
            .Case<tilegpu::GlobalCopyOp, tilegpu::WarpCopyOp, tilegpu::WarpBufferCopyOp,
                  NVVM::CpAsyncOp>([&](auto copy) { return device->expandCopy(copy, b); })
            .Case([&](tilegpu::ClaimMapsOp claim) { return device->expandClaim(claim, b); })
            .Case([&](tilegpu::ReleaseMapsOp end) { return device->expandRelease(end, b); })
            .Case([&](tilegpu::PublishMapOp publish) { return device->expandPublish(publish, b); })
            .Case([&](NVVM::MBarrierTryWaitParityOp wait) {
              return device->expandPhaseWait(wait, b);
            });
    if (failed(result))
      return failure();
  }
  return success();
}

} // namespace kiln

// The entry: checks what can be lowered, emits the kernel as loops over vectors, and converts those
// to the LLVM dialect with MLIR's own conversions.

#include "compiler/Conversion/TileToCPU/TileToCPU.h"
#include "compiler/Conversion/FlattenControlFlow/FlattenControlFlow.h"
#include "compiler/Conversion/FlattenControlFlow/LoopAnnotation.h"
#include "compiler/Conversion/TileToCPU/CountedLoops.h"
#include "compiler/Conversion/TileToCPU/Emitter.h"
#include "compiler/Conversion/TileToCPU/Passes.h"
#include "compiler/Dialect/Tile/ByteFloats.h"
#include "compiler/Dialect/Tile/Transforms/Inductions.h"
#include "mlir/Conversion/ArithToLLVM/ArithToLLVM.h"
#include "mlir/Conversion/ControlFlowToLLVM/ControlFlowToLLVM.h"
#include "mlir/Conversion/FuncToLLVM/ConvertFuncToLLVM.h"
#include "mlir/Conversion/LLVMCommon/ConversionTarget.h"
#include "mlir/Conversion/LLVMCommon/TypeConverter.h"
#include "mlir/Conversion/MathToLLVM/MathToLLVM.h"
#include "mlir/Dialect/ControlFlow/IR/ControlFlowOps.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/UB/IR/UBOps.h"
#include "mlir/Transforms/DialectConversion.h"

using namespace mlir;

namespace kiln {

static bool isSupportedElement(Type type) {
  Type element = tile::elementTypeOf(type);
  return isa<tile::PtrType>(element) || tile::isByteFloat(element) || element.isF16() ||
         element.isBF16() || element.isF32() || element.isF64() || element.isInteger(1) ||
         element.isInteger(8) || element.isInteger(16) || element.isInteger(32) ||
         element.isInteger(64);
}

static bool isKnownOperation(Operation *op) {
  if (OpTrait::hasElementwiseMappableTraits(op))
    return true;
  return isa<tile::ProgramIdOp, tile::NumProgramsOp, tile::ArangeOp, tile::SplatOp,
             tile::BroadcastOp, tile::ExpandDimsOp, tile::ReshapeOp, tile::TransOp, tile::AddPtrOp,
             tile::BitcastOp, tile::LoadOp, tile::StoreOp, tile::AtomicRMWOp, tile::AtomicCASOp,
             tile::BarrierOp, tile::DotOp, tile::ReduceOp, tile::ScanOp, tile::YieldOp,
             tile::GatherOp, tile::HistogramOp, tile::HintOp, tile::AssumeOp, tile::MapOp,
             tile::PrintOp, tile::AssertOp, tile::FenceOp, tile::ReadRegisterOp>(op) ||
         isa<arith::ConstantOp, ub::PoisonOp, scf::IfOp, scf::ForOp, scf::WhileOp, scf::YieldOp,
             scf::ConditionOp, func::FuncOp, func::ReturnOp>(op);
}

/// The region of a reduction or scan is computed on vectors, as one expression.
static bool isKnownInCombiner(Operation *op) {
  return OpTrait::hasElementwiseMappableTraits(op) ||
         isa<arith::ConstantOp, tile::BitcastOp, tile::HintOp, tile::YieldOp>(op);
}

/// One diagnostic for each operation that the emitter does not know; it relies on there being none.
static LogicalResult checkSupported(func::FuncOp kernel) {
  bool failed = false;
  auto reject = [&](Operation *op, const Twine &what) {
    op->emitError() << what << " is not supported on the cpu target";
    failed = true;
  };
  kernel.walk([&](Operation *op) {
    std::string name = ("'" + op->getName().getStringRef() + "'").str();
    if (!isKnownOperation(op))
      return reject(op, name);
    if (isa<tile::ReduceOp, tile::ScanOp>(op->getParentOp()) && !isKnownInCombiner(op))
      return reject(op, name + " inside of a reduction");
    for (Type type : llvm::concat<const Type>(llvm::to_vector(op->getOperandTypes()),
                                              llvm::to_vector(op->getResultTypes())))
      if (!isSupportedElement(type)) {
        std::string text;
        llvm::raw_string_ostream(text) << tile::elementTypeOf(type);
        return reject(op, "the type " + text);
      }
    auto isByteFloat = [](Type type) { return tile::isByteFloat(tile::elementTypeOf(type)); };
    bool computes = OpTrait::hasElementwiseMappableTraits(op) ||
                    isa<tile::ReduceOp, tile::ScanOp, tile::AtomicRMWOp, tile::AtomicCASOp>(op);
    if (computes && !isa<arith::ExtFOp, arith::SelectOp, arith::BitcastOp, tile::NarrowOp>(op) &&
        (llvm::any_of(op->getOperandTypes(), isByteFloat) ||
         llvm::any_of(op->getResultTypes(), isByteFloat)))
      return reject(op, name + " on 8-bit floats");
    auto constant = dyn_cast<arith::ConstantOp>(op);
    if (constant && isa<RankedTensorType>(constant.getType()) &&
        !isa<SplatElementsAttr>(constant.getValue()))
      reject(op, "a constant tensor of different elements");
  });
  return failure(failed);
}

static FailureOr<func::FuncOp> findKernel(ModuleOp module) {
  func::FuncOp kernel;
  for (auto function : module.getOps<func::FuncOp>()) {
    if (!function->hasAttr(tile::TileDialect::kernelAttr))
      continue;
    if (kernel)
      return function.emitError("expected one kernel in the module, got another");
    kernel = function;
  }
  if (!kernel)
    return module.emitError("expected a kernel, a func.func with tile.kernel, in the module");
  if (!llvm::hasSingleElement(kernel.getBody()))
    return kernel.emitError("expected a kernel body of one block");
  return kernel;
}

FailureOr<func::FuncOp> cpu::prepareKernel(ModuleOp module) {
  FailureOr<func::FuncOp> kernel = findKernel(module);
  if (failed(kernel) || failed(checkSupported(*kernel)))
    return failure();
  fuseAdditions(*kernel);
  rewriteInductions(*kernel);
  return kernel;
}

LogicalResult cpu::lowerToLoops(ModuleOp module, const CPUOptions &options) {
  // Loaded already when a pass calls.
  module.getContext()
      ->loadDialect<arith::ArithDialect, cf::ControlFlowDialect, LLVM::LLVMDialect,
                    math::MathDialect, scf::SCFDialect>();
  FailureOr<func::FuncOp> found = prepareKernel(module);
  if (failed(found))
    return failure();
  func::FuncOp kernel = *found;
  OpBuilder builder(module.getContext());
  Type pointer = LLVM::LLVMPointerType::get(module.getContext());
  builder.setInsertionPoint(kernel);
  auto type = builder.getFunctionType({pointer, pointer, pointer, pointer}, {});
  auto function = func::FuncOp::create(builder, kernel.getLoc(), kernel.getName(), type);
  for (unsigned argument = 0; argument != 4; ++argument)
    function.setArgAttr(argument, LLVM::LLVMDialect::getNoAliasAttrName(), builder.getUnitAttr());
  Block *body = function.addEntryBlock();
  builder.setInsertionPointToEnd(body);
  LoopPlan plan = planLoops(kernel, options);
  KernelEmitter emitter(module, plan);
  {
    auto end = func::ReturnOp::create(builder, kernel.getLoc());
    builder.setInsertionPoint(end);
    emitter.emitBody(builder, body->getArguments());
  }
  kernel.erase();
  return success();
}

static LogicalResult convertToLLVM(ModuleOp module) {
  MLIRContext *context = module.getContext();
  cpu::forbidUnrollingOfMany(module);
  RewritePatternSet countedLoops(context);
  cpu::populateCountedLoopPattern(countedLoops);
  if (failed(flattenControlFlow(module, std::move(countedLoops))))
    return failure();
  LLVMTypeConverter converter(context);
  RewritePatternSet patterns(context);
  arith::populateArithToLLVMConversionPatterns(converter, patterns);
  populateMathToLLVMConversionPatterns(converter, patterns, /*approximateLog1p=*/false);
  cf::populateControlFlowToLLVMConversionPatterns(converter, patterns);
  populateFuncToLLVMConversionPatterns(converter, patterns);
  LLVMConversionTarget target(*context);
  target.addLegalOp<ModuleOp>();
  if (failed(applyFullConversion(module, target, std::move(patterns))))
    return failure();
  placeLoopAnnotations(module);
  return success();
}

LogicalResult lowerTileToCPU(ModuleOp module, const CPUOptions &options) {
  if (failed(cpu::lowerToLoops(module, options)))
    return failure();
  return convertToLLVM(module);
}

} // namespace kiln

// Step 2: a thread's scalar program becomes the LLVM dialect, and its function a kernel.

#include "compiler/Conversion/FlattenControlFlow/FlattenControlFlow.h"
#include "compiler/Conversion/FlattenControlFlow/LoopAnnotation.h"
#include "compiler/Conversion/TileGPUToLLVM/Lowering.h"

#include "mlir/Conversion/ArithToLLVM/ArithToLLVM.h"
#include "mlir/Conversion/ControlFlowToLLVM/ControlFlowToLLVM.h"
#include "mlir/Conversion/FuncToLLVM/ConvertFuncToLLVM.h"
#include "mlir/Conversion/LLVMCommon/ConversionTarget.h"
#include "mlir/Conversion/LLVMCommon/TypeConverter.h"
#include "mlir/Conversion/MathToLLVM/MathToLLVM.h"
#include "mlir/Conversion/UBToLLVM/UBToLLVM.h"
#include "mlir/Dialect/Arith/Transforms/Passes.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/LLVMIR/NVVMDialect.h"
#include "mlir/Dialect/LLVMIR/ROCDLDialect.h"

using namespace mlir;

namespace kiln {

static LogicalResult convertScalars(ModuleOp module) {
  MLIRContext *context = module.getContext();
  LowerToLLVMOptions options(context);
  LLVMTypeConverter types(context, options);
  RewritePatternSet patterns(context);
  arith::populateCeilFloorDivExpandOpsPatterns(patterns);
  arith::populateArithToLLVMConversionPatterns(types, patterns);
  populateMathToLLVMConversionPatterns(types, patterns, /*approximateLog1p=*/false);
  ub::populateUBToLLVMConversionPatterns(types, patterns);
  cf::populateControlFlowToLLVMConversionPatterns(types, patterns);
  populateFuncToLLVMConversionPatterns(types, patterns);
  LLVMConversionTarget target(*context);
  target.addLegalDialect<NVVM::NVVMDialect, ROCDL::ROCDLDialect, tilegpu::TileGPUDialect>();
  target.addLegalOp<ModuleOp>();
  return applyFullConversion(module, target, std::move(patterns));
}

LogicalResult finishScalars(ModuleOp module, const TargetLowering &device) {
  // On AMD the place of a tile in memory is a sum of 64 bits in scalar registers, which take a
  // dozen instructions to multiply.
  const MatrixFeatures &matrix = device.target().matrix;
  bool countersFit = matrix.mfmaGeneration || matrix.wmmaGeneration;
  if (failed(flattenControlFlow(module, module.getContext(), countersFit)) ||
      failed(convertScalars(module)))
    return failure();
  placeLoopAnnotations(module);
  for (auto kernel : module.getOps<LLVM::LLVMFuncOp>()) {
    auto warps = kernel->getAttrOfType<IntegerAttr>(tile::TileDialect::numWarpsAttr);
    auto producers = kernel->getAttrOfType<IntegerAttr>(tilegpu::TileGPUDialect::producerWarpsAttr);
    kernel.setLinkage(LLVM::Linkage::External);
    device.markKernel(kernel, device.target().threadsPerBlock(warps ? warps.getInt() : 4),
                      device.target().threadsPerBlock(producers ? producers.getInt() : 0));
  }
  return success();
}

} // namespace kiln

// kiln-opt: runs passes on IR in text form, for tests and for looking at a pass by itself.

#include "compiler/Analysis/Passes.h"
#include "compiler/Conversion/TileGPUToLLVM/TileGPUToLLVM.h"
#include "compiler/Conversion/TileToCPU/TileToCPU.h"
#include "compiler/Conversion/TileToTileGPU/TileToTileGPU.h"
#include "compiler/Dialect/Tile/Tile.h"
#include "compiler/Dialect/Tile/Transforms/CountLoops.h"
#include "compiler/Dialect/Tile/Transforms/ExpandDescriptors.h"
#include "compiler/Dialect/Tile/Transforms/FoldComparisons.h"
#include "compiler/Dialect/Tile/Transforms/Inductions.h"
#include "compiler/Dialect/Tile/Transforms/LoadOnce.h"
#include "compiler/Dialect/Tile/Transforms/LoopResults.h"
#include "compiler/Dialect/Tile/Transforms/MakeTensorMaps.h"
#include "compiler/Dialect/Tile/Transforms/MaskScalars.h"
#include "compiler/Dialect/Tile/Transforms/MergeBounds.h"
#include "compiler/Dialect/Tile/Transforms/NarrowDots.h"
#include "compiler/Dialect/Tile/Transforms/PadShapes.h"
#include "compiler/Dialect/Tile/Transforms/SplitDots.h"
#include "compiler/Dialect/Tile/Transforms/SplitPrograms.h"
#include "compiler/Dialect/Tile/Transforms/SplitTiles.h"
#include "compiler/Dialect/Tile/Transforms/SpreadRanges.h"
#include "compiler/Dialect/Tile/Transforms/TrimDots.h"
#include "compiler/Dialect/Tile/Transforms/UnclampAddresses.h"
#include "compiler/Dialect/Tile/Transforms/UseTensorMaps.h"
#include "compiler/Dialect/TileGPU/TileGPU.h"
#include "compiler/Dialect/TileGPU/Transforms/Passes.h"
#include "mlir/Dialect/ControlFlow/IR/ControlFlowOps.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/LLVMIR/NVVMDialect.h"
#include "mlir/Dialect/LLVMIR/ROCDLDialect.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/UB/IR/UBOps.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"
#include "mlir/Tools/mlir-opt/MlirOptMain.h"
#include "mlir/Transforms/Passes.h"

int main(int argc, char **argv) {
  mlir::DialectRegistry registry;
  registry.insert<kiln::tile::TileDialect, kiln::tilegpu::TileGPUDialect, mlir::arith::ArithDialect,
                  mlir::cf::ControlFlowDialect, mlir::func::FuncDialect, mlir::LLVM::LLVMDialect,
                  mlir::math::MathDialect, mlir::memref::MemRefDialect, mlir::NVVM::NVVMDialect,
                  mlir::ROCDL::ROCDLDialect, mlir::scf::SCFDialect, mlir::ub::UBDialect,
                  mlir::vector::VectorDialect>();
  mlir::registerTransformsPasses();
  kiln::registerAnalysisPasses();
  kiln::registerCountLoopsPass();
  kiln::registerPadShapesPass();
  kiln::registerRewriteInductionsPass();
  kiln::registerExpandDescriptorsPass();
  kiln::registerFoldComparisonsPass();
  kiln::registerLoadOncePass();
  kiln::registerMaskScalarsPass();
  kiln::registerMergeBoundsPass();
  kiln::registerSimplifyLoopResultsPass();
  kiln::registerMakeTensorMapsPass();
  kiln::registerSplitDotsPass();
  kiln::registerSplitProgramsPass();
  kiln::registerSplitTilesPass();
  kiln::registerSpreadRangesPass();
  kiln::registerTrimDotsPass();
  kiln::registerNarrowDotsPass();
  kiln::registerUnclampAddressesPass();
  kiln::registerUseTensorMapsPass();
  kiln::registerTileToCPUPasses();
  kiln::registerTileToTileGPUPass();
  kiln::registerTileGPUPasses();
  kiln::registerTileGPUToLLVMPasses();
  return mlir::asMainReturnCode(mlir::MlirOptMain(argc, argv, "Kiln's pass driver\n", registry));
}

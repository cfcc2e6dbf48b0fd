// What every pattern of the distribution step needs, and the pattern base class.

#ifndef KILN_COMPILER_CONVERSION_TILEGPUTOLLVM_LOWERING_H
#define KILN_COMPILER_CONVERSION_TILEGPUTOLLVM_LOWERING_H

#include "compiler/Analysis/AxisInfo.h"
#include "compiler/Conversion/TargetLowering/ScalarBuilder.h"
#include "compiler/Conversion/TargetLowering/TargetLowering.h"
#include "compiler/Conversion/TileGPUToLLVM/ThreadIndex.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Transforms/DialectConversion.h"

namespace kiln {

/// The lowering of a cuda or hip target; `info` must outlive it.
std::unique_ptr<TargetLowering> makeTargetLowering(const TargetInfo &info);

/// A tensor becomes one value per register of its layout; a pointer `!llvm.ptr<1>`; an 8-bit float
/// i8; a buffer its address in shared memory, `!llvm.ptr<3>`; a descriptor that the launcher makes
/// the address of the tensor map, `!llvm.ptr`.
class RegisterTypeConverter : public mlir::TypeConverter {
public:
  RegisterTypeConverter();
};

/// Shared by all patterns; lives as long as the conversion.
struct Lowering {
  const RegisterTypeConverter &types;
  const TargetLowering &device;
  const AxisInfoAnalysis &facts;
  /// Without what the source vouches for of tensors.
  const AxisInfoAnalysis &proven;
  unsigned numWarps;
  /// For the tensor maps that the kernel makes: `!llvm.ptr<1>`, of the first warp's threads; null
  /// where there are none.
  mlir::Value mapRecord;
  /// Blocks that run a program instance together.
  unsigned clusterBlocks;
  /// By the estimate, of a thread; 0: there is none.
  unsigned neededRegisters;

  const TargetInfo &target() const { return device.target(); }
  unsigned numThreads() const { return target().threadsPerBlock(numWarps); }
  /// A scalar's or tensor element's type in a register.
  mlir::Type elementType(mlir::Type tileType) const;
  /// The bits of a place in the tile on which the tensor's elements do not depend.
  BinaryVector equalNeighbours(mlir::Value tensor) const;
  /// Address of the operation's scratch in shared memory, at the offset that allocation gave it;
  /// null (after an error at `op`) when it was given none.
  mlir::Value scratch(const ScalarBuilder &s, mlir::Operation *op) const;
  mlir::Value sharedAddress(const ScalarBuilder &s, int64_t offset) const;
};

/// A pattern on one operation that sees operands as ranges of registers.
template <typename OpT> class DistributionPattern : public mlir::OpConversionPattern<OpT> {
public:
  using Adaptor = typename mlir::OpConversionPattern<OpT>::OneToNOpAdaptor;
  DistributionPattern(const Lowering &lowering, mlir::MLIRContext *context,
                      mlir::PatternBenefit benefit = 1)
      : mlir::OpConversionPattern<OpT>(lowering.types, context, benefit), lowering(lowering) {}

  mlir::LogicalResult matchAndRewrite(OpT op, Adaptor adaptor,
                                      mlir::ConversionPatternRewriter &rewriter) const final {
    ScalarBuilder s(rewriter, op.getLoc());
    return distribute(op, adaptor, s, rewriter);
  }

protected:
  virtual mlir::LogicalResult distribute(OpT op, Adaptor adaptor, const ScalarBuilder &s,
                                         mlir::ConversionPatternRewriter &rewriter) const = 0;
  void replace(OpT op, mlir::ConversionPatternRewriter &rewriter, mlir::ValueRange values) const {
    rewriter.replaceOpWithMultiple(op, llvm::ArrayRef<mlir::ValueRange>{values});
  }
  const Lowering &lowering;
};

/// Puts what follows under a condition, if there is one, as long as the guard lives.
class Under {
public:
  Under(mlir::OpBuilder &b, mlir::Location loc, mlir::Value condition);

private:
  mlir::OpBuilder::InsertionGuard guard;
};

mlir::Value isFirstThread(const ScalarBuilder &s, const TargetLowering &device);

/// Numbers the tensor maps that the kernel makes and gives it a record for them while it runs; null
/// if there are none.
mlir::Value claimMapRecord(mlir::func::FuncOp kernel, const TargetLowering &device);

//--- The families of patterns ---
void populateElementwisePatterns(mlir::RewritePatternSet &patterns, const Lowering &lowering);
void populateSmallFloatPatterns(mlir::RewritePatternSet &patterns, const Lowering &lowering);
void populateShapePatterns(mlir::RewritePatternSet &patterns, const Lowering &lowering);
void populateMemoryPatterns(mlir::RewritePatternSet &patterns, const Lowering &lowering);
void populateBufferPatterns(mlir::RewritePatternSet &patterns, const Lowering &lowering);
void populateAtomicPatterns(mlir::RewritePatternSet &patterns, const Lowering &lowering);
void populateReducePatterns(mlir::RewritePatternSet &patterns, const Lowering &lowering);
void populateScanPatterns(mlir::RewritePatternSet &patterns, const Lowering &lowering);
void populateAssemblyPatterns(mlir::RewritePatternSet &patterns, const Lowering &lowering);
void populateMapPatterns(mlir::RewritePatternSet &patterns, const Lowering &lowering);
void populateDebugPatterns(mlir::RewritePatternSet &patterns, const Lowering &lowering);
void populateGatherPatterns(mlir::RewritePatternSet &patterns, const Lowering &lowering);
void populateSharedPatterns(mlir::RewritePatternSet &patterns, const Lowering &lowering);
void populateTensorCopyPatterns(mlir::RewritePatternSet &patterns, const Lowering &lowering);
void populateTensorMapPatterns(mlir::RewritePatternSet &patterns, const Lowering &lowering);
void populateConvertLayoutPatterns(mlir::RewritePatternSet &patterns, const Lowering &lowering);
void populateDotPatterns(mlir::RewritePatternSet &patterns, const Lowering &lowering);

/// The i8 that holds an 8-bit float of `type`, as f32; null if the format is not known.
mlir::Value smallFloatToSingle(const ScalarBuilder &s, mlir::Value value, mlir::Type type);

/// Step 2 of the lowering: scalar arith, math, scf, cf, ub and func become the LLVM dialect.
mlir::LogicalResult expandMath(mlir::ModuleOp module, const TargetLowering &device);
mlir::LogicalResult finishScalars(mlir::ModuleOp module, const TargetLowering &device);

} // namespace kiln

#endif

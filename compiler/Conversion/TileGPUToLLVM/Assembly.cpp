// tile.assembly: the text once for each register, by all threads.

#include "compiler/Conversion/TileGPUToLLVM/Lowering.h"

using namespace mlir;

namespace kiln {
namespace {

struct AssemblyDistribution : DistributionPattern<tile::AssemblyOp> {
  using DistributionPattern::DistributionPattern;

  LogicalResult distribute(tile::AssemblyOp op, Adaptor adaptor, const ScalarBuilder &,
                           ConversionPatternRewriter &rewriter) const override {
    SmallVector<Type> types;
    for (Type type : op.getResultTypes())
      types.push_back(lowering.elementType(type));
    SmallVector<SmallVector<Value>> results(types.size());
    for (auto [reg, original] : llvm::enumerate(registersOf(op))) {
      SmallVector<Value> values;
      if (reg == original)
        values = emit(op, types, registersAt(op, adaptor, reg), rewriter);
      for (auto [index, registers] : llvm::enumerate(results))
        registers.push_back(reg == original ? values[index] : registers[original]);
    }
    rewriter.replaceOpWithMultiple(op, std::move(results));
    return success();
  }

private:
  /// For each register the first that holds the same element.
  static SmallVector<unsigned> registersOf(tile::AssemblyOp op) {
    for (ValueRange values : {ValueRange(op.getSources()), ValueRange(op.getResults())})
      for (Type type : values.getTypes())
        if (isa<RankedTensorType>(type))
          return firstDuplicates(tilegpu::layoutOf(type));
    return {0};
  }

  static SmallVector<Value> registersAt(tile::AssemblyOp op, Adaptor adaptor, unsigned reg) {
    SmallVector<Value> values;
    for (auto [source, registers] : llvm::zip_equal(op.getSources(), adaptor.getSources()))
      values.push_back(registers[isa<RankedTensorType>(source.getType()) ? reg : 0]);
    return values;
  }

  /// One run of the text; LLVM gives several results as a struct.
  static SmallVector<Value> emit(tile::AssemblyOp op, ArrayRef<Type> types, ValueRange sources,
                                 OpBuilder &b) {
    Type type;
    if (types.size() == 1)
      type = types.front();
    else if (types.size() > 1)
      type = LLVM::LLVMStructType::getLiteral(b.getContext(), types);
    auto assembly = LLVM::InlineAsmOp::create(
        b, op.getLoc(), type ? TypeRange(type) : TypeRange(), sources, op.getText(),
        op.getConstraints(), /*has_side_effects=*/!op.getPure(), /*is_align_stack=*/false,
        LLVM::TailCallKind::None, LLVM::AsmDialectAttr(), ArrayAttr());
    if (types.size() <= 1)
      return SmallVector<Value>(assembly->getResults());
    SmallVector<Value> results;
    for (unsigned i = 0; i < types.size(); ++i)
      results.push_back(LLVM::ExtractValueOp::create(b, op.getLoc(), assembly.getResult(0), i));
    return results;
  }
};

} // namespace

void populateAssemblyPatterns(RewritePatternSet &patterns, const Lowering &lowering) {
  patterns.add<AssemblyDistribution>(lowering, patterns.getContext());
}

} // namespace kiln

// tile.map: the region once per register. Threads branch and loop each for their own elements.

#include "compiler/Conversion/TileGPUToLLVM/Lowering.h"

#include "mlir/IR/IRMapping.h"

using namespace mlir;

namespace kiln {
namespace {

struct MapDistribution : DistributionPattern<tile::MapOp> {
  using DistributionPattern::DistributionPattern;

  LogicalResult distribute(tile::MapOp op, Adaptor adaptor, const ScalarBuilder &s,
                           ConversionPatternRewriter &rewriter) const override {
    Block &body = op.getBody().front();
    const LinearLayout &layout = tilegpu::layoutOf(op.getSources()[0].getType());
    SmallVector<SmallVector<Value>> results(op.getNumResults());
    for (auto [reg, original] : llvm::enumerate(firstDuplicates(layout))) {
      if (reg != original) {
        for (SmallVector<Value> &registers : results)
          registers.push_back(registers[original]);
        continue;
      }
      IRMapping mapping;
      for (auto [argument, registers] : llvm::zip_equal(body.getArguments(), adaptor.getSources()))
        mapping.map(argument, asTileValue(s, registers[reg], argument.getType()));
      for (Operation &inner : body.without_terminator())
        rewriter.clone(inner, mapping);
      for (auto [registers, value] : llvm::zip_equal(results, body.getTerminator()->getOperands()))
        registers.push_back(
            asTileValue(s, mapping.lookupOrDefault(value), lowering.elementType(value.getType())));
    }
    rewriter.replaceOpWithMultiple(op, std::move(results));
    return success();
  }

private:
  /// Operations of the region still have the types of tiles; bit casts between these and registers'
  /// convert to nothing.
  static Value asTileValue(const ScalarBuilder &s, Value value, Type type) {
    if (value.getType() == type)
      return value;
    return tile::BitcastOp::create(s.builder(), s.location(), type, value);
  }
};

} // namespace

void populateMapPatterns(RewritePatternSet &patterns, const Lowering &lowering) {
  patterns.add<MapDistribution>(lowering, patterns.getContext());
}

} // namespace kiln

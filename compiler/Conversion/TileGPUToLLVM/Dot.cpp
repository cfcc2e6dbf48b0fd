// tilegpu.dot: on a matrix unit of the table, or by fused multiply-adds.
//
// Operand layouts are products of the instruction's fragment (lowest register bits), warps, and
// repetitions in registers. A repetition is a tile of the operand; its place, seen from lane 0 of
// warp 0, is its coordinates. So the tiles of A, B and C that belong together are found by
// coordinates, and one loop serves every instruction, batches and transposed units included.

#include "compiler/Conversion/TileGPUToLLVM/ExactOperands.h"
#include "compiler/Conversion/TileGPUToLLVM/WarpGroupDot.h"
#include "compiler/Dialect/Tile/Transforms/TrimDots.h"
#include "compiler/Dialect/TileGPU/SmallFloats.h"

#include "mlir/Dialect/Math/IR/Math.h"
#include "llvm/Support/MathExtras.h"

using namespace mlir;

namespace kiln {
namespace {

/// The place of A (its columns) or B (its rows) at step k that goes with a place of C.
SmallVector<int64_t, 4> operandPlace(ArrayRef<int64_t> place, MatrixOperand operand, int64_t k) {
  SmallVector<int64_t, 4> at(place);
  at[place.size() - (operand == MatrixOperand::A ? 1 : 2)] = k;
  return at;
}

struct DotDistribution : DistributionPattern<tilegpu::DotOp> {
  using DistributionPattern::DistributionPattern;

  LogicalResult distribute(tilegpu::DotOp op, Adaptor adaptor, const ScalarBuilder &s,
                           ConversionPatternRewriter &rewriter) const override {
    SmallVector<Value> results;
    if (op.getUnit() ? failed(onMatrixUnit(op, adaptor, s, results))
                     : failed(byMultiplyAdd(op, adaptor, s, results)))
      return failure();
    replace(op, rewriter, results);
    return success();
  }

private:
  using Fragments = std::map<unsigned, SmallVector<Value>>;

  static SmallVector<unsigned> fragmentRegisters(tilegpu::DotOp op, const MatrixTiling &tiling,
                                                 MatrixOperand operand) {
    Value tensor = operand == MatrixOperand::A   ? op.getA()
                   : operand == MatrixOperand::B ? op.getB()
                                                 : op.getC();
    return tiling.fragmentRegisters(operand, tilegpu::shapeOfOperand(tensor));
  }

  /// Every tile of an operand, packed once.
  LogicalResult packTiles(tilegpu::DotOp op, const MatrixTiling &tiling, MatrixOperand operand,
                          ValueRange registers, const Places &places, Fragments &packed,
                          const ScalarBuilder &s) const {
    MatrixOperand slot = operand;
    if (tiling.swapped && operand != MatrixOperand::C)
      slot = operand == MatrixOperand::A ? MatrixOperand::B : MatrixOperand::A;
    SmallVector<unsigned> held = fragmentRegisters(op, tiling, operand);
    for (const auto &[place, first] : places) {
      SmallVector<Value> fragment;
      for (unsigned reg : held)
        fragment.push_back(registers[first + reg]);
      packed[first] = lowering.device.packFragment(s.builder(), op.getLoc(), *tiling.instruction,
                                                   slot, fragment, isExact(op, operand));
      if (packed[first].empty())
        return op.emitError() << "a dot on the matrix unit '" << tiling.instruction->name
                              << "' is not supported on " << lowering.target().name << " yet";
    }
    return success();
  }

  LogicalResult onMatrixUnit(tilegpu::DotOp op, Adaptor adaptor, const ScalarBuilder &s,
                             SmallVectorImpl<Value> &results) const {
    MatrixTiling tiling = op.getUnit()->getTiling();
    for (Value operand : {op.getA(), op.getB()})
      if (Type type = tilegpu::elementOfOperand(operand);
          !tilegpu::readsFormat(lowering.target(), type))
        return op.emitError() << "a dot of " << type << " on the matrix unit '"
                              << tiling.instruction->name << "' is not supported on "
                              << lowering.target().name << " yet";
    if (tiling.instruction->readsSharedMemory()) {
      results =
          multiplyInWarpGroups(s, lowering, op, adaptor.getA(), adaptor.getB(), adaptor.getC());
      return success(!results.empty());
    }
    auto tiles = [&](MatrixOperand operand, Value tensor) {
      return placesOf(tilegpu::layoutOf(tensor), fragmentRegisters(op, tiling, operand).back() + 1);
    };
    Places placesA = tiles(MatrixOperand::A, op.getA()),
           placesB = tiles(MatrixOperand::B, op.getB()),
           placesC = tiles(MatrixOperand::C, op.getC());
    Fragments a, b, c;
    if (failed(packTiles(op, tiling, MatrixOperand::A, adaptor.getA(), placesA, a, s)) ||
        failed(packTiles(op, tiling, MatrixOperand::B, adaptor.getB(), placesB, b, s)) ||
        failed(packTiles(op, tiling, MatrixOperand::C, adaptor.getC(), placesC, c, s)))
      return failure();
    if (tiling.instruction->isScaled())
      multiplyScaled(op, adaptor, s, tiling, placesA, placesB, placesC, a, b, c);
    else
      multiply(op, s, tiling, placesA, placesB, placesC, a, b, c);
    results.resize(adaptor.getC().size());
    SmallVector<unsigned> held = fragmentRegisters(op, tiling, MatrixOperand::C);
    for (auto &[first, packed] : c) {
      auto next = held.begin();
      for (Value word : packed)
        for (Value element : s.unpack(word))
          results[first + *next++] = element;
    }
    return success();
  }

  void multiply(tilegpu::DotOp op, const ScalarBuilder &s, const MatrixTiling &tiling,
                const Places &placesA, const Places &placesB, const Places &placesC, Fragments &a,
                Fragments &b, Fragments &c) const {
    int64_t depth = usedExtent(op, usedDepthAttr, tilegpu::shapeOfOperand(op.getA()).back());
    // k outermost: consecutive instructions write different accumulators.
    unsigned parts = lowering.device.instructionsOf(*tiling.instruction);
    auto partOf = [&](ArrayRef<Value> fragment, unsigned part) {
      size_t size = fragment.size() / parts;
      return fragment.slice(part * size, size);
    };
    for (int64_t k = 0; k < depth; k += tiling.instruction->k)
      for (unsigned part = 0; part < parts; ++part)
        for (const auto &[place, first] : placesC) {
          auto left = partOf(a[placesA.at(operandPlace(place, MatrixOperand::A, k))], part);
          auto right = partOf(b[placesB.at(operandPlace(place, MatrixOperand::B, k))], part);
          if (tiling.swapped)
            std::swap(left, right);
          c[first] = lowering.device.multiplyMatrices(s.builder(), op.getLoc(), *tiling.instruction,
                                                      left, right, c[first]);
        }
  }

  void multiplyScaled(tilegpu::DotOp op, Adaptor adaptor, const ScalarBuilder &s,
                      const MatrixTiling &tiling, const Places &placesA, const Places &placesB,
                      const Places &placesC, Fragments &a, Fragments &b, Fragments &c) const {
    const MatrixInstruction &unit = *tiling.instruction;
    Places scalesA = placesOf(tilegpu::layoutOf(op.getScales()[0]), 1),
           scalesB = placesOf(tilegpu::layoutOf(op.getScales()[1]), 1);
    Type word = s.builder().getI32Type();
    int64_t stepOfA = tiling.fragment(MatrixOperand::A).shape()[1],
            stepOfB = tiling.fragment(MatrixOperand::B).shape()[0],
            steps = tilegpu::shapeOfOperand(op.getA()).back() / stepOfA;
    for (int64_t step = 0; step < steps; ++step)
      for (const auto &[place, first] : placesC) {
        int64_t number = step * unit.numScales();
        auto scale = [&, at = ArrayRef<int64_t>(place)](unsigned side,
                                                        const Places &places) -> Value {
          Value byte = adaptor.getScales()[side][places.at({at[side], number})];
          return s.make<LLVM::ZExtOp>(word, byte);
        };
        TargetLowering::ScaledFragment left{
            a[placesA.at(operandPlace(place, MatrixOperand::A, step * stepOfA))][0],
            scale(0, scalesA), tilegpu::elementOfOperand(op.getA())},
            right{b[placesB.at(operandPlace(place, MatrixOperand::B, step * stepOfB))][0],
                  scale(1, scalesB), tilegpu::elementOfOperand(op.getB())};
        if (tiling.swapped)
          std::swap(left, right);
        c[first] = lowering.device.multiplyScaledMatrices(s.builder(), op.getLoc(), unit, left,
                                                          right, c[first]);
      }
  }

  LogicalResult byMultiplyAdd(tilegpu::DotOp op, Adaptor adaptor, const ScalarBuilder &s,
                              SmallVectorImpl<Value> &results) const {
    Type type = adaptor.getC()[0].getType();
    SmallVector<Value> a, b;
    for (auto [operand, from, to] : {std::make_tuple(op.getA(), adaptor.getA(), &a),
                                     std::make_tuple(op.getB(), adaptor.getB(), &b)}) {
      Type operandType = tilegpu::elementOfOperand(operand);
      for (Value value : from) {
        if (tilegpu::isSmallFloat(operandType))
          value = smallFloatToSingle(s, value, operandType);
        Value wide = value ? widen(s, value, type) : Value();
        if (!wide)
          return op.emitError() << "a dot of " << operandType << " into " << type
                                << " is not supported on " << lowering.target().name << " yet";
        to->push_back(wide);
      }
    }
    Places placesA = placesOf(tilegpu::layoutOf(op.getA()), 1),
           placesB = placesOf(tilegpu::layoutOf(op.getB()), 1),
           placesC = placesOf(tilegpu::layoutOf(op.getC()), 1);
    results.assign(adaptor.getC().begin(), adaptor.getC().end());
    int64_t depth = usedExtent(op, usedDepthAttr, tilegpu::shapeOfOperand(op.getA()).back());
    for (int64_t k = 0; k < depth; ++k)
      for (const auto &[place, reg] : placesC)
        results[reg] =
            multiplyAdd(s, a[placesA.at(operandPlace(place, MatrixOperand::A, k))],
                        b[placesB.at(operandPlace(place, MatrixOperand::B, k))], results[reg]);
    // Registers that repeat a place.
    for (unsigned reg = 0; reg < results.size(); ++reg)
      results[reg] = results[placesC.at(tilegpu::layoutOf(op.getC()).coordinates(reg, 0, 0))];
    return success();
  }

  /// An operand's element in the accumulator's type; null if there is no such conversion.
  static Value widen(const ScalarBuilder &s, Value value, Type type) {
    Type from = value.getType();
    if (from == type)
      return value;
    if (isa<FloatType>(from) && isa<FloatType>(type) && scalarBits(from) < scalarBits(type))
      return s.make<arith::ExtFOp>(type, value);
    if (isa<IntegerType>(from) && isa<IntegerType>(type) && scalarBits(from) < scalarBits(type))
      return s.make<arith::ExtSIOp>(type, value);
    return {};
  }

  static Value multiplyAdd(const ScalarBuilder &s, Value a, Value b, Value c) {
    if (isa<FloatType>(c.getType()))
      return math::FmaOp::create(s.builder(), s.location(), a, b, c);
    return s.make<arith::AddIOp>(s.make<arith::MulIOp>(a, b), c);
  }
};

struct DotWaitDistribution : DistributionPattern<tilegpu::DotWaitOp> {
  using DistributionPattern::DistributionPattern;
  LogicalResult distribute(tilegpu::DotWaitOp op, Adaptor adaptor, const ScalarBuilder &s,
                           ConversionPatternRewriter &rewriter) const override {
    SmallVector<SmallVector<Value>> results =
        waitForProducts(s, adaptor.getAccumulators(), op.getPending());
    rewriter.replaceOpWithMultiple(op, std::move(results));
    return success();
  }
};

} // namespace

Places placesOf(const LinearLayout &layout, unsigned stride) {
  Places places;
  for (unsigned reg = 0; reg < layout.numRegisters(); reg += stride)
    places.emplace(layout.coordinates(reg, 0, 0), reg);
  return places;
}

void populateDotPatterns(RewritePatternSet &patterns, const Lowering &lowering) {
  patterns.add<DotDistribution, DotWaitDistribution>(lowering, patterns.getContext());
}

} // namespace kiln

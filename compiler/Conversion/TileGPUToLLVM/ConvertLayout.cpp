// tilegpu.convert_layout: register names, shuffles, or an exchange through shared memory.
//
// compiler/Layout/LayoutConversion.h plans; here the plan is written out.

#include "compiler/Conversion/TileGPUToLLVM/SharedTransfer.h"

#include "compiler/Layout/LayoutConversion.h"
#include "compiler/Layout/SlicedExchange.h"
#include "llvm/Support/MathExtras.h"

using namespace mlir;

namespace kiln {
namespace {

/// The value whose number is `constant` xor a linear function of the lane, picked by selects.
class RegisterPicker {
public:
  RegisterPicker(const ScalarBuilder &s, ArrayRef<BinaryVector> byLane, Value lane) : s(s) {
    // Selecting on a basis of the function's image costs the fewest selects.
    BinarySpan span;
    for (uint64_t column : byLane)
      if (span.insert(column))
        basis.push_back(column);
    BinarySpan coordinates(basis);
    BinaryColumns selectors;
    for (uint64_t column : byLane)
      selectors.push_back(*coordinates.solve(column));
    Value selector = applyColumns(s, selectors, lane);
    for (unsigned bit = 0; bit < basis.size(); ++bit)
      flags.push_back(
          s.compare(arith::CmpIPredicate::ne, s.bitAnd(selector, int64_t(1) << bit), s.i32(0)));
  }

  Value pick(ArrayRef<Value> values, unsigned constant) const {
    return pickFrom(values, constant, basis.size());
  }

private:
  Value pickFrom(ArrayRef<Value> values, unsigned number, unsigned bits) const {
    if (bits == 0)
      return values[number];
    Value clear = pickFrom(values, number, bits - 1);
    Value set = pickFrom(values, number ^ unsigned(basis[bits - 1]), bits - 1);
    return s.select(flags[bits - 1], set, clear);
  }

  const ScalarBuilder &s;
  SmallVector<BinaryVector> basis;
  SmallVector<Value> flags;
};

struct ConvertLayoutDistribution : DistributionPattern<tilegpu::ConvertLayoutOp> {
  using DistributionPattern::DistributionPattern;

  LogicalResult distribute(tilegpu::ConvertLayoutOp op, Adaptor adaptor, const ScalarBuilder &s,
                           ConversionPatternRewriter &rewriter) const override {
    const LinearLayout &source = tilegpu::layoutOf(op.getSource()),
                       &result = tilegpu::layoutOf(op.getResult());
    unsigned elementBits = tilegpu::storageBits(op.getType().getElementType());
    SharedMemoryShape memory = tilegpu::sharedMemoryOf(lowering.target());
    LayoutConversion plan = planConversion(source, result, elementBits, memory);
    SmallVector<Value> results(adaptor.getSource());
    if (plan.kind == ConversionKind::Registers) {
      results.clear();
      for (unsigned reg : plan.registers)
        results.push_back(adaptor.getSource()[reg]);
    } else if (plan.kind == ConversionKind::Shuffle) {
      results = plan.swaps ? swap(*plan.swaps, adaptor.getSource(), s)
                           : shuffle(*plan.shuffle, adaptor.getSource(), s);
    } else if (plan.kind == ConversionKind::Shared) {
      Value scratch = lowering.scratch(s, op);
      if (!scratch)
        return failure();
      auto slices = op->getAttrOfType<IntegerAttr>(tilegpu::TileGPUDialect::slicesAttr);
      SlicedExchange rounds = slices ? planSlicedExchange(source, result, elementBits, memory,
                                                          unsigned(slices.getInt()))
                                     : inOneRound(*plan.shared);
      bool isWithinWarps =
          plan.isWithinWarps && (rounds.rounds.size() == 1 || rounds.keepsWarpsApart());
      results = exchange(rounds, isWithinWarps, scratch, adaptor.getSource(), s);
    }
    replace(op, rewriter, results);
    return success();
  }

private:
  SmallVector<Value> swap(const SwapPlan &plan, ValueRange source, const ScalarBuilder &s) const {
    SmallVector<unsigned, 4> parts;
    for (unsigned reg = 0; reg <= plan.together; ++reg)
      if ((reg & ~plan.together) == 0)
        parts.push_back(reg);
    // Words stand at the number of their first register.
    SmallVector<Value> words(source.size()), moved(source.size());
    for (unsigned first = 0; first < source.size(); ++first)
      if (!(first & plan.together))
        words[first] = packWord(
            s, llvm::map_to_vector<4>(parts, [&](unsigned part) { return source[first ^ part]; }));
    for (auto [registerBit, laneBit] : plan.steps)
      for (unsigned first = 0, other = 1u << registerBit; first < source.size(); ++first)
        if (!(first & (plan.together | other)))
          std::tie(words[first], words[first ^ other]) =
              swapLanes(s, lowering.device, words[first], words[first ^ other], 1u << laneBit);
    for (unsigned first = 0; first < source.size(); ++first)
      if (words[first])
        for (auto [part, element] :
             llvm::zip_equal(parts, unpackWord(s, words[first], source[0].getType(), parts.size())))
          moved[first ^ part] = element;
    return llvm::map_to_vector(plan.registers, [&](unsigned reg) { return moved[reg]; });
  }

  SmallVector<Value> shuffle(const ShufflePlan &plan, ValueRange source,
                             const ScalarBuilder &s) const {
    unsigned warpSize = lowering.target().warpSize;
    Value lane = s.bitAnd(lowering.device.threadId(s.builder(), s.location()), warpSize - 1);
    RegisterPicker give(s, plan.giveByLane, lane);
    Value readLane = applyColumns(s, plan.readByLane, lane);
    SmallVector<unsigned, 4> sources = plan.sourcesOfWord(), targets = plan.resultsOfWord();
    // Words stand at the number of their first register, which has none of the others' bits.
    SmallVector<Value> given(source.size()), received(plan.rounds.size() * targets.size());
    for (unsigned first = 0; first < source.size(); ++first)
      if (!(first & sources.back()))
        given[first] = packWord(s, llvm::map_to_vector<4>(sources, [&](unsigned distance) {
                                  return source[first ^ distance];
                                }));
    for (const ShufflePlan::Round &round : plan.rounds) {
      Value value = give.pick(given, round.give);
      if (round.local)
        received[round.receive] = value;
      else if (plan.readsByXor())
        received[round.receive] = shuffleXor(s, lowering.device, value, round.readLane);
      else
        received[round.receive] =
            shuffleIndex(s, lowering.device, value, s.bitXor(readLane, s.i32(round.readLane)));
    }
    // Result register r arrived in the round that receives r ^ receiveByLane·lane.
    RegisterPicker receive(s, plan.receiveByLane, lane);
    SmallVector<Value> results(received.size());
    for (const ShufflePlan::Round &round : plan.rounds) {
      Value value = receive.pick(received, round.receive);
      for (auto [target, element] :
           llvm::zip_equal(targets, unpackWord(s, value, source[0].getType(), targets.size())))
        results[round.receive ^ target] = element;
    }
    return results;
  }

  SmallVector<Value> exchange(const SlicedExchange &plan, bool isWithinWarps, Value scratch,
                              ValueRange source, const ScalarBuilder &s) const {
    auto meet = [&] {
      if (isWithinWarps)
        lowering.device.warpBarrier(s.builder(), s.location());
      else
        lowering.device.sharedBarrier(s.builder(), s.location());
    };
    SharedArray array{scratch, source[0].getType(), plan.shared.padInterval, plan.shared.padAmount};
    const SharedAccess &load = plan.rounds[0].load;
    SmallVector<Value> results(plan.rounds.size() * load.parts.size() * load.vector);
    for (const SlicedExchange::Round &round : plan.rounds) {
      if (isWithinWarps || &round != &plan.rounds.front())
        meet();
      storeShared(s, lowering, array, round.store, source);
      meet();
      loadShared(s, lowering, array, round.load, results);
    }
    return results;
  }
};

} // namespace

void populateConvertLayoutPatterns(RewritePatternSet &patterns, const Lowering &lowering) {
  patterns.add<ConvertLayoutDistribution>(lowering, patterns.getContext());
}

} // namespace kiln

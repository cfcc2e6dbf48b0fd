// tile.scan: a value in each place, and what comes before each run of values.
//
// The coordinate's lowest bits that move between a thread's registers alone make its runs. Their
// values are combined one after the other, the fewest combinations and registers. From there on a
// run has its total and what comes before it in the block of runs: after the steps for the k lowest
// bits, in the block of 2^k elements. The next bit pairs blocks: the later of two puts the
// earlier's total before what it has, and both know the sum of the totals. Where these bits are
// those of lanes side by side, each takes the sum of the 1, 2, 4 … lanes before it instead, one
// combination a step, and the last one's is the total. Where lanes of a row of 16 reach each other
// by an instruction without shared memory (AMD's DPP), that is done in each row, and then the last
// lane's sum goes to the rows behind it. From the first bit that
// moves between warps on, all totals go to shared memory and every thread sums up those before its
// own: once for all of its runs in one row, each of which takes the sum that it finds on the way.
// In the end each value takes what comes before its run; that is the neutral element, if there is
// one, before the first. A run of one value needs no prefix: the value itself takes what comes
// before it.

#include "compiler/Conversion/TileGPUToLLVM/AxisCombiner.h"
#include "compiler/Dialect/Tile/Combiners.h"
#include "llvm/ADT/SmallBitVector.h"
#include <map>

using namespace mlir;

namespace kiln {
namespace {

/// Registers with values that follow each other, and what comes before them.
struct Run {
  SmallVector<unsigned> registers;
  /// Empty: nothing. Otherwise there where `exists` says so.
  Elements prefix;
  AxisCombiner::Flag exists;
};

class RunScan {
public:
  RunScan(const ScalarBuilder &s, const Lowering &lowering, AxisCombiner &combiner,
          const AxisSteps &steps, TypedAttr neutral, SmallVector<Elements> values)
      : s(s), lowering(lowering), combiner(combiner), steps(steps), neutral(neutral),
        values(std::move(values)) {}

  void scanWithinWarps();
  void addOtherWarps(Value scratch);
  /// The results, by register.
  SmallVector<Elements> finish();

private:
  /// Registers that the steps lead to, each line of them in the order of the scan.
  SmallVector<SmallVector<unsigned>> linesAlong(ArrayRef<AxisStep> stepsInThread) const;
  void makeRuns(ArrayRef<AxisStep> inRuns);
  static bool areNeighbours(ArrayRef<AxisStep> lanes);
  /// A word, or zeros for any number of words, that changes nothing where it comes in place of what
  /// is not there; null: none does.
  Value neutralWord() const;
  /// `hasMore`: other steps follow, which need totals.
  void scanLanes(ArrayRef<AxisStep> lanes, bool hasMore);
  void scanBlocks(ArrayRef<AxisStep> stepsInThread);
  /// Puts `earlier` before `run` where `condition` holds.
  void precede(Run &run, const Elements &earlier, const AxisCombiner::Flag &condition) const;
  void addEarlierBlocks(ArrayRef<SharedArray> arrays, Value base, ArrayRef<Run *> row);

  const ScalarBuilder &s;
  const Lowering &lowering;
  AxisCombiner &combiner;
  const AxisSteps &steps;
  TypedAttr neutral; ///< of a combination of one operand; may be null
  SmallVector<Elements> values, totals;
  std::vector<Run> runs;
};

/// What lanes side by side take from each other.
class LaneScan {
public:
  LaneScan(const ScalarBuilder &s, const Lowering &lowering, const AxisCombiner &combiner,
           ArrayRef<AxisStep> lanes)
      : s(s), device(lowering.device), isReversed(combiner.isReversed()),
        warp(lowering.target().warpSize), first(lanes.front().lanes),
        segment(first << lanes.size()), thread(device.threadId(s.builder(), s.location())),
        place(s.bitAnd(thread, s.i32(int64_t(segment - first)))) {
    isInRow = segment <= device.lanesOfRow();
    isByRows = !isInRow && device.lanesOfRow() > 1 && first == 1 && !isReversed;
  }

  uint64_t distances() const { return segment / first; }

  /// The values of the lane that is so many places before, a power of two; with rows, of the last
  /// one of the rows before. `none`, or anything if that is null, where it does not exist.
  Elements before(uint64_t distance, const Elements &elements, Value none) const {
    uint64_t steps = distance * first;
    bool isShift = isInRow || (isByRows && steps < device.lanesOfRow());
    if (!isShift && !isByRows)
      return of(laneBefore(distance), elements);
    return moved(elements, [&](Value word) {
      return isShift ? device.shiftInRow(s.builder(), s.location(), word, none ? none : word,
                                         unsigned(steps), isReversed)
                     : device.lastBefore(s.builder(), s.location(), word, llvm::Log2_64(steps));
    });
  }
  /// Whether there is such a lane.
  Value exists(uint64_t distance) const {
    uint64_t steps = distance * first, row = device.lanesOfRow();
    if (isByRows && steps >= row)
      return s.compare(arith::CmpIPredicate::ne, s.bitAnd(thread, s.i32(int64_t(steps))), s.i32(0));
    if (isByRows)
      return s.compare(arith::CmpIPredicate::uge, s.bitAnd(thread, s.i32(int64_t(row - 1))),
                       s.i32(int64_t(steps)));
    return existsInSegment(distance);
  }
  /// Whether lanes that do not exist are those for which `before` gives `none`.
  bool givesNone(uint64_t distance) const {
    return isInRow ? segment == device.lanesOfRow()
                   : isByRows && distance * first < device.lanesOfRow();
  }

  /// Of the lane just before, in any row.
  Elements justBefore(const Elements &elements) const {
    return isInRow ? before(1, elements, Value()) : of(laneBefore(1), elements);
  }
  Value hasOneBefore() const { return existsInSegment(1); }

  Elements ofLast(const Elements &elements) const {
    if (isByRows && segment == warp)
      return moved(elements,
                   [&](Value word) { return device.ofLastLane(s.builder(), s.location(), word); });
    Value others = s.bitAnd(thread, s.i32(int64_t(warp - 1 & ~(segment - first))));
    return of(isReversed ? others : s.bitOr(others, s.i32(int64_t(segment - first))), elements);
  }

private:
  Elements moved(const Elements &elements, function_ref<Value(Value)> move) const {
    return llvm::map_to_vector<1>(elements,
                                  [&](Value element) { return inWords(s, element, move); });
  }
  Elements of(Value lane, const Elements &elements) const {
    return llvm::map_to_vector<1>(
        elements, [&](Value element) { return shuffleIndex(s, device, element, lane); });
  }
  Value laneBefore(uint64_t distance) const {
    int64_t steps = int64_t(distance * first);
    return s.bitAnd(s.add(thread, s.i32(isReversed ? steps : -steps)), s.i32(int64_t(warp - 1)));
  }
  Value existsInSegment(uint64_t distance) const {
    uint64_t steps = distance * first;
    return isReversed ? s.compare(arith::CmpIPredicate::ult, place, s.i32(int64_t(segment - steps)))
                      : s.compare(arith::CmpIPredicate::uge, place, s.i32(int64_t(steps)));
  }

  const ScalarBuilder &s;
  const TargetLowering &device;
  bool isReversed;
  uint64_t warp, first, segment; ///< lanes: of a warp, from one place to the next, of all places
  Value thread, place;
  bool isInRow;  ///< all places are in one of the device's rows
  bool isByRows; ///< first those of each row are summed up, then rows
};

struct ScanDistribution : DistributionPattern<tile::ScanOp> {
  using DistributionPattern::DistributionPattern;

  LogicalResult distribute(tile::ScanOp op, Adaptor adaptor, const ScalarBuilder &s,
                           ConversionPatternRewriter &rewriter) const override {
    const LinearLayout &layout = tilegpu::layoutOf(op.getSources()[0].getType());
    AxisSteps steps = planAxisSteps(layout, op.getAxis(), /*inOrder=*/true);
    AxisCombiner combiner(s, lowering, layout, op.getAxis(), op.getCombine(), /*inOrder=*/true,
                          op.getReverse());
    RunScan scan(s, lowering, combiner, steps, tile::neutralElement(op.getSingleCombiner()),
                 byRegister(adaptor.getSources()));
    scan.scanWithinWarps();
    if (!steps.exchanged.empty()) {
      Value scratch = lowering.scratch(s, op);
      if (!scratch)
        return failure();
      scan.addOtherWarps(scratch);
    }
    SmallVector<Elements> results = scan.finish();
    SmallVector<SmallVector<Value>> replacements(op.getNumResults());
    for (unsigned reg : combiner.firstRegisters())
      for (auto [operand, value] : llvm::enumerate(results[reg]))
        replacements[operand].push_back(value);
    rewriter.replaceOpWithMultiple(op, std::move(replacements));
    return success();
  }
};

} // namespace

SmallVector<SmallVector<unsigned>> RunScan::linesAlong(ArrayRef<AxisStep> stepsInThread) const {
  SmallVector<unsigned> bits;
  for (const AxisStep &step : stepsInThread)
    bits.push_back(step.bit);
  SmallVector<SmallVector<unsigned>> lines;
  llvm::SmallBitVector done(values.size());
  for (unsigned reg : combiner.firstRegisters()) {
    if (done[reg])
      continue;
    SmallVector<unsigned> registers{reg};
    for (const AxisStep &step : stepsInThread)
      for (unsigned index = 0, count = registers.size(); index < count; ++index)
        registers.push_back(combiner.firstRegisters()[registers[index] ^ step.registers]);
    llvm::sort(registers, [&](unsigned a, unsigned b) {
      return combiner.coordinateBits(a, bits).constant < combiner.coordinateBits(b, bits).constant;
    });
    for (unsigned member : registers)
      done.set(member);
    lines.push_back(registers);
  }
  return lines;
}

void RunScan::makeRuns(ArrayRef<AxisStep> inRuns) {
  totals = values;
  for (const SmallVector<unsigned> &registers : linesAlong(inRuns)) {
    for (unsigned index = 1; index < registers.size(); ++index)
      values[registers[index]] =
          combiner.combine(values[registers[index - 1]], values[registers[index]]);
    for (unsigned member : registers)
      totals[member] = values[registers.back()];
    Run run{registers, {}, {true, nullptr}};
    if (registers.size() == 1)
      run.prefix = values[registers.front()];
    else if (neutral)
      run.prefix = {s.make<arith::ConstantOp>(neutral)};
    runs.push_back(run);
  }
  for (unsigned reg = 0; reg < totals.size(); ++reg)
    totals[reg] = totals[combiner.firstRegisters()[reg]];
}

void RunScan::precede(Run &run, const Elements &earlier,
                      const AxisCombiner::Flag &condition) const {
  if (!condition.runtime && !condition.constant)
    return;
  Elements all = earlier;
  if (!run.prefix.empty())
    all = combiner.selectByFlag(run.exists, combiner.combine(earlier, run.prefix), earlier);
  if (!condition.runtime || run.prefix.empty()) {
    run.exists = condition;
    run.prefix = all;
    return;
  }
  run.prefix = combiner.selectByFlag(condition, all, run.prefix);
  if (run.exists.runtime)
    run.exists.runtime = s.bitOr(run.exists.runtime, condition.runtime);
}

bool RunScan::areNeighbours(ArrayRef<AxisStep> lanes) {
  return llvm::all_of(llvm::enumerate(lanes), [&](auto step) {
    return step.value().lanes == lanes.front().lanes << step.index();
  });
}

Value RunScan::neutralWord() const {
  auto integer = dyn_cast_or_null<IntegerAttr>(neutral);
  if (integer && integer.getValue().isZero())
    return s.i32(0);
  if (!neutral || neutral.getType().getIntOrFloatBitWidth() != 32)
    return {};
  APInt bits = integer ? integer.getValue() : cast<FloatAttr>(neutral).getValue().bitcastToAPInt();
  return s.i32(bits.getSExtValue());
}

void RunScan::scanLanes(ArrayRef<AxisStep> lanes, bool hasMore) {
  LaneScan scan(s, lowering, combiner, lanes);
  Value none = neutralWord();
  for (Run &run : runs) {
    Elements sum = totals[run.registers.front()];
    for (uint64_t distance = 1; distance < scan.distances(); distance *= 2) {
      Elements more = combiner.combine(scan.before(distance, sum, none), sum);
      sum = none && scan.givesNone(distance)
                ? more
                : combiner.selectByFlag({false, scan.exists(distance)}, more, sum);
    }
    if (run.registers.size() == 1)
      run.prefix = sum;
    else
      precede(run, scan.justBefore(sum), {false, scan.hasOneBefore()});
    if (!hasMore)
      continue;
    Elements total = scan.ofLast(sum);
    for (unsigned reg = 0; reg < totals.size(); ++reg)
      if (llvm::is_contained(run.registers, combiner.firstRegisters()[reg]))
        totals[reg] = total;
  }
}

/// Blocks of lanes in a thread's registers, one after the other.
void RunScan::scanBlocks(ArrayRef<AxisStep> stepsInThread) {
  if (stepsInThread.empty())
    return;
  std::map<unsigned, Run *> runOf; // by its first register
  for (Run &run : runs)
    runOf[run.registers.front()] = &run;
  for (const SmallVector<unsigned> &line : linesAlong(stepsInThread)) {
    if (!runOf.count(line.front()))
      continue;
    Elements sum = totals[line.front()];
    for (unsigned reg : ArrayRef(line).drop_front()) {
      precede(*runOf.at(reg), sum, {true, nullptr});
      sum = combiner.combine(sum, totals[reg]);
    }
    for (unsigned reg : line)
      for (unsigned member : runOf.at(reg)->registers)
        totals[member] = sum;
  }
  for (unsigned reg = 0; reg < totals.size(); ++reg)
    totals[reg] = totals[combiner.firstRegisters()[reg]];
}

void RunScan::scanWithinWarps() {
  auto isInThread = [&](const AxisStep &step) {
    return !step.lanes &&
           !combiner.coordinateBit(combiner.firstRegisters().front(), step.bit).runtime;
  };
  ArrayRef<AxisStep> local = steps.local, inRuns = local.take_while(isInThread);
  makeRuns(inRuns);
  local = local.drop_front(inRuns.size());
  ArrayRef<AxisStep> lanes = local.take_while([](const AxisStep &step) { return step.lanes != 0; });
  if (lanes.size() > 1 && areNeighbours(lanes) && combiner.areLaneBits(lanes)) {
    local = local.drop_front(lanes.size());
    scanLanes(lanes, /*hasMore=*/!local.empty() || !steps.exchanged.empty());
  }
  ArrayRef<AxisStep> blocks = local.take_while(isInThread);
  scanBlocks(blocks);
  for (const AxisStep &step : local.drop_front(blocks.size())) {
    SmallVector<Elements> others = combiner.neighbours(step, totals);
    for (Run &run : runs) {
      unsigned reg = run.registers.front();
      precede(run, others[reg], combiner.coordinateBit(reg, step.bit));
    }
    combiner.walk(step, others, totals);
  }
}

void RunScan::addOtherWarps(Value scratch) {
  SmallVector<SharedArray> arrays = combiner.publish(steps, scratch, totals);
  Value thread = lowering.device.threadId(s.builder(), s.location());
  SmallVector<Value> places = flatOutputs(s, steps.partials, thread, lowering.target());
  unsigned bits = steps.exchanged.size();
  // By what tells the rows of a thread's registers apart.
  std::map<uint64_t, SmallVector<Run *>> rows;
  for (Run &run : runs)
    rows[multiply(steps.partials.columns(Dim::Register), run.registers.front()) >> bits].push_back(
        &run);
  for (auto &[number, row] : rows) {
    Value place = places[row.front()->registers.front()];
    addEarlierBlocks(arrays, s.shiftLeft(s.shiftRight(place, bits), bits), row);
  }
}

void RunScan::addEarlierBlocks(ArrayRef<SharedArray> arrays, Value base, ArrayRef<Run *> row) {
  unsigned last = (1u << steps.exchanged.size()) - 1;
  SmallVector<AxisCombiner::Bits> own;
  for (Run *run : row)
    own.push_back(combiner.coordinateBits(run->registers.front(), steps.exchanged));
  SmallVector<Elements> sums(row.size());
  Elements before;
  for (unsigned block = 0; block < last; ++block) {
    // Blocks are numbered along the scan; in scratch by coordinate.
    unsigned place = combiner.isReversed() ? last - block : block;
    Elements total = combiner.fetch(arrays, s.add(base, s.i32(place)));
    before = block == 0 ? total : combiner.combine(before, total);
    for (auto [bits, sum] : llvm::zip_equal(own, sums))
      if (bits.mayBe(block + 1))
        sum = sum.empty()
                  ? before
                  : combiner.selectByFlag({false, s.equal(bits.value, block + 1)}, before, sum);
  }
  for (auto [run, bits, sum] : llvm::zip_equal(row, own, sums)) {
    AxisCombiner::Flag isLater{true, nullptr};
    if (bits.mayBe(0))
      isLater.runtime = s.compare(arith::CmpIPredicate::ne, bits.value, s.i32(0));
    if (!sum.empty())
      precede(*run, sum, isLater);
  }
}

SmallVector<Elements> RunScan::finish() {
  for (const Run &run : runs) {
    if (run.registers.size() == 1)
      values[run.registers.front()] = run.prefix;
    else if (!run.prefix.empty())
      for (unsigned reg : run.registers)
        values[reg] = combiner.selectByFlag(run.exists, combiner.combine(run.prefix, values[reg]),
                                            values[reg]);
  }
  return values;
}

void populateScanPatterns(RewritePatternSet &patterns, const Lowering &lowering) {
  patterns.add<ScanDistribution>(lowering, patterns.getContext());
}

} // namespace kiln

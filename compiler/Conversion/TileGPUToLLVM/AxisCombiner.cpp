// Combining elements along an axis: what reductions and scans share.

#include "compiler/Conversion/TileGPUToLLVM/AxisCombiner.h"

#include "mlir/IR/IRMapping.h"
#include "llvm/ADT/SmallVectorExtras.h"
#include <map>

using namespace mlir;

namespace kiln {

AxisCombiner::AxisCombiner(const ScalarBuilder &s, const Lowering &lowering,
                           const LinearLayout &layout, unsigned axis, Region &combine, bool inOrder,
                           bool reverse)
    : s(s), lowering(lowering), layout(layout), axis(axis), region(combine), inOrder(inOrder),
      reverse(reverse), first(firstDuplicates(layout)),
      thread(lowering.device.threadId(s.builder(), s.location())) {}

Elements AxisCombiner::combine(const Elements &earlier, const Elements &later) const {
  Block &block = region.front();
  IRMapping mapping;
  for (auto [index, argument] : llvm::enumerate(block.getArguments()))
    mapping.map(argument, index < earlier.size() ? earlier[index] : later[index - earlier.size()]);
  for (Operation &op : block.without_terminator())
    s.builder().clone(op, mapping);
  Elements results;
  for (Value value : block.getTerminator()->getOperands())
    results.push_back(mapping.lookupOrDefault(value));
  return results;
}

AxisCombiner::Bits AxisCombiner::coordinateBits(unsigned reg, ArrayRef<unsigned> bits) {
  unsigned position = layout.out().position(Dim::axis(axis));
  auto pick = [&](uint64_t column) {
    uint64_t picked = 0;
    for (auto [place, bit] : llvm::enumerate(bits))
      picked |= (column >> (position + bit) & 1) << place;
    return picked;
  };
  BinaryColumns threads;
  uint64_t possible = 0;
  for (uint64_t column : threadColumns(layout, lowering.target())) {
    threads.push_back(pick(column));
    possible |= threads.back();
  }
  uint64_t constant = pick(multiply(layout.columns(Dim::Register), reg));
  if (reverse)
    constant ^= (uint64_t(1) << bits.size()) - 1;
  return {combineParts(s, applyColumns(s, threads, thread), possible, constant), possible,
          constant};
}

AxisCombiner::Flag AxisCombiner::coordinateBit(unsigned reg, unsigned bit) {
  uint64_t unit = uint64_t(1) << (layout.out().position(Dim::axis(axis)) + bit);
  bool varies = llvm::any_of(threadColumns(layout, lowering.target()),
                             [&](uint64_t column) { return (column & unit) != 0; });
  Flag flag;
  flag.constant = bool(multiply(layout.columns(Dim::Register), reg) & unit) != reverse;
  if (varies)
    flag.runtime = s.equal(coordinateBits(reg, {bit}).value, 1);
  return flag;
}

Elements AxisCombiner::selectByFlag(const Flag &flag, const Elements &ifSet,
                                    const Elements &ifClear) const {
  if (!flag.runtime)
    return flag.constant ? ifSet : ifClear;
  Elements chosen;
  for (auto [set, clear] : llvm::zip_equal(ifSet, ifClear))
    chosen.push_back(s.select(flag.runtime, set, clear));
  return chosen;
}

Elements AxisCombiner::combineByFlag(const Elements &mine, const Elements &other,
                                     const Flag &later) const {
  if (!inOrder)
    return combine(mine, other);
  return combine(selectByFlag(later, other, mine), selectByFlag(later, mine, other));
}

/// All operands' values: one of several may be the same in every register.
static std::vector<const void *> keyOf(const Elements &elements) {
  std::vector<const void *> key;
  for (Value value : elements)
    key.push_back(value.getAsOpaquePointer());
  return key;
}

SmallVector<Elements> AxisCombiner::neighbours(const AxisStep &step,
                                               ArrayRef<Elements> values) const {
  SmallVector<Elements> result(values.size());
  std::map<std::vector<const void *>, Elements> shuffled;
  for (unsigned reg : first) {
    const Elements &source = values[reg ^ step.registers];
    Elements &known = shuffled[keyOf(source)];
    if (known.empty())
      for (Value value : source)
        known.push_back(step.lanes ? shuffleXor(s, lowering.device, value, step.lanes) : value);
    result[reg] = known;
  }
  return result;
}

SmallVector<Elements> AxisCombiner::moved(ArrayRef<Elements> values,
                                          function_ref<Value(Value)> move) const {
  SmallVector<Elements> result(values.size());
  std::map<std::vector<const void *>, Elements> known;
  for (auto [value, place] : llvm::zip_equal(values, result)) {
    Elements &once = known[keyOf(value)];
    if (once.empty())
      once = llvm::map_to_vector<1>(value, [&](Value part) { return inWords(s, part, move); });
    place = once;
  }
  return result;
}

void AxisCombiner::replaceEach(MutableArrayRef<Elements> totals,
                               function_ref<Elements(const Elements &)> next) const {
  std::map<std::vector<const void *>, Elements> known;
  for (Elements &total : totals) {
    Elements &result = known[keyOf(total)];
    if (result.empty())
      result = next(total);
    total = result;
  }
}

void AxisCombiner::walkSwapped(unsigned lanes, MutableArrayRef<Elements> totals) const {
  replaceEach(totals, [&](const Elements &total) {
    Elements ofClear, ofSet;
    for (Value value : total) {
      auto [clear, set] = swapLanes(s, lowering.device, value, value, lanes);
      ofClear.push_back(clear);
      ofSet.push_back(set);
    }
    return combine(ofClear, ofSet);
  });
}

void AxisCombiner::walkLanes(ArrayRef<AxisStep> steps, MutableArrayRef<Elements> totals) {
  const TargetLowering &device = lowering.device;
  std::optional<unsigned> toLast = device.totalsToLastLane();
  const unsigned warpBits = layout.in().bits(Dim::Lane);
  // Lanes of which all that differ in the first `shared` bits of their numbers have one total.
  unsigned shared = 0;
  bool isByBits = llvm::all_of(llvm::enumerate(steps), [](auto each) {
    const AxisStep &step = each.value();
    return step.lanes == uint64_t(1) << each.index() && !step.registers && !step.warps;
  });
  bool isOfWarp = isByBits && toLast && steps.size() == warpBits &&
                  int64_t(1) << warpBits == int64_t(lowering.target().warpSize);
  auto isToLast = [&] { return isOfWarp && shared >= *toLast; };
  for (const AxisStep &step : steps) {
    auto move = [&](Value word) {
      return isToLast() ? device.lastBefore(s.builder(), s.location(), word, shared)
                        : device.shuffleTotals(s.builder(), s.location(), word, shared);
    };
    if (!isToLast() && !step.registers && device.swapsLanes(unsigned(step.lanes)))
      walkSwapped(unsigned(step.lanes), totals);
    else
      walk(step, isByBits ? moved(totals, move) : neighbours(step, totals), totals);
    ++shared;
  }
  if (isOfWarp)
    llvm::copy(
        moved(totals,
              [&](Value word) { return device.ofLastLane(s.builder(), s.location(), word); }),
        totals.begin());
}

/// Elements `begin`, `begin + stride`, … one after the other.
static Elements runningTotal(ArrayRef<Elements> elements, size_t begin, size_t stride,
                             function_ref<Elements(const Elements &, const Elements &)> combine) {
  Elements total = elements[begin];
  for (size_t index = begin + stride; index < elements.size(); index += stride)
    total = combine(total, elements[index]);
  return total;
}

void AxisCombiner::accumulate(ArrayRef<AxisStep> steps, MutableArrayRef<Elements> totals) const {
  // So many additions are under way in a thread before the first is done: those of one result, or
  // of many that have a total each, where putting totals together would be much of all there is.
  constexpr size_t underWay = 4, few = 8, many = 8;
  const size_t elementsOfEach = size_t(1) << steps.size();
  const bool isShort = elementsOfEach <= few && totals.size() >= many * elementsOfEach;
  const size_t maxRunning = isShort ? 1 : underWay;
  auto combineBoth = [&](const Elements &a, const Elements &b) { return combine(a, b); };
  SmallVector<Elements> results(totals.size());
  std::map<std::vector<const void *>, Elements> known;
  for (unsigned reg : first) {
    if (!results[reg].empty())
      continue;
    SmallVector<unsigned> reached{reg};
    for (const AxisStep &step : steps)
      for (unsigned index = 0, count = reached.size(); index < count; ++index)
        reached.push_back(reached[index] ^ step.registers);
    SmallVector<Elements> elements;
    std::vector<const void *> key;
    for (unsigned other : reached) {
      elements.push_back(totals[other]);
      llvm::append_range(key, keyOf(totals[other]));
    }
    // Registers whose elements are the same have one total.
    Elements &total = known[key];
    if (total.empty()) {
      SmallVector<Elements> running;
      for (size_t begin = 0; begin < std::min(maxRunning, elements.size()); ++begin)
        running.push_back(runningTotal(elements, begin, maxRunning, combineBoth));
      while (running.size() > 1) {
        for (size_t index = 0; index < running.size() / 2; ++index)
          running[index] = combine(running[2 * index], running[2 * index + 1]);
        running.truncate(running.size() / 2);
      }
      total = running[0];
    }
    for (unsigned other : reached)
      results[other] = total;
  }
  for (unsigned reg = 0; reg < totals.size(); ++reg)
    totals[reg] = results[first[reg]];
}

bool AxisCombiner::areLaneBits(ArrayRef<AxisStep> steps) const {
  return llvm::all_of(steps, [&](const AxisStep &step) {
    uint64_t unit = uint64_t(1) << (layout.out().position(Dim::axis(axis)) + step.bit);
    auto changes = [&](uint64_t column) { return (column & unit) != 0; };
    return llvm::isPowerOf2_64(step.lanes) && !step.registers && !step.warps &&
           llvm::count_if(layout.columns(), changes) == 1;
  });
}

void AxisCombiner::gather(ArrayRef<AxisStep> steps, MutableArrayRef<Elements> totals) const {
  uint64_t walked = 0;
  for (const AxisStep &step : steps) {
    walked |= step.lanes;
    replaceEach(totals, [&](const Elements &total) {
      Elements later;
      for (Value value : total)
        later.push_back(shuffleXor(s, lowering.device, value, step.lanes));
      return combine(total, later);
    });
  }
  uint64_t others = (lowering.target().warpSize - 1) & ~walked;
  Value leader = s.bitAnd(thread, s.i32(others));
  replaceEach(totals, [&](const Elements &total) {
    Elements shared;
    for (Value value : total)
      shared.push_back(shuffleIndex(s, lowering.device, value, leader));
    return shared;
  });
}

void AxisCombiner::walk(const AxisStep &step, ArrayRef<Elements> others,
                        MutableArrayRef<Elements> totals) {
  SmallVector<Elements> next(totals.size());
  // Places that held one total before hold one total after.
  std::map<std::pair<std::vector<const void *>, std::vector<const void *>>, Elements> known;
  for (unsigned reg : first) {
    if (!next[reg].empty())
      continue;
    Elements &result = known[{keyOf(totals[reg]), keyOf(others[reg])}];
    if (result.empty())
      result =
          combineByFlag(totals[reg], others[reg], inOrder ? coordinateBit(reg, step.bit) : Flag());
    next[reg] = result;
    // Without a shuffle the neighbour is in this thread, with the same total.
    if (!step.lanes)
      next[reg ^ step.registers] = result;
  }
  for (unsigned reg = 0; reg < totals.size(); ++reg)
    totals[reg] = next[first[reg]];
}

SmallVector<SharedArray> AxisCombiner::publish(const AxisSteps &steps, Value scratch,
                                               ArrayRef<Elements> totals) const {
  SmallVector<SharedArray> arrays;
  int64_t bytes = 0;
  for (unsigned operand = 0; operand < totals[0].size(); ++operand) {
    SmallVector<Value> registers;
    for (const Elements &elements : totals)
      registers.push_back(elements[operand]);
    Type element = registers[0].getType();
    arrays.push_back({s.byteOffset(scratch, s.i32(bytes)), element});
    storeShared(s, lowering, arrays.back(), accessByOffsets(steps.partials, element), registers);
    bytes += llvm::alignTo(steps.numPartials() * sharedBytes(element), 16);
  }
  lowering.device.sharedBarrier(s.builder(), s.location());
  return arrays;
}

Elements AxisCombiner::fetch(ArrayRef<SharedArray> arrays, Value partial) const {
  Elements elements;
  for (const SharedArray &array : arrays)
    elements.push_back(loadSharedElement(s, array, partial));
  return elements;
}

SmallVector<Elements> byRegister(ArrayRef<ValueRange> operands) {
  SmallVector<Elements> registers(operands[0].size());
  for (ValueRange operand : operands)
    for (auto [reg, value] : llvm::enumerate(operand))
      registers[reg].push_back(value);
  return registers;
}

} // namespace kiln

// Conversions by swaps of registers' bits with lanes'; LaneSwaps.h says what these are.

#include "compiler/Layout/LaneSwaps.h"
#include "compiler/Layout/RegisterRenaming.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/bit.h"

using namespace llvm;

namespace kiln {

LinearLayout withSwapped(const LinearLayout &layout, SwapPlan::Step step) {
  BinaryColumns columns(layout.columns());
  std::swap(columns[layout.in().position(Dim::Register) + step.registerBit],
            columns[layout.in().position(Dim::Lane) + step.laneBit]);
  return LinearLayout(layout.in(), layout.out(), columns);
}

/// Lanes whose columns differ, as bits.
static uint64_t movedLanes(const LinearLayout &source, const LinearLayout &result) {
  uint64_t moved = 0;
  for (auto [bit, columns] :
       enumerate(zip_equal(source.columns(Dim::Lane), result.columns(Dim::Lane))))
    if (std::get<0>(columns) != std::get<1>(columns))
      moved |= uint64_t(1) << bit;
  return moved;
}

/// The first steps, as few as there can be, behind which names of registers suffice.
static bool findSteps(const LinearLayout &source, const LinearLayout &result, unsigned most,
                      SwapPlan &plan) {
  uint64_t moved = movedLanes(source, result);
  if (moved == 0) {
    auto registers = renameRegisters(source, result);
    if (registers)
      plan.registers = std::move(*registers);
    return registers.has_value();
  }
  if (unsigned(popcount(moved)) > most)
    return false;
  for (unsigned lane = 0; moved >> lane; ++lane) {
    if (!(moved >> lane & 1))
      continue;
    for (unsigned reg = 0; reg < source.in().bits(Dim::Register); ++reg) {
      SwapPlan::Step step{reg, lane};
      plan.steps.push_back(step);
      LinearLayout next = withSwapped(source, step);
      // Of a step that is not the last any register may be part, as a lane's column may come by way
      // of it.
      bool isPlaced = next.columns(Dim::Lane)[lane] == result.columns(Dim::Lane)[lane];
      if ((isPlaced || most > 1) && findSteps(next, result, most - 1, plan))
        return true;
      plan.steps.pop_back();
    }
  }
  return false;
}

/// As many of the lowest bits as a word has room for, of registers that differ in them before and
/// behind the way and that no step takes apart.
static unsigned bitsOfWords(const LinearLayout &source, const LinearLayout &result,
                            ArrayRef<SwapPlan::Step> steps, unsigned elementBits) {
  unsigned bits = 0;
  for (auto [bit, column] : enumerate(source.columns(Dim::Register))) {
    bool isSwapped = any_of(steps, [bit = bit](auto step) { return step.registerBit == bit; });
    if ((elementBits << popcount(bits)) < 32 && !isSwapped &&
        is_contained(result.columns(Dim::Register), column))
      bits |= 1u << bit;
  }
  return bits;
}

std::optional<SwapPlan> planSwaps(const LinearLayout &source, const LinearLayout &result,
                                  unsigned elementBits, uint64_t swappedLanes) {
  if (source.in() != result.in() || (movedLanes(source, result) & ~swappedLanes) ||
      source.columns(Dim::Warp) != result.columns(Dim::Warp) ||
      source.columns(Dim::Block) != result.columns(Dim::Block))
    return std::nullopt;
  constexpr unsigned mostSteps = 2;
  SwapPlan plan;
  for (unsigned most = 1; most <= mostSteps; ++most)
    if (findSteps(source, result, most, plan) && !plan.steps.empty()) {
      plan.together = bitsOfWords(source, result, plan.steps, elementBits);
      return plan;
    }
  return std::nullopt;
}

int64_t SwapPlan::cost(unsigned elementBits) const {
  int64_t words = int64_t(registers.size() >> popcount(together)) * ((elementBits + 31) / 32);
  return words * int64_t(steps.size());
}

} // namespace kiln

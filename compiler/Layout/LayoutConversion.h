//===- LayoutConversion.h - from one layout to another ----------*- C++ -*-===//
//
// What it takes to have a tile in another layout, found from the two matrices.
// With S the source, R the result, and f a linear map with S(f(p)) = R(p), f
// says where each register of each thread finds its value:
//   * f only touches registers: rename them, no instruction at all;
//   * f stays inside the warp: shuffles, one per result register, or where it is an exchange of
//     bits that the target has an instruction for, half of one (LaneSwaps.h);
//   * otherwise: shared memory (SharedExchange.h). So does a warp that is the whole block, whose
//     barriers cost little, if shuffles and their selects cost more; and any warp where memory
//     serves its accesses in order: it reads what it has written, and meets no other.
//
// SHUFFLES. Split f by rows and columns of registers and lanes: result register r'
// of lane l' is source register C r' + D l' of lane A r' + B l'. A shuffle
// instruction lets each lane *give* one register and *read* one lane. If D is 0,
// each result register is one shuffle. If not, lanes that read the same lane
// may want different registers of it. So in round t lane l' receives
// register t + G l', with G chosen such that P = A G + B does not merge lanes that
// want different registers; then what lane s gives is a linear function of s,
// C t + H (s + A t), H P = C G + D. Where no such G exists, the caller goes through
// shared memory. A G that makes P the identity has every lane read lane l + A t: its
// own, without an instruction, where A t is 0.
//
// Elements of less than 32 bits go several in a word, where a register bit of the
// source is one of the result and changes nothing else of a round.
//
//===----------------------------------------------------------------------===//

#ifndef KILN_COMPILER_LAYOUT_LAYOUTCONVERSION_H
#define KILN_COMPILER_LAYOUT_LAYOUTCONVERSION_H

#include "compiler/Layout/LaneSwaps.h"
#include "compiler/Layout/SharedExchange.h"

namespace kiln {

/// In the order of their cost.
enum class ConversionKind : uint8_t { None, Registers, Shuffle, Shared };

/// Rounds of shuffles. In a round, lane l gives register `give ^ giveByLane·l`, reads lane
/// `readLane ^ readByLane·l`, and what it reads is result register `receive ^ receiveByLane·l`.
/// Together with them go the registers that differ in bits of `together`.
struct ShufflePlan {
  struct Round {
    unsigned give, readLane, receive;
    /// Every lane reads itself: no shuffle instruction is needed.
    bool local;
  };
  /// A register bit of the source, and the one of the result that it becomes.
  struct RegisterBit {
    unsigned source, result;
  };
  llvm::SmallVector<Round, 8> rounds;
  llvm::SmallVector<RegisterBit, 2> together;
  /// One column per lane bit.
  BinaryColumns giveByLane, readByLane, receiveByLane;

  /// Lane l reads lane l ^ readLane: the "butterfly" form of shuffles.
  bool readsByXor() const;
  /// The register differs between lanes: it is picked by selects on lane bits.
  bool givesByLane() const {
    return llvm::any_of(giveByLane, [](auto c) { return c != 0; });
  }
  bool receivesByLane() const {
    return llvm::any_of(receiveByLane, [](auto c) { return c != 0; });
  }
  /// Registers of the source that a word holds, the first one's distance to each; likewise of the
  /// result.
  llvm::SmallVector<unsigned, 4> sourcesOfWord() const;
  llvm::SmallVector<unsigned, 4> resultsOfWord() const;
  /// What it costs a warp, in instructions: a shuffle counts two, a select that a round needs one.
  int64_t cost(unsigned elementBits) const;
};

struct LayoutConversion {
  ConversionKind kind = ConversionKind::None;
  /// Registers: the source register of each result register.
  llvm::SmallVector<unsigned, 16> registers;
  std::optional<ShufflePlan> shuffle;   ///< Shuffle, unless there are swaps
  std::optional<SwapPlan> swaps;        ///< Shuffle, where it costs less
  std::optional<SharedExchange> shared; ///< Shared
  /// Shared: warps read what they have written themselves, in order (SharedMemoryShape).
  bool isWithinWarps = false;

  /// Shuffle: what it costs a warp, in instructions.
  int64_t shuffleCost(unsigned elementBits) const {
    return swaps ? swaps->cost(elementBits) : shuffle->cost(elementBits);
  }
};

/// What a barrier costs a warp, in issue slots; a block of one warp only waits for its own stores.
constexpr int64_t barrierCost = 20, barrierCostOfOneWarp = 2;
/// What it costs one of several warps to wait for its own accesses, with nothing else to do.
constexpr int64_t ownWaitCost = 20;
inline int64_t barrierCostOf(const LinearLayout &layout) {
  return layout.numWarps() == 1 ? barrierCostOfOneWarp : barrierCost;
}

/// Where the elements come from: the same thread, the warp, or other warps (Shared).
ConversionKind classifyConversion(const LinearLayout &source, const LinearLayout &result);

/// The cheapest way from `source` to `result` (same outputs; inputs register, lane, warp, block).
LayoutConversion planConversion(const LinearLayout &source, const LinearLayout &result,
                                unsigned elementBits, const SharedMemoryShape &memory);

/// Whether that way is an exchange of each warp with itself, also in so many slices.
bool exchangesWithinWarps(const LinearLayout &source, const LinearLayout &result,
                          unsigned elementBits, const SharedMemoryShape &memory, unsigned slices);

} // namespace kiln

#endif // KILN_COMPILER_LAYOUT_LAYOUTCONVERSION_H

//===- DispatchTables.h - how an entry point chooses ------------*- C++ -*-===//
//
// The tables behind a generated dispatcher, as data; CSource.cpp prints them.
//
// Dispatch goes from what is impossible to what is slow:
//  1. device -> target: the runtime finds the best row of `targets`.
//  2. argument facts -> legal variants: each distinct condition (`M % 16 == 0`) is one bit,
//  computed
//     once a call; a variant is legal when its bits are all held.
//  3. promises -> rank: of the legal variants only those whose signature promises most are left.
//     Signatures may have different configs, and the model below cannot tell that the code for
//     unaligned operands is slower than that for aligned ones at any tile.
//  4. shape -> decision: where the target was measured, a decision tree over the dispatch key has
//     what a wave of each variant costs there, and the variant is taken for which that, times its
//     waves, is least. Else, among those that step 3 leaves, the variant
//     of least cost; among equals the one that relies on most, then the first listed.
//
// Where no variant is legal, the message is about the nearest: the one that lacks the fewest
// conditions, among equals the one whose lacking conditions are the least far off in total, then
// the first listed. A bound is as far off as the argument is from it, a multiple as far as the
// argument is above one; any other condition is off by 1.
//
// Decision trees (DecisionTree.h) are learnt from the measured shapes and from estimates for keys
// between them (TimeEstimates.h). There is one for each rank that a call's best legal variant may
// have: it knows the variants that promise as much or less, from the shapes at which one that
// promises as much or more was measured. So what was measured with unaligned arguments says nothing
// about the code for aligned ones, and where all legal variants ran, promises (step 3) need no
// look: the clock has seen what they are worth.
//
// The cost model, for what was not measured. A program instance covers a tile whose extents
// d1..dk are the constants that the grid divides by (`cdiv(M, BLOCK_M)`). Its work is the tile's
// volume (arithmetic) plus kTrafficWeight times its faces (memory traffic, which larger tiles
// amortise; in one dimension, the overhead of starting an instance):
//
//   tile cost = d1 * ... * dk + kTrafficWeight * (sum over i of the product without di)
//   cost      = ceil(instances / processors) * tile cost
//
// kTrafficWeight balances f16 matrix arithmetic (4096 multiply-adds a cycle and SM on Hopper)
// against L2 (64 bytes a cycle and SM, two bytes an element): (4096 / 64) * 2 = 128.
// Refused: occupancy and pipelining terms. They need measurements to be better than none, and with
// measurements there is a table.
//
//===----------------------------------------------------------------------===//
#ifndef KILN_CODEGEN_DISPATCHTABLES_H
#define KILN_CODEGEN_DISPATCHTABLES_H

#include "codegen/DecisionTree.h"
#include "codegen/LibraryModel.h"
#include "llvm/ADT/STLExtras.h"

namespace kiln {

inline constexpr uint64_t kTrafficWeight = 128;

/// One row of kiln_entry.targets.
struct TargetRow {
  /// Index into LibraryModel::targets.
  unsigned target = 0;
  BinaryFormat format = BinaryFormat::HostObject;
  /// kiln_target.arch: "sm_90a", "compute_90a", "x86-64-v3".
  std::string arch;
  /// kiln_target.features, or "".
  std::string features;
  /// SMs, CUs or cores to assume where the runtime does not know: a common device of the target.
  unsigned processors = 1;
};

struct Condition {
  /// About one argument, but for the last: that the expression can be computed and is not 0.
  enum class Kind : uint8_t { Divisible, Equals, AtLeast, AtMost, Holds };
  unsigned argument = 0;
  Kind kind = Kind::Divisible;
  int64_t value = 0;
  /// "M divisible by 16", for the message of a miss.
  std::string text;
  std::optional<Expression> expression;

  bool operator==(const Condition &other) const {
    return argument == other.argument && kind == other.kind && value == other.value &&
           text == other.text;
  }
};

/// What measurements say of calls whose best legal variant has this rank.
struct TunedTree {
  unsigned rank = 0;
  /// Its leaves have indices of variants, and costs from 0 to UINT32_MAX that are multiplied with
  /// the waves of a call; what no call can come to is left out.
  DecisionTree tree;
};

struct DispatchTables {
  std::vector<TargetRow> targets;
  /// Distinct conditions; bit i of `needs` is condition i.
  std::vector<Condition> conditions;
  /// For each variant, 64 conditions a word.
  std::vector<std::vector<uint64_t>> needs;
  /// Constants that the grid reads, and their values for each variant.
  std::vector<std::string> gridConstants;
  std::vector<std::vector<int64_t>> gridValues;
  /// For each variant.
  std::vector<uint64_t> tileCosts;
  /// For each variant: how much its signature promises, 0 = most. Known values come before
  /// alignment.
  std::vector<unsigned> ranks;
  /// The order in which variants are tried: by rank, then by what they rely on in all, because code
  /// that relies on more is faster at equal cost; else as listed.
  std::vector<unsigned> order;
  /// False when no call can tell the variants' costs apart: the first legal one is taken.
  bool hasCosts = false;
  /// For each row of `targets`, in order of their ranks.
  std::vector<std::vector<TunedTree>> tuned;
  /// Indices of the dispatch key's arguments.
  std::vector<unsigned> keyArguments;
  /// Distinct lists of arguments that kernels take, and each variant's list.
  std::vector<std::vector<unsigned>> parameterLists;
  std::vector<unsigned> parameterList;

  bool isListedOrder() const { return llvm::is_sorted(order); }
  /// Whether ranks tell variants apart where costs would do so otherwise.
  bool isRanked() const { return hasCosts && !llvm::all_equal(ranks); }
  bool isTuned() const {
    return llvm::any_of(tuned, [](const auto &trees) { return !trees.empty(); });
  }
  /// Whether measurements decide, those of this library or of a file that a program loads: there is
  /// a dispatch key of integers, and something to choose among.
  bool isKeyed = false;
  /// Whether a call's tree depends on what is legal for it.
  bool hasTunedRanks() const { return isKeyed && !llvm::all_equal(ranks); }
  unsigned tunedRanks() const { return hasTunedRanks() ? *llvm::max_element(ranks) + 1 : 1; }
  size_t words() const { return (conditions.size() + 63) / 64; }
};

/// Processors of a common device of each architecture: A100, RTX 3090, L40S, H100, B200, RTX PRO
/// 6000; MI250 (one die), MI300X, MI350, RX 7900 XTX, RX 9070 XT.
unsigned commonProcessors(const TargetInfo &target);

/// The arguments that a condition reads.
std::vector<unsigned> argumentsOf(const EntryModel &entry, const Condition &condition);

/// "cuda:sm_90a", "cpu:x86-64-v3", "emu:gfx942": a target's driver, and kiln_target.arch.
std::string runtimeTargetName(const TargetInfo &target);

DispatchTables buildDispatchTables(const LibraryModel &model, const EntryModel &entry);
/// What of them says which variants are legal and how the model ranks these: nothing about targets.
DispatchTables buildConditionTables(const EntryModel &entry);

/// What was measured of those variants that there are.
std::vector<TunedTree> tunedTrees(const EntryModel &entry, const DispatchTables &tables,
                                  const MeasuredTarget &measured,
                                  llvm::function_ref<bool(unsigned)> isThere);

/// The tree of the calls whose best legal variant has this rank, or null.
const DecisionTree *treeOf(llvm::ArrayRef<TunedTree> trees, unsigned rank);

/// The variant, or none where nothing was measured that a legal variant can go by. `wavesOf` gives
/// the waves that a legal one takes.
std::optional<unsigned> chooseTuned(const DispatchTables &tables, llvm::ArrayRef<TunedTree> trees,
                                    llvm::ArrayRef<int64_t> key,
                                    llvm::function_ref<bool(unsigned)> isLegal,
                                    llvm::function_ref<double(unsigned)> wavesOf);

/// The cost of one program instance of `variant`; saturates.
uint64_t tileCost(const EntryModel &entry, const VariantModel &variant);

} // namespace kiln

#endif // KILN_CODEGEN_DISPATCHTABLES_H

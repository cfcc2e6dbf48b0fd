#include "compiler/Target/MainLoop.h"
#include "llvm/ADT/STLExtras.h"
#include <map>

namespace kiln {
namespace {

/// From a branch's target to the last branch that goes there.
struct Loop {
  size_t first, last;
  bool isAround(const Loop &other) const {
    return first <= other.first && other.last <= last &&
           (first != other.first || last != other.last);
  }
};

std::vector<Loop> loopsOf(llvm::ArrayRef<ListedInstruction> listing) {
  std::map<size_t, size_t> lastOf;
  for (auto [index, instruction] : llvm::enumerate(listing))
    if (instruction.branchTo && *instruction.branchTo <= index)
      lastOf[*instruction.branchTo] = index;
  std::vector<Loop> loops;
  for (auto [first, last] : lastOf)
    loops.push_back({first, last});
  return loops;
}

MainLoop countIn(llvm::ArrayRef<ListedInstruction> body) {
  MainLoop counts;
  for (const ListedInstruction &one : body) {
    ++counts.instructions;
    counts.matrix += one.kind == ListedKind::Matrix;
    counts.shared += one.kind == ListedKind::Shared;
    counts.global += one.kind == ListedKind::Global;
    counts.waits += one.kind == ListedKind::Wait;
  }
  return counts;
}

/// A question, perhaps a pause, and the way back.
bool onlyWaits(const MainLoop &counts) {
  constexpr uint32_t longest = 8;
  return counts.waits && counts.instructions <= longest && !counts.matrix && !counts.shared &&
         !counts.global;
}

} // namespace

std::vector<llvm::ArrayRef<ListedInstruction>>
innermostLoopsOf(llvm::ArrayRef<ListedInstruction> listing) {
  auto bodyOf = [&](const Loop &loop) {
    return listing.slice(loop.first, loop.last - loop.first + 1);
  };
  std::vector<Loop> loops = loopsOf(listing);
  llvm::erase_if(loops, [&](const Loop &loop) { return onlyWaits(countIn(bodyOf(loop))); });
  // Where any multiplies matrices, loops that do not are beside the point, also within one that
  // does: AMD's compiler makes loops over the lanes of one access.
  auto multiplies = [&](const Loop &loop) { return countIn(bodyOf(loop)).matrix != 0; };
  if (llvm::any_of(loops, multiplies))
    llvm::erase_if(loops, [&](const Loop &loop) { return !multiplies(loop); });
  std::vector<llvm::ArrayRef<ListedInstruction>> innermost;
  for (const Loop &loop : loops)
    if (llvm::none_of(loops, [&](const Loop &other) { return loop.isAround(other); }))
      innermost.push_back(bodyOf(loop));
  return innermost;
}

std::optional<MainLoop> findMainLoop(llvm::ArrayRef<ListedInstruction> listing) {
  std::optional<MainLoop> best;
  auto weight = [](const MainLoop &counts) {
    return std::pair(counts.matrix, counts.instructions);
  };
  for (llvm::ArrayRef<ListedInstruction> body : innermostLoopsOf(listing)) {
    MainLoop counts = countIn(body);
    if (!best || weight(*best) < weight(counts))
      best = counts;
  }
  return best;
}

ListedKind kindOf(llvm::StringRef mnemonic, llvm::ArrayRef<ListedPrefix> prefixes) {
  for (const ListedPrefix &known : prefixes)
    if (mnemonic.starts_with(known.prefix))
      return known.kind;
  return ListedKind::Other;
}

} // namespace kiln

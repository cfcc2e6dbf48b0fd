// Edit distance in half steps: a letter of the other case costs one, any other edit two, so that
// "Block" is nearer to "BLOCK" than to "Clock".
#include "compiler/Basic/NameSuggestion.h"

#include "llvm/ADT/SmallVector.h"
#include "llvm/ADT/StringExtras.h"

#include <algorithm>

namespace kiln {

static unsigned getChangeCost(char a, char b) {
  if (a == b)
    return 0;
  return llvm::toLower(a) == llvm::toLower(b) ? 1 : 2;
}

/// Half edits between the two names: insertion, deletion, change, and the swap of two neighbours
/// (optimal string alignment).
static unsigned getDistance(llvm::StringRef a, llvm::StringRef b) {
  using Row = llvm::SmallVector<unsigned, 64>;
  Row beforeLast, last(b.size() + 1), row(b.size() + 1);
  for (size_t j = 0; j <= b.size(); ++j)
    last[j] = 2 * j;
  for (size_t i = 1; i <= a.size(); ++i) {
    row[0] = 2 * i;
    for (size_t j = 1; j <= b.size(); ++j) {
      unsigned change = last[j - 1] + getChangeCost(a[i - 1], b[j - 1]);
      row[j] = std::min({change, last[j] + 2, row[j - 1] + 2});
      bool isSwap = i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1];
      if (isSwap)
        row[j] = std::min(row[j], beforeLast[j - 2] + 2);
    }
    beforeLast = last;
    last = row;
  }
  return last[b.size()];
}

llvm::StringRef findNearestName(llvm::StringRef name, llvm::ArrayRef<llvm::StringRef> candidates) {
  constexpr size_t longestName = 256; // Distance is quadratic; nobody misspells such a name.
  llvm::StringRef nearest;
  if (name.empty() || name.size() > longestName)
    return nearest;
  // A third of the letters, and at least one.
  unsigned bound = 2 * std::max<size_t>(1, name.size() / 3) + 1;
  for (llvm::StringRef candidate : candidates) {
    size_t lengthGap =
        std::max(name.size(), candidate.size()) - std::min(name.size(), candidate.size());
    if (candidate.empty() || 2 * lengthGap >= bound)
      continue;
    unsigned distance = getDistance(name, candidate);
    bool sharesNothing = distance >= 2 * std::max(name.size(), candidate.size());
    if (distance < bound && !sharesNothing) {
      bound = distance;
      nearest = candidate;
    }
  }
  return nearest;
}

std::string suggestName(llvm::StringRef name, llvm::ArrayRef<llvm::StringRef> candidates) {
  llvm::StringRef nearest = findNearestName(name, candidates);
  return nearest.empty() ? "" : ("did you mean '" + nearest + "'?").str();
}

} // namespace kiln

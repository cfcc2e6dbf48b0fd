// Edit distance in half steps: a letter of the other case costs one, any other edit two, so that
// "Block" is nearer to "BLOCK" than to "Clock".
#include "compiler/Basic/NameSuggestion.h"

#include "llvm/ADT/SmallVector.h"
#include "llvm/ADT/StringExtras.h"

#include <algorithm>

namespace kiln {

/// Half edits between the two names.
static unsigned getDistance(llvm::StringRef a, llvm::StringRef b) {
  llvm::SmallVector<unsigned, 64> row(b.size() + 1);
  for (size_t j = 0; j <= b.size(); ++j)
    row[j] = 2 * j;
  for (size_t i = 1; i <= a.size(); ++i) {
    unsigned diagonal = row[0];
    row[0] = 2 * i;
    for (size_t j = 1; j <= b.size(); ++j) {
      unsigned change = 2;
      if (a[i - 1] == b[j - 1])
        change = 0;
      else if (llvm::toLower(a[i - 1]) == llvm::toLower(b[j - 1]))
        change = 1;
      unsigned best = std::min({diagonal + change, row[j] + 2, row[j - 1] + 2});
      diagonal = row[j];
      row[j] = best;
    }
  }
  return row[b.size()];
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

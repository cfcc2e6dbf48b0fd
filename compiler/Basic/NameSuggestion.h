// "Did you mean": the declared name nearest to a misspelt one.
#ifndef KILN_COMPILER_BASIC_NAMESUGGESTION_H
#define KILN_COMPILER_BASIC_NAMESUGGESTION_H

#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/StringRef.h"

#include <string>

namespace kiln {

/// The candidate with the smallest edit distance to `name`, the first among equals; empty when
/// none is near (more than a third of the letters differ). Case alone counts as half an edit.
llvm::StringRef findNearestName(llvm::StringRef name, llvm::ArrayRef<llvm::StringRef> candidates);

/// "did you mean 'X'?" for the nearest candidate, or "" when none is near: a hint as it stands.
std::string suggestName(llvm::StringRef name, llvm::ArrayRef<llvm::StringRef> candidates);

} // namespace kiln

#endif // KILN_COMPILER_BASIC_NAMESUGGESTION_H

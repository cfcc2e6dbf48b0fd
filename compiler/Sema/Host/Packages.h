// What is known of packages that are not at hand.
#ifndef KILN_COMPILER_SEMA_HOST_PACKAGES_H
#define KILN_COMPILER_SEMA_HOST_PACKAGES_H

#include "llvm/ADT/StringRef.h"

namespace kiln::sema {

/// Packages whose functions leave Python's containers alone, and which are installed and work
/// wherever kernels run.
bool isHarmless(llvm::StringRef path);
/// Functions that may raise an exception: of other packages, and those that look at the machine.
bool mayRaise(llvm::StringRef path);

} // namespace kiln::sema

#endif // KILN_COMPILER_SEMA_HOST_PACKAGES_H

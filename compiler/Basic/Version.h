// Which Kiln this is.

#ifndef KILN_COMPILER_BASIC_VERSION_H
#define KILN_COMPILER_BASIC_VERSION_H

#include "llvm/ADT/StringRef.h"
#include <string>

namespace kiln {

/// "0.1.0".
llvm::StringRef kilnVersion();

/// "kiln 0.1.0", or "kiln 0.1.0 (commit 1a2b3c4d5e6f)" where a package was stamped.
std::string versionText();

} // namespace kiln

#endif

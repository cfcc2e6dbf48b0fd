// A shared library with kernels and a runtime that kiln build and a C compiler have made: launches
// are calls of its own functions, as programs make them.

#ifndef KILN_COMPILER_DRIVER_VERIFY_BUILTLIBRARY_H
#define KILN_COMPILER_DRIVER_VERIFY_BUILTLIBRARY_H

#include "compiler/Driver/Session/Session.h"
#include "compiler/Driver/Verify/VerifiedKernels.h"

namespace kiln {

/// Loads the library and reads what it says of itself. Null after errors, which the session has
/// reported. The options must outlive the result.
std::unique_ptr<VerifiedKernels> loadBuiltLibrary(const VerifyOptions &verify,
                                                  const std::string &targetName,
                                                  llvm::ArrayRef<CapturedLaunch> launches,
                                                  Session &session);

} // namespace kiln

#endif

// Kernels of a spec, compiled as kiln build does: of each launch the variant that a library would
// choose.

#ifndef KILN_COMPILER_DRIVER_VERIFY_SPECKERNELS_H
#define KILN_COMPILER_DRIVER_VERIFY_SPECKERNELS_H

#include "compiler/Driver/Session/Session.h"
#include "compiler/Driver/Verify/VerifiedKernels.h"

namespace kiln {

/// Reads the spec and plans the captured functions. Null after errors, which the session has
/// reported. Both must outlive the result.
std::unique_ptr<VerifiedKernels>
readSpecKernels(const std::string &spec, llvm::ArrayRef<CapturedLaunch> launches, Session &session);

} // namespace kiln

#endif

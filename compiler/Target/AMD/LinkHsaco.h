//===- LinkHsaco.h - An AMD object to an HSACO --------------------------------===//

#ifndef KILN_COMPILER_TARGET_AMD_LINKHSACO_H
#define KILN_COMPILER_TARGET_AMD_LINKHSACO_H

#include "llvm/ADT/StringRef.h"
#include "llvm/Support/Error.h"
#include <vector>

namespace kiln {

/// Links a relocatable AMDGPU object to the shared object that the HIP driver loads.
/// `temporaryRoot` as in EmitOptions.
llvm::Expected<std::vector<char>> linkHsaco(llvm::StringRef object, llvm::StringRef temporaryRoot);

} // namespace kiln

#endif // KILN_COMPILER_TARGET_AMD_LINKHSACO_H

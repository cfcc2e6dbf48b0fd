//===- HostObjectReader.h - What a host object defines and needs ---------------===//

#ifndef KILN_COMPILER_TARGET_CPU_HOSTOBJECTREADER_H
#define KILN_COMPILER_TARGET_CPU_HOSTOBJECTREADER_H

#include "llvm/ADT/StringRef.h"
#include "llvm/Support/Error.h"
#include <string>
#include <vector>

namespace kiln {

struct HostObjectInfo {
  /// e_machine: 62 is x86-64, 183 is AArch64.
  unsigned machine = 0;
  /// Global functions and data that the object defines, and what it leaves to the linker; sorted.
  std::vector<std::string> defined, undefined;
};

/// Reads a relocatable ELF object; it may be damaged or hostile.
llvm::Expected<HostObjectInfo> readHostObject(llvm::StringRef bytes);

} // namespace kiln

#endif // KILN_COMPILER_TARGET_CPU_HOSTOBJECTREADER_H

#ifndef KILN_COMPILER_TARGET_AMD_MOREBLOCKS_H
#define KILN_COMPILER_TARGET_AMD_MOREBLOCKS_H

#include "compiler/Target/DeviceBinary.h"
#include "llvm/ADT/STLFunctionalExtras.h"
#include <optional>

namespace llvm {
class Function;
class Module;
} // namespace llvm

namespace kiln {

/// What code generation makes of a module.
struct TriedCode {
  ResourceUsage resources;
  std::optional<MainLoop> loop;
};

/// Code for the module as it stands; none where there would be an error.
using Trial = llvm::function_ref<std::optional<TriedCode>(const llvm::Module &)>;

/// Limits the kernel's registers to those with which a processor holds more blocks, if what it
/// takes beyond them is little, and a trial finds code for it that spills nothing and whose main
/// loop is hardly longer. Blocks are of `threads` threads on `target`, a name of TargetInfo.
void fitMoreBlocks(llvm::Function &kernel, llvm::StringRef target, uint32_t threads, Trial trial);

} // namespace kiln

#endif // KILN_COMPILER_TARGET_AMD_MOREBLOCKS_H

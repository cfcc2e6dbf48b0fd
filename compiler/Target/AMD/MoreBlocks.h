#ifndef KILN_COMPILER_TARGET_AMD_MOREBLOCKS_H
#define KILN_COMPILER_TARGET_AMD_MOREBLOCKS_H

#include "compiler/Target/DeviceBinary.h"
#include "llvm/ADT/STLFunctionalExtras.h"
#include <optional>

namespace llvm {
class Function;
} // namespace llvm

namespace kiln {

struct TargetInfo;

/// The binary of the kernel's module as it stands, with `resources` and `mainLoop`; none where
/// there would be an error.
using Generate = llvm::function_ref<std::optional<DeviceBinary>()>;

/// `first`, which is that of the kernel, or one of fewer registers: with which a processor holds
/// more blocks, if what the kernel takes beyond them is little, or of which fewer are spilled
/// (CDNA). Its main loop is hardly longer. What the kernel is then is left open.
DeviceBinary fitMoreBlocks(DeviceBinary first, llvm::Function &kernel, const TargetInfo &target,
                           Generate generate);

} // namespace kiln

#endif // KILN_COMPILER_TARGET_AMD_MOREBLOCKS_H

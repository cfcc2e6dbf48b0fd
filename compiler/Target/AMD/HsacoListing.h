//===- HsacoListing.h - The instructions of a kernel in an HSACO --------------===//

#ifndef KILN_COMPILER_TARGET_AMD_HSACOLISTING_H
#define KILN_COMPILER_TARGET_AMD_HSACOLISTING_H

#include "compiler/Target/MainLoop.h"
#include "llvm/MC/MCInst.h"
#include "llvm/Support/Error.h"
#include <vector>

namespace llvm {
class TargetMachine;
} // namespace llvm

namespace kiln {

/// As many of both.
struct MachineCode {
  std::vector<ListedInstruction> listing;
  std::vector<llvm::MCInst> instructions;
};

/// Those of the function `symbol`, read back from an HSACO of ours.
llvm::Expected<MachineCode> listHsaco(llvm::StringRef hsaco, llvm::StringRef symbol,
                                      const llvm::TargetMachine &machine);

} // namespace kiln

#endif // KILN_COMPILER_TARGET_AMD_HSACOLISTING_H

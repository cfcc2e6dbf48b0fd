// Barriers that waves come to before products, and wait at behind them.

#ifndef KILN_COMPILER_TARGET_AMD_SPLITBARRIERS_H
#define KILN_COMPILER_TARGET_AMD_SPLITBARRIERS_H

namespace llvm {
class Function;
}

namespace kiln {

/// Barriers with products around them become a signal and a wait (gfx12), with products between:
/// waves that are behind the others have that long to come.
void splitBarriers(llvm::Function &kernel);

} // namespace kiln

#endif

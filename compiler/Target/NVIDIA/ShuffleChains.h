//===- ShuffleChains.h - Values that go from lane to lane several times --------===//

#ifndef KILN_COMPILER_TARGET_NVIDIA_SHUFFLECHAINS_H
#define KILN_COMPILER_TARGET_NVIDIA_SHUFFLECHAINS_H

namespace llvm {
class Module;
} // namespace llvm

namespace kiln {

/// Makes one shuffle of several, where a lane passes on what it has got from another: reversing an
/// axis exchanges neighbours, then pairs, then groups of four, and so on, and two reversals that
/// follow each other undo most of that.
void shortenShuffleChains(llvm::Module &module);

} // namespace kiln

#endif // KILN_COMPILER_TARGET_NVIDIA_SHUFFLECHAINS_H

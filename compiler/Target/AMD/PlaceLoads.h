//===- PlaceLoads.h - Where loads begin ---------------------------------------*- C++ -*-===//

#ifndef KILN_COMPILER_TARGET_AMD_PLACELOADS_H
#define KILN_COMPILER_TARGET_AMD_PLACELOADS_H

namespace llvm {
class Function;
} // namespace llvm

namespace kiln {

/// Has loads of a loop of products that work waits for begin together, ahead of that work, and
/// those for later blocks in the block where the kernel has them.
void placeLoads(llvm::Function &kernel);

/// Of a kernel without products, or without loops: has loads of a block that wait for no other one
/// begin together, and so those that wait for these, if they are at most so many words. Not in
/// blocks of thousands of instructions.
void gatherLoads(llvm::Function &kernel, unsigned most);

} // namespace kiln

#endif // KILN_COMPILER_TARGET_AMD_PLACELOADS_H

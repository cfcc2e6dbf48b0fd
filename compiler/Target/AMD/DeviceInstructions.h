//===- DeviceInstructions.h - LLVM's names for what a GPU does ---------*- C++ -*-===//
//
// What passes over a kernel's LLVM IR ask of its instructions.
//
//===----------------------------------------------------------------------===//
#ifndef KILN_COMPILER_TARGET_AMD_DEVICEINSTRUCTIONS_H
#define KILN_COMPILER_TARGET_AMD_DEVICEINSTRUCTIONS_H

namespace llvm {
class Instruction;
} // namespace llvm

namespace kiln {

/// LLVM's numbers for LDS, and for what no kernel writes.
inline constexpr unsigned sharedSpace = 3, constantSpace = 4;

/// Where the waves of a block meet.
bool isBarrier(const llvm::Instruction &op);

/// A product of RDNA's matrix unit.
bool isWmma(const llvm::Instruction &op);

/// A product of any matrix unit.
bool isProduct(const llvm::Instruction &op);

/// A load that waits for the memory of the device.
bool isGlobalRead(const llvm::Instruction &op);

} // namespace kiln

#endif // KILN_COMPILER_TARGET_AMD_DEVICEINSTRUCTIONS_H

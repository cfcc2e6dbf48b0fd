//===- MemoryFeatures.h - What a GPU's memory system has ---------------------===//
//
// Beside what the table of targets says (TargetInfo.h), what AMD's compute units do with memory, by
// their generation. Other targets have none of it.
//
//===----------------------------------------------------------------------===//
#ifndef KILN_COMPILER_TARGET_MEMORYFEATURES_H
#define KILN_COMPILER_TARGET_MEMORYFEATURES_H

#include "compiler/Target/TargetInfo.h"

namespace kiln {

/// Atomic operations on buffers that give no old value back, as LLVM selects them.
struct BufferAtomics {
  bool ofIntegers = false; ///< of 32 and 64 bits
  bool addsF32 = false, addsF64 = false;
  bool addsF16 = false, addsBF16 = false; ///< two at once
  bool addsAnywhere = false;              ///< f32 and f64: in memory that is not the device's, too
};

struct MemoryFeatures {
  /// Buffers: accesses with an offset of 32 bits from a base that a wave has once, whose bounds the
  /// hardware checks (CDNA3 ISA, "Memory Buffer Instructions").
  bool boundedBuffers = false;
  BufferAtomics bufferAtomics;
  /// Atomic additions of two neighbours of 16 bits, with their old values or without, at once
  /// (CDNA3 ISA, "global_atomic_pk_add_f16"); or one loop of compare-and-swap for both.
  bool pairedAdditions = false;
  /// Caches that are not coherent with what others store, by runtime/emulator/LoadCache.h: 1: the
  /// compute unit's; 2: those of a work-group processor, with one behind them. 0: all are coherent.
  unsigned loadCaches = 0;
  /// A barrier that orders shared memory alone, or reads before writes, costs less than one that
  /// orders all of memory, which waits for stores and drops what the unit's cache holds (LLVM,
  /// "User Guide for AMDGPU Backend", "Memory Model GFX10-GFX11").
  bool partialBarriers = false;
  /// A barrier is two instructions, between which a wave may do what the barrier does not order
  /// (RDNA 4 ISA, "S_BARRIER_SIGNAL").
  bool splitBarriers = false;
};

MemoryFeatures memoryFeaturesOf(const TargetInfo &target);

/// AMD: where the base of a buffer begins that loops move and whose array is promised to be below
/// 2 GiB, in bytes from the array; and the number of bytes in range of it, without sign. So all of
/// the array is in range, lanes may begin in front of it where they are masked off, and both ends
/// leave room for an access of 16 bytes.
inline constexpr int64_t movedBufferStart = INT32_MIN + int64_t(32), movedBufferBytes = -16;

/// AMD: the scope of a fence of the block that orders shared memory alone. LLVM says so by metadata
/// (MMRA), for which MLIR has no name: the back end makes it of this scope.
inline constexpr llvm::StringLiteral sharedFenceScope = "workgroup-local";

/// AMD: the scope of a fence of the block that orders reads of global memory in front of the
/// release before writes behind the acquire. LLVM has none: the back end waits for what was loaded.
inline constexpr llvm::StringLiteral readsFenceScope = "workgroup-reads";

/// AMD, on a load from a buffer: it goes by the caches that other blocks' stores do not reach, as
/// its bits say to the hardware.
inline constexpr llvm::StringLiteral bypassesCachesAttr = "kiln.bypasses_caches";

} // namespace kiln

#endif // KILN_COMPILER_TARGET_MEMORYFEATURES_H

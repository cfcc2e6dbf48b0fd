// Which of two codes of a kernel is better, where the back end makes it more than once.

#ifndef KILN_COMPILER_TARGET_COMPARECODE_H
#define KILN_COMPILER_TARGET_COMPARECODE_H

#include "compiler/Target/DeviceBinary.h"
#include "compiler/Target/Occupancy.h"

namespace kiln {

/// What a block takes of a processor, whose shared memory the binary itself reserves.
BlockNeeds needsOf(const DeviceBinary &binary);

/// How many blocks a processor holds at a time; 0 if nobody knows the processor.
uint64_t blocksOf(const DeviceBinary &binary);

/// Whether a processor holds as many blocks of `binary` as of `other`, and a wave takes less time
/// (DeviceBinary::cycles). What spills in any case may spill up to twice as much for a quarter
/// less, and twice that for a quarter less again; any number outside of the loops of products, as
/// often as these are run once, for a quarter less.
bool isShorter(const DeviceBinary &binary, const DeviceBinary &other);

/// Whether nothing is spilled, neither to memory nor, of scalars, to lanes.
bool spillsNothing(const DeviceBinary &binary);

/// Whether `binary` spills nothing, a processor holds as many blocks, and a wave takes at most half
/// as long again: cycles are of loops, and `other` may spill around them.
bool isWorthNoSpills(const DeviceBinary &binary, const DeviceBinary &other);

/// Whether `binary` is shorter, and leaves other waves as much of the vector unit's time; for a
/// quarter less time up to a 32nd less of that.
bool isShorterForAll(const DeviceBinary &binary, const DeviceBinary &other);

/// Whether a processor holds more blocks of `binary` than of `other` for cycles that are more by at
/// most a quarter of what blocks are, and no more is spilled.
bool isWorthItsBlocks(const DeviceBinary &binary, const DeviceBinary &other);

/// What a SIMD takes at least for its share of a wave's loops: as many of the wave's cycles as
/// there are waves, or those that its vector unit works, if these are more; 0 if nobody knows the
/// processor.
uint64_t cyclesOfSimd(const DeviceBinary &binary);

/// Whether a wave takes at most half as long, nothing spills, and fewer blocks are no loss: while
/// one wave waits, the others that its SIMD holds have work for all of that time, and all of their
/// work is at most a 32nd more.
bool isWorthLessBlocks(const DeviceBinary &binary, const DeviceBinary &other);

/// The most bytes of shared memory with which a processor holds as many blocks as the binary's
/// registers leave, or one more, if up to a fifth fewer registers leave that; none if its bytes are
/// not what keeps it from that.
std::optional<uint64_t> sharedBytesForMore(const DeviceBinary &binary);

} // namespace kiln

#endif // KILN_COMPILER_TARGET_COMPARECODE_H

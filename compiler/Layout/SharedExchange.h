//===- SharedExchange.h - moving tiles through shared memory ----*- C++ -*-===//
//
// PROBLEM. Two layouts of one tile, and a memory of banks between them. A warp's
// access is split by the hardware into phases of one row of banks (32 banks of 4
// bytes: 128 bytes); a phase costs as many wavefronts as the most different words
// any single bank must give. We want few, wide accesses, each phase one wavefront.
//
// APPROACH (the optimal swizzling of Zhou et al. 2025, section 5). The shared
// layout is a basis of the tile's coordinates, in this order of offset bits:
//     vector | rest of the bank row | segment
// Two lanes conflict iff they differ by a vector whose bank bits are zero and whose
// segment bits are not. So a phase whose lanes span P (with the vector's or the
// word's own bits) is free of conflicts iff span(P) ∩ span(segment) = {0}. Of the
// two spans P (store) and Q (load), complete I = P ∩ Q by E to P and by F to Q:
// sums e+f of one from each lie in neither, nor does what completes P + Q; those
// are the segment vectors. The swizzle is computed, not searched for, and
// what it promises is checked by counting (countWavefronts).
//
// Which vector? Registers common to both layouts make both sides wide. Where there
// are none (a transpose), making one side wide may still pay: the few
// candidates are planned, counted, and the cheapest taken.
//
//===----------------------------------------------------------------------===//

#ifndef KILN_COMPILER_LAYOUT_SHAREDEXCHANGE_H
#define KILN_COMPILER_LAYOUT_SHAREDEXCHANGE_H

#include "compiler/Layout/LinearLayout.h"

namespace kiln {

/// What of shared memory the planning needs.
struct SharedMemoryShape {
  unsigned banks = 32, bankBytes = 4;
  unsigned maxVectorBits = 128;
  /// Whether exchanges are chosen by what threads have to put together, too.
  bool countsRepackedWords = false;
  /// Whether exchanges are planned, too, of which one side moves a part of what the other moves at
  /// once.
  bool movesParts = false;
  /// Whether words count, too, that a thread copies to store them at once.
  bool countsMovedWords = false;
  /// Whether lanes read 16-bit and 8-bit elements across rows (planTransposedAccess).
  bool transposedReads = false;
  /// Whether it serves a warp's accesses in order, so that lanes exchange without a barrier.
  bool ordersWarps = false;
  /// Not through memory: lanes of these distances can swap words (TargetInfo::swappedLanes).
  unsigned swappedLanes = 0;
  unsigned rowBytes() const { return banks * bankBytes; }
};

/// How the threads of a block touch a shared buffer in a distributed layout.
/// All offsets count elements, before padding (SharedLayout::place adds it).
struct SharedAccess {
  /// Elements per access (power of two): the width of one load or store.
  unsigned vector = 1;
  struct Part {
    /// The `vector` registers that one access moves, in the order of offsets.
    llvm::SmallVector<unsigned, 8> registers;
    /// Their part of the offset, a multiple of `vector`.
    uint64_t offset = 0;
  };
  llvm::SmallVector<Part, 8> parts;
  /// Offset of a thread: the xor of the columns its lane and warp bits select. The element's
  /// offset is that xor Part::offset (xor: the bits may overlap).
  BinaryColumns laneOffsets, warpOffsets;
  /// Lane and warp bits of which only 0 need store (the others hold duplicates).
  uint64_t freeLanes = 0, freeWarps = 0;

  uint64_t threadOffset(uint64_t lane, uint64_t warp) const {
    return multiply(laneOffsets, lane) ^ multiply(warpOffsets, warp);
  }
};

/// The widest accesses by which `distributed` reads or writes all of its elements in `shared`, at
/// most memory.maxVectorBits wide and not across the padding.
SharedAccess planSharedAccess(const LinearLayout &distributed, const SharedLayout &shared,
                              unsigned elementBits, const SharedMemoryShape &memory);

struct WavefrontCount {
  /// What the warp's accesses cost, and what they would cost without bank conflicts.
  int64_t wavefronts = 0, ideal = 0;
  int64_t conflicts() const { return wavefronts - ideal; }
};

/// Replays the accesses of warp 0 on a model of the banks, as writes or as reads: other lanes may
/// be served together.
WavefrontCount countWavefronts(const SharedAccess &access, const SharedLayout &shared,
                               unsigned elementBits, const SharedMemoryShape &memory, bool isRead);
WavefrontCount countWavefronts(const SharedAccess &access, const SharedLayout &shared,
                               unsigned elementBits, const SharedMemoryShape &memory);

/// The words of 32 bits that a thread puts together or takes apart, because what lies side by side
/// in the buffer is not what its registers hold side by side: one instruction each.
int64_t repackedWords(const LinearLayout &distributed, const SharedLayout &shared,
                      unsigned elementBits);

/// A tile's way from one layout to another through shared memory.
struct SharedExchange {
  SharedLayout shared;
  SharedAccess store, load;
  WavefrontCount storeCost, loadCost;
  /// Of both sides, and what is copied, where `SharedMemoryShape` says that they count.
  int64_t repackedWords = 0;
  /// That threads compute, counted where words are; of plans that cost the same it is the fewest.
  int64_t addresses = 0;
  int64_t bytes = 0; ///< of scratch

  /// Wavefronts and instructions.
  int64_t cost() const;
};

/// The cheapest exchange found. Both layouts have the inputs register, lane, warp, block and the
/// same outputs; elements are at least 8 bits.
SharedExchange planSharedExchange(const LinearLayout &source, const LinearLayout &result,
                                  unsigned elementBits, const SharedMemoryShape &memory);

/// Reads across rows (StagedOperand.h, planTransposedAccess): of elements of which sizes, log2 of
/// the rows of which a lane has an element each, and of the columns of 16 lanes.
inline bool isReadAcross(unsigned elementBits) { return elementBits == 16 || elementBits == 8; }
inline unsigned bitsOfRowsAcross(unsigned elementBits) { return elementBits == 16 ? 2 : 3; }
constexpr unsigned bitsOfColumnsAcross = 4;

/// A buffer of pieces of 16 bytes along the axis that neighbouring lanes of `result` run along,
/// which `source` fills at once or, as far as a thread has no more of one, part by part, and that
/// the lanes read across its rows (StagedOperand.h, planTransposedAccess) without bank conflicts,
/// as far as that goes; none where they do not fit together.
std::optional<SharedLayout> planTransposedShared(const LinearLayout &source,
                                                 const LinearLayout &result, unsigned elementBits,
                                                 const SharedMemoryShape &memory);

} // namespace kiln

#endif // KILN_COMPILER_LAYOUT_SHAREDEXCHANGE_H

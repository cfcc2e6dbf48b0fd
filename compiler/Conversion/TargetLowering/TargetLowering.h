// What differs between GPUs when a thread's program is written down.
//
// Shared lowering code asks this interface and never which vendor it writes for. Operations made
// here are NVVM, ROCDL or LLVM intrinsics (or target operations of tilegpu): no assembly text.

#ifndef KILN_COMPILER_CONVERSION_TARGETLOWERING_TARGETLOWERING_H
#define KILN_COMPILER_CONVERSION_TARGETLOWERING_TARGETLOWERING_H

#include "compiler/Dialect/Tile/Tile.h"
#include "compiler/Dialect/TileGPU/TileGPU.h"
#include "compiler/Layout/MatrixUnits.h"
#include "compiler/Target/TargetInfo.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/IR/Builders.h"
#include <memory>
#include <optional>

namespace mlir::NVVM {
class CpAsyncOp;
class MBarrierTryWaitParityOp;
} // namespace mlir::NVVM

namespace kiln {

/// The parts of a tensor map.
enum class MapField {
  Address,
  Rank, ///< less 1
  Box,
  Extent,
  Stride, ///< of the axis behind
  ElementStride,
  Element,
  Interleave,
  Swizzle,
  Fill
};

/// What a record for tensor maps (tilegpu.claim_maps) has in front of these, as byte offsets: a
/// word that says that a block has it, and the only element of tensors without elements, by their
/// use.
struct MapRecord {
  static constexpr unsigned mapBytes = 128, headBytes = 128;
  static constexpr unsigned zeros = 16, nans = 32, written = 112;
  static int64_t bytes(int64_t maps) { return headBytes + maps * mapBytes; }
};

class TargetLowering {
public:
  explicit TargetLowering(const TargetInfo &info) : info(info) {}
  virtual ~TargetLowering();

  const TargetInfo &target() const { return info; }

  //--- Where a thread is. All i32. ---
  virtual mlir::Value threadId(mlir::OpBuilder &b, mlir::Location loc) const = 0;
  /// `clusterBlocks`: blocks along x that run a program together.
  virtual mlir::Value programId(mlir::OpBuilder &b, mlir::Location loc, unsigned axis,
                                unsigned clusterBlocks) const = 0;
  /// `numThreads`: threads of a block along x.
  virtual mlir::Value numPrograms(mlir::OpBuilder &b, mlir::Location loc, unsigned axis,
                                  unsigned numThreads, unsigned clusterBlocks) const = 0;
  /// What tile.read_register gives: i32, and i64.
  virtual mlir::Value processorNumber(mlir::OpBuilder &b, mlir::Location loc) const = 0;
  virtual mlir::Value nanoseconds(mlir::OpBuilder &b, mlir::Location loc) const = 0;

  //--- Between threads ---
  /// The i32 `value` of the lane whose number differs by `mask`.
  virtual mlir::Value shuffleXor(mlir::OpBuilder &b, mlir::Location loc, mlir::Value value,
                                 unsigned mask) const = 0;
  /// Whether there is `swapLanes` between lanes whose numbers differ by `mask`.
  virtual bool swapsLanes(unsigned mask) const {
    (void)mask;
    return false;
  }
  /// The i32 `first` and `second` after each lane with the bit `mask` clear in its number has given
  /// its second for the first of the lane with the bit set.
  virtual std::pair<mlir::Value, mlir::Value> swapLanes(mlir::OpBuilder &b, mlir::Location loc,
                                                        mlir::Value first, mlir::Value second,
                                                        unsigned mask) const;
  /// The i32 `value` of a lane whose number differs in bit `bit`, and may differ in lower bits: all
  /// lanes that do so alone have the same.
  virtual mlir::Value shuffleTotals(mlir::OpBuilder &b, mlir::Location loc, mlir::Value value,
                                    unsigned bit) const {
    return shuffleXor(b, loc, value, 1u << bit);
  }
  /// Log2 of how many lanes have one total each when the warp's goes to its last lane alone, by
  /// `lastBefore` for each further bit of a lane's number, and from there to all; none: it does
  /// not.
  virtual std::optional<unsigned> totalsToLastLane() const { return std::nullopt; }
  /// How many lanes, side by side, `shiftInRow` moves among; 1: there is no such instruction.
  virtual unsigned lanesOfRow() const { return 1; }
  /// The i32 `value` of the lane `distance` (1, 2, 4 …) in front of the own one in its row, or
  /// behind it; `none` where the row has no such lane.
  virtual mlir::Value shiftInRow(mlir::OpBuilder &b, mlir::Location loc, mlir::Value value,
                                 mlir::Value none, unsigned distance, bool isBehind) const;
  /// The i32 `value` of the last lane in front of those that have the own one's bits from `bit` on,
  /// log2(lanesOfRow()) or a higher one; anything where that bit is clear.
  virtual mlir::Value lastBefore(mlir::OpBuilder &b, mlir::Location loc, mlir::Value value,
                                 unsigned bit) const;
  /// The i32 `value` of the warp's last lane.
  virtual mlir::Value ofLastLane(mlir::OpBuilder &b, mlir::Location loc, mlir::Value value) const;
  /// The i32 `value` of lane number `lane` (i32, less than the warp size).
  virtual mlir::Value shuffleIndex(mlir::OpBuilder &b, mlir::Location loc, mlir::Value value,
                                   mlir::Value lane) const = 0;
  /// All threads of the block arrive; their memory accesses before it come first.
  virtual void barrier(mlir::OpBuilder &b, mlir::Location loc) const = 0;
  /// The same of their accesses to shared memory alone, where that costs less.
  virtual void sharedBarrier(mlir::OpBuilder &b, mlir::Location loc) const { barrier(b, loc); }
  /// The same of reads of global memory before writes alone; `withShared`: and of shared memory.
  virtual void readsBarrier(mlir::OpBuilder &b, mlir::Location loc, bool withShared) const {
    (void)withShared;
    barrier(b, loc);
  }
  /// Where there are no TargetInfo::cumulativeFences: what the warp has stored to global memory is
  /// where a fence of any warp of its block behind a barrier covers it.
  virtual void waitForStores(mlir::OpBuilder &b, mlir::Location loc) const;
  /// Where there is TargetInfo::tensorMaps: a barrier of as many threads, the block's own and those
  /// of producers.
  virtual void barrierOfAll(mlir::OpBuilder &b, mlir::Location loc, unsigned threads) const;
  /// A barrier of the warp's threads: where there are tensor maps, or SharedMemoryShape says
  /// that memory serves these in order.
  virtual void warpBarrier(mlir::OpBuilder &b, mlir::Location loc) const;

  /// Loads ahead of it start before accesses behind it, where the assembler would change that. All
  /// threads of a warp come to it.
  virtual void startLoads(mlir::OpBuilder &, mlir::Location) const {}

  /// Whether x * y + z of bf16 is an instruction, rounded once.
  virtual bool fusesBF16() const { return false; }

  //--- Buffers, where there is MemoryFeatures::boundedBuffers ---
  /// Of `bytes` (i32) from `base` on, both the same in all of a wave's threads.
  virtual mlir::Value makeBuffer(mlir::OpBuilder &b, mlir::Location loc, mlir::Value base,
                                 mlir::Value bytes) const;
  /// A scalar or vector of 8 to 128 bits at `offset` (i32, unsigned): zeros behind the end.
  virtual mlir::Value loadBuffer(mlir::OpBuilder &b, mlir::Location loc, mlir::Type type,
                                 mlir::Value buffer, mlir::Value offset, tile::CacheModifier cache,
                                 tile::EvictionPolicy evict) const;
  /// The same stored: nothing behind the end.
  virtual void storeBuffer(mlir::OpBuilder &b, mlir::Location loc, mlir::Value value,
                           mlir::Value buffer, mlir::Value offset, tile::CacheModifier cache,
                           tile::EvictionPolicy evict) const;

  /// The same of an atomic operation on each element, relaxed: one or two elements, of which the
  /// target has an instruction (tilegpu::bufferReductionBits). Gives what was there.
  virtual mlir::Value reduceBuffer(mlir::OpBuilder &b, mlir::Location loc, tile::AtomicKind kind,
                                   mlir::Value value, mlir::Value buffer, mlir::Value offset,
                                   tile::MemoryScope scope) const;

  //--- Copies from global to shared memory without registers, where the target has them ---
  /// One thread's copy of 4, 8 or 16 bytes; zeros behind the first `copied` (i32) of them. Nothing
  /// where `predicate` (i1) is false; null: all threads copy.
  virtual void copyAsync(mlir::OpBuilder &b, mlir::Location loc, mlir::Value to, mlir::Value from,
                         unsigned bytes, mlir::Value copied, mlir::Value predicate) const;
  virtual void commitCopies(mlir::OpBuilder &b, mlir::Location loc) const;
  /// Until so many groups are in flight, or with TargetInfo::warpCopies so many copies of a thread.
  virtual void waitForCopies(mlir::OpBuilder &b, mlir::Location loc, unsigned pending) const;
  /// With TargetInfo::warpCopies: the warp's number, which it has once, and tilegpu.warp_copy.
  virtual mlir::Value warpNumber(mlir::OpBuilder &b, mlir::Location loc) const;
  virtual void copyByWarp(mlir::OpBuilder &b, mlir::Location loc, mlir::Value to, mlir::Value from,
                          mlir::Value predicate) const;
  /// The same of 16 bytes `offset` (i32) behind the beginning of a buffer; zeros behind its end.
  virtual void copyBufferByWarp(mlir::OpBuilder &b, mlir::Location loc, mlir::Value to,
                                mlir::Value buffer, mlir::Value offset) const;

  //--- Copies of blocks, where there is TargetInfo::tensorMaps ---
  /// One thread makes the 64-bit word ready for phases of so many arrivals, or ends its use.
  virtual void initMBarrier(mlir::OpBuilder &b, mlir::Location loc, mlir::Value mbarrier,
                            unsigned arrivals) const;
  virtual void invalidateMBarrier(mlir::OpBuilder &b, mlir::Location loc,
                                  mlir::Value mbarrier) const;
  /// What the thread has made ready comes before what the engine does to it.
  virtual void fenceMBarriers(mlir::OpBuilder &b, mlir::Location loc) const;
  /// One thread arrives, and announces so many bytes of the phase.
  virtual void announceBytes(mlir::OpBuilder &b, mlir::Location loc, mlir::Value mbarrier,
                             int64_t bytes) const;
  /// One thread arrives, perhaps at another block's (addressInBlock).
  virtual void arrive(mlir::OpBuilder &b, mlir::Location loc, mlir::Value mbarrier) const;
  /// One thread starts the copy of a box to shared memory. Coordinates of its first element: i32,
  /// the contiguous axis first. With `sharers` to that of all so many blocks of the cluster, whose
  /// mbarriers at the same place count it.
  virtual void copyBox(mlir::OpBuilder &b, mlir::Location loc, mlir::Value to, mlir::Value map,
                       mlir::ValueRange coordinates, mlir::Value mbarrier, unsigned sharers) const;
  /// The same back, or combined with what is there, and a wait of the thread for all of its copies
  /// to be done, or only to have been read.
  virtual void copyBoxBack(mlir::OpBuilder &b, mlir::Location loc, mlir::Value map,
                           mlir::Value from, mlir::ValueRange coordinates,
                           std::optional<tile::AtomicKind> kind) const;
  virtual void waitForCopiesBack(mlir::OpBuilder &b, mlir::Location loc, bool isRead) const;
  /// One thread writes a field of a tensor map's image in shared memory; that of an axis, where it
  /// has one, the contiguous axis first. Values are i32, the address and strides (in bytes) i64;
  /// those of the last four fields are constants (PTX ISA, "tensormap.replace").
  virtual void writeMapField(mlir::OpBuilder &b, mlir::Location loc, mlir::Value image,
                             MapField field, unsigned axis, mlir::Value value) const;
  /// The number that a map has for elements of this type.
  virtual unsigned mapElement(mlir::Type type, bool isSigned) const;
  /// What is behind it in the thread uses the map as it was published.
  virtual void acquireMap(mlir::OpBuilder &b, mlir::Location loc, mlir::Value map) const;
  /// Waits until the phase of this parity (i32) is complete.
  virtual void waitForPhase(mlir::OpBuilder &b, mlir::Location loc, mlir::Value mbarrier,
                            mlir::Value parity) const;
  /// Writes to memory so far, global memory as well, come before what the engine reads there.
  virtual void fenceForEngine(mlir::OpBuilder &b, mlir::Location loc) const;
  /// The threads of four warps take more registers, or give some back.
  virtual void setRegisters(mlir::OpBuilder &b, mlir::Location loc, unsigned count,
                            bool isMore) const;

  //--- Arithmetic with an instruction of its own. f32; null where there is none. ---
  /// a / b to about 2 ulp.
  virtual mlir::Value divideApproximately(mlir::OpBuilder &b, mlir::Location loc, mlir::Value a,
                                          mlir::Value c) const = 0;
  virtual mlir::Value reciprocalSqrt(mlir::OpBuilder &b, mlir::Location loc,
                                     mlir::Value x) const = 0;
  /// 2^x to about 2 ulp; zero where that is below the normal numbers.
  virtual mlir::Value exp2(mlir::OpBuilder &b, mlir::Location loc, mlir::Value x) const {
    return {};
  }
  /// 1 / x to about 1 ulp; zero where x or that is below the normal numbers.
  virtual mlir::Value reciprocal(mlir::OpBuilder &b, mlir::Location loc, mlir::Value x) const {
    return {};
  }
  /// LLVM's logarithms of f32 are within 2 ulp, also near 1.
  virtual bool hasLogarithms() const { return false; }
  /// log2 x to 2^-22 on [1/2, 2], and about 2 ulp beyond.
  virtual mlir::Value log2(mlir::OpBuilder &b, mlir::Location loc, mlir::Value x) const {
    return {};
  }
  /// Relative error about 2^-11.
  virtual mlir::Value tanh(mlir::OpBuilder &b, mlir::Location loc, mlir::Value x) const {
    return {};
  }

  /// Two f32 values as codes of an 8-bit format, `low` in the lower half of an i16, or first of a
  /// vector, as tile.narrow defines them. Null where there is no such instruction.
  virtual mlir::Value narrowPair(mlir::OpBuilder &b, mlir::Location loc, mlir::Value low,
                                 mlir::Value high, mlir::Type format) const {
    return {};
  }

  /// What tile.permute_bytes gives; null where there is no such instruction.
  virtual mlir::Value permuteBytes(mlir::OpBuilder &b, mlir::Location loc, mlir::Value low,
                                   mlir::Value high, mlir::Value selectors) const {
    return {};
  }

  /// The f16 or f32 values of two codes (i8) of an 8-bit format, as a vector: of NaN one that
  /// arith.extf makes f32's NaN of. `to`: what they become in the end. Null where that is not
  /// short.
  virtual mlir::Value widenPair(mlir::OpBuilder &b, mlir::Location loc, mlir::Value low,
                                mlir::Value high, mlir::Type format, mlir::Type to) const {
    return {};
  }

  /// The same values of four codes, or those of `to`, one by one; empty where four are no shorter
  /// than two pairs.
  virtual llvm::SmallVector<mlir::Value> widenWord(mlir::OpBuilder &b, mlir::Location loc,
                                                   llvm::ArrayRef<mlir::Value> codes,
                                                   mlir::Type format, mlir::Type to) const {
    return {};
  }

  /// What tile.widen_scaled gives of four codes (i8) with a scale (i8) each, as `to`. `format`: of
  /// the codes, i8 where each is a pair, of which the result has the upper numbers if `isUpper`.
  /// Empty where there are no such instructions.
  virtual llvm::SmallVector<mlir::Value> widenScaled(mlir::OpBuilder &b, mlir::Location loc,
                                                     llvm::ArrayRef<mlir::Value> codes,
                                                     llvm::ArrayRef<mlir::Value> scales,
                                                     mlir::Type format, bool isUpper,
                                                     mlir::Type to) const {
    return {};
  }

  //--- Matrix units. Fragments are given as scalars in the order of MatrixInstruction::fragment;
  //    the unit's own slots are meant, also where the product is computed transposed. ---
  /// A fragment as the instruction takes it: words or vectors. Empty: not supported yet. `isExact`:
  /// the elements have no more digits than the instruction looks at.
  virtual llvm::SmallVector<mlir::Value> packFragment(mlir::OpBuilder &b, mlir::Location loc,
                                                      const MatrixInstruction &unit,
                                                      MatrixOperand slot, mlir::ValueRange elements,
                                                      bool isExact) const = 0;
  /// How many instructions, one behind the other along k, the unit stands for. Its packed fragments
  /// of A and B have as many equal parts.
  virtual unsigned instructionsOf(const MatrixInstruction &) const { return 1; }
  /// One instruction, on packed fragments or parts of them; gives the packed accumulator.
  virtual llvm::SmallVector<mlir::Value> multiplyMatrices(mlir::OpBuilder &b, mlir::Location loc,
                                                          const MatrixInstruction &unit,
                                                          mlir::ValueRange a,
                                                          mlir::ValueRange factorB,
                                                          mlir::ValueRange accumulator) const = 0;

  /// A fragment whose elements are multiplied by powers of two: the lowest byte of `scale` (i32) is
  /// a lane's biased exponent. `element` is the operand's, where i8 is a pair of e2m1.
  struct ScaledFragment {
    mlir::Value fragment, scale;
    mlir::Type element;
  };
  /// The same of a unit for operands with scales.
  virtual llvm::SmallVector<mlir::Value>
  multiplyScaledMatrices(mlir::OpBuilder &, mlir::Location, const MatrixInstruction &,
                         const ScaledFragment &, const ScaledFragment &,
                         mlir::ValueRange /*accumulator*/) const {
    llvm_unreachable("expected a target with such units");
  }

  /// ldmatrix: one i32 for each of 1, 2 or 4 matrices, of which a lane gives one row's address.
  virtual llvm::SmallVector<mlir::Value> loadMatrices(mlir::OpBuilder &b, mlir::Location loc,
                                                      mlir::Value row, unsigned matrices,
                                                      bool transposed) const;
  /// With MatrixFeatures::transposedReads: a vector of 4 elements of 16 bits or 8 of 8 bits, of a
  /// lane's column.
  virtual mlir::Value readTransposed(mlir::OpBuilder &b, mlir::Location loc, mlir::Type type,
                                     mlir::Value address) const;
  /// Writes to shared memory so far come before what matrix units read there by themselves.
  virtual void fenceForUnits(mlir::OpBuilder &b, mlir::Location loc) const;
  /// The tilegpu.wgmma so far become a group.
  virtual void commitProducts(mlir::OpBuilder &b, mlir::Location loc) const;

  //--- The kernel ---
  /// LLVM's name of the synchronisation scope.
  virtual llvm::StringRef syncScope(tile::MemoryScope scope) const = 0;
  /// Permits the hardware's own form of an atomic operation, where it needs a permission.
  /// `isDeviceMemory`: its address is in ordinary memory of the device.
  virtual void annotateAtomic(mlir::LLVM::AtomicRMWOp op, bool isDeviceMemory) const {}
  /// Marks `kernel` as such, with the number of threads of a block, and of those that only start
  /// copies and take no part in barriers.
  virtual void markKernel(mlir::LLVM::LLVMFuncOp kernel, unsigned numThreads,
                          unsigned producerThreads) const = 0;

  //--- Expansion of target operations ---
  virtual mlir::LogicalResult expandLoad(tilegpu::GlobalLoadOp op, mlir::OpBuilder &b) const = 0;
  virtual mlir::LogicalResult expandStore(tilegpu::GlobalStoreOp op, mlir::OpBuilder &b) const = 0;
  /// Computes once what quotients of one divisor have in common, without other bits in any.
  virtual void shareDivisors(mlir::ModuleOp module) const {}
  /// An error where TargetInfo::reduction has nothing.
  virtual mlir::LogicalResult expandReduce(tilegpu::GlobalReduceOp op, mlir::OpBuilder &b) const;
  virtual mlir::LogicalResult expandPrint(tilegpu::PrintOp op, mlir::OpBuilder &b) const = 0;
  virtual mlir::LogicalResult expandFail(tilegpu::FailOp op, mlir::OpBuilder &b) const = 0;
  /// An error where there are no products of warp groups.
  virtual mlir::LogicalResult expandWgmma(tilegpu::WgmmaOp op, mlir::OpBuilder &b) const;
  virtual mlir::LogicalResult expandWgmmaWait(tilegpu::WgmmaWaitOp op, mlir::OpBuilder &b) const;
  /// An error where there are no copies in flight.
  virtual mlir::LogicalResult expandCopy(tilegpu::GlobalCopyOp op, mlir::OpBuilder &b) const;
  /// The copy as what the target has for one that copies all or nothing.
  virtual mlir::LogicalResult expandCopy(mlir::NVVM::CpAsyncOp op, mlir::OpBuilder &b) const;
  /// An error where there are no copies by warps.
  virtual mlir::LogicalResult expandCopy(tilegpu::WarpCopyOp op, mlir::OpBuilder &b) const;
  virtual mlir::LogicalResult expandCopy(tilegpu::WarpBufferCopyOp op, mlir::OpBuilder &b) const;
  /// Errors where there are no tensor maps.
  virtual mlir::LogicalResult expandClaim(tilegpu::ClaimMapsOp op, mlir::OpBuilder &b) const;
  virtual mlir::LogicalResult expandRelease(tilegpu::ReleaseMapsOp op, mlir::OpBuilder &b) const;
  virtual mlir::LogicalResult expandPublish(tilegpu::PublishMapOp op, mlir::OpBuilder &b) const;
  /// An error where there are no mbarriers.
  virtual mlir::LogicalResult expandPhaseWait(mlir::NVVM::MBarrierTryWaitParityOp op,
                                              mlir::OpBuilder &b) const;

  //--- Clusters of blocks, where TargetInfo::maxClusterSize is more than 1 ---
  /// Which of the cluster's blocks this one is: i32.
  virtual mlir::Value clusterRank(mlir::OpBuilder &b, mlir::Location loc) const;
  /// All threads of all blocks of the cluster meet: each arrives, and then waits.
  virtual void arriveAtCluster(mlir::OpBuilder &b, mlir::Location loc) const;
  virtual void waitForCluster(mlir::OpBuilder &b, mlir::Location loc) const;
  /// What another block of the cluster, by its rank (i32), has at an address in shared memory.
  virtual mlir::Value addressInBlock(mlir::OpBuilder &b, mlir::Location loc, mlir::Value address,
                                     mlir::Value rank) const;

protected:
  const TargetInfo &info;
};

/// Name of the module's symbol for shared memory, in address space 3.
inline constexpr llvm::StringLiteral sharedMemorySymbol = "kiln_shared";

} // namespace kiln

#endif

//===- TargetInfo.h - What a target is, as data -----------------------------===//
//
// A target is a record with named fields, made from the table Targets.def. Code
// shared by the back ends asks a field ("which MFMA does it have?", "how many bits
// does the widest access move?") and never which vendor it is talking to; the
// backend field exists to choose the emitter, once.
//
// No MLIR here: `kiln inspect`, the code generator, and the readers of device
// binaries use this header too.
//
//===----------------------------------------------------------------------===//
#ifndef KILN_COMPILER_TARGET_TARGETINFO_H
#define KILN_COMPILER_TARGET_TARGETINFO_H

#include "llvm/ADT/StringRef.h"
#include "llvm/Support/Error.h"
#include <cstdint>
#include <string>
#include <vector>

namespace kiln {

/// Which emitter makes the binary. `backendName` gives the spelling used in target names.
enum class Backend : uint8_t { CUDA, HIP, CPU };

/// "cuda", "hip" or "cpu".
llvm::StringRef backendName(Backend backend);

/// What the matrix instructions of a target can multiply. The instructions themselves
/// (shapes, fragments) are the matrix-unit table's; this says which records are legal.
struct MatrixFeatures {
  /// mma.sync, by operand type (PTX ISA, "Warp level matrix instructions").
  bool mmaF16 = false, mmaBF16 = false, mmaTF32 = false;
  bool mmaInt8 = false, mmaFP8 = false, mmaBlockScaled = false;
  /// wgmma: products of four warps that read shared memory by themselves (sm_90a).
  bool wgmma = false;
  /// ldmatrix: a warp reads 8 x 8 matrices of 16 bits from shared memory into fragments.
  bool matrixLoads = false;
  /// ds_read_b64_tr_b16, ds_read_b64_tr_b8: 16 lanes read 4 rows of 16 elements of 16 bits, or 8 of
  /// 8 bits, and each has a column.
  bool transposedReads = false;
  /// Tensor-memory instructions of sm_100a.
  bool tcgen05 = false;
  /// CDNA generation whose MFMA instructions exist: 2 (gfx90a), 3 (gfx942), 4 (gfx950); 0 = none.
  unsigned mfmaGeneration = 0;
  /// RDNA generation whose WMMA instructions exist: 3 (gfx11), 4 (gfx12); 0 = none.
  unsigned wmmaGeneration = 0;
  /// Whether operands may lie as results do in the halves of a wave, every second number first, and
  /// be read in wider pieces than they are stored in, or stored in wider ones (RDNA 3).
  bool operandsByHalves = false;
  /// Bytes of an operand along k that a lane of AMD's units reads at once: what is loaded element
  /// by element comes in runs of so many; 0 = it does not.
  unsigned runBytes = 0;

  /// Whether lanes may have as many neighbours of a product's row as a store moves, by the order of
  /// the other operand's rows (MatrixTiling::neighbours).
  bool neighboursOfResults = false;

  /// For kernels that lack registers for how operands are put together otherwise.
  void takeOperandsAsLoaded() {
    operandsByHalves = false;
    runBytes = 0;
    neighboursOfResults = false;
  }

  /// How many products a warp multiplies in much less time than a load takes, some 500 cycles: up
  /// to 125 cycles of CDNA's units, and half as many products on RDNA, whose operands take twice
  /// the registers.
  int64_t productsOfShortLoop() const { return int64_t(1) << (mfmaGeneration ? 15 : 14); }
};

/// Additions to global memory that give no old value back, of neighbours at once (PTX ISA, "red"):
/// bits of the widest, by element type; 0 = none.
struct ReductionFeatures {
  unsigned f16 = 0, bf16 = 0, f32 = 0;
};

/// Bits of a hardware register that s_getreg reads (AMD).
struct RegisterField {
  unsigned number = 0, firstBit = 0, bits = 0;
  /// As the instruction names it (LLVM, "AMDGPU", operand `hwreg`).
  unsigned immediate() const { return number | firstBit << 6 | (bits - 1) << 11; }
};

struct TargetInfo {
  /// The canonical name, "cuda:sm_90a"; parseTarget accepts it again. The machine's own CPU is
  /// "cpu".
  std::string name;
  Backend backend = Backend::CPU;
  /// "sm_90a", "compute_80", "gfx942", "x86-64-v3", "aarch64", or for "cpu" the processor's LLVM
  /// name.
  std::string arch;
  /// cuda: compute capability times ten (90). hip: the hexadecimal digits of the name (0x942,
  /// 0x90a, 0x1100). cpu: the x86-64 level (2, 3, 4), or 0 for others.
  unsigned archNumber = 0;
  /// The code runs on the CPU, by the emulator: everything here describes the GPU that it stands
  /// for, but what says how bytes are made (the ELF fields and LLVM's, which are the host's).
  bool emulated = false;
  /// PTX is the product, to be finished by the driver of a later GPU; there is no cubin.
  bool ptxOnly = false;

  //--- Execution model ---
  /// Threads that run in lockstep: 32 or 64. 1 on the CPU.
  unsigned warpSize = 1;
  /// Distances of lanes (powers of two, as bits) between which an instruction swaps what one half
  /// of them has of a register and the other half of a second one.
  unsigned swappedLanes = 0;
  unsigned maxThreadsPerBlock = 1;
  /// AMD: what tells one processor of the device from all others, lowest bits of its number first:
  /// the CU (or WGP), the shader array, the shader engine, the compute die.
  std::vector<RegisterField> processorFields;
  /// Most blocks in a cluster that work everywhere (1 = no clusters).
  unsigned maxClusterSize = 1;

  //--- Memory ---
  /// Shared memory (LDS) one block can have in bytes, with the opt-in attribute.
  unsigned maxSharedBytes = 0;
  /// Shared-memory banks and their width in bytes.
  unsigned sharedBanks = 0, sharedBankBytes = 4;
  /// Shared memory has a size that is fixed when the kernel is launched, not linked.
  bool dynamicShared = false;
  /// The widest single access a thread makes, in bits (the vector register on the CPU).
  unsigned maxVectorBits = 128;
  /// A load of a vector of which a mask ends within reads all of it: none crosses a page, and a
  /// branch to single elements costs more than to choose.
  bool loadsBeyondMasks = false;
  /// A release by one thread covers what others of its block have done before a barrier (PTX ISA,
  /// "Causality order"; RDNA's barriers wait for stores). Where it does not, each must have waited
  /// for its own: CDNA's pass a barrier in flight.
  bool cumulativeFences = false;
  /// A barrier under a condition waits for the thread's loads even if the condition does not hold:
  /// ptxas makes a predicate of the branch around it.
  bool predicatedBarriers = false;
  /// Behind LLVM an assembler orders instructions: it computes again what is cheaper than to hold
  /// it, and unrolls short loops whose length is not known, at times so that what iteration after
  /// iteration loads is in one register, each load behind the use of the one before.
  bool reorderingAssembler = false;
  /// Copies from global to shared memory without registers, 4 to 16 bytes a thread (cp.async).
  bool asyncCopies = false;
  /// The same of 16 bytes a lane, and a warp's pieces come to lie side by side, in the order of
  /// lanes (CDNA 4's global_load_lds_dwordx4). They are waited for by counting instructions.
  bool warpCopies = false;
  /// Copies of whole blocks by an engine that is told of tensors by tensor maps (TMA).
  bool tensorMaps = false;
  ReductionFeatures reduction;

  //--- Features ---
  MatrixFeatures matrix;
  /// Conversion between f16 and f32 in hardware.
  bool convertF16 = false;
  /// Conversion of f32 to bf16 in hardware.
  bool convertBF16 = false;
  /// Conversion of f32 to tf32 in one instruction, to nearest even (PTX ISA, "cvt.rn.tf32").
  bool convertTF32 = false;

  //--- What the binary's ELF header says ---
  /// e_machine, and the architecture's number in e_flags (cuda: the SM number; hip:
  /// EF_AMDGPU_MACH; 0 = none).
  unsigned elfMachine = 0, elfArchTag = 0;

  //--- LLVM ---
  std::string llvmTriple, llvmCPU, llvmFeatures;
  /// PTX ISA version times ten that the text declares; 0 when it is not PTX.
  unsigned ptxVersion = 0;

  /// Everything that decides the generated code, in one line: what a manifest records, and what
  /// must be equal for two builds to give equal bytes. "cpu (x86-64 znver4 +avx2,…)".
  std::string resolved() const;
  /// The name, or where the target is emulated that of the GPU: "cuda:sm_90a".
  std::string hardwareName() const;
  /// Threads of a block of `numWarps` warps.
  unsigned threadsPerBlock(unsigned numWarps) const { return numWarps * warpSize; }
};

/// The host that runs the code of an emulated target, as a CPU target of that target's name.
TargetInfo hostOfEmulated(const TargetInfo &target);

/// Reads a target's name: "cuda:sm_90a", "cuda:compute_80", "hip:gfx942", "cpu:x86-64-v3",
/// "cpu:aarch64", "cpu" (this machine), "emu:sm_90a" (a GPU, emulated), and Triton's spellings
/// "cuda:90:32" and "hip:gfx942:64". An error says what is wrong, the nearest name, or the names
/// there are.
llvm::Expected<TargetInfo> parseTarget(llvm::StringRef name);

/// Every target of the table, in its order, without the machine's own "cpu".
const std::vector<TargetInfo> &allTargets();

} // namespace kiln

#endif // KILN_COMPILER_TARGET_TARGETINFO_H

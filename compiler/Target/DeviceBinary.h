//===- DeviceBinary.h - A compiled variant ----------------------------------===//
//
// What compiling one kernel variant for one target gives: the bytes, what the
// launcher has to know, and what was read back from the bytes to prove that the
// launcher and the code agree. No MLIR, and no LLVM beyond Support: the code
// generator and `kiln inspect` use it. VerifyAbi.h holds the proof itself.
//
//===----------------------------------------------------------------------===//
#ifndef KILN_COMPILER_TARGET_DEVICEBINARY_H
#define KILN_COMPILER_TARGET_DEVICEBINARY_H

#include "llvm/ADT/StringRef.h"
#include <array>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace kiln {

enum class BinaryFormat : uint8_t { Cubin, PTX, HSACO, HostObject };

/// "cubin", "ptx", "hsaco" or "obj": also the file name's extension.
llvm::StringRef formatName(BinaryFormat format);

/// One argument of a GPU kernel. Natural alignment; no hidden arguments.
struct KernelParameter {
  /// The source's name. Empty where the binary does not hold names (cubin).
  std::string name;
  /// Bytes from the start of the parameter block, and bytes.
  uint32_t offset = 0, size = 0;
};

/// What the compiled code uses, from the binary (and ptxas's report), not from the request.
struct ResourceUsage {
  /// Per thread: registers (VGPRs and AGPRs on AMD) and scalar registers (AMD only).
  uint32_t registers = 0, scalarRegisters = 0;
  /// Per thread, in bytes. AMD reports spilled registers: four bytes each.
  uint32_t spillStoreBytes = 0, spillLoadBytes = 0;
  uint32_t spilledBytes() const { return spillStoreBytes + spillLoadBytes; }
  /// Local memory (stack, scratch) per thread in bytes, spills included.
  uint32_t stackBytes = 0;
  /// Shared memory that the binary itself reserves, per block in bytes.
  uint32_t staticSharedBytes = 0;
};

/// The instructions of a kernel's main loop (MainLoop.h), once each.
struct MainLoop {
  /// Of the binary itself; else of the PTX that ptxas made it of.
  bool isMachineCode = false;
  /// All of them, and of these: matrix instructions, accesses to shared memory, accesses to global
  /// memory and copies from it, barriers and waits.
  uint32_t instructions = 0, matrix = 0, shared = 0, global = 0, waits = 0;
};

/// A number that a launcher has: the product of `constant` and the values of up to two of the
/// kernel's parameters, integers.
struct LaunchNumber {
  std::optional<uint32_t> parameter;
  int64_t constant = 1;
  std::optional<uint32_t> factor = std::nullopt;
};

/// The types of elements that tensor maps distinguish.
enum class TensorMapElement : uint8_t {
#define KILN_TENSOR_ELEMENT(NAME, ...) NAME,
#include "runtime/tensor_elements.def"
};

/// As signatures name it: "u8", "fp16".
llvm::StringRef elementName(TensorMapElement element);
unsigned elementBytes(TensorMapElement element);
bool hasNaN(TensorMapElement element);

/// Of a tensor map as a kernel's parameter.
inline constexpr uint32_t kTensorMapBytes = 128, kTensorMapAlignment = 64;

/// A tensor map (CUDA Driver API, "Tensor Map Object Management"): what NVIDIA's copy engine (TMA)
/// is told of a tensor in global memory and of the blocks that are copied. The launcher makes it of
/// the kernel's arguments and passes it by value, 128 bytes, behind them; the binary says where.
/// Axes in the source's order: the last is contiguous.
struct TensorMapFacts {
  /// What the tensor is called in messages.
  std::string name;
  /// The parameter that has the address of the first element.
  uint32_t base = 0;
  TensorMapElement element = TensorMapElement::U8;
  /// Elements along each axis; rank 1 to 5.
  std::vector<LaunchNumber> extents;
  /// In elements, of all axes but the last, whose stride is 1.
  std::vector<LaunchNumber> strides;
  /// Elements of a copied block along each axis, 1 to 256.
  std::vector<uint32_t> box;
  /// In shared memory 16-byte pieces are permuted within rows of so many bytes: 0 (not at all), 32,
  /// 64 or 128.
  uint32_t swizzleBytes = 0;
  /// Elements outside of the tensor are NaNs, not zeros.
  bool fillsWithNaN = false;
  /// Copies go to the tensor. A map serves one direction: what is both read and written has two.
  bool isWritten = false;
};

/// What a launch has to set.
struct LaunchFacts {
  /// Threads per block = number of warps * warp size; 1 on the CPU.
  uint32_t threadsPerBlock = 1, warpSize = 1;
  /// Blocks per cluster; 1, 1, 1 = launched without a cluster.
  std::array<uint32_t, 3> clusterDims = {1, 1, 1};
  /// Shared memory to request at launch, per block in bytes (0 where it is static).
  uint32_t dynamicSharedBytes = 0;
  /// Global scratch per program in bytes, and its alignment.
  uint32_t scratchBytes = 0, scratchAlign = 1;
  /// CPU: arena per thread in bytes, aligned to 64.
  uint32_t arenaBytes = 0;
  /// Passed behind the kernel's parameters, in this order.
  std::vector<TensorMapFacts> tensorMaps;
  /// The launch may begin before the stream's earlier kernel has ended, for which the kernel's
  /// first instruction waits (NVIDIA's programmatic dependent launch).
  bool waitsForEarlier = false;
  /// All blocks are resident at once, or the launch fails.
  bool isCooperative = false;
};

/// What a kernel may spill, stored and loaded, for the sake of more blocks on a processor: six
/// registers.
inline constexpr uint32_t kFewSpilledBytes = 48;

struct DeviceBinary {
  /// TargetInfo::name of the target it was made for.
  std::string target;
  BinaryFormat format = BinaryFormat::HostObject;
  /// The kernel's symbol in the binary.
  std::string symbol;
  /// The bytes to ship. PTX: the text, ending in a zero byte as the driver wants it.
  std::vector<char> bytes;

  //--- Text captured on request (EmitOptions); empty otherwise ---
  std::string llvmIR, ptx, assembly;
  /// Warnings of the back end and its tools, one line each.
  std::vector<std::string> warnings;

  ResourceUsage resources;
  /// The level at which ptxas made `bytes` where a lower one than was asked for gave better code
  /// (Ptxas.h); 0 elsewhere.
  uint32_t ptxasLevel = 0;
  /// The registers a thread to which ptxas was held so that more blocks run on a processor
  /// (RegisterShare.h); 0 elsewhere.
  uint32_t registerLimit = 0;
  /// None where the kernel has no loop, or its format is a host object.
  std::optional<MainLoop> mainLoop;
  /// Of a wave in its loops of products, else in all of its code, by an estimate
  /// (AMD/IssueEstimate.h), for AMD's kernels with products; 0 elsewhere. By it the compiler
  /// chooses between codes, and no result has it.
  uint64_t cycles = 0;
  /// What these cycles leave other waves no time for on RDNA's vector unit; 0 elsewhere.
  uint64_t busyCycles = 0;
  /// The accesses to scratch memory in those loops, as of registers that are spilled there.
  uint32_t spillsOfLoops = 0;
  /// Lanes of vector registers hold scalars, as there are too few registers for these.
  bool spillsScalars = false;
  /// Another order of the same instructions takes a quarter less time or better, but spills.
  bool isLongerForSpills = false;
  LaunchFacts launch;
  /// Read back from the binary; empty for formats that do not describe them (PTX, host objects).
  std::vector<KernelParameter> parameters;
  /// Size of the whole parameter block in bytes as the binary states it.
  uint32_t parameterBytes = 0;

  /// The same kernel without tensor maps of pointers: launched where the arguments are none that
  /// the maps can describe. Null: such arguments are an error. A fallback has no fallback.
  std::shared_ptr<const DeviceBinary> fallback;
};

} // namespace kiln

#endif // KILN_COMPILER_TARGET_DEVICEBINARY_H

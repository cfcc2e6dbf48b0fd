// Runs a lowered kernel on the CPU, one block at a time, all threads in lock step.
//
// It takes the module at the emulator's cut: the LLVM dialect with NVVM or ROCDL operations and
// tilegpu's predicated accesses. A value is a vector over the block's threads. Threads that branch
// apart are run by the earliest block (in reverse post order) first, so that they meet again where
// control flow does. What the lowering must not do is an error: an access outside registered
// buffers or misaligned, two threads of a block at one byte of shared memory with no barrier
// between, a read of shared memory that nobody wrote, a barrier or shuffle that not all threads
// reach. Matrix instructions follow the vendors' manuals, not the compiler's own layouts.

#ifndef KILN_TESTS_COMPILER_CONVERSION_TILEGPUTOLLVM_BLOCKINTERPRETER_H
#define KILN_TESTS_COMPILER_CONVERSION_TILEGPUTOLLVM_BLOCKINTERPRETER_H

#include "compiler/Target/TargetInfo.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/IR/BuiltinOps.h"
#include "llvm/ADT/DenseMap.h"
#include <array>
#include <string>
#include <vector>

namespace kiln::testing {

/// Counts of a run, over all blocks.
struct RunCounts {
  uint64_t operations = 0, barriers = 0, matrixInstructions = 0, shuffles = 0;
  /// Widest global access, in bytes.
  unsigned widestAccess = 0;
};

class BlockInterpreter {
public:
  /// The module's one llvm.func with a body is the kernel.
  BlockInterpreter(mlir::ModuleOp module, const TargetInfo &target);

  /// Global memory that the kernel may access.
  void registerBuffer(void *data, size_t bytes) {
    buffers.push_back({uint64_t(reinterpret_cast<uintptr_t>(data)), bytes});
  }
  /// Runs the kernel for every block of the grid; each argument as its bits (pointers: the host's).
  /// Returns what went wrong, or nothing.
  std::string run(llvm::ArrayRef<uint64_t> arguments, std::array<uint32_t, 3> grid);

  RunCounts counts;

private:
  /// Component c of thread t is at c * numThreads + t.
  using Lanes = std::vector<uint64_t>;
  struct Buffer {
    uint64_t begin;
    size_t bytes;
  };
  struct SharedByte {
    uint8_t value = 0;
    bool written = false;
    uint32_t writeEpoch = 0, readEpoch = 0;
    int writer = -1, reader = -1; ///< reader -2: several
  };

  void runBlockOfGrid(llvm::ArrayRef<uint64_t> arguments);
  mlir::Block *earliestBlock() const;
  void execute(mlir::Operation &op);
  void terminate(mlir::Operation &op);
  void jump(unsigned thread, mlir::Block *to, mlir::ValueRange passed);

  bool executeArithmetic(mlir::Operation &op);
  bool executeConversion(mlir::Operation &op);
  bool executeMemory(mlir::Operation &op);
  bool executeTarget(mlir::Operation &op);
  bool executeMatrix(mlir::Operation &op);
  bool executeIntrinsic(mlir::Operation &op);

  //--- helpers ---
  Lanes &of(mlir::Value value);
  Lanes &define(mlir::Value value);
  template <typename Function> void forActive(Function function) {
    for (unsigned thread = 0; thread < numThreads; ++thread)
      if (active[thread])
        function(thread);
  }
  /// Each component of each active thread: result = function(operands).
  template <typename Function> void mapComponents(mlir::Operation &op, Function function);
  void fail(mlir::Operation &op, const std::string &why);
  void exchange(mlir::Operation &op, mlir::Value value,
                llvm::function_ref<unsigned(unsigned thread)> sourceLane);
  void barrier(mlir::Operation &op);

  uint64_t loadBytes(mlir::Operation &op, unsigned space, uint64_t address, unsigned bytes,
                     unsigned thread);
  void storeBytes(mlir::Operation &op, unsigned space, uint64_t address, uint64_t value,
                  unsigned bytes, unsigned thread);
  void checkAccess(mlir::Operation &op, unsigned space, uint64_t address, unsigned bytes);
  void loadValue(mlir::Operation &op, mlir::Value result, unsigned space, uint64_t address,
                 unsigned thread);
  void storeValue(mlir::Operation &op, mlir::Value value, unsigned space, uint64_t address,
                  unsigned thread);

  mlir::LLVM::LLVMFuncOp kernel;
  const TargetInfo &target;
  unsigned numThreads;
  std::vector<Buffer> buffers;
  llvm::DenseMap<mlir::Block *, unsigned> order;
  llvm::DenseMap<mlir::Value, Lanes> values;
  std::vector<mlir::Block *> at; ///< of each thread; null: returned
  std::vector<bool> active;
  std::vector<SharedByte> shared;
  uint32_t epoch = 1;
  std::array<uint32_t, 3> grid{}, block{};
  std::array<uint32_t, 16> dispatchPacket{};
  std::string error;
};

} // namespace kiln::testing

#endif

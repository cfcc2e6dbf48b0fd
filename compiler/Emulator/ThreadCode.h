// What the conversions of single operations share: the emulated thread, calls, records of places,
// and memory in which operands are passed.

#ifndef KILN_COMPILER_EMULATOR_THREADCODE_H
#define KILN_COMPILER_EMULATOR_THREADCODE_H

#include "compiler/Target/TargetInfo.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/IR/Builders.h"
#include "mlir/IR/BuiltinOps.h"
#include "mlir/Interfaces/DataLayoutInterfaces.h"
#include <map>

namespace kiln {

/// Parts of a kiln_emu_thread, as byte offsets (runtime/emulator/kiln_emu.h).
enum class ThreadField : int32_t {
  Thread = 0,
  Program = 4,   ///< three i32
  Programs = 16, ///< three i32
  Threads = 28,
  Shared = 32,         ///< a pointer
  DispatchPacket = 40, ///< a pointer
  Counting = 48,
  Rank = 52
};

class ThreadCode {
public:
  /// `function` is already a thread's function: its first argument is the emulated thread.
  ThreadCode(mlir::LLVM::LLVMFuncOp function, const TargetInfo &target);

  const TargetInfo &target() const { return info; }

  //--- Constants, at `b` ---
  mlir::Value i32(mlir::OpBuilder &b, mlir::Location loc, int64_t value) const;
  /// A field of the emulated thread: i32, or a pointer; `index` counts elements.
  mlir::Value field(mlir::OpBuilder &b, mlir::Location loc, ThreadField field, unsigned index = 0);
  /// A call of an emulator's function with the thread and `op`'s place before `arguments`; the
  /// result, or null for `result` null.
  mlir::Value call(mlir::OpBuilder &b, mlir::Operation *op, llvm::StringRef name, mlir::Type result,
                   mlir::ValueRange arguments, bool hasPlace = true);
  /// The address of a constant text that ends in a zero byte.
  mlir::Value text(mlir::OpBuilder &b, mlir::Location loc, llvm::StringRef text);
  /// The address of a constant array of i32.
  mlir::Value words(mlir::OpBuilder &b, mlir::Location loc, llvm::ArrayRef<int32_t> values);

  //--- Places in the source (kiln_emu_site), numbered from 0. ---
  /// The number of `op`'s place.
  unsigned siteOf(mlir::Operation *op);
  unsigned numSites() const { return sites.size(); }
  /// The address of an array of pointers to all of them, at `b`.
  mlir::Value siteArray(mlir::OpBuilder &b, mlir::Location loc) const;

  //--- Operands in memory. A slot is free again after each operation. ---
  static constexpr unsigned slotBytes = 1024;
  mlir::Value slot(unsigned number);
  /// Writes `values`, one after the other, and returns the slot.
  mlir::Value pass(mlir::OpBuilder &b, mlir::Location loc, unsigned number,
                   mlir::ValueRange values);
  uint32_t bytesOf(mlir::Type type) const;

private:
  mlir::Value place(mlir::OpBuilder &b, mlir::Operation *op);
  uint32_t elementBytesOf(mlir::Operation *op) const;
  mlir::LLVM::GlobalOp callerGlobal(llvm::ArrayRef<mlir::FileLineColLoc> chain);
  mlir::LLVM::GlobalOp constantText(llvm::StringRef text);

  mlir::ModuleOp module;
  mlir::LLVM::LLVMFuncOp function;
  const TargetInfo &info;
  mlir::DataLayout layout;
  std::map<std::string, mlir::LLVM::GlobalOp> texts, callers;
  std::map<std::string, unsigned> siteNumbers;
  std::vector<mlir::LLVM::GlobalOp> sites;
  std::map<std::vector<int32_t>, mlir::LLVM::GlobalOp> arrays;
  std::vector<mlir::Value> slots;
};

/// A global of type `type` whose initial value `build` makes.
mlir::LLVM::GlobalOp
constantGlobal(mlir::ModuleOp module, llvm::StringRef name, mlir::Type type,
               llvm::function_ref<mlir::Value(mlir::OpBuilder &, mlir::Location)> build);

/// The emulator's number of an element type that an instruction names; -1: none. `isFnuz`: of 8-bit
/// floats, AMD's own.
int emulatedTypeNamed(llvm::StringRef name, bool isFnuz);

/// An atomic operation of the host for each element of `value`, relaxed; gives what was there.
mlir::Value combineElements(mlir::OpBuilder &b, mlir::Location loc, mlir::LLVM::AtomicBinOp kind,
                            mlir::Value address, mlir::Value value);

/// Each converts the operations of its kind and says so; false: another's. A conversion that fails
/// has reported why.
mlir::FailureOr<bool> emulateExchange(mlir::Operation *op, ThreadCode &code);
mlir::FailureOr<bool> emulateMatrix(mlir::Operation *op, ThreadCode &code);
mlir::FailureOr<bool> emulateWarpGroup(mlir::Operation *op, ThreadCode &code);
mlir::FailureOr<bool> emulateAsync(mlir::Operation *op, ThreadCode &code);
mlir::FailureOr<bool> emulateTensor(mlir::Operation *op, ThreadCode &code);
mlir::FailureOr<bool> emulateMemory(mlir::Operation *op, ThreadCode &code);
mlir::FailureOr<bool> emulateBuffers(mlir::Operation *op, ThreadCode &code);
mlir::FailureOr<bool> emulateArithmetic(mlir::Operation *op, ThreadCode &code);
mlir::FailureOr<bool> emulateMessage(mlir::Operation *op, ThreadCode &code);

} // namespace kiln

#endif

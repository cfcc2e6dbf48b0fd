// What threads print, and assertions that fail.

#include "compiler/Emulator/ThreadCode.h"

#include "compiler/Dialect/TileGPU/TileGPU.h"

using namespace mlir;

namespace kiln {

/// Each value as a word of 64 bits.
static SmallVector<Value> wordsOf(OpBuilder &b, Location loc, ValueRange values) {
  SmallVector<Value> words;
  for (Value value : values)
    words.push_back(
        value.getType().isF64() ? Value(LLVM::BitcastOp::create(b, loc, b.getI64Type(), value))
        : value.getType().isInteger(32) ? Value(LLVM::ZExtOp::create(b, loc, b.getI64Type(), value))
                                        : value);
  return words;
}

FailureOr<bool> emulateMessage(Operation *op, ThreadCode &code) {
  OpBuilder b(op);
  Location loc = op->getLoc();
  if (auto print = dyn_cast<tilegpu::PrintOp>(op)) {
    Value values = code.pass(b, loc, 0, wordsOf(b, loc, print.getValues()));
    code.call(b, op, "kiln_emu_print", {}, {code.text(b, loc, print.getFormat()), values});
  } else if (auto fail = dyn_cast<tilegpu::FailOp>(op)) {
    code.call(b, op, "kiln_emu_fail", {}, code.text(b, loc, fail.getMessage()));
  } else {
    return false;
  }
  op->erase();
  return true;
}

} // namespace kiln

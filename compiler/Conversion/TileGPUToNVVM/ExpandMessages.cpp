// Expansion of target operations: printing and failing are calls that the driver resolves.

#include "compiler/Conversion/TargetLowering/ScalarBuilder.h"
#include "compiler/Conversion/TileGPUToNVVM/NVVMLowering.h"
#include "compiler/Expansion/Messages/Messages.h"

using namespace mlir;

namespace kiln {
namespace {

LLVM::LLVMFuncOp declare(ModuleOp module, StringRef name, Type result, TypeRange parameters) {
  if (auto known = module.lookupSymbol<LLVM::LLVMFuncOp>(name))
    return known;
  OpBuilder top = OpBuilder::atBlockBegin(module.getBody());
  return LLVM::LLVMFuncOp::create(
      top, top.getUnknownLoc(), name,
      LLVM::LLVMFunctionType::get(result, SmallVector<Type>(parameters)));
}

} // namespace

/// The values lie in memory one after the other, each at a multiple of its size.
LogicalResult expandPrintToCall(tilegpu::PrintOp op, OpBuilder &b) {
  Location loc = op.getLoc();
  auto module = op->getParentOfType<ModuleOp>();
  auto kernel = op->getParentOfType<LLVM::LLVMFuncOp>();
  Type pointer = LLVM::LLVMPointerType::get(b.getContext());
  auto record = LLVM::LLVMStructType::getLiteral(b.getContext(),
                                                 SmallVector<Type>(op.getValues().getTypes()));
  OpBuilder entry = OpBuilder::atBlockBegin(&kernel.getBody().front());
  Value one = LLVM::ConstantOp::create(entry, loc, b.getI32Type(), b.getI32IntegerAttr(1));
  Value memory = LLVM::AllocaOp::create(entry, loc, pointer, record, one, /*alignment=*/8);
  for (auto [index, value] : llvm::enumerate(op.getValues())) {
    Value address =
        LLVM::GEPOp::create(b, loc, pointer, record, memory,
                            ArrayRef<LLVM::GEPArg>{LLVM::GEPArg(0), LLVM::GEPArg(int32_t(index))});
    LLVM::StoreOp::create(b, loc, value, address);
  }
  LLVM::LLVMFuncOp print = declare(module, "vprintf", b.getI32Type(), {pointer, pointer});
  LLVM::CallOp::create(b, loc, print,
                       ValueRange{textAddress(b, loc, module, op.getFormat()), memory});
  op.erase();
  return success();
}

LogicalResult expandFailToCall(tilegpu::FailOp op, OpBuilder &b) {
  Location loc = op.getLoc();
  auto module = op->getParentOfType<ModuleOp>();
  auto kernel = op->getParentOfType<LLVM::LLVMFuncOp>();
  Type pointer = LLVM::LLVMPointerType::get(b.getContext());
  auto place = loc->findInstanceOf<FileLineColLoc>();
  Value line = LLVM::ConstantOp::create(b, loc, b.getI32Type(),
                                        b.getI32IntegerAttr(place ? int32_t(place.getLine()) : 0));
  Value characterBytes = LLVM::ConstantOp::create(b, loc, b.getI64Type(), b.getI64IntegerAttr(1));
  LLVM::LLVMFuncOp fail = declare(module, "__assertfail", LLVM::LLVMVoidType::get(b.getContext()),
                                  {pointer, pointer, b.getI32Type(), pointer, b.getI64Type()});
  LLVM::CallOp::create(
      b, loc, fail,
      ValueRange{textAddress(b, loc, module, op.getMessage()),
                 textAddress(b, loc, module, place ? place.getFilename().strref() : "unknown"),
                 line, textAddress(b, loc, module, kernel.getName()), characterBytes});
  op.erase();
  return success();
}

} // namespace kiln

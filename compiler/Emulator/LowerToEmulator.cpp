#include "compiler/Emulator/LowerToEmulator.h"

#include "compiler/Conversion/TargetLowering/TargetLowering.h"
#include "compiler/Emulator/BasicBlocks.h"
#include "compiler/Emulator/ThreadCode.h"
#include "compiler/Target/MemoryFeatures.h"
#include "mlir/IR/AttrTypeSubElements.h"

using namespace mlir;

namespace kiln {
namespace {

/// LLVM, "User Guide for AMDGPU Backend", "Address Spaces".
constexpr unsigned bufferResourceSpace = 8;

constexpr llvm::StringLiteral threadSymbol = "kiln_thread", kernelSymbol = "kiln_kernel";

/// The kernel's function becomes `kiln_thread(thread, params)`, which reads its arguments as a
/// driver does: the bytes that params[i] points to. What is passed by value stays there.
LLVM::LLVMFuncOp makeThreadFunction(LLVM::LLVMFuncOp kernel) {
  MLIRContext *context = kernel.getContext();
  Location loc = kernel.getLoc();
  auto pointer = LLVM::LLVMPointerType::get(context);
  OpBuilder b(kernel);
  auto function = LLVM::LLVMFuncOp::create(
      b, loc, threadSymbol,
      LLVM::LLVMFunctionType::get(LLVM::LLVMVoidType::get(context), {pointer, pointer}),
      LLVM::Linkage::Internal);
  function.getBody().takeBody(kernel.getBody());
  Block &entry = function.getBody().front();
  unsigned count = entry.getNumArguments();
  entry.addArguments({pointer, pointer}, {loc, loc});
  b.setInsertionPointToStart(&entry);
  for (unsigned index = 0; index < count; ++index) {
    BlockArgument argument = entry.getArgument(index);
    Value address = LLVM::GEPOp::create(b, loc, pointer, pointer, entry.getArgument(count + 1),
                                        ArrayRef<LLVM::GEPArg>{LLVM::GEPArg(int32_t(index))});
    Value place = LLVM::LoadOp::create(b, loc, pointer, address);
    bool isByValue = kernel.getArgAttr(index, LLVM::LLVMDialect::getByValAttrName()) != nullptr;
    argument.replaceAllUsesWith(
        isByValue ? place : LLVM::LoadOp::create(b, loc, argument.getType(), place).getResult());
  }
  entry.eraseArguments(0, count);
  kernel.erase();
  return function;
}

/// A kiln_emu_kernel.
LLVM::GlobalOp describeKernel(ModuleOp module, LLVM::LLVMFuncOp thread, ThreadCode &code,
                              const EmulatedKernel &kernel, const BlockTables &tables,
                              int64_t staticShared) {
  MLIRContext *context = module.getContext();
  Builder types(context);
  Type pointer = LLVM::LLVMPointerType::get(context), word = types.getI32Type();
  auto type =
      LLVM::LLVMStructType::getLiteral(context, {pointer, pointer, word, word, word, word, word,
                                                 word, word, word, pointer, pointer, pointer});
  std::string name = kernel.symbol.str() + '\0';
  OpBuilder top = OpBuilder::atBlockBegin(module.getBody());
  auto text = LLVM::GlobalOp::create(
      top, top.getUnknownLoc(), LLVM::LLVMArrayType::get(types.getI8Type(), name.size()),
      /*isConstant=*/true, LLVM::Linkage::Internal, "kiln_kernel_name", types.getStringAttr(name));
  return constantGlobal(module, kernelSymbol, type, [&](OpBuilder &b, Location loc) {
    auto number = [&](int64_t value) {
      return Value(LLVM::ConstantOp::create(b, loc, word, b.getI32IntegerAttr(int32_t(value))));
    };
    Value parts[] = {LLVM::AddressOfOp::create(b, loc, thread),
                     LLVM::AddressOfOp::create(b, loc, text),
                     number(code.target().warpSize),
                     number(code.target().sharedBanks),
                     number(kernel.threadsPerBlock),
                     number(staticShared),
                     number(code.numSites()),
                     number(tables.numBlocks),
                     number(code.target().cumulativeFences),
                     number(memoryFeaturesOf(code.target()).loadCaches),
                     code.siteArray(b, loc),
                     code.words(b, loc, tables.blocks),
                     code.words(b, loc, tables.instructions)};
    Value record = LLVM::UndefOp::create(b, loc, type);
    for (auto [index, part] : llvm::enumerate(parts))
      record = LLVM::InsertValueOp::create(b, loc, record, part, int64_t(index));
    return record;
  });
}

/// `SYMBOL(params, program_id, num_programs, launch)`, which hands the block to the emulator.
void makeHostFunction(ModuleOp module, StringRef symbol, LLVM::GlobalOp record) {
  MLIRContext *context = module.getContext();
  OpBuilder b = OpBuilder::atBlockEnd(module.getBody());
  Location loc = b.getUnknownLoc();
  Type pointer = LLVM::LLVMPointerType::get(context);
  Type nothing = LLVM::LLVMVoidType::get(context);
  auto run =
      LLVM::LLVMFuncOp::create(b, loc, "kiln_emu_run_block",
                               LLVM::LLVMFunctionType::get(nothing, SmallVector<Type>(5, pointer)));
  auto function = LLVM::LLVMFuncOp::create(
      b, loc, symbol, LLVM::LLVMFunctionType::get(nothing, SmallVector<Type>(4, pointer)));
  b.setInsertionPointToStart(function.addEntryBlock(b));
  SmallVector<Value> arguments{LLVM::AddressOfOp::create(b, loc, record)};
  llvm::append_range(arguments, function.getArguments());
  LLVM::CallOp::create(b, loc, run, arguments);
  LLVM::ReturnOp::create(b, loc, ValueRange());
}

/// The symbol of shared memory becomes the block's own; its static size in bytes.
int64_t replaceSharedMemory(ModuleOp module, LLVM::LLVMFuncOp function, ThreadCode &code) {
  auto global = module.lookupSymbol<LLVM::GlobalOp>(sharedMemorySymbol);
  if (!global)
    return 0;
  int64_t bytes = cast<LLVM::LLVMArrayType>(global.getGlobalType()).getNumElements();
  SmallVector<LLVM::AddressOfOp> uses;
  function.walk([&](LLVM::AddressOfOp op) {
    if (op.getGlobalName() == sharedMemorySymbol)
      uses.push_back(op);
  });
  for (LLVM::AddressOfOp op : uses) {
    // Of the same type until address spaces go: accesses are told apart by it.
    OpBuilder b(op);
    Value base = code.field(b, op.getLoc(), ThreadField::Shared);
    op.replaceAllUsesWith(Value(LLVM::AddrSpaceCastOp::create(b, op.getLoc(), op.getType(), base)));
    op.erase();
  }
  global.erase();
  return bytes;
}

LogicalResult convertOperation(Operation *op, ThreadCode &code) {
  for (auto convert : {emulateExchange, emulateMatrix, emulateWarpGroup, emulateAsync,
                       emulateTensor, emulateMemory, emulateArithmetic, emulateMessage}) {
    FailureOr<bool> done = convert(op, code);
    if (failed(done) || *done)
      return success(succeeded(done));
  }
  bool isHostCode = isa<LLVM::LLVMDialect>(op->getDialect()) &&
                    !isa<LLVM::CallIntrinsicOp, LLVM::InlineAsmOp>(op);
  if (isHostCode)
    return success();
  auto intrinsic = dyn_cast<LLVM::CallIntrinsicOp>(op);
  return op->emitError() << "'"
                         << (intrinsic ? intrinsic.getIntrin() : op->getName().getStringRef())
                         << "' is not emulated";
}

/// Every pointer a host pointer, a buffer resource its 128 bits.
void flattenAddressSpaces(ModuleOp module) {
  AttrTypeReplacer replacer;
  replacer.addReplacement([](LLVM::LLVMPointerType type) -> std::optional<Type> {
    if (type.getAddressSpace() == bufferResourceSpace)
      return IntegerType::get(type.getContext(), 128);
    return LLVM::LLVMPointerType::get(type.getContext());
  });
  replacer.recursivelyReplaceElementsIn(module, /*replaceAttrs=*/true, /*replaceLocs=*/false,
                                        /*replaceTypes=*/true);
  SmallVector<Operation *> casts;
  module.walk([&](Operation *op) {
    if (isa<LLVM::AddrSpaceCastOp, LLVM::PtrToIntOp, LLVM::IntToPtrOp>(op) &&
        op->getOperand(0).getType() == op->getResult(0).getType())
      casts.push_back(op);
  });
  for (Operation *op : casts) {
    op->replaceAllUsesWith(op->getOperands());
    op->erase();
  }
}

} // namespace

LogicalResult lowerToEmulator(ModuleOp module, const TargetInfo &target,
                              const EmulatedKernel &kernel) {
  auto function = module.lookupSymbol<LLVM::LLVMFuncOp>(kernel.symbol);
  eraseUnused(function);
  Operation *first = &function.getBody().front().front();
  LLVM::LLVMFuncOp thread = makeThreadFunction(function);
  // Arguments first: the first argument is the thread's.
  ThreadCode code(thread, target);
  BlockTables tables = countBasicBlocks(thread, first, code);
  SmallVector<Operation *> operations;
  thread.getBody().walk([&](Operation *op) { operations.push_back(op); });
  int64_t staticShared = 0;
  for (Operation *op : operations)
    if (!isa<LLVM::AddressOfOp>(op) && failed(convertOperation(op, code)))
      return failure();
  staticShared = replaceSharedMemory(module, thread, code);
  guardCounting(thread, code);
  makeHostFunction(module, kernel.symbol,
                   describeKernel(module, thread, code, kernel, tables, staticShared));
  flattenAddressSpaces(module);
  return success();
}

} // namespace kiln

#include "compiler/Emulator/ThreadCode.h"

using namespace mlir;

namespace kiln {

static constexpr unsigned slotBytes = 512;

static LLVM::LLVMPointerType pointerType(MLIRContext *context) {
  return LLVM::LLVMPointerType::get(context);
}

ThreadCode::ThreadCode(LLVM::LLVMFuncOp function, const TargetInfo &target)
    : module(function->getParentOfType<ModuleOp>()), function(function), info(target),
      layout(module) {}

Value ThreadCode::i32(OpBuilder &b, Location loc, int64_t value) const {
  return LLVM::ConstantOp::create(b, loc, b.getI32Type(), b.getI32IntegerAttr(int32_t(value)));
}

uint32_t ThreadCode::bytesOf(Type type) const { return layout.getTypeSize(type); }

Value ThreadCode::field(OpBuilder &b, Location loc, ThreadField field, unsigned index) {
  bool isPointer = field == ThreadField::Shared || field == ThreadField::DispatchPacket;
  Type type = isPointer ? Type(pointerType(b.getContext())) : b.getI32Type();
  int32_t offset = int32_t(field) + int32_t(index) * 4;
  Value address =
      LLVM::GEPOp::create(b, loc, pointerType(b.getContext()), b.getI8Type(),
                          function.getArgument(0), ArrayRef<LLVM::GEPArg>{LLVM::GEPArg(offset)});
  return LLVM::LoadOp::create(b, loc, type, address, isPointer ? 8 : 4);
}

Value ThreadCode::slot(unsigned number) {
  while (slots.size() <= number) {
    OpBuilder b = OpBuilder::atBlockBegin(&function.getBody().front());
    Type array = LLVM::LLVMArrayType::get(b.getI8Type(), slotBytes);
    Value one = i32(b, function.getLoc(), 1);
    slots.push_back(LLVM::AllocaOp::create(b, function.getLoc(), pointerType(b.getContext()), array,
                                           one, /*alignment=*/64));
  }
  return slots[number];
}

Value ThreadCode::pass(OpBuilder &b, Location loc, unsigned number, ValueRange values) {
  Value base = slot(number);
  int32_t offset = 0;
  for (Value value : values) {
    Value address = base;
    if (offset)
      address = LLVM::GEPOp::create(b, loc, base.getType(), b.getI8Type(), base,
                                    ArrayRef<LLVM::GEPArg>{LLVM::GEPArg(offset)});
    LLVM::StoreOp::create(b, loc, value, address);
    offset += int32_t(bytesOf(value.getType()));
    assert(offset <= int32_t(slotBytes) && "the operands of one operation fit a slot");
  }
  return base;
}

LLVM::GlobalOp constantGlobal(ModuleOp module, StringRef name, Type type,
                              llvm::function_ref<Value(OpBuilder &, Location)> build) {
  OpBuilder b = OpBuilder::atBlockBegin(module.getBody());
  Location loc = b.getUnknownLoc();
  auto global = LLVM::GlobalOp::create(b, loc, type, /*isConstant=*/true, LLVM::Linkage::Internal,
                                       name, Attribute(), /*alignment=*/8);
  b.createBlock(&global.getInitializerRegion());
  LLVM::ReturnOp::create(b, loc, build(b, loc));
  return global;
}

LLVM::GlobalOp ThreadCode::constantText(StringRef text) {
  LLVM::GlobalOp &global = texts[text.str()];
  if (!global) {
    OpBuilder b = OpBuilder::atBlockBegin(module.getBody());
    std::string bytes = text.str() + '\0';
    global = LLVM::GlobalOp::create(
        b, b.getUnknownLoc(), LLVM::LLVMArrayType::get(b.getI8Type(), bytes.size()),
        /*isConstant=*/true, LLVM::Linkage::Internal, "kiln_text_" + std::to_string(texts.size()),
        b.getStringAttr(bytes));
  }
  return global;
}

Value ThreadCode::words(OpBuilder &b, Location loc, ArrayRef<int32_t> values) {
  LLVM::GlobalOp &global = arrays[values.vec()];
  if (!global) {
    OpBuilder top = OpBuilder::atBlockBegin(module.getBody());
    auto type = LLVM::LLVMArrayType::get(b.getI32Type(), values.size());
    global = LLVM::GlobalOp::create(
        top, top.getUnknownLoc(), type, /*isConstant=*/true, LLVM::Linkage::Internal,
        "kiln_words_" + std::to_string(arrays.size()), b.getI32TensorAttr(values));
  }
  return LLVM::AddressOfOp::create(b, loc, global);
}

/// The innermost position of a location in a file.
static FileLineColLoc positionOf(Location location) {
  return location->findInstanceOf<FileLineColLoc>();
}

Value ThreadCode::place(OpBuilder &b, Operation *op) {
  FileLineColLoc position = positionOf(op->getLoc());
  std::string file = position ? position.getFilename().str() : "";
  int32_t line = position ? position.getLine() : 0, column = position ? position.getColumn() : 0;
  std::string name = op->getName().getStringRef().str();
  if (auto intrinsic = dyn_cast<LLVM::CallIntrinsicOp>(op))
    name = intrinsic.getIntrin().str();
  LLVM::GlobalOp &global =
      places[name + '\n' + file + '\n' + std::to_string(line) + ':' + std::to_string(column)];
  if (!global) {
    LLVM::GlobalOp nameText = constantText(name), fileText = constantText(file);
    Type pointer = pointerType(b.getContext()), word = b.getI32Type();
    auto type = LLVM::LLVMStructType::getLiteral(b.getContext(), {pointer, pointer, word, word});
    global = constantGlobal(module, "kiln_place_" + std::to_string(places.size()), type,
                            [&](OpBuilder &inner, Location loc) {
                              Value parts[] = {LLVM::AddressOfOp::create(inner, loc, nameText),
                                               LLVM::AddressOfOp::create(inner, loc, fileText),
                                               i32(inner, loc, line), i32(inner, loc, column)};
                              Value record = LLVM::UndefOp::create(inner, loc, type);
                              for (auto [index, part] : llvm::enumerate(parts))
                                record = LLVM::InsertValueOp::create(inner, loc, record, part,
                                                                     int64_t(index));
                              return record;
                            });
  }
  return LLVM::AddressOfOp::create(b, op->getLoc(), global);
}

Value ThreadCode::call(OpBuilder &b, Operation *op, StringRef name, Type result,
                       ValueRange arguments, bool hasPlace) {
  SmallVector<Value> all{function.getArgument(0)};
  if (hasPlace)
    all.push_back(place(b, op));
  all.append(arguments.begin(), arguments.end());
  auto callee = module.lookupSymbol<LLVM::LLVMFuncOp>(name);
  if (!callee) {
    SmallVector<Type> types;
    for (Value value : all) {
      Type type = value.getType();
      types.push_back(isa<LLVM::LLVMPointerType>(type) ? pointerType(b.getContext()) : type);
    }
    Type returned = result ? result : Type(LLVM::LLVMVoidType::get(b.getContext()));
    OpBuilder top = OpBuilder::atBlockBegin(module.getBody());
    callee = LLVM::LLVMFuncOp::create(top, top.getUnknownLoc(), name,
                                      LLVM::LLVMFunctionType::get(returned, types));
  }
  auto called = LLVM::CallOp::create(b, op->getLoc(), callee, all);
  return result ? called.getResult() : Value();
}

} // namespace kiln

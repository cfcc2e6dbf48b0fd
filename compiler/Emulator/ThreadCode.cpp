#include "compiler/Emulator/ThreadCode.h"

#include "compiler/Expansion/AtomicInstructions/AtomicInstructions.h"

#include "compiler/Dialect/TileGPU/TileGPU.h"
#include "compiler/Emulator/InstructionClass.h"
#include "mlir/Dialect/LLVMIR/NVVMDialect.h"
#include "mlir/Dialect/LLVMIR/ROCDLDialect.h"
#include "mlir/IR/TypeUtilities.h"
#include "llvm/ADT/TypeSwitch.h"
#include <variant>

using namespace mlir;

namespace kiln {

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

Value ThreadCode::text(OpBuilder &b, Location loc, StringRef text) {
  return LLVM::AddressOfOp::create(b, loc, constantText(text));
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

/// The positions of a location in files: its own, then those of the calls around it.
static void appendPositions(Location location, SmallVectorImpl<FileLineColLoc> &chain) {
  if (auto position = dyn_cast<FileLineColLoc>(location)) {
    chain.push_back(position);
  } else if (auto named = dyn_cast<NameLoc>(location)) {
    appendPositions(named.getChildLoc(), chain);
  } else if (auto call = dyn_cast<CallSiteLoc>(location)) {
    appendPositions(call.getCallee(), chain);
    appendPositions(call.getCaller(), chain);
  } else if (auto fused = dyn_cast<FusedLoc>(location)) {
    for (Location part : fused.getLocations())
      if (chain.empty())
        appendPositions(part, chain);
  }
}

static std::string keyOf(ArrayRef<FileLineColLoc> chain) {
  std::string key;
  for (FileLineColLoc position : chain)
    key += position.getFilename().str() + ':' + std::to_string(position.getLine()) + ':' +
           std::to_string(position.getColumn()) + '\n';
  return key;
}

/// A struct of constants: texts and globals by their addresses, null for a null global.
using RecordPart = std::variant<LLVM::GlobalOp, int32_t>;
static LLVM::GlobalOp constantRecord(ModuleOp module, StringRef name, ArrayRef<RecordPart> parts) {
  MLIRContext *context = module.getContext();
  SmallVector<Type> types;
  for (const RecordPart &part : parts)
    types.push_back(std::holds_alternative<int32_t>(part)
                        ? Type(IntegerType::get(context, 32))
                        : Type(LLVM::LLVMPointerType::get(context)));
  auto type = LLVM::LLVMStructType::getLiteral(context, types);
  return constantGlobal(module, name, type, [&](OpBuilder &b, Location loc) {
    Value record = LLVM::UndefOp::create(b, loc, type);
    for (auto [index, part] : llvm::enumerate(parts)) {
      Value value;
      if (auto *number = std::get_if<int32_t>(&part))
        value = LLVM::ConstantOp::create(b, loc, types[index], b.getI32IntegerAttr(*number));
      else if (auto global = std::get<LLVM::GlobalOp>(part))
        value = LLVM::AddressOfOp::create(b, loc, global);
      else
        value = LLVM::ZeroOp::create(b, loc, types[index]);
      record = LLVM::InsertValueOp::create(b, loc, record, value, int64_t(index));
    }
    return record;
  });
}

/// The kiln_emulator_position of a chain of calls, innermost first; null for an empty one.
LLVM::GlobalOp ThreadCode::callerGlobal(ArrayRef<FileLineColLoc> chain) {
  if (chain.empty())
    return {};
  std::string key = keyOf(chain);
  if (auto known = callers.find(key); known != callers.end())
    return known->second;
  LLVM::GlobalOp outer = callerGlobal(chain.drop_front());
  FileLineColLoc position = chain.front();
  return callers[key] =
             constantRecord(module, "kiln_caller_" + std::to_string(callers.size()),
                            {constantText(position.getFilename().strref()),
                             int32_t(position.getLine()), int32_t(position.getColumn()), outer});
}

/// What a buffer's words are before or behind the access.
static Type transferredType(ROCDL::RawPtrBufferLoadOp load) {
  auto cast = load->hasOneUse() ? dyn_cast<LLVM::BitcastOp>(*load->user_begin()) : nullptr;
  return cast ? cast.getType() : load.getType();
}
static Type transferredType(ROCDL::RawPtrBufferStoreOp store) {
  auto cast = store.getVdata().getDefiningOp<LLVM::BitcastOp>();
  return cast ? cast.getArg().getType() : store.getVdata().getType();
}

/// Of the elements that an access to memory loads or stores; 0 for other operations.
uint32_t ThreadCode::elementBytesOf(Operation *op) const {
  Type type =
      llvm::TypeSwitch<Operation *, Type>(op)
          .Case<tilegpu::GlobalLoadOp, LLVM::LoadOp>([](auto load) { return load.getType(); })
          .Case<tilegpu::GlobalStoreOp, tilegpu::GlobalReduceOp, LLVM::StoreOp>(
              [](auto store) { return store.getValue().getType(); })
          .Case<ROCDL::RawPtrBufferLoadOp, ROCDL::RawPtrBufferStoreOp>(
              [](auto access) { return transferredType(access); })
          .Case<LLVM::AtomicRMWOp, LLVM::AtomicCmpXchgOp>(
              [](auto atomic) { return atomic.getVal().getType(); })
          .Case([](LLVM::CallIntrinsicOp call) {
            return bufferInstructionOf(call.getIntrin()) ? call.getArgs()[0].getType() : Type();
          })
          .Default([](Operation *) { return Type(); });
  return type ? bytesOf(getElementTypeOrSelf(type)) : 0;
}

/// The type of a matrix instruction's operands where its name has none: ".f16".
static std::string matrixTypeOf(Operation *op) {
  if (auto product = dyn_cast<tilegpu::WgmmaOp>(op))
    return ("." + product.getOperand()).str();
  if (auto product = dyn_cast<NVVM::MmaOp>(op))
    if (auto type = product.getMultiplicandAPtxType())
      return ("." + NVVM::stringifyMMATypes(*type)).str();
  return "";
}

unsigned ThreadCode::siteOf(Operation *op) {
  SmallVector<FileLineColLoc> chain;
  appendPositions(op->getLoc(), chain);
  std::string name = op->getName().getStringRef().str();
  if (auto intrinsic = dyn_cast<LLVM::CallIntrinsicOp>(op))
    name = intrinsic.getIntrin().str();
  // Reports name what the user wrote.
  if (isa<tilegpu::FailOp>(op))
    name = "tl.device_assert";
  InstructionClass kind = instructionOf(op).value_or(Instruction()).kind;
  name += matrixTypeOf(op);
  auto [known, isNew] = siteNumbers.try_emplace(
      name + '\n' + std::to_string(int(kind)) + '\n' + keyOf(chain), sites.size());
  if (!isNew)
    return known->second;
  FileLineColLoc position = chain.empty() ? FileLineColLoc() : chain.front();
  sites.push_back(constantRecord(
      module, "kiln_site_" + std::to_string(sites.size()),
      {constantText(name), constantText(position ? position.getFilename().strref() : ""),
       int32_t(position ? position.getLine() : 0), int32_t(position ? position.getColumn() : 0),
       int32_t(sites.size()), int32_t(kind == InstructionClass::Matrix), constantText(nameOf(kind)),
       callerGlobal(ArrayRef(chain).drop_front(chain.empty() ? 0 : 1)), int32_t(elementBytesOf(op)),
       0}));
  return known->second;
}

Value ThreadCode::place(OpBuilder &b, Operation *op) {
  return LLVM::AddressOfOp::create(b, op->getLoc(), sites[siteOf(op)]);
}

Value ThreadCode::siteArray(OpBuilder &b, Location loc) const {
  auto type = LLVM::LLVMArrayType::get(pointerType(b.getContext()), sites.size());
  LLVM::GlobalOp array =
      constantGlobal(module, "kiln_sites", type, [&](OpBuilder &inner, Location at) {
        Value all = LLVM::UndefOp::create(inner, at, type);
        for (auto [index, site] : llvm::enumerate(sites))
          all = LLVM::InsertValueOp::create(
              inner, at, all, LLVM::AddressOfOp::create(inner, at, site), int64_t(index));
        return all;
      });
  return LLVM::AddressOfOp::create(b, loc, array);
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

Value combineElements(OpBuilder &b, Location loc, LLVM::AtomicBinOp kind, Value address,
                      Value value) {
  auto combineAt = [&](Value place, Value part) -> Value {
    return LLVM::AtomicRMWOp::create(b, loc, kind, place, part, LLVM::AtomicOrdering::monotonic);
  };
  auto vector = dyn_cast<VectorType>(value.getType());
  if (!vector)
    return combineAt(address, value);
  Value old = LLVM::PoisonOp::create(b, loc, vector);
  for (int32_t index = 0; index < int32_t(vector.getNumElements()); ++index) {
    Value place = LLVM::GEPOp::create(b, loc, address.getType(), vector.getElementType(), address,
                                      ArrayRef<LLVM::GEPArg>{index});
    Value number = LLVM::ConstantOp::create(b, loc, b.getI32IntegerAttr(index));
    Value part = LLVM::ExtractElementOp::create(b, loc, value, number);
    old = LLVM::InsertElementOp::create(b, loc, old, combineAt(place, part), number);
  }
  return old;
}

} // namespace kiln

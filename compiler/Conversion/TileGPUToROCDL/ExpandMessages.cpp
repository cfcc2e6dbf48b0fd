// Expansion of target operations: what a kernel prints, and what it says before it stops, are
// records in a buffer of the runtime's (runtime/hip_messages.h), which the host empties when the
// launch has ended.
//
// A record's room is taken by an addition at the scope of the whole system; its first word, which
// makes it one, is written behind all others. The text is written with it, word by word, so that
// the host need not look into the binary. Refused: the hostcalls of HIP's own printf, by which a
// kernel waits for the host; they need a hidden argument that the vendor's compiler and runtime
// agree on.
//
// A failed assertion ends its wave. A trap would end the process in the driver, before anybody has
// read why.

#include "compiler/Conversion/TileGPUToROCDL/ROCDLLowering.h"

#include "compiler/Conversion/TargetLowering/ScalarBuilder.h"
#include "compiler/Expansion/Messages/Messages.h"
#include "mlir/Dialect/LLVMIR/ROCDLDialect.h"
#include "runtime/hip_messages.h"
#include "llvm/Support/Endian.h"
#include "llvm/Support/SaveAndRestore.h"

using namespace mlir;

namespace kiln {
namespace {

constexpr llvm::StringLiteral reserveSymbol = "kiln_reserve_message";
constexpr unsigned globalSpace = 1;
constexpr int64_t wordBytes = 8;

class RecordBuilder {
public:
  RecordBuilder(OpBuilder &b, Location loc, ModuleOp module)
      : b(b), loc(loc), module(module),
        pointer(LLVM::LLVMPointerType::get(b.getContext(), globalSpace)) {}

  Value i64(int64_t value) {
    return LLVM::ConstantOp::create(b, loc, b.getI64Type(), b.getI64IntegerAttr(value));
  }
  Value behind(Value base, Value bytes) {
    return LLVM::GEPOp::create(b, loc, pointer, b.getI8Type(), base, bytes);
  }
  Value addAtSystem(Value address, Value number) {
    return LLVM::AtomicRMWOp::create(b, loc, LLVM::AtomicBinOp::add, address, number,
                                     LLVM::AtomicOrdering::monotonic);
  }
  /// Seen by the host behind all that the thread wrote before.
  void publish(Value word, Value address) {
    LLVM::FenceOp::create(b, loc, LLVM::AtomicOrdering::release);
    LLVM::StoreOp::create(b, loc, word, address, wordBytes, /*isVolatile=*/false,
                          /*isNonTemporal=*/false, /*isInvariantGroup=*/false,
                          LLVM::AtomicOrdering::monotonic);
  }
  static int64_t header(int64_t bytes, uint32_t kind) { return bytes | int64_t(kind) << 32; }

  /// The address of room for so many bytes; null: there is none.
  Value reserve(int64_t bytes) {
    return LLVM::CallOp::create(b, loc, reserveFunction(), ValueRange(i64(bytes))).getResult();
  }

  /// `words` and the text behind the record's own two words, if there is room. What follows goes on
  /// in the block that is given back.
  Block *write(Operation *op, uint32_t kind, ArrayRef<Value> words, StringRef text) {
    std::string padded = text.str();
    padded.resize(llvm::alignTo(text.size() + 1, wordBytes));
    int64_t bytes = (2 + int64_t(words.size())) * wordBytes + int64_t(padded.size());
    Value record = reserve(bytes);
    Value hasRoom = LLVM::ICmpOp::create(b, loc, LLVM::ICmpPredicate::ne, record,
                                         LLVM::ZeroOp::create(b, loc, pointer));
    Block *after = branchAround(op, hasRoom, b);
    int64_t place = wordBytes;
    auto store = [&](Value word) {
      LLVM::StoreOp::create(b, loc, word, behind(record, i64(place)), wordBytes);
      place += wordBytes;
    };
    store(i64(int64_t(words.size())));
    for (Value word : words)
      store(word);
    for (size_t at = 0; at < padded.size(); at += wordBytes)
      store(i64(int64_t(llvm::support::endian::read64le(padded.data() + at))));
    publish(i64(header(bytes, kind)), record);
    LLVM::BrOp::create(b, loc, ValueRange(), after);
    return after;
  }

private:
  LLVM::LLVMFuncOp reserveFunction() {
    if (auto known = module.lookupSymbol<LLVM::LLVMFuncOp>(reserveSymbol))
      return known;
    OpBuilder::InsertionGuard guard(b);
    b.setInsertionPointToStart(module.getBody());
    // The place of one message, inlined as it may be, is not that of all.
    llvm::SaveAndRestore nowhere(loc, Location(b.getUnknownLoc()));
    auto variable =
        LLVM::GlobalOp::create(b, loc, pointer, /*isConstant=*/false, LLVM::Linkage::External,
                               KILN_HIP_MESSAGES_SYMBOL, Attribute(),
                               /*alignment=*/8, globalSpace);
    auto function = LLVM::LLVMFuncOp::create(b, loc, reserveSymbol,
                                             LLVM::LLVMFunctionType::get(pointer, {b.getI64Type()}),
                                             LLVM::Linkage::Internal);
    function.setPassthroughAttr(b.getStrArrayAttr({"alwaysinline"}));
    b.createBlock(&variable.getInitializerRegion());
    LLVM::ReturnOp::create(b, loc, Value(LLVM::ZeroOp::create(b, loc, pointer)));
    writeReserve(function, variable);
    return function;
  }

  void writeReserve(LLVM::LLVMFuncOp function, LLVM::GlobalOp variable) {
    Block *entry = function.addEntryBlock(b);
    Region &body = function.getBody();
    Block *found = b.createBlock(&body, body.end()), *room = b.createBlock(&body, body.end()),
          *full = b.createBlock(&body, body.end()), *last = b.createBlock(&body, body.end()),
          *none = b.createBlock(&body, body.end());
    Value bytes = entry->getArgument(0);
    auto compare = [&](LLVM::ICmpPredicate predicate, Value left, Value right) -> Value {
      return LLVM::ICmpOp::create(b, loc, predicate, left, right);
    };
    auto add = [&](Value left, Value right) -> Value {
      return LLVM::AddOp::create(b, loc, left, right);
    };

    b.setInsertionPointToEnd(entry);
    Value buffer = LLVM::LoadOp::create(
        b, loc, pointer, Value(LLVM::AddressOfOp::create(b, loc, variable)), wordBytes);
    Value null = LLVM::ZeroOp::create(b, loc, pointer);
    LLVM::CondBrOp::create(b, loc, compare(LLVM::ICmpPredicate::ne, buffer, null), found, none);

    b.setInsertionPointToEnd(found);
    Value at = addAtSystem(buffer, bytes), most = i64(KILN_HIP_MESSAGES_RECORDS);
    Value place = behind(buffer, add(at, i64(KILN_HIP_MESSAGES_HEAD)));
    LLVM::CondBrOp::create(b, loc, compare(LLVM::ICmpPredicate::ule, add(at, bytes), most), room,
                           full);

    b.setInsertionPointToEnd(room);
    LLVM::ReturnOp::create(b, loc, place);

    b.setInsertionPointToEnd(full);
    addAtSystem(behind(buffer, i64(wordBytes)), i64(1));
    Value end = add(at, i64(wordBytes));
    LLVM::CondBrOp::create(b, loc, compare(LLVM::ICmpPredicate::ule, end, most), last, none);

    b.setInsertionPointToEnd(last);
    publish(i64(header(wordBytes, KILN_HIP_MESSAGE_NONE)), place);
    LLVM::BrOp::create(b, loc, ValueRange(), none);

    b.setInsertionPointToEnd(none);
    LLVM::ReturnOp::create(b, loc, null);
  }

  OpBuilder &b;
  Location loc;
  ModuleOp module;
  Type pointer;
};

/// As words of 64 bits.
SmallVector<Value> wordsOf(OpBuilder &b, Location loc, ValueRange values) {
  SmallVector<Value> words;
  for (Value value : values) {
    Type type = value.getType();
    words.push_back(
        type.isF64()         ? LLVM::BitcastOp::create(b, loc, b.getI64Type(), value).getResult()
        : type.isInteger(32) ? LLVM::ZExtOp::create(b, loc, b.getI64Type(), value).getResult()
                             : value);
  }
  return words;
}

} // namespace

LogicalResult expandPrintToRecord(tilegpu::PrintOp op, OpBuilder &b) {
  Location loc = op.getLoc();
  RecordBuilder record(b, loc, op->getParentOfType<ModuleOp>());
  record.write(op, KILN_HIP_MESSAGE_LINE, wordsOf(b, loc, op.getValues()), op.getFormat());
  op.erase();
  return success();
}

LogicalResult expandFailToRecord(tilegpu::FailOp op, OpBuilder &b) {
  Location loc = op.getLoc();
  std::string place = placeText(loc), text = op.getMessage().str();
  Value program[] = {ROCDL::BlockIdXOp::create(b, loc, b.getI32Type()),
                     ROCDL::BlockIdYOp::create(b, loc, b.getI32Type()),
                     ROCDL::BlockIdZOp::create(b, loc, b.getI32Type())};
  RecordBuilder record(b, loc, op->getParentOfType<ModuleOp>());
  Block *after = record.write(op, KILN_HIP_MESSAGE_FAILURE, wordsOf(b, loc, program),
                              place.empty() ? text : place + ": " + text);
  b.setInsertionPointToStart(after);
  LLVM::CallIntrinsicOp::create(b, loc, b.getStringAttr("llvm.amdgcn.endpgm"), ValueRange());
  op.erase();
  return success();
}

} // namespace kiln

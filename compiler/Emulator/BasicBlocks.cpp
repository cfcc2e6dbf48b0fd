#include "compiler/Emulator/BasicBlocks.h"

#include "compiler/Emulator/InstructionClass.h"
#include "mlir/Analysis/CFGLoopInfo.h"
#include "mlir/IR/Dominance.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"
#include "runtime/emulator/kiln_emu.h"

using namespace mlir;

namespace kiln {
namespace {

constexpr llvm::StringLiteral enterSymbol = "kiln_emu_enter";

class TableWriter {
public:
  TableWriter(LLVM::LLVMFuncOp function, ThreadCode &code) : code(code) {
    for (Block &block : function.getBody())
      numbers[&block] = numbers.size();
    if (function.getBody().hasOneBlock())
      return;
    dominance.emplace(function);
    loops.emplace(dominance->getDomTree(&function.getBody()));
  }

  void write(Block &block, Block::iterator begin) {
    const CFGLoop *loop = loops ? loops->getLoopFor(&block) : nullptr;
    int32_t branch = -1;
    std::map<unsigned, Instruction> bySite; // ordered: outputs are the same in every build
    for (Operation &op : llvm::make_range(begin, block.end())) {
      std::optional<Instruction> one = instructionOf(&op);
      if (!one)
        continue;
      unsigned site = code.siteOf(&op);
      auto [place, isNew] = bySite.try_emplace(site, *one);
      if (!isNew) {
        place->second.number += one->number;
        place->second.flops += one->flops;
        place->second.matrixOperations += one->matrixOperations;
      }
      if (one->kind == InstructionClass::Branch)
        branch = int32_t(site);
    }
    bool isHeader = loop && loop->getHeader() == &block;
    llvm::append_values(tables.blocks, int32_t(tables.instructions.size() / 4),
                        int32_t(bySite.size()), int32_t(loop ? loop->getLoopDepth() : 0),
                        headerOf(loop), isHeader ? headerOf(loop->getParentLoop()) : -1, branch);
    for (const auto &[site, some] : bySite)
      llvm::append_values(tables.instructions, int32_t(site), int32_t(some.number),
                          int32_t(some.flops), int32_t(some.matrixOperations));
    ++tables.numBlocks;
  }

  unsigned numberOf(Block &block) const { return numbers.lookup(&block); }
  BlockTables take() { return std::move(tables); }

private:
  int32_t headerOf(const CFGLoop *loop) const {
    return loop ? int32_t(numbers.lookup(loop->getHeader())) : -1;
  }

  ThreadCode &code;
  llvm::DenseMap<Block *, unsigned> numbers;
  std::optional<DominanceInfo> dominance;
  std::optional<CFGLoopInfo> loops;
  BlockTables tables;
};

} // namespace

void eraseUnused(LLVM::LLVMFuncOp function) {
  // Users stand after what they use, but for loops, whose values are the blocks' arguments.
  SmallVector<Operation *> operations;
  function.getBody().walk([&](Operation *op) { operations.push_back(op); });
  for (Operation *op : llvm::reverse(operations))
    if (op->use_empty() && isMemoryEffectFree(op) && !op->hasTrait<OpTrait::IsTerminator>() &&
        !isa<LLVM::InlineAsmOp>(op))
      op->erase();
}

BlockTables countBasicBlocks(LLVM::LLVMFuncOp function, Operation *first, ThreadCode &code) {
  TableWriter writer(function, code);
  for (Block &block : function.getBody()) {
    bool isEntry = block.isEntryBlock();
    Block::iterator begin = isEntry ? Block::iterator(first) : block.begin();
    writer.write(block, begin);
    OpBuilder b(&block, begin);
    code.call(b, &*begin, enterSymbol, {}, code.i32(b, begin->getLoc(), writer.numberOf(block)),
              /*hasPlace=*/false);
  }
  return writer.take();
}

void guardCounting(LLVM::LLVMFuncOp function, ThreadCode &code) {
  SmallVector<LLVM::CallOp> calls;
  function.walk([&](LLVM::CallOp call) {
    if (call.getCallee() == enterSymbol)
      calls.push_back(call);
  });
  Location loc = function.getLoc();
  OpBuilder b = OpBuilder::atBlockBegin(&function.getBody().front());
  Value isCounting =
      LLVM::ICmpOp::create(b, loc, LLVM::ICmpPredicate::ne,
                           code.field(b, loc, ThreadField::Counting), code.i32(b, loc, 0));
  for (LLVM::CallOp call : calls) {
    Block *before = call->getBlock();
    Block *rest = before->splitBlock(std::next(Block::iterator(call)));
    Block *counting = before->splitBlock(Block::iterator(call));
    b.setInsertionPointToEnd(counting);
    LLVM::BrOp::create(b, loc, ValueRange(), rest);
    b.setInsertionPointToEnd(before);
    LLVM::CondBrOp::create(b, loc, isCounting, counting, ValueRange(), rest, ValueRange(),
                           std::make_pair(1u, 1000u));
  }
}

} // namespace kiln

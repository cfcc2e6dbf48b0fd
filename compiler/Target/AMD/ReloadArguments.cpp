// A kernel's arguments are loaded where it begins, dozens of them where arrays have three or four
// strides each. LLVM holds them, and products of them, in registers of the wave all through a loop,
// for what the kernel stores behind it; of these there are about 100, and what they do not suffice
// for goes to lanes of vector registers. So what stands behind the loop loads the arguments again,
// from an address that LLVM cannot see through, and computes what it needs of them. So does a
// second version of the loop, for arguments that are equal.
//
// Not what takes divisions, nor what the loop needs, too.

#include "compiler/Target/AMD/ReloadArguments.h"
#include "compiler/Target/AMD/BehindLoops.h"
#include "compiler/Target/AMD/DeviceInstructions.h"

#include "llvm/ADT/DenseMap.h"
#include "llvm/IR/IRBuilder.h"
#include "llvm/IR/InlineAsm.h"
#include "llvm/IR/IntrinsicsAMDGPU.h"
#include "llvm/IR/Module.h"

namespace kiln {
namespace {

unsigned wordsOf(const llvm::Value &value, const llvm::DataLayout &layout) {
  return llvm::divideCeil(layout.getTypeSizeInBits(value.getType()).getFixedValue(), 32);
}

class Reloader {
public:
  Reloader(const llvm::Loop &loop, const llvm::DominatorTree &tree, Origins &origins)
      : loop(loop), tree(tree), origins(origins), behind(loop, tree),
        layout(loop.getHeader()->getDataLayout()) {}

  void run() {
    if (wordsSaved() < fewWords)
      return;
    forEachHeldUse([&](llvm::Use &use, llvm::BasicBlock &place) {
      use.set(copyOf(use, copies[&place], place));
    });
  }

private:
  /// Fewer are not worth the address of the arguments, and the wait for memory.
  static constexpr unsigned fewWords = 8;
  using Copies = llvm::DenseMap<llvm::Value *, llvm::Value *>;

  unsigned wordsSaved() {
    llvm::SmallPtrSet<llvm::Value *, 16> held;
    unsigned words = 0;
    forEachHeldUse([&](llvm::Use &use, llvm::BasicBlock &) {
      if (held.insert(use).second)
        words += wordsOf(*use, layout);
    });
    return words;
  }

  template <typename Visit> void forEachHeldUse(Visit visit) {
    for (llvm::BasicBlock *block : behind.blocks())
      for (llvm::Instruction &instruction : *block)
        for (llvm::Use &use : instruction.operands())
          if (!llvm::isa<llvm::PHINode>(instruction) && isHeld(use))
            visit(use, *behind.firstBehind(block));
  }

  /// Whether the loop holds the value only for what is behind it, which could compute it.
  bool isHeld(llvm::Value *value) const {
    return isReloadable(value) && llvm::none_of(value->users(), [&](llvm::User *user) {
             return isNeeded(llvm::cast<llvm::Instruction>(user)->getParent());
           });
  }

  /// Whether the block is in the loop, or comes again in front of it, in a loop around.
  bool isNeeded(const llvm::BasicBlock *block) const {
    const llvm::Loop *outermost = loop.getOutermostLoop();
    return outermost->contains(block) && !llvm::is_contained(behind.blocks(), block);
  }

  bool isReloadable(llvm::Value *value) const {
    if (llvm::isa<llvm::Argument>(value))
      return layout.getTypeSizeInBits(value->getType()) >= 32;
    auto *op = llvm::dyn_cast<llvm::Instruction>(value);
    return op && tree.dominates(op->getParent(), loop.getHeader()) && !loop.contains(op) &&
           origins.of(op) == Origin::Scalar && isCheap(*op);
  }

  static bool isCheap(const llvm::Instruction &op) {
    return llvm::isa<llvm::BinaryOperator, llvm::CastInst, llvm::ICmpInst, llvm::SelectInst>(op) &&
           !op.isIntDivRem();
  }

  llvm::Value *copyOf(llvm::Value *value, Copies &known, llvm::BasicBlock &place) {
    if (!isHeld(value))
      return value;
    if (llvm::Value *copy = known.lookup(value))
      return copy;
    auto *argument = llvm::dyn_cast<llvm::Argument>(value);
    llvm::Value *copy = argument
                            ? reload(*argument, place)
                            : copyOfOperation(*llvm::cast<llvm::Instruction>(value), known, place);
    return known[value] = copy;
  }

  llvm::Value *copyOfOperation(llvm::Instruction &op, Copies &known, llvm::BasicBlock &place) {
    return behind.copy(op, place, [&](llvm::Value *value) { return copyOf(value, known, place); });
  }

  llvm::Value *reload(llvm::Argument &argument, llvm::BasicBlock &place) {
    llvm::IRBuilder<> b(&place, behind.end(place));
    llvm::Value *&address = addresses[&place];
    if (!address) {
      address = b.CreateIntrinsic(llvm::Intrinsic::amdgcn_kernarg_segment_ptr, {});
      auto *type = llvm::FunctionType::get(address->getType(), {address->getType()}, false);
      address = b.CreateCall(type, llvm::InlineAsm::get(type, "", "=s,0", /*hasSideEffects=*/true),
                             {address});
    }
    llvm::Value *at =
        b.CreateConstInBoundsGEP1_64(b.getInt8Ty(), address, argumentOffset(argument));
    llvm::LoadInst *load =
        b.CreateAlignedLoad(argument.getType(), at, layout.getABITypeAlign(argument.getType()));
    load->setMetadata(llvm::LLVMContext::MD_invariant_load,
                      llvm::MDNode::get(argument.getContext(), {}));
    return load;
  }

  const llvm::Loop &loop;
  const llvm::DominatorTree &tree;
  Origins &origins;
  BlocksBehind behind;
  const llvm::DataLayout &layout;
  llvm::DenseMap<llvm::BasicBlock *, Copies> copies;
  llvm::DenseMap<llvm::BasicBlock *, llvm::Value *> addresses;
};

} // namespace

uint64_t argumentOffset(const llvm::Argument &argument) {
  const llvm::DataLayout &layout = argument.getParent()->getDataLayout();
  uint64_t offset = 0;
  for (const llvm::Argument &other : argument.getParent()->args()) {
    offset = llvm::alignTo(offset, layout.getABITypeAlign(other.getType()));
    if (&other == &argument)
      break;
    offset += layout.getTypeAllocSize(other.getType());
  }
  return offset;
}

void reloadArguments(llvm::Function &kernel) {
  llvm::DominatorTree tree(kernel);
  llvm::LoopInfo loops(tree);
  Origins origins;
  forEachInnermostLoop(loops, isProduct,
                       [&](llvm::Loop &loop) { Reloader(loop, tree, origins).run(); });
}

} // namespace kiln

// A matrix instruction keeps its unit busy for 8 to 64 cycles, in which the wave can issue others.
// LLVM's scheduler thinks of latencies and registers, and leaves stretches of products alone, and
// of accesses alone. Here a block with products ends in a recipe (llvm.amdgcn.sched.group.barrier):
// what the first product reads, then after each product its share of the other accesses, in the
// order in which the program has them, so that the barriers between them stay where they are. What
// is read has the first half of the products, what is written the second: it comes from memory.
//
// Of a block whose products wait for other work on products (attention) the recipe is for what
// stands behind the last read of shared memory: the barrier, what is written for the next
// iteration, the last products. LLVM would write as soon as the reads are done, and wait there for
// what comes from memory. All before it is left to LLVM: threads' arithmetic stands between those
// products, which the recipe says nothing of.
//
// RDNA's products (wmma) are left to LLVM, too: their operands take twice the registers, of which a
// thread has 256 with its sums, so that reads in front of their products spill.

#include "compiler/Target/AMD/ScheduleProducts.h"
#include "compiler/Target/AMD/DeviceInstructions.h"

#include "llvm/ADT/DenseMap.h"
#include "llvm/ADT/DenseSet.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/SmallVector.h"
#include "llvm/IR/Function.h"
#include "llvm/IR/IRBuilder.h"
#include "llvm/IR/IntrinsicInst.h"
#include "llvm/IR/IntrinsicsAMDGPU.h"

namespace kiln {
namespace {

/// As llvm.amdgcn.sched.group.barrier names them (LLVM, "User Guide for AMDGPU Backend", "LLVM IR
/// Intrinsics").
enum Class : int {
  None = 0,
  Matrix = 0x8,
  GlobalRead = 0x20,
  SharedRead = 0x100,
  SharedWrite = 0x200
};

Class classOf(const llvm::Instruction &instruction) {
  if (isGlobalRead(instruction))
    return GlobalRead;
  if (auto *load = llvm::dyn_cast<llvm::LoadInst>(&instruction))
    return load->getPointerAddressSpace() == sharedSpace ? SharedRead : None;
  if (auto *store = llvm::dyn_cast<llvm::StoreInst>(&instruction))
    return store->getPointerAddressSpace() == sharedSpace ? SharedWrite : None;
  auto *call = llvm::dyn_cast<llvm::IntrinsicInst>(&instruction);
  if (!call)
    return None;
  llvm::StringRef name = call->getCalledFunction()->getName();
  if (name.starts_with("llvm.amdgcn.mfma."))
    return Matrix;
  return name.starts_with("llvm.amdgcn.ds.read.tr") ? SharedRead : None;
}

/// For a block from `first` on.
class Recipe {
public:
  explicit Recipe(llvm::Instruction &first) : block(*first.getParent()), first(first) {
    for (llvm::Instruction &instruction : llvm::make_range(first.getIterator(), block.end()))
      switch (Class kind = classOf(instruction)) {
      case None:
        break;
      case Matrix:
        products.push_back(&instruction);
        break;
      default:
        accesses.push_back({&instruction, kind});
      }
  }

  void write() {
    // The back end compares each group with each instruction.
    constexpr size_t mostGroups = 256;
    if (products.empty() || accesses.empty() || products.size() + accesses.size() > mostGroups)
      return;
    orderReads();
    orderWrites();
    size_t leading = bringFirstToFront(), next = 0;
    llvm::Instruction *late = leaveWorkForNext(leading);
    if (products.size() == 1)
      return;
    llvm::IRBuilder<> b(block.getTerminator());
    auto group = [&](Class kind, size_t count) {
      if (count)
        b.CreateIntrinsic(llvm::Intrinsic::amdgcn_sched_group_barrier,
                          {b.getInt32(kind), b.getInt32(uint32_t(count)), b.getInt32(0)});
    };
    if (late)
      b.SetInsertPoint(late);
    for (; next < leading; ++next)
      group(accesses[next].second, 1);
    for (size_t product = 0; product < products.size(); ++product) {
      if (late && product == firstHalf())
        b.SetInsertPoint(block.getTerminator());
      group(Matrix, 1);
      for (size_t end = leading + dueAfter(product, leading); next < end; ++next)
        group(accesses[next].second, 1);
    }
  }

  /// Whether a product takes what others than products have computed from one.
  bool hasWorkBetween() const {
    bool isBetween = false;
    for (llvm::Instruction *product : products)
      for (llvm::Value *operand : product->operands()) {
        auto *source = llvm::dyn_cast<llvm::Instruction>(operand);
        // A product's accumulator is another product's result as it is.
        bool isAccumulator = operand->getType() == product->getType();
        if (!source || isAccumulator || !isWithin(*source))
          continue;
        isBetween |= classOf(*source) == Matrix;
        visitSources(source, [&](llvm::Instruction *inner) {
          isBetween |= classOf(*inner) == Matrix;
          return !isBetween;
        });
      }
    return isBetween;
  }

private:
  using Access = std::pair<llvm::Instruction *, Class>;
  using Accesses = llvm::SmallVector<Access>;

  static auto isOf(Class kind) {
    return [kind](const Access &access) { return access.second == kind; };
  }

  /// Not what the block begins with, and nothing of other blocks.
  bool isWithin(const llvm::Instruction &instruction) const {
    return instruction.getParent() == &block && !llvm::isa<llvm::PHINode>(instruction) &&
           !instruction.comesBefore(&first);
  }

  /// How many of the accesses behind the `leading` ones should be issued once `product` and those
  /// before it are.
  size_t dueAfter(size_t product, size_t leading) const {
    size_t writes = llvm::count_if(llvm::drop_begin(accesses, leading), isOf(SharedWrite));
    size_t reads = accesses.size() - leading - writes, half = products.size() / 2;
    auto share = [](size_t of, size_t done, size_t places) {
      return std::min(of, llvm::divideCeil(done * of, std::max<size_t>(1, places)));
    };
    size_t done = product + 1;
    size_t written = done > half ? share(writes, done - half, products.size() - half - 1) : 0;
    return share(reads, done, half / 2) + std::min(writes, llvm::alignTo(written, 2));
  }

  size_t firstHalf() const { return std::max<size_t>(1, products.size() / 2); }

  /// What is written may be work on what comes from memory (elements that change places, or their
  /// type), which the recipe cannot name: LLVM would do it at once, and wait. So a barrier for the
  /// scheduler parts the block: the first half of the products, and all that is read, stand before
  /// it, that work behind it. So does, where there is one product, work on what is carried to the
  /// next iteration (elements that are masked); among more LLVM finds it a place. Null: nothing is
  /// worked on.
  llvm::Instruction *leaveWorkForNext(size_t leading) {
    auto *firstWrite = llvm::find_if(accesses, isOf(SharedWrite));
    size_t number = firstWrite - accesses.begin();
    bool readsBehind =
        !llvm::all_of(llvm::make_range(firstWrite, accesses.end()), isOf(SharedWrite));
    if (number < leading || readsBehind)
      return nullptr;
    llvm::DenseSet<llvm::Instruction *> work = workForNext();
    if (work.empty())
      return nullptr;
    llvm::Instruction *place =
        firstWrite == accesses.end() ? block.getTerminator() : firstWrite->first;
    llvm::ArrayRef<llvm::Instruction *> early = llvm::ArrayRef(products).take_front(firstHalf());
    if (llvm::any_of(early, [&](auto *product) { return needsReadBehind(*place, product); }))
      return nullptr;
    for (llvm::Instruction *product : early)
      if (place->comesBefore(product))
        bringBefore(product, place);
    llvm::IRBuilder<> b(place);
    llvm::Instruction *parting =
        b.CreateIntrinsic(llvm::Intrinsic::amdgcn_sched_barrier, {b.getInt32(0)});
    llvm::SmallVector<llvm::Instruction *> moved;
    for (llvm::Instruction &instruction : block)
      if (work.contains(&instruction) && instruction.comesBefore(place))
        moved.push_back(&instruction);
    for (llvm::Instruction *instruction : moved)
      instruction->moveBefore(place->getIterator());
    return parting;
  }

  /// What only the values that are written are computed by, beside accesses, and of what is loaded
  /// those that are carried to another block.
  llvm::DenseSet<llvm::Instruction *> workForNext() const {
    llvm::DenseSet<llvm::Instruction *> work;
    auto isForNext = [&](const llvm::Use &use) {
      auto *user = llvm::cast<llvm::Instruction>(use.getUser());
      bool isAddress = llvm::isa<llvm::StoreInst>(user) &&
                       use.getOperandNo() == llvm::StoreInst::getPointerOperandIndex();
      return work.contains(user) || (classOf(*user) == SharedWrite && !isAddress) ||
             (products.size() == 1 && llvm::isa<llvm::PHINode>(user) && isLoaded(use));
    };
    for (llvm::Instruction &instruction :
         llvm::reverse(llvm::make_range(first.getIterator(), block.end())))
      if (!instruction.use_empty() && !llvm::isa<llvm::PHINode>(instruction) &&
          !instruction.mayReadOrWriteMemory() && !instruction.mayHaveSideEffects() &&
          classOf(instruction) != Matrix && llvm::all_of(instruction.uses(), isForNext))
        work.insert(&instruction);
    return work;
  }

  /// Whether it is computed from what the block loads, and from no product.
  bool isLoaded(llvm::Value *value) const {
    bool isRead = false, isProduct = false;
    visitSources(llvm::cast<llvm::Instruction>(value), [&](llvm::Instruction *source) {
      isRead |= classOf(*source) == GlobalRead;
      isProduct |= classOf(*source) == Matrix;
      return !isProduct;
    });
    return isRead && !isProduct;
  }

  /// The values that the instruction is computed from, through all but products.
  template <typename Fn> void visitSources(llvm::Instruction *of, Fn visit) const {
    llvm::SmallVector<llvm::Instruction *> pending{of};
    llvm::DenseSet<llvm::Instruction *> seen;
    while (!pending.empty())
      for (llvm::Value *operand : pending.pop_back_val()->operands()) {
        auto *source = llvm::dyn_cast<llvm::Instruction>(operand);
        if (!source || !isWithin(*source) || !seen.insert(source).second)
          continue;
        if (visit(source))
          pending.push_back(source);
      }
  }

  /// Whether the product is computed from what is read behind the place: in front of it threads may
  /// not have met yet for what is read.
  bool needsReadBehind(const llvm::Instruction &place, llvm::Instruction *product) const {
    bool isNeeded = false;
    visitSources(product, [&](llvm::Instruction *source) {
      bool isBehind = place.comesBefore(source);
      isNeeded |= isBehind && source->mayReadOrWriteMemory();
      return isBehind && !isNeeded;
    });
    return isNeeded;
  }

  /// By access: the number of the first product that is computed from it.
  llvm::DenseMap<llvm::Instruction *, size_t> firstUses() const {
    llvm::DenseMap<llvm::Instruction *, size_t> uses;
    for (auto [number, product] : llvm::enumerate(products))
      visitSources(product, [&, number = number](llvm::Instruction *source) {
        if (classOf(*source) == SharedRead)
          uses.try_emplace(source, number);
        return classOf(*source) != Matrix;
      });
    return uses;
  }

  /// Has reads from shared memory between which nothing else touches memory stand in the order in
  /// which products need them. A read is mostly of several registers' worth: the layout's order has
  /// nothing to do with the products'. Those for the second half of the products, of which all are
  /// issued beside the first half, are in the opposite order: what is needed first is read last,
  /// and has waited for the others.
  void orderReads() {
    llvm::DenseMap<llvm::Instruction *, size_t> uses = firstUses();
    llvm::DenseMap<llvm::Instruction *, std::pair<size_t, size_t>> ranks;
    for (auto [number, access] : llvm::enumerate(accesses)) {
      auto use = uses.find(access.first);
      ranks[access.first] = {use == uses.end() ? products.size() : use->second, number};
    }
    for (auto *first = accesses.begin(); first != accesses.end();) {
      auto *last = first;
      while (last != accesses.end() && last->second == SharedRead &&
             (last == first || isAloneBetween(last[-1].first, last->first)))
        ++last;
      if (last - first > 1) {
        auto *place =
            new llvm::FreezeInst(llvm::PoisonValue::get(llvm::Type::getInt1Ty(block.getContext())),
                                 "", first->first->getIterator());
        std::sort(first, last, [&](const auto &a, const auto &b) {
          auto [useOfA, numberOfA] = ranks.lookup(a.first);
          auto [useOfB, numberOfB] = ranks.lookup(b.first);
          bool areLate = std::min(useOfA, useOfB) >= products.size() / 2 &&
                         std::max(useOfA, useOfB) < products.size();
          if (areLate && useOfA != useOfB)
            return useOfA > useOfB;
          return std::pair(useOfA, numberOfA) < std::pair(useOfB, numberOfB);
        });
        for (auto *access = first; access != last; ++access)
          bringBefore(access->first, place);
        place->eraseFromParent();
      }
      first = std::max(last, first + 1);
    }
  }

  /// Has of two writes the one come first whose value is loaded last: the other one does not wait.
  /// Both are issued together.
  void orderWrites() {
    auto *first = llvm::find_if(accesses, isOf(SharedWrite));
    for (; accesses.end() - first >= 2; first += 2) {
      auto &[one, kind] = first[0];
      auto &[other, otherKind] = first[1];
      if (kind != SharedWrite || otherKind != SharedWrite || !isAloneBetween(one, other))
        continue;
      llvm::Instruction *ofOne = lastLoadFor(*one), *ofOther = lastLoadFor(*other);
      if (!ofOne || !ofOther || !ofOne->comesBefore(ofOther))
        continue;
      bringBefore(other, one);
      std::swap(first[0], first[1]);
    }
  }

  /// The last load from global memory that the written value is computed from; null: none.
  llvm::Instruction *lastLoadFor(llvm::Instruction &write) const {
    llvm::Instruction *last = nullptr;
    visitSources(&write, [&](llvm::Instruction *source) {
      if (classOf(*source) == GlobalRead && (!last || last->comesBefore(source)))
        last = source;
      return classOf(*source) != Matrix;
    });
    return last;
  }

  static bool isAloneBetween(llvm::Instruction *from, llvm::Instruction *to) {
    for (llvm::Instruction *between = from->getNextNode(); between != to;
         between = between->getNextNode())
      if (between->mayReadOrWriteMemory() || between->mayHaveSideEffects())
        return false;
    return true;
  }

  /// With what it is computed from, where that is behind the place.
  void bringBefore(llvm::Instruction *moved, llvm::Instruction *place) {
    for (llvm::Value *operand : moved->operands()) {
      auto *source = llvm::dyn_cast<llvm::Instruction>(operand);
      if (source && isWithin(*source) && place->comesBefore(source))
        bringBefore(source, place);
    }
    moved->moveBefore(place->getIterator());
  }

  /// Reads that the first product waits for come first, behind the accesses before them, as a
  /// barrier may stand between. How many accesses that are.
  size_t bringFirstToFront() {
    llvm::DenseSet<llvm::Instruction *> needed;
    visitSources(products.front(), [&](llvm::Instruction *source) {
      if (classOf(*source) == SharedRead)
        needed.insert(source);
      return classOf(*source) != Matrix;
    });
    if (needed.empty())
      return 0;
    Accesses before, behind;
    bool isBefore = true;
    for (const auto &access : accesses) {
      isBefore &= !needed.contains(access.first);
      bool isFirst = isBefore || needed.contains(access.first);
      (isFirst ? before : behind).push_back(access);
    }
    size_t first = before.size();
    before.append(behind.begin(), behind.end());
    accesses = std::move(before);
    return first;
  }

  llvm::BasicBlock &block;
  llvm::Instruction &first;
  llvm::SmallVector<llvm::Instruction *> products;
  Accesses accesses; ///< in the order in which they are to be issued
};

} // namespace

/// The barrier behind the block's last read of shared memory, with its fence, if something is
/// written and multiplied behind it.
static llvm::Instruction *behindReads(llvm::BasicBlock &block) {
  llvm::Instruction *found = nullptr;
  bool isWritten = false, isMultiplied = false;
  for (llvm::Instruction &instruction : llvm::reverse(block)) {
    Class kind = classOf(instruction);
    if (kind == SharedRead)
      break;
    isWritten |= kind == SharedWrite;
    isMultiplied |= kind == Matrix;
    if (isBarrier(instruction) && isWritten && isMultiplied) {
      llvm::Instruction *before = instruction.getPrevNode();
      found = llvm::isa_and_present<llvm::FenceInst>(before) ? before : &instruction;
    }
  }
  return found;
}

void scheduleProducts(llvm::Function &kernel) {
  for (llvm::BasicBlock &block : kernel) {
    Recipe whole(block.front());
    if (!whole.hasWorkBetween()) {
      whole.write();
    } else if (llvm::Instruction *behind = behindReads(block)) {
      llvm::IRBuilder<> b(behind);
      b.CreateIntrinsic(llvm::Intrinsic::amdgcn_sched_barrier, {b.getInt32(0)});
      Recipe(*behind).write();
    }
  }
}

} // namespace kiln

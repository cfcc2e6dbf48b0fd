#include "compiler/Dialect/TileGPU/Transforms/StagedLoads.h"
#include "compiler/Dialect/TileGPU/Transforms/EqualArguments.h"
#include "compiler/Layout/StagedOperand.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/IR/Matchers.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"
#include "mlir/Transforms/RegionUtils.h"

using namespace mlir;

namespace kiln {
namespace {

class Finder {
public:
  Finder(scf::ForOp loop, const AxisInfoAnalysis &facts, const TargetInfo &target, bool mayCompare,
         StagedAs form)
      : loop(loop), facts(facts), target(target), mayCompare(mayCompare),
        byWarps(form == StagedAs::WarpCopies), copies(byWarps || target.asyncCopies),
        order(target) {}

  StagedLoads run() {
    StagedLoads found;
    for (auto store : loop.getBody()->getOps<tilegpu::SharedStoreOp>()) {
      std::optional<StagedLoad> staged = stagedBehind(store);
      StagedLoads withIt = found;
      if (!staged || !isOrdered(staged->load, withIt) ||
          !addAddresses(addressOf(staged->load), withIt))
        continue;
      withIt.loads.push_back(*staged);
      found = std::move(withIt);
    }
    if (!copies)
      addDirect(found);
    // An address may hang on what another of these loads brings.
    auto isAddress = [&](Operation *load) { return found.addresses.contains(load); };
    bool isOfAnother =
        llvm::any_of(found.loads, [&](const StagedLoad &each) { return isAddress(each.load); }) ||
        llvm::any_of(found.direct, isAddress);
    return isOfAnother ? StagedLoads() : found;
  }

private:
  bool isInBody(Operation *op) { return op && op->getBlock() == loop.getBody(); }

  /// Whether only dots of the body use the value, perhaps transposed, or as lanes exchange it.
  bool isMultiplied(Value value) {
    return llvm::all_of(value.getUsers(), [&](Operation *user) {
      if (isa<tile::TransOp>(user) || isBetweenLanes(user))
        return isInBody(user) && isMultiplied(user->getResult(0));
      return isa<tilegpu::DotOp>(user) && isInBody(user);
    });
  }

  bool isBetweenLanes(Operation *op) {
    auto convert = dyn_cast<tilegpu::ConvertLayoutOp>(op);
    return convert && convert.getScratchBytes(target) == 0;
  }

  void addDirect(StagedLoads &found) {
    for (auto load : loop.getBody()->getOps<tile::LoadOp>()) {
      StagedLoads withIt = found;
      if (load->use_empty() || tilegpu::isReadForAll(load) || !isMultiplied(load) ||
          !isOrdered(load, withIt) || !addAddresses(addressOf(load), withIt))
        continue;
      withIt.direct.push_back(load);
      found = std::move(withIt);
    }
  }

  //===-- the load
  //-------------------------------------------------------------------------------===//

  std::optional<StagedLoad> stagedBehind(tilegpu::SharedStoreOp store) {
    std::optional<StagedLoad> staged = loadBehind(store, /*isShared=*/!copies);
    if (!staged || !isInBody(staged->buffer) || !isInBody(staged->load) ||
        llvm::any_of(usersOf(staged->buffer), [&](Operation *user) {
          return !isInBody(user) || (user != store && isa<tilegpu::SharedStoreOp>(user));
        }))
      return std::nullopt;
    auto load = dyn_cast<tile::LoadOp>(staged->load);
    if (!load)
      return isMadeOutside(cast<tile::DescriptorLoadOp>(staged->load)) ? staged : std::nullopt;
    if (tilegpu::isReadForAll(load))
      return std::nullopt;
    if (!copies)
      return staged;
    if (!bringsZeros(load))
      return std::nullopt;
    findVector(load, *staged);
    unsigned bytes = staged->vector * elementBits(*staged) / 8;
    if (byWarps && !isForWarps(load, *staged, bytes))
      return std::nullopt;
    if (bytes < 4 || bytes > 16 || !goesThroughCachesOf(load.getCache(), bytes))
      return std::nullopt;
    return staged;
  }

  /// Whether warps can copy it, in a layout of their own.
  bool isForWarps(tile::LoadOp load, StagedLoad &staged, unsigned bytes) {
    unsigned numWarps = tilegpu::numWarpsOf(loop);
    return bytes == 16 && !staged.counted && load.getCache() != tile::CacheModifier::CG &&
           load.getEvict() == tile::EvictionPolicy::Normal &&
           sideBySideLayout(staged.buffer.getType().getLayout().getShared(), elementBits(staged),
                            target.warpSize, numWarps);
  }

  /// Whether a copy goes through no other caches than the source asks for. One of 16 bytes passes
  /// the L1 by.
  static bool goesThroughCachesOf(tile::CacheModifier modifier, unsigned bytes) {
    return modifier == tile::CacheModifier::None || modifier == tile::CacheModifier::CA ||
           (modifier == tile::CacheModifier::CG && bytes == 16);
  }

  /// A tensor map that the loop makes takes the place of the iteration's before, by which copies
  /// may be under way.
  bool isMadeOutside(tile::DescriptorLoadOp load) {
    Operation *made = load.getDescriptor().getDefiningOp();
    return !made || !loop->isAncestor(made);
  }

  static unsigned elementBits(StagedLoad &staged) {
    return tilegpu::storageBits(staged.buffer.getType().getElementType());
  }

  /// Where the mask is false there is zero, or nobody has said what there is.
  static bool bringsZeros(tile::LoadOp load) {
    if (!load.getOther())
      return true;
    Value other = load.getOther();
    if (auto splat = other.getDefiningOp<tile::SplatOp>())
      other = splat.getSource();
    return matchPattern(other, m_AnyZeroFloat()) || matchPattern(other, m_Zero()) ||
           isZeroSplat(other);
  }
  static bool isZeroSplat(Value value) {
    SplatElementsAttr splat;
    if (!matchPattern(value, m_Constant(&splat)))
      return false;
    Attribute element = splat.getSplatValue<Attribute>();
    if (auto real = dyn_cast<FloatAttr>(element))
      return real.getValue().isPosZero();
    auto integer = dyn_cast<IntegerAttr>(element);
    return integer && integer.getValue().isZero();
  }

  /// Neighbours that both memory and the buffer have side by side, in one thread and under one
  /// mask, or one that ends within them.
  void findVector(tile::LoadOp load, StagedLoad &staged) {
    tilegpu::BufferType buffer = staged.buffer.getType();
    SharedLayout shared = buffer.getLayout().getShared();
    unsigned bits = elementBits(staged);
    const LinearLayout &layout = tilegpu::layoutOf(staged.store.getValue());
    SharedMemoryShape memory = tilegpu::sharedMemoryOf(target);
    unsigned inBuffer = byWarps ? memory.maxVectorBits / bits
                                : planSharedAccess(layout, shared, bits, memory).vector;
    // Along which axis do the buffer's first elements lie, and how many of them?
    const LinearLayout &map = shared.map;
    if (map.columns().empty()) // one element
      return;
    unsigned rank = map.out().rank(), axis = 0;
    while (axis < rank && map.out().coordinate(map.columns()[0], Dim::axis(axis)) != 1)
      ++axis;
    if (axis == rank)
      return;
    int64_t neighbours = 1;
    for (uint64_t column : map.columns()) {
      if (column != uint64_t(neighbours) << map.out().position(Dim::axis(axis)))
        break;
      neighbours *= 2;
    }
    axis = staged.order()[axis];
    int64_t inMemory = facts.accessLength(load.getPtr(), load.getMask(), axis);
    staged.vector = std::min({int64_t(inBuffer), neighbours, inMemory});
    staged.counted =
        load.getMask() && facts.maskConstancy(load.getMask(), axis) < int64_t(staged.vector);
  }

  //===-- what it depends on
  //---------------------------------------------------------------------===//

  /// Nothing that the loop writes is what the load, running ahead, would have read behind it.
  bool isOrdered(Operation *load, StagedLoads &found) {
    WalkResult others = loop.getBody()->walk([](Operation *op) {
      return showsOthersWrites(op) ? WalkResult::interrupt() : WalkResult::advance();
    });
    if (others.wasInterrupted())
      return false;
    BarrierNeed need = needAt(load, order.againstRunningAhead(load, loop));
    found.pairs.insert(need.pairs.begin(), need.pairs.end());
    return !need.always && (mayCompare || need.pairs.empty());
  }

  /// What a load needs when it is made.
  SmallVector<Value> addressOf(Operation *load) const {
    if (auto block = dyn_cast<tile::DescriptorLoadOp>(load))
      return SmallVector<Value>(block.getOffsets());
    auto threads = cast<tile::LoadOp>(load);
    SmallVector<Value> address{threads.getPtr()};
    if (threads.getMask())
      address.push_back(threads.getMask());
    // Copies bring zeros; a load to registers brings what it says.
    if (!copies && threads.getOther())
      address.push_back(threads.getOther());
    return address;
  }

  /// Adds all that the loop computes for an address; false if some of it cannot run ahead, or is
  /// wanted after the loop.
  bool addAddresses(SmallVector<Value> pending, StagedLoads &found) {
    DenseSet<Value> seen;
    while (!pending.empty()) {
      Value value = pending.pop_back_val();
      if (!seen.insert(value).second || value == loop.getInductionVar())
        continue;
      if (auto argument = dyn_cast<BlockArgument>(value)) {
        if (argument.getOwner() != loop.getBody())
          continue;
        unsigned carried = argument.getArgNumber() - loop.getNumInductionVars();
        if (!loop.getResult(carried).use_empty())
          return false;
        pending.push_back(loop.getYieldedValues()[carried]);
        continue;
      }
      Operation *op = value.getDefiningOp();
      if (!isInBody(op))
        continue;
      bool isLoad = isa<tile::LoadOp>(op) && isOrderedAhead(cast<tile::LoadOp>(op), found);
      if (!isLoad && !isCheap(op))
        return false;
      found.addresses.insert(op);
      llvm::append_range(pending, op->getOperands());
      llvm::SetVector<Value> captured;
      getUsedValuesDefinedAbove(op->getRegions(), captured);
      llvm::append_range(pending, captured);
    }
    return true;
  }

  /// Arithmetic, some of it perhaps in a branch, as where a persistent program begins its next
  /// tile.
  static bool isCheap(Operation *op) {
    return isMemoryEffectFree(op) && (op->getNumRegions() == 0 || isa<scf::IfOp>(op)) &&
           !tilegpu::multiplies(op);
  }

  bool isOrderedAhead(tile::LoadOp load, StagedLoads &found) {
    return !tilegpu::isReadForAll(load) && isOrdered(load, found);
  }

  scf::ForOp loop;
  const AxisInfoAnalysis &facts;
  const TargetInfo &target;
  const bool mayCompare, byWarps;
  const bool copies; ///< to shared memory, or loads to registers
  GlobalOrder order;
};

/// The value whose elements all are `scalar`, of the shape and layout of `like`.
Value splatLike(OpBuilder &b, Location loc, Value scalar, Type like) {
  auto tensor = dyn_cast<RankedTensorType>(like);
  if (!tensor)
    return scalar;
  auto type = RankedTensorType::get(tensor.getShape(), scalar.getType(), tensor.getEncoding());
  return tile::SplatOp::create(b, loc, type, scalar);
}

} // namespace

SmallVector<int32_t> StagedLoad::order() const {
  unsigned rank = tilegpu::AllocOp(buffer).getType().getShape().size();
  SmallVector<int32_t> order(rank);
  for (unsigned axis = 0; axis < rank; ++axis) {
    order[axis] = int32_t(axis);
    for (tile::TransOp trans : llvm::reverse(transpositions))
      order[axis] = trans.getOrder()[order[axis]];
  }
  return order;
}

/// Whether all that becomes of the value are buffers' contents.
static bool isOnlyStored(Value value) {
  return llvm::all_of(value.getUsers(), [&](Operation *user) {
    if (auto trans = dyn_cast<tile::TransOp>(user))
      return isOnlyStored(trans);
    auto store = dyn_cast<tilegpu::SharedStoreOp>(user);
    return store && store->getBlock() == value.getParentBlock();
  });
}

std::optional<StagedLoad> loadBehind(tilegpu::SharedStoreOp store, bool isShared) {
  StagedLoad staged;
  staged.store = store;
  staged.buffer = store.getBuffer().getDefiningOp<tilegpu::AllocOp>();
  Value value = store.getValue();
  while (auto trans = value.getDefiningOp<tile::TransOp>()) {
    if (trans->getBlock() != store->getBlock() || !trans->hasOneUse())
      return std::nullopt;
    staged.transpositions.insert(staged.transpositions.begin(), trans);
    value = trans.getSource();
  }
  staged.load = value.getDefiningOp();
  bool isLoad = isa_and_present<tile::LoadOp, tile::DescriptorLoadOp>(staged.load);
  if (!staged.buffer || !isLoad)
    return std::nullopt;
  bool isFree = isShared ? isOnlyStored(staged.load->getResult(0)) : staged.load->hasOneUse();
  return isFree ? std::optional(staged) : std::nullopt;
}

tilegpu::AllocOp allocationBehind(Value buffer) {
  while (auto trans = buffer.getDefiningOp<tilegpu::TransBufferOp>())
    buffer = trans.getBuffer();
  return buffer.getDefiningOp<tilegpu::AllocOp>();
}

SmallVector<Operation *> usersOf(tilegpu::AllocOp buffer) {
  SmallVector<Operation *> users;
  SmallVector<Value> views{buffer.getResult()};
  while (!views.empty())
    for (Operation *user : views.pop_back_val().getUsers()) {
      if (auto trans = dyn_cast<tilegpu::TransBufferOp>(user))
        views.push_back(trans);
      else
        users.push_back(user);
    }
  return users;
}

bool isInnermost(scf::ForOp loop) {
  WalkResult inner = loop.getBodyRegion().walk([](Operation *op) {
    return isa<LoopLikeOpInterface>(op) ? WalkResult::interrupt() : WalkResult::advance();
  });
  return !inner.wasInterrupted();
}

SmallVector<scf::ForOp> innermostLoops(Operation *kernel) {
  SmallVector<scf::ForOp> loops;
  kernel->walk([&](scf::ForOp loop) {
    if (isInnermost(loop))
      loops.push_back(loop);
  });
  return loops;
}

scf::ForOp outermostLoop(scf::ForOp loop) {
  while (auto around = dyn_cast<scf::ForOp>(loop->getParentOp()))
    loop = around;
  return loop;
}

StagedLoads findStagedLoads(scf::ForOp loop, const AxisInfoAnalysis &facts,
                            const TargetInfo &target, bool mayCompare, StagedAs form) {
  return Finder(loop, facts, target, mayCompare, form).run();
}

/// Has uses of what `ops` compute that are `elsewhere` compute it for themselves; returns what
/// does.
static SmallVector<Operation *> unshare(RewriterBase &rewriter, SmallVector<Operation *> ops,
                                        llvm::function_ref<bool(OpOperand &)> isElsewhere) {
  SmallVector<Operation *> copies;
  // Users before what they use.
  llvm::sort(ops, [](Operation *a, Operation *b) { return b->isBeforeInBlock(a); });
  for (Operation *op : ops) {
    if (!isMemoryEffectFree(op) || llvm::none_of(op->getUses(), isElsewhere))
      continue;
    rewriter.setInsertionPointAfter(op);
    Operation *copy = rewriter.clone(*op);
    for (auto [result, copied] : llvm::zip(op->getResults(), copy->getResults()))
      result.replaceUsesWithIf(copied, isElsewhere);
    copies.push_back(copy);
  }
  return copies;
}

void unshareAddresses(RewriterBase &rewriter, scf::ForOp loop, const StagedLoads &staged) {
  auto isStaged = [&](Operation *op) {
    return staged.addresses.contains(op) ||
           llvm::any_of(staged.loads, [&](const StagedLoad &load) { return load.load == op; });
  };
  unshare(rewriter, llvm::to_vector(staged.addresses), [&](OpOperand &use) {
    Operation *user = loop.getBody()->findAncestorOpInBlock(*use.getOwner());
    return !isStaged(user) && !isa<scf::YieldOp>(user);
  });
}

llvm::SmallPtrSet<Operation *, 16> findIndices(RewriterBase &rewriter, scf::ForOp loop,
                                               StagedLoads &staged) {
  llvm::SmallPtrSet<Operation *, 16> indices;
  SmallVector<Operation *> pending;
  llvm::copy_if(staged.addresses, std::back_inserter(pending), llvm::IsaPred<tile::LoadOp>);
  DenseSet<Value> seen;
  auto add = [&](Value value) {
    while (auto argument = dyn_cast<BlockArgument>(value)) {
      if (argument.getOwner() != loop.getBody() || value == loop.getInductionVar() ||
          !seen.insert(value).second)
        return;
      value = loop.getYieldedValues()[argument.getArgNumber() - loop.getNumInductionVars()];
    }
    Operation *op = value.getDefiningOp();
    if (staged.addresses.contains(op))
      pending.push_back(op);
  };
  while (!pending.empty()) {
    Operation *op = pending.pop_back_val();
    if (!indices.insert(op).second)
      continue;
    llvm::SetVector<Value> needed(op->operand_begin(), op->operand_end());
    getUsedValuesDefinedAbove(op->getRegions(), needed);
    llvm::for_each(needed, add);
  }
  SmallVector<Operation *> copies =
      unshare(rewriter, llvm::to_vector(indices), [&](OpOperand &use) {
        Operation *user = loop.getBody()->findAncestorOpInBlock(*use.getOwner());
        return !indices.contains(user) && !isa<scf::YieldOp>(user);
      });
  staged.addresses.insert_range(copies);
  return indices;
}

void defineCarried(RewriterBase &rewriter, scf::ForOp loop) {
  Location loc = loop.getLoc();
  Operation *yield = loop.getBody()->getTerminator();
  for (OpOperand &carried : yield->getOpOperands()) {
    Value value = carried.get();
    if (value.getDefiningOp())
      continue;
    rewriter.setInsertionPoint(loop);
    Value always = arith::ConstantOp::create(rewriter, loc, rewriter.getBoolAttr(true));
    rewriter.setInsertionPoint(yield);
    carried.set(arith::SelectOp::create(rewriter, loc, always, value, value));
  }
}

scf::ForOp countSigned(scf::ForOp loop, StagedLoads &staged, bool isWide) {
  bool isUnsigned = loop.getUnsignedCmp();
  if (!isUnsigned && !isWide)
    return loop;
  IRRewriter rewriter(loop.getContext());
  Location loc = loop.getLoc();
  Type wide = rewriter.getI64Type(), type = loop.getInductionVar().getType();
  if (type == wide)
    return isUnsigned ? scf::ForOp() : loop;
  rewriter.setInsertionPoint(loop);
  auto widen = [&](Value value) -> Value {
    if (isUnsigned)
      return arith::ExtUIOp::create(rewriter, loc, wide, value);
    return arith::ExtSIOp::create(rewriter, loc, wide, value);
  };
  auto counted =
      scf::ForOp::create(rewriter, loc, widen(loop.getLowerBound()), widen(loop.getUpperBound()),
                         widen(loop.getStep()), loop.getInitArgs());
  counted->setDiscardableAttrs(loop->getDiscardableAttrDictionary());
  if (!loop.getNumResults())
    rewriter.eraseOp(counted.getBody()->getTerminator());
  rewriter.setInsertionPointToStart(counted.getBody());
  auto number = arith::TruncIOp::create(rewriter, loc, type, counted.getInductionVar());
  staged.addresses.insert(number);
  SmallVector<Value> arguments{number};
  llvm::append_range(arguments, counted.getRegionIterArgs());
  rewriter.mergeBlocks(loop.getBody(), counted.getBody(), arguments);
  rewriter.replaceOp(loop, counted);
  return counted;
}

bool isZero(Value value) {
  return matchPattern(value, m_Zero()) || matchPattern(value, m_PosZeroFloat());
}

void makeConditional(RewriterBase &rewriter, tile::LoadOp load, Value condition) {
  OpBuilder::InsertionGuard guard(rewriter);
  rewriter.setInsertionPoint(load);
  Value mask = splatLike(rewriter, load.getLoc(), condition, load.getPtr().getType());
  if (load.getMask())
    mask = arith::AndIOp::create(rewriter, load.getLoc(), load.getMask(), mask);
  rewriter.modifyOpInPlace(load, [&] { load.getMaskMutable().assign(mask); });
}

} // namespace kiln

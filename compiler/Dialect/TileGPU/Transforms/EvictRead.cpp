// Memory that a program is done with leaves the L1 cache first.
//
//     for i: total += load(x + i)
//     for i: store(y + i, load(x + i) - total)
//
// The second loop finds the row in the cache, as long as the rows of all programs of a processor
// fit. What it has read for the last time, and what it stores, takes the place of what others
// still read. Of loads of the same elements in several loops the last one, and stores beside it,
// say so. (What is loaded twice by the way, as cosines for queries and for keys, others share.)

#include "compiler/Analysis/AccessVector.h"
#include "compiler/Analysis/AddressMeeting.h"
#include "compiler/Dialect/TileGPU/TileGPU.h"
#include "compiler/Dialect/TileGPU/Transforms/Passes.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/SCF/IR/SCF.h"

using namespace mlir;

namespace kiln {
namespace {

/// Of a thread's access. With shorter ones several warps share a line.
constexpr int64_t wideBytes = 4;

/// The loops around an operation, outermost first; none if it is not known how often one of them
/// runs.
std::optional<SmallVector<scf::ForOp>> loopsAround(Operation *op) {
  SmallVector<scf::ForOp> loops;
  for (Operation *parent = op->getParentOp(); !isa<func::FuncOp>(parent);
       parent = parent->getParentOp()) {
    if (auto loop = dyn_cast<scf::ForOp>(parent))
      loops.push_back(loop);
    else if (!isa<scf::IfOp>(parent))
      return std::nullopt;
  }
  return SmallVector<scf::ForOp>(llvm::reverse(loops));
}

/// Whether `first` is done when `second` begins, in an iteration of the loops around both.
bool isBefore(Operation *first, Operation *second) {
  for (; first; first = first->getParentOp())
    if (Operation *beside = first->getBlock()->findAncestorOpInBlock(*second))
      return first != beside && first->isBeforeInBlock(beside);
  return false;
}

class Rereads {
public:
  /// Whether `later` loads in its loop what `earlier` has loaded in another one.
  bool areSame(tile::LoadOp earlier, tile::LoadOp later) {
    if (!isBefore(earlier, later) || !meetings.originOf(earlier.getPtr(), later.getPtr()).always)
      return false;
    auto before = loopsAround(earlier), behind = loopsAround(later);
    if (!before || !behind || before->size() != behind->size() || *before == *behind)
      return false;
    llvm::SmallDenseMap<Operation *, Operation *> counterparts;
    for (auto [one, other] : llvm::zip_equal(*before, *behind)) {
      if (!runAlike(one, other, counterparts))
        return false;
      counterparts[one] = other;
    }
    return inLater(earlier.getPtr(), counterparts) == polynomials.of(later.getPtr());
  }

  /// Whether each iteration of each loop around it loads other elements.
  bool movesOn(tile::LoadOp load) {
    auto loops = loopsAround(load);
    Polynomial address = polynomials.of(load.getPtr());
    return loops && !address.isTooLarge() && llvm::all_of(*loops, [&](scf::ForOp loop) {
             return polynomials.variesIn(address, loop);
           });
  }

  /// Whether one of the loads behind it is of the array that it stores to.
  bool isRead(tile::StoreOp store, ArrayRef<tile::LoadOp> loads) {
    return llvm::any_of(loads, [&](tile::LoadOp load) {
      return isBefore(store, load) && meetings.originOf(store.getPtr(), load.getPtr()).always;
    });
  }

private:
  bool runAlike(scf::ForOp earlier, scf::ForOp later,
                const llvm::SmallDenseMap<Operation *, Operation *> &counterparts) {
    auto areEqual = [&](Value one, Value other) {
      return inLater(one, counterparts) == polynomials.of(other);
    };
    return earlier == later || (areEqual(earlier.getLowerBound(), later.getLowerBound()) &&
                                areEqual(earlier.getUpperBound(), later.getUpperBound()) &&
                                areEqual(earlier.getStep(), later.getStep()));
  }

  /// With iterations of the later loops in place of those of their counterparts.
  Polynomial inLater(Value value,
                     const llvm::SmallDenseMap<Operation *, Operation *> &counterparts) {
    return polynomials.of(value).substitute([&](Symbol symbol) {
      SymbolMeaning meaning = polynomials.meaning(symbol);
      Operation *counterpart = counterparts.lookup(meaning.loop);
      if (!counterpart)
        return Polynomial::symbol(symbol);
      meaning.loop = counterpart;
      return Polynomial::symbol(polynomials.intern(meaning));
    });
  }

  AddressMeetings meetings;
  IndexPolynomials polynomials;
};

struct EvictReadPass : PassWrapper<EvictReadPass, OperationPass<func::FuncOp>> {
  MLIR_DEFINE_EXPLICIT_INTERNAL_INLINE_TYPE_ID(EvictReadPass)

  StringRef getArgument() const override { return "kiln-evict-read"; }
  StringRef getDescription() const override {
    return "Let memory that a program has read for the last time leave the cache first";
  }

  void runOnOperation() override {
    std::optional<TargetInfo> target = tilegpu::targetOfKernel(getOperation());
    if (!target)
      return signalPassFailure();
    if (target->backend != Backend::CUDA)
      return;
    AxisInfoAnalysis facts(getOperation());
    SmallVector<tile::LoadOp> loads;
    getOperation().walk([&](tile::LoadOp load) {
      if (isWide(load, *target, facts) && !load.getIsVolatile())
        loads.push_back(load);
    });
    Rereads rereads;
    for (tile::LoadOp load : loads) {
      auto isSame = [&](tile::LoadOp other) { return rereads.areSame(other, load); };
      auto isRepeated = [&](tile::LoadOp other) { return rereads.areSame(load, other); };
      if (llvm::none_of(loads, isSame) || llvm::any_of(loads, isRepeated) || !rereads.movesOn(load))
        continue;
      evictFirst(load);
      for (auto store : load->getBlock()->getOps<tile::StoreOp>())
        if (isWide(store, *target, facts) && !rereads.isRead(store, loads))
          evictFirst(store);
    }
  }

private:
  /// Whether a warp accesses whole lines, and the source says nothing of caches.
  template <typename Access>
  static bool isWide(Access access, const TargetInfo &target, const AxisInfoAnalysis &facts) {
    auto type = dyn_cast<RankedTensorType>(access.getPtr().getType());
    if (!type || access.getCache() != tile::CacheModifier::None)
      return false;
    const LinearLayout &layout = tilegpu::layoutOf(access.getPtr());
    int64_t bytes = cast<tile::PtrType>(type.getElementType()).getElementBytes();
    AccessVector vector =
        accessVector(access.getPtr(), access.getMask(), layout, target.maxVectorBits, facts);
    return vector.elements * bytes >= wideBytes;
  }

  template <typename Access> static void evictFirst(Access access) {
    if (access.getEvict() == tile::EvictionPolicy::Normal)
      access.setEvict(tile::EvictionPolicy::First);
  }
};

} // namespace

std::unique_ptr<Pass> createEvictReadPass() { return std::make_unique<EvictReadPass>(); }

} // namespace kiln

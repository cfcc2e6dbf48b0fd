// The loop that is made does `distance` iterations in one, a group, and begins with the loads of
// the next group:
//
//     x, y = load(p(0)), load(p(1))
//     for i in steps of 2:
//         u, v = load(p(i + 2)), load(p(i + 3))
//         … x …
//         if i + 1 is an iteration:
//             … y …
//         x, y = u, v
//
// All of a group are in flight while the one before is computed, and it waits for them where it
// ends. A load for each iteration, into registers of its own, would be waited for with all others
// that are in flight: ptxas has one scoreboard for what goes from iteration to iteration.
//
// Without a group ahead, the group's own loads come first. Where there are fewer iterations, which
// many loops that could do more are used for, the loop is as it was.
//
// It counts groups of iterations, so that no number passes the end of the loop.

#include "compiler/Dialect/TileGPU/Transforms/LoadsAhead.h"
#include "compiler/Dialect/TileGPU/Transforms/StagedLoads.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/IR/IRMapping.h"
#include "mlir/IR/PatternMatch.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"

using namespace mlir;

namespace kiln {
namespace {

class GroupedLoop {
public:
  GroupedLoop(scf::ForOp loop, ArrayRef<tile::LoadOp> loads, ArrayRef<Operation *> addresses,
              unsigned size)
      : loop(loop), loads(loads), addresses(addresses), size(size), rewriter(loop.getContext()),
        loc(loop.getLoc()) {
    rewriter.setInsertionPoint(loop);
    auto below = loop.getUnsignedCmp() ? arith::CmpIPredicate::ult : arith::CmpIPredicate::slt;
    any = make<arith::CmpIOp>(below, loop.getLowerBound(), loop.getUpperBound());
    Value span = make<arith::SubIOp>(loop.getUpperBound(), loop.getLowerBound());
    last = make<arith::DivUIOp>(make<arith::SubIOp>(span, number(1)), loop.getStep());
  }

  void loadAhead() {
    SmallVector<Value> carried(loop.getInitArgs());
    for (unsigned ahead = 0; ahead < size; ++ahead)
      llvm::append_range(carried, loadOf(later(loop.getLowerBound(), ahead),
                                         make<arith::AndIOp>(any, isAtLeast(last, ahead))));
    scf::ForOp grouped = makeLoop(carried);
    fillAhead(grouped);
    rewriter.replaceOp(loop, grouped.getResults().take_front(loop.getNumResults()));
  }

  void loadTogether() {
    Value isWhole = make<arith::AndIOp>(any, isAtLeast(last, size - 1));
    auto branch = scf::IfOp::create(rewriter, loc, loop.getResultTypes(), isWhole,
                                    /*addThenBlock=*/true, /*addElseBlock=*/true);
    rewriter.replaceAllUsesWith(loop.getResults(), branch.getResults());
    rewriter.setInsertionPointToEnd(branch.thenBlock());
    scf::ForOp grouped = makeLoop(SmallVector<Value>(loop.getInitArgs()));
    scf::YieldOp::create(rewriter, loc, grouped.getResults());
    fillTogether(grouped);
    rewriter.moveOpBefore(loop, branch.elseBlock(), branch.elseBlock()->end());
    rewriter.setInsertionPointToEnd(branch.elseBlock());
    scf::YieldOp::create(rewriter, loc, loop.getResults());
  }

private:
  /// Over the groups of iterations.
  scf::ForOp makeLoop(ArrayRef<Value> carried) {
    Value groups = make<arith::AddIOp>(make<arith::DivUIOp>(last, number(size)), number(1));
    groups = make<arith::SelectOp>(any, groups, number(0));
    auto grouped = scf::ForOp::create(rewriter, loc, number(0), groups, number(1), carried);
    grouped.setUnsignedCmp(true);
    grouped->setDiscardableAttrs(loop->getDiscardableAttrDictionary());
    return grouped;
  }

  template <typename Op, typename... Args> Value make(Args &&...args) {
    return Op::create(rewriter, loc, std::forward<Args>(args)...);
  }
  Value number(int64_t value) {
    Type type = loop.getInductionVar().getType();
    return arith::ConstantOp::create(rewriter, loc, rewriter.getIntegerAttr(type, value));
  }
  Value steps(unsigned count) {
    return rewriter.createOrFold<arith::MulIOp>(loc, loop.getStep(), number(count));
  }
  /// The number of the iteration that is `count` later.
  Value later(Value iteration, unsigned count) {
    return count ? make<arith::AddIOp>(iteration, steps(count)) : iteration;
  }
  Value isAtLeast(Value value, int64_t least) {
    return make<arith::CmpIOp>(arith::CmpIPredicate::uge, value, number(least));
  }

  /// What the iteration of the number `iteration` reads, if it `exists` (null: it does).
  SmallVector<Value> loadOf(Value iteration, Value exists) {
    IRMapping mapping;
    mapping.map(loop.getInductionVar(), iteration);
    for (Operation *op : addresses)
      rewriter.clone(*op, mapping);
    SmallVector<Value> loaded;
    for (tile::LoadOp load : loads) {
      auto copy = cast<tile::LoadOp>(rewriter.clone(*load, mapping));
      if (exists)
        makeConditional(rewriter, copy, exists);
      loaded.push_back(copy.getResult());
    }
    return loaded;
  }

  /// Begins the body of the loop over groups: with the number of its first iteration, and how many
  /// are behind that.
  std::pair<Value, Value> startGroup(scf::ForOp grouped) {
    if (!grouped.getBody()->empty())
      rewriter.eraseOp(grouped.getBody()->getTerminator());
    rewriter.setInsertionPointToEnd(grouped.getBody());
    Value group = grouped.getInductionVar();
    Value start =
        make<arith::AddIOp>(loop.getLowerBound(), make<arith::MulIOp>(group, steps(size)));
    return {start, make<arith::SubIOp>(last, make<arith::MulIOp>(group, number(size)))};
  }

  void fillAhead(scf::ForOp grouped) {
    auto [start, behind] = startGroup(grouped);
    unsigned numCarried = loop.getNumRegionIterArgs();
    SmallVector<Value> next, loaded(grouped.getRegionIterArgs().drop_front(numCarried));
    for (unsigned ahead = size; ahead < 2 * size; ++ahead)
      llvm::append_range(next, loadOf(later(start, ahead), isAtLeast(behind, ahead)));
    SmallVector<Value> carried =
        iterations(start, behind, 0, grouped.getRegionIterArgs().take_front(numCarried), loaded);
    llvm::append_range(carried, next);
    scf::YieldOp::create(rewriter, loc, carried);
  }

  void fillTogether(scf::ForOp grouped) {
    auto [start, behind] = startGroup(grouped);
    SmallVector<Value> loaded;
    for (unsigned ahead = 0; ahead < size; ++ahead)
      llvm::append_range(loaded,
                         loadOf(later(start, ahead), ahead ? isAtLeast(behind, ahead) : Value()));
    scf::YieldOp::create(rewriter, loc,
                         iterations(start, behind, 0, grouped.getRegionIterArgs(), loaded));
  }

  /// What the loop carries behind the iterations of a group from the number `ahead` on, for which
  /// was `loaded` what all of them load.
  SmallVector<Value> iterations(Value start, Value behind, unsigned ahead, ValueRange before,
                                ValueRange loaded) {
    ValueRange mine = loaded.slice(ahead * loads.size(), loads.size());
    SmallVector<Value> carried = iteration(later(start, ahead), before, mine);
    if (++ahead == size)
      return carried;
    return iterateIf(isAtLeast(behind, ahead), carried,
                     [&] { return iterations(start, behind, ahead, carried, loaded); });
  }

  SmallVector<Value> iterateIf(Value exists, ArrayRef<Value> carried,
                               function_ref<SmallVector<Value>()> iterate) {
    auto branch = scf::IfOp::create(rewriter, loc, ValueRange(carried).getTypes(), exists,
                                    /*addThenBlock=*/true, /*addElseBlock=*/!carried.empty());
    OpBuilder::InsertionGuard guard(rewriter);
    if (!carried.empty()) {
      rewriter.setInsertionPointToEnd(branch.elseBlock());
      scf::YieldOp::create(rewriter, loc, carried);
    }
    if (!branch.thenBlock()->empty())
      rewriter.eraseOp(branch.thenBlock()->getTerminator());
    rewriter.setInsertionPointToEnd(branch.thenBlock());
    scf::YieldOp::create(rewriter, loc, iterate());
    return llvm::to_vector_of<Value>(branch.getResults());
  }

  /// What the loop carries behind the iteration.
  SmallVector<Value> iteration(Value number, ValueRange carried, ValueRange loaded) {
    IRMapping mapping;
    mapping.map(loop.getInductionVar(), number);
    mapping.map(loop.getRegionIterArgs(), carried);
    for (auto [load, value] : llvm::zip_equal(loads, loaded))
      mapping.map(load->getResult(0), value);
    SmallVector<Operation *> copies;
    for (Operation &op : loop.getBody()->without_terminator())
      if (!llvm::is_contained(loads, &op))
        copies.push_back(rewriter.clone(op, mapping));
    SmallVector<Value> results = llvm::map_to_vector(
        loop.getYieldedValues(), [&](Value value) { return mapping.lookupOrDefault(value); });
    for (Operation *copy : llvm::reverse(copies))
      if (isOpTriviallyDead(copy) && !llvm::any_of(copy->getResults(), [&](Value value) {
            return llvm::is_contained(results, value);
          }))
        rewriter.eraseOp(copy);
    return results;
  }

  scf::ForOp loop;
  ArrayRef<tile::LoadOp> loads;
  ArrayRef<Operation *> addresses;
  unsigned size; ///< of a group
  IRRewriter rewriter;
  Location loc;
  Value any, last; ///< whether there is an iteration, and then the number of the last
};

} // namespace

void loadAhead(scf::ForOp loop, ArrayRef<tile::LoadOp> loads, ArrayRef<Operation *> addresses,
               unsigned distance) {
  GroupedLoop(loop, loads, addresses, distance).loadAhead();
}

void loadTogether(scf::ForOp loop, ArrayRef<tile::LoadOp> loads, ArrayRef<Operation *> addresses,
                  unsigned count) {
  GroupedLoop(loop, loads, addresses, count).loadTogether();
}

} // namespace kiln

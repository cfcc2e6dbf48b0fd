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
              unsigned distance)
      : loop(loop), loads(loads), addresses(addresses), distance(distance),
        rewriter(loop.getContext()), loc(loop.getLoc()) {}

  void run() {
    rewriter.setInsertionPoint(loop);
    auto below = loop.getUnsignedCmp() ? arith::CmpIPredicate::ult : arith::CmpIPredicate::slt;
    Value first = loop.getLowerBound();
    Value any = make<arith::CmpIOp>(below, first, loop.getUpperBound());
    Value span = make<arith::SubIOp>(loop.getUpperBound(), first);
    // The number of the last iteration, if there is any.
    last = make<arith::DivUIOp>(make<arith::SubIOp>(span, number(1)), loop.getStep());
    Value groups = make<arith::AddIOp>(make<arith::DivUIOp>(last, number(distance)), number(1));
    groups = make<arith::SelectOp>(any, groups, number(0));
    SmallVector<Value> carried(loop.getInitArgs());
    for (unsigned ahead = 0; ahead < distance; ++ahead)
      llvm::append_range(
          carried, loadOf(later(first, ahead), make<arith::AndIOp>(any, isAtLeast(last, ahead))));
    auto grouped = scf::ForOp::create(rewriter, loc, number(0), groups, number(1), carried);
    grouped.setUnsignedCmp(true);
    grouped->setDiscardableAttrs(loop->getDiscardableAttrDictionary());
    fill(grouped);
    rewriter.replaceOp(loop, grouped.getResults().take_front(loop.getNumResults()));
  }

private:
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

  /// What the iteration of the number `iteration` reads, if it `exists`.
  SmallVector<Value> loadOf(Value iteration, Value exists) {
    IRMapping mapping;
    mapping.map(loop.getInductionVar(), iteration);
    for (Operation *op : addresses)
      rewriter.clone(*op, mapping);
    SmallVector<Value> loaded;
    for (tile::LoadOp load : loads) {
      auto copy = cast<tile::LoadOp>(rewriter.clone(*load, mapping));
      makeConditional(rewriter, copy, exists);
      loaded.push_back(copy.getResult());
    }
    return loaded;
  }

  void fill(scf::ForOp grouped) {
    if (!grouped.getBody()->empty())
      rewriter.eraseOp(grouped.getBody()->getTerminator());
    rewriter.setInsertionPointToEnd(grouped.getBody());
    Value group = grouped.getInductionVar();
    Value start =
        make<arith::AddIOp>(loop.getLowerBound(), make<arith::MulIOp>(group, steps(distance)));
    Value behind = make<arith::SubIOp>(last, make<arith::MulIOp>(group, number(distance)));
    unsigned numCarried = loop.getNumRegionIterArgs();
    SmallVector<Value> carried(grouped.getRegionIterArgs().take_front(numCarried));
    SmallVector<Value> next;
    for (unsigned ahead = distance; ahead < 2 * distance; ++ahead)
      llvm::append_range(next, loadOf(later(start, ahead), isAtLeast(behind, ahead)));
    for (unsigned ahead = 0; ahead < distance; ++ahead) {
      ValueRange loaded =
          grouped.getRegionIterArgs().slice(numCarried + ahead * loads.size(), loads.size());
      auto iterate = [&] { return iteration(later(start, ahead), carried, loaded); };
      carried = ahead == 0 ? iterate() : iterateIf(isAtLeast(behind, ahead), carried, iterate);
    }
    llvm::append_range(carried, next);
    scf::YieldOp::create(rewriter, loc, carried);
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
  SmallVector<Value> iteration(Value number, ArrayRef<Value> carried, ValueRange loaded) {
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
  unsigned distance;
  IRRewriter rewriter;
  Location loc;
  Value last;
};

} // namespace

void loadAhead(scf::ForOp loop, ArrayRef<tile::LoadOp> loads, ArrayRef<Operation *> addresses,
               unsigned distance) {
  GroupedLoop(loop, loads, addresses, distance).run();
}

} // namespace kiln

// Atomic operations: once per element, by the one thread that owns it.
//
// Additions of floats whose results nobody uses, where the target adds to memory without giving the
// old value back, are made as stores are: predicated, neighbours at once. AMD gives both old values
// of two 16-bit floats: these are made at once where the results are used, too. Of 16-bit floats
// one alone is a loop of compare-and-swap on NVIDIA. Refused there: the pair that the element lies
// in, with -0 for its neighbour; the neighbour may be another array's, with other bits than a
// float's.
//
// The larger and the smaller of floats are found among their bits, by one of two operations on
// integers: there is none on floats on NVIDIA, where many programs that compare and swap at one
// place would make each other try again.
//
// Threads that hold a duplicate of an element must not repeat the operation, yet need its result.
// It reaches them through scratch in shared memory, written by the owner and read by all.

#include "compiler/Conversion/TileGPUToLLVM/AccessPlan.h"
#include "compiler/Conversion/TileGPUToLLVM/AtomicOrder.h"
#include "compiler/Conversion/TileGPUToLLVM/SharedTransfer.h"
#include "compiler/Expansion/AtomicInstructions/AtomicInstructions.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/SCF/IR/SCF.h"

using namespace mlir;

namespace kiln {
namespace {

/// What rmw and cas have in common; `perform` makes the atomic of one register.
template <typename OpT> struct AtomicDistribution : DistributionPattern<OpT> {
  using DistributionPattern<OpT>::DistributionPattern;
  using Adaptor = typename DistributionPattern<OpT>::Adaptor;

  virtual Value perform(OpT op, Adaptor adaptor, unsigned reg, const ScalarBuilder &s) const = 0;

  LogicalResult distribute(OpT op, Adaptor adaptor, const ScalarBuilder &s,
                           ConversionPatternRewriter &rewriter) const override {
    bool scalar = !isa<RankedTensorType>(op.getType());
    Value thread = this->lowering.device.threadId(rewriter, op.getLoc());
    Value owner =
        scalar ? s.equal(thread, 0)
               : isOwner(s, tilegpu::layoutOf(op.getType()), thread, this->lowering.target());
    bool share = owner && !op->use_empty();
    Value scratch = share ? this->lowering.scratch(s, op) : Value();
    if (share && !scratch)
      return failure();
    AtomicOrder order(op, op.getSemantic(), op.getScope());
    order.releaseBlock(s, this->lowering);
    SmallVector<Value> results;
    if (scalar)
      results = {performIf(op, adaptor, 0, s, owner, order)};
    else if (op->use_empty())
      order.performByOwners(s, this->lowering, owner, [&](const ScalarBuilder &s, Value owner) {
        performAll(op, adaptor, s, owner);
      });
    else
      results =
          order.betweenFences(s, this->lowering, [&] { return performAll(op, adaptor, s, owner); });
    if (share)
      shareOwners(s, this->lowering, op.getType(), owner, scratch, results,
                  /*ordersGlobal=*/order.acquires);
    else
      order.acquireBlock(s, this->lowering);
    if (results.empty())
      rewriter.eraseOp(op);
    else
      this->replace(op, rewriter, results);
    return success();
  }

protected:
  /// What `make` makes where the predicate holds (null: always), else zero.
  static Value makeIf(Value predicate, Type type, const ScalarBuilder &s,
                      function_ref<Value(const ScalarBuilder &)> make) {
    if (!predicate)
      return make(s);
    auto branch = scf::IfOp::create(
        s.builder(), s.location(), predicate,
        [&](OpBuilder &b, Location loc) {
          scf::YieldOp::create(b, loc, make(ScalarBuilder(b, loc)));
        },
        [&](OpBuilder &b, Location loc) {
          scf::YieldOp::create(b, loc, Value(LLVM::ZeroOp::create(b, loc, type)));
        });
    return branch.getResult(0);
  }

  /// A tensor's operations, by its `owner`s (null: everybody); none are returned where nobody uses
  /// the results.
  virtual SmallVector<Value> performAll(OpT op, Adaptor adaptor, const ScalarBuilder &s,
                                        Value owner) const {
    SmallVector<Value> results;
    for (auto [reg, first] : llvm::enumerate(firstDuplicates(tilegpu::layoutOf(op.getType()))))
      results.push_back(reg == first ? performIf(op, adaptor, reg, s, owner, AtomicOrder())
                                     : results[first]);
    return results;
  }

private:
  Value performIf(OpT op, Adaptor adaptor, unsigned reg, const ScalarBuilder &s, Value owner,
                  const AtomicOrder &order) const {
    Value predicate = both(owner, op.getMask() ? adaptor.getMask()[reg] : Value(), s);
    return makeIf(predicate, this->lowering.elementType(op.getType()), s,
                  [&](const ScalarBuilder &s) -> Value {
                    return order.betweenFences(s, this->lowering,
                                               [&] { return perform(op, adaptor, reg, s); });
                  });
  }
};

struct AtomicRMWDistribution : AtomicDistribution<tile::AtomicRMWOp> {
  using AtomicDistribution::AtomicDistribution;
  Value perform(tile::AtomicRMWOp op, Adaptor adaptor, unsigned reg,
                const ScalarBuilder &s) const override {
    Value ptr = adaptor.getPtr()[reg], value = adaptor.getValue()[reg];
    auto extreme = bitwiseExtremeOf(op.getKind(), value.getType());
    if (!extreme)
      return instruction(op, atomicInstructionOf(op.getKind()), ptr, value, s.builder());
    Value bits = s.bitcast(value, s.builder().getIntegerType(scalarBits(value.getType())));
    Value negative = s.compare(arith::CmpIPredicate::slt, bits, s.zero(bits.getType()));
    auto yield = [&](LLVM::AtomicBinOp kind) {
      return [this, op, kind, ptr, bits](OpBuilder &b, Location loc) {
        scf::YieldOp::create(b, loc, instruction(op, kind, ptr, bits, b));
      };
    };
    auto branch = scf::IfOp::create(s.builder(), op.getLoc(), negative, yield(extreme->ofNegative),
                                    yield(extreme->ofPositive));
    return s.bitcast(branch.getResult(0), value.getType());
  }

private:
  Value instruction(tile::AtomicRMWOp op, LLVM::AtomicBinOp kind, Value ptr, Value value,
                    OpBuilder &b) const {
    auto atomic =
        LLVM::AtomicRMWOp::create(b, op.getLoc(), kind, ptr, value, LLVM::AtomicOrdering::monotonic,
                                  lowering.device.syncScope(op.getScope()));
    lowering.device.annotateAtomic(atomic, isDeviceMemory(op));
    return atomic;
  }

  /// Each group at once, with what was there of all of its elements, by register.
  SmallVector<Value> performGroups(tile::AtomicRMWOp op, Adaptor adaptor,
                                   const RegisterGroups &groups, const ScalarBuilder &s,
                                   Value owner) const {
    Type element = lowering.elementType(op.getType());
    SmallVector<Value> results(adaptor.getValue().size());
    for (ArrayRef<unsigned> group : groups) {
      Type type = group.size() == 1 ? element : Type(VectorType::get(group.size(), element));
      Value mask = op.getMask() ? adaptor.getMask()[group[0]] : Value();
      Value old = makeIf(both(owner, mask, s), type, s, [&](const ScalarBuilder &s) {
        return instruction(op, atomicInstructionOf(op.getKind()), adaptor.getPtr()[group[0]],
                           packGroup(s, adaptor.getValue(), group), s.builder());
      });
      for (auto [reg, value] : llvm::zip_equal(group, s.unpack(old)))
        results[reg] = value;
    }
    return results;
  }

  /// The groups of the plan; where a bound ends within one, each element on its own.
  SmallVector<Value> performPlan(tile::AtomicRMWOp op, Adaptor adaptor, const AccessPlan &plan,
                                 const ScalarBuilder &s, Value owner) const {
    SmallVector<Value> results;
    if (plan.mayStraddle) {
      auto perform = [&](const RegisterGroups &groups) {
        return [&, groups](OpBuilder &b, Location loc) {
          SmallVector<Value> made =
              performGroups(op, adaptor, groups, ScalarBuilder(b, loc), owner);
          llvm::erase(made, Value());
          scf::YieldOp::create(b, loc, made);
        };
      };
      auto branch =
          scf::IfOp::create(s.builder(), s.location(), straddles(plan.groups, adaptor.getMask(), s),
                            perform(elementsOf(plan.groups)), perform(plan.groups));
      results.resize(adaptor.getValue().size());
      SmallVector<unsigned> made;
      for (ArrayRef<unsigned> group : plan.groups)
        made.append(group.begin(), group.end());
      llvm::sort(made);
      for (auto [reg, value] : llvm::zip_equal(made, branch.getResults()))
        results[reg] = value;
    } else {
      results = performGroups(op, adaptor, plan.groups, s, owner);
    }
    for (auto [reg, first] : llvm::enumerate(firstDuplicates(tilegpu::layoutOf(op.getType()))))
      results[reg] = results[first];
    return results;
  }

  static bool isDeviceMemory(tile::AtomicRMWOp op) {
    return op->getParentOfType<func::FuncOp>()->hasAttr(tile::TileDialect::deviceMemoryAttr);
  }

protected:
  SmallVector<Value> performAll(tile::AtomicRMWOp op, Adaptor adaptor, const ScalarBuilder &s,
                                Value owner) const override {
    unsigned maxBits = tilegpu::reductionBits(op, lowering.target());
    if (!maxBits)
      return AtomicDistribution::performAll(op, adaptor, s, owner);
    unsigned elementBits = scalarBits(lowering.elementType(op.getType()));
    AccessPlan plan = planAccess({op.getPtr(), op.getMask(), elementBits, maxBits}, lowering);
    if (!op->use_empty())
      return performPlan(op, adaptor, plan, s, owner);
    makeAccesses(plan, adaptor.getMask(), s, [&](ArrayRef<unsigned> group, const ScalarBuilder &s) {
      Value mask = op.getMask() ? adaptor.getMask()[group[0]] : Value();
      tilegpu::GlobalReduceOp::create(s.builder(), op.getLoc(), adaptor.getPtr()[group[0]],
                                      packGroup(s, adaptor.getValue(), group), both(owner, mask, s),
                                      op.getScope(), isDeviceMemory(op));
    });
    return {};
  }
};

struct AtomicCASDistribution : AtomicDistribution<tile::AtomicCASOp> {
  using AtomicDistribution::AtomicDistribution;
  Value perform(tile::AtomicCASOp op, Adaptor adaptor, unsigned reg,
                const ScalarBuilder &s) const override {
    OpBuilder &b = s.builder();
    Type type = adaptor.getValue()[reg].getType(), bits = b.getIntegerType(scalarBits(type));
    Value exchange = LLVM::AtomicCmpXchgOp::create(
        b, op.getLoc(), adaptor.getPtr()[reg], s.bitcast(adaptor.getCompare()[reg], bits),
        s.bitcast(adaptor.getValue()[reg], bits), LLVM::AtomicOrdering::monotonic,
        LLVM::AtomicOrdering::monotonic, lowering.device.syncScope(op.getScope()));
    Value old = LLVM::ExtractValueOp::create(b, op.getLoc(), exchange, ArrayRef<int64_t>{0});
    return s.bitcast(old, type);
  }
};

struct BarrierDistribution : DistributionPattern<tile::BarrierOp> {
  using DistributionPattern::DistributionPattern;
  LogicalResult distribute(tile::BarrierOp op, Adaptor, const ScalarBuilder &,
                           ConversionPatternRewriter &rewriter) const override {
    lowering.device.barrier(rewriter, op.getLoc());
    rewriter.eraseOp(op);
    return success();
  }
};

struct FenceDistribution : DistributionPattern<tile::FenceOp> {
  using DistributionPattern::DistributionPattern;
  LogicalResult distribute(tile::FenceOp op, Adaptor, const ScalarBuilder &,
                           ConversionPatternRewriter &rewriter) const override {
    rewriter.replaceOpWithNewOp<LLVM::FenceOp>(
        op, op.getSequential() ? LLVM::AtomicOrdering::seq_cst : LLVM::AtomicOrdering::acq_rel,
        lowering.device.syncScope(op.getScope()));
    return success();
  }
};

} // namespace

void populateAtomicPatterns(RewritePatternSet &patterns, const Lowering &lowering) {
  patterns
      .add<AtomicRMWDistribution, AtomicCASDistribution, BarrierDistribution, FenceDistribution>(
          lowering, patterns.getContext());
}

} // namespace kiln

// Sines, cosines and tangents of f32, of several angles at once.
//
// The reduction of large angles is long (Expansion/Math), and rare. In a branch for each angle it
// stood in the code as many times as a thread has angles, and each branch was a place that nothing
// is moved across. Here up to eight angles share one branch, taken if any of them is large, with
// one loop that reduces them in turn. An angle that was a small float or integer needs none, and
// functions of the same angle share its reduction.
//
// Tried instead: a function that is called for each, around which all other values have to be
// saved.

#include "compiler/Conversion/TileGPUToLLVM/ExpandAngles.h"
#include "compiler/Conversion/FlattenControlFlow/LoopAnnotation.h"
#include "compiler/Expansion/Math/MathBuilder.h"

#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "llvm/ADT/TypeSwitch.h"

using namespace mlir;

namespace kiln {
namespace {

/// Functions whose angles are known before the first of them.
struct Group {
  SmallVector<Operation *> functions;
  /// Of each function the angle's number.
  SmallVector<size_t> places;
  size_t numAngles = 0;
  bool mayBeFar = true;
};

constexpr size_t maxAngles = 8;

/// A number of f16, and an integer of 16 bits, is never far.
bool isNear(Value angle) {
  Operation *op = angle.getDefiningOp();
  if (!isa_and_nonnull<arith::ExtFOp, arith::SIToFPOp, arith::UIToFPOp>(op))
    return false;
  static_assert(MathBuilder::nearLimit > 65535);
  Type from = op->getOperand(0).getType();
  return from.isF16() || (from.isInteger() && from.getIntOrFloatBitWidth() <= 16);
}

bool isKnownBefore(Value value, Operation *op) {
  Operation *source = value.getDefiningOp();
  return !source || source->getBlock() != op->getBlock() || source->isBeforeInBlock(op);
}

SmallVector<Group> groupByAngle(ArrayRef<Operation *> functions) {
  SmallVector<Group> groups;
  /// The group that has the angle, and its number there.
  DenseMap<std::pair<Block *, Value>, std::pair<size_t, size_t>> found;
  std::optional<size_t> open;
  for (Operation *op : functions) {
    Value angle = op->getOperand(0);
    auto [known, isNew] = found.try_emplace({op->getBlock(), angle});
    auto &[number, place] = known->second;
    if (isNew) {
      bool joins = open && !isNear(angle) && groups[*open].numAngles < maxAngles &&
                   groups[*open].functions.front()->getBlock() == op->getBlock() &&
                   isKnownBefore(angle, groups[*open].functions.front());
      number = joins ? *open : groups.size();
      if (!joins)
        groups.emplace_back().mayBeFar = !isNear(angle);
      if (groups[number].mayBeFar)
        open = number;
      place = groups[number].numAngles++;
    }
    groups[number].functions.push_back(op);
    groups[number].places.push_back(place);
  }
  return groups;
}

class GroupExpansion {
public:
  GroupExpansion(const Group &group, const MathPrimitives &target)
      : group(group), target(target), builder(group.functions.front()),
        loc(group.functions.front()->getLoc()), b(builder, loc),
        math(b, target, builder.getF32Type()), angles(group.numAngles) {}

  void expand() {
    for (auto [op, place] : llvm::zip(group.functions, group.places))
      angles[place] = op->getOperand(0);
    for (Value angle : angles) {
      auto [rest, turns] = math.reduceNear(angle);
      reduced.push_back(rest);
      reduced.push_back(turns);
    }
    if (group.mayBeFar)
      reduceFarOnes();
    for (auto [op, place] : llvm::zip(group.functions, group.places)) {
      Value angle = angles[place];
      MathBuilder::Reduced parts{reduced[2 * place], reduced[2 * place + 1]};
      Value result = llvm::TypeSwitch<Operation *, Value>(op)
                         .Case([&](math::SinOp) { return math.sin(angle, parts); })
                         .Case([&](math::CosOp) { return math.cos(angle, parts); })
                         .Case([&](math::TanOp) { return math.tan(angle, parts); });
      op->getResult(0).replaceAllUsesWith(result);
    }
    for (Operation *op : group.functions)
      op->erase();
  }

private:
  void reduceFarOnes() {
    Value largest;
    for (Value angle : angles) {
      Value magnitude = b.make<math::AbsFOp>(angle);
      // NaN does not count.
      largest = largest ? b.make<arith::MaxNumFOp>(largest, magnitude) : magnitude;
    }
    Value isAnyFar = b.less(b.real(MathBuilder::nearLimit, largest), largest);
    auto far = [&](OpBuilder &inner, Location loc) {
      scf::YieldOp::create(inner, loc,
                           angles.size() == 1 ? reduceAngle(inner, angles[0], reduced)
                                              : reduceInTurn(inner));
    };
    auto near = [&](OpBuilder &inner, Location loc) { scf::YieldOp::create(inner, loc, reduced); };
    auto branch = scf::IfOp::create(builder, loc, isAnyFar, far, near);
    reduced.assign(branch.result_begin(), branch.result_end());
  }

  /// `before`, the parts of all angles, with those of this one in their place where it is far and
  /// `isPlace` holds of the place.
  SmallVector<Value> reduceAngle(OpBuilder &inner, Value angle, ValueRange before,
                                 function_ref<Value(size_t)> isPlace = nullptr) {
    VectorBuilder v(inner, loc);
    MathBuilder f(v, target, inner.getF32Type());
    Value isFar = f.isFar(angle);
    auto [rest, turns] = f.reduceFar(angle);
    SmallVector<Value> parts;
    for (size_t place = 0; place < before.size() / 2; ++place) {
      Value isNew = isPlace ? v.bitAnd(isFar, isPlace(place)) : isFar;
      parts.push_back(v.select(isNew, rest, before[2 * place]));
      parts.push_back(v.select(isNew, turns, before[2 * place + 1]));
    }
    return parts;
  }

  SmallVector<Value> reduceInTurn(OpBuilder &outer) {
    VectorBuilder v(outer, loc);
    Type i32 = outer.getI32Type();
    auto loop = scf::ForOp::create(
        outer, loc, v.constant(0, i32), v.constant(int64_t(angles.size()), i32), v.constant(1, i32),
        reduced, [&](OpBuilder &inner, Location loc, Value turn, ValueRange carried) {
          VectorBuilder body(inner, loc);
          auto isTurn = [&](size_t place) {
            return body.compare(arith::CmpIPredicate::eq, turn, body.integer(int64_t(place), turn));
          };
          Value angle = angles[0];
          for (size_t place = 1; place < angles.size(); ++place)
            angle = body.select(isTurn(place), angles[place], angle);
          scf::YieldOp::create(inner, loc, reduceAngle(inner, angle, carried, isTurn));
        });
    // Unrolled it would be what the loop is there to avoid.
    forbidUnrolling(loop);
    return SmallVector<Value>(loop.getResults());
  }

  const Group &group;
  const MathPrimitives &target;
  OpBuilder builder;
  Location loc;
  VectorBuilder b;
  MathBuilder math;
  SmallVector<Value> angles;
  /// Of each angle the rest and the turns.
  SmallVector<Value> reduced;
};

} // namespace

void expandAngles(ArrayRef<Operation *> functions, const MathPrimitives &target) {
  for (const Group &group : groupByAngle(functions))
    GroupExpansion(group, target).expand();
}

} // namespace kiln

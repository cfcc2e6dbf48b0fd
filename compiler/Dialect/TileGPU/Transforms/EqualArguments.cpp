#include "compiler/Dialect/TileGPU/Transforms/EqualArguments.h"
#include "mlir/Dialect/Arith/IR/Arith.h"

using namespace mlir;

namespace kiln {

ArgumentComparisons::ArgumentComparisons(func::FuncOp kernel)
    : kernel(kernel), entry(OpBuilder::atBlockBegin(&kernel.front())) {
  std::optional<TargetInfo> target = tilegpu::targetOfKernel(kernel);
  // RDNA's products lack registers of lanes, in which LLVM takes the least of words.
  comparesWords = target && !target->predicatedBarriers &&
                  !(target->matrix.wmmaGeneration && tilegpu::multiplies(kernel));
}

Value ArgumentComparisons::anyEqual(const std::set<ArgumentPair> &pairs) {
  constexpr size_t few = 2;
  std::set<ArgumentPair> pointers, numbers;
  for (const ArgumentPair &pair : pairs)
    (kernel.getArgument(pair.first).getType().isInteger() ? numbers : pointers).insert(pair);
  if (!comparesWords || pointers.size() <= few)
    return anyOf(pairs);
  Value any = anyEqualWord(pointers), less = anyOf(numbers);
  return less ? arith::OrIOp::create(entry, kernel.getLoc(), any, less).getResult() : any;
}

/// None of no pairs.
Value ArgumentComparisons::anyOf(const std::set<ArgumentPair> &pairs) {
  Value any;
  for (const ArgumentPair &pair : pairs) {
    Value &known = equal[pair];
    if (!known)
      known = compare(pair);
    any = any ? arith::OrIOp::create(entry, kernel.getLoc(), any, known) : known;
  }
  return any;
}

Value ArgumentComparisons::compare(const ArgumentPair &pair) {
  Location loc = kernel.getLoc();
  Value first = kernel.getArgument(pair.first), second = kernel.getArgument(pair.second);
  if (!first.getType().isInteger())
    return arith::CmpIOp::create(entry, loc, arith::CmpIPredicate::eq, addressOf(pair.first),
                                 addressOf(pair.second));
  auto extended = [&](Value value) -> Value {
    Type type = entry.getI64Type();
    return value.getType() == type || first.getType() == second.getType()
               ? value
               : arith::ExtSIOp::create(entry, loc, type, value).getResult();
  };
  return arith::CmpIOp::create(entry, loc, arith::CmpIPredicate::slt, extended(first),
                               extended(second));
}

/// AMD's scalar comparisons set one bit, from which it takes an instruction to have the result, and
/// one more to combine it with others. The least of the words' differences takes one and a half for
/// each pair (`v_min3_u32`).
Value ArgumentComparisons::anyEqualWord(const std::set<ArgumentPair> &pairs) {
  Location loc = kernel.getLoc();
  Value least;
  for (const ArgumentPair &pair : pairs) {
    Value &known = difference[pair];
    if (!known)
      known = arith::XOrIOp::create(entry, loc, wordOf(pair.first), wordOf(pair.second));
    least = least ? arith::MinUIOp::create(entry, loc, least, known) : known;
  }
  Value zero = arith::ConstantIntOp::create(entry, loc, least.getType(), 0);
  return arith::CmpIOp::create(entry, loc, arith::CmpIPredicate::eq, least, zero);
}

Value ArgumentComparisons::addressOf(unsigned argument) {
  Value &known = addresses[argument];
  if (!known)
    known = tile::BitcastOp::create(entry, kernel.getLoc(), entry.getI64Type(),
                                    kernel.getArgument(argument));
  return known;
}

Value ArgumentComparisons::wordOf(unsigned argument) {
  Value &known = words[argument];
  if (!known)
    known =
        arith::TruncIOp::create(entry, kernel.getLoc(), entry.getI32Type(), addressOf(argument));
  return known;
}

/// The pairs' numbers, one behind the other.
static constexpr llvm::StringLiteral equalArgumentsAttr = "tilegpu.equal_arguments";

void setEqualArguments(scf::IfOp branch, const std::set<ArgumentPair> &pairs) {
  SmallVector<int32_t> numbers;
  for (const ArgumentPair &pair : pairs)
    numbers.append({int32_t(pair.first), int32_t(pair.second)});
  branch->setAttr(equalArgumentsAttr, DenseI32ArrayAttr::get(branch.getContext(), numbers));
  branch->setAttr(tile::TileDialect::unlikelyAttr, UnitAttr::get(branch.getContext()));
}

BarrierNeed needAt(Operation *op, BarrierNeed need) {
  for (Operation *inner = op, *outer; (outer = inner->getParentOp()); inner = outer) {
    auto branch = dyn_cast<scf::IfOp>(outer);
    auto numbers = outer->getAttrOfType<DenseI32ArrayAttr>(equalArgumentsAttr);
    if (!branch || !numbers)
      continue;
    bool isForEqual = inner->getParentRegion() == &branch.getThenRegion();
    for (int64_t i = 0; i < numbers.size(); i += 2)
      if (need.pairs.erase({unsigned(numbers[i]), unsigned(numbers[i + 1])}))
        need.always |= isForEqual;
  }
  return need;
}

scf::ForOp versionFor(const std::set<ArgumentPair> &pairs, scf::ForOp loop,
                      ArgumentComparisons &comparisons) {
  // Only what is used: what a loop carries for itself can be computed ahead.
  SmallVector<unsigned> used;
  for (OpResult result : loop.getResults())
    if (!result.use_empty())
      used.push_back(result.getResultNumber());
  auto usedOf = [&](Operation *copy) {
    return llvm::map_to_vector(used,
                               [&](unsigned number) -> Value { return copy->getResult(number); });
  };
  OpBuilder builder(loop);
  auto branch = scf::IfOp::create(builder, loop.getLoc(), TypeRange(ValueRange(usedOf(loop))),
                                  comparisons.anyEqual(pairs), /*withElseRegion=*/true);
  setEqualArguments(branch, pairs);
  for (auto [result, merged] : llvm::zip_equal(usedOf(loop), branch.getResults()))
    result.replaceAllUsesWith(merged);
  auto moveInto = [&](Block *block, Operation *copy) {
    OpBuilder inside = OpBuilder::atBlockEnd(block);
    inside.insert(copy);
    scf::YieldOp::create(inside, loop.getLoc(), ValueRange(usedOf(copy)));
  };
  for (Block *block : {branch.thenBlock(), branch.elseBlock()})
    if (!block->empty())
      block->getTerminator()->erase();
  moveInto(branch.thenBlock(), loop->clone());
  loop->remove();
  moveInto(branch.elseBlock(), loop);
  return loop;
}

} // namespace kiln

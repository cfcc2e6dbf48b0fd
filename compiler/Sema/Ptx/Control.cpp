// Control flow of inline PTX. An element that branches forward takes no part until the label, as
// the lanes of a warp do; a branch back makes a loop that runs as long as some element takes it.

#include "compiler/Sema/Ptx/Translator.h"

namespace kiln::sema {

using ast::BinaryOp;

bool PtxTranslator::run() { return runRange(0, program.instructions.size()); }

bool PtxTranslator::runRange(size_t first, size_t last) {
  for (size_t at = first; at < last; ++at) {
    size_t back = findBranchBack(at);
    if (back >= last)
      return bool(refuse(program.instructions[back], "between two loops is not supported"));
    if (back ? !loop(at, back) : !execute(program.instructions[at]))
      return false;
    at = back ? back : at;
  }
  return true;
}

bool PtxTranslator::findCondition(const PtxInstruction &instruction, Tensor &condition) {
  condition = active;
  if (instruction.guard.empty())
    return true;
  PtxOperand guard;
  guard.name = instruction.guard;
  Tensor value = read(guard, 1);
  if (value && instruction.guardIsNegated)
    value = build.invert(value);
  if (value && active)
    value = binary(BinaryOp::BitAnd, active, value);
  condition = value;
  return bool(value);
}

bool PtxTranslator::branch(const PtxInstruction &instruction) {
  if (instruction.operands.size() != 1 ||
      instruction.operands[0].kind != PtxOperand::Kind::Register)
    return bool(refuse(instruction));
  const std::string &label = instruction.operands[0].name;
  size_t here = size_t(&instruction - program.instructions.data()), there = here;
  while (there < program.instructions.size() && program.instructions[there].label != label)
    ++there;
  bool leavesLoop = loopEnd && there > loopEnd;
  if (there == program.instructions.size() || entersLoop(here, there) ||
      (leavesLoop && there != loopEnd + 1))
    return bool(refuse(instruction, "to '" + label + "' is not supported"));
  Tensor taken;
  if (!findCondition(instruction, taken))
    return false;
  if (!taken)
    taken = constantBits(1, 1);
  // What leaves a loop for the place behind it waits for the others there anyway.
  if (!leavesLoop) {
    Tensor &others = waiting[label];
    others = others ? binary(BinaryOp::BitOr, others, taken) : taken;
  }
  Tensor stay = build.invert(taken);
  active = active ? binary(BinaryOp::BitAnd, active, stay) : stay;
  return !build.failed();
}

void PtxTranslator::reach(const std::string &label) {
  auto found = waiting.find(label);
  if (found == waiting.end())
    return;
  active = binary(BinaryOp::BitOr, active, found->second);
  waiting.erase(found);
  // Every element is active or waits somewhere.
  if (waiting.empty())
    active = {};
}

bool PtxTranslator::entersLoop(size_t from, size_t to) const {
  for (size_t first = from + 1; first < to; ++first)
    if (findBranchBack(first) > to)
      return true;
  return false;
}

size_t PtxTranslator::findBranchBack(size_t first) const {
  const std::string &label = program.instructions[first].label;
  for (size_t at = program.instructions.size(); !label.empty() && --at > first;) {
    const PtxInstruction &instruction = program.instructions[at];
    if (instruction.base == "bra" && instruction.operands.size() == 1 &&
        instruction.operands[0].name == label)
      return at;
  }
  return 0;
}

std::vector<PtxTranslator::Register *> PtxTranslator::writtenIn(size_t first, size_t last) {
  std::vector<Register *> written;
  auto add = [&](const PtxOperand &operand) {
    Register *entry = find(operand);
    if (entry && !llvm::is_contained(written, entry))
      written.push_back(entry);
  };
  for (size_t at = first; at < last; ++at)
    if (!program.instructions[at].operands.empty()) {
      const PtxOperand &target = program.instructions[at].operands.front();
      add(target);
      for (const PtxOperand &element : target.elements)
        add(element);
    }
  return written;
}

/// An scf.while over what the body writes and over which elements still loop. Elements that have
/// left keep their registers, by `active`.
bool PtxTranslator::loop(size_t first, size_t last) {
  namespace scf = mlir::scf;
  mlir::OpBuilder &builder = build.getBuilder();
  mlir::Location loc = build.loc();
  reach(program.instructions[first].label);
  std::vector<Register *> carried = writtenIn(first, last);
  Tensor outside = active, looping = active ? active : constantBits(1, 1);
  llvm::SmallVector<mlir::Value> initial{looping.ir};
  for (Register *entry : carried) {
    if (!entry->value)
      entry->value = constantBits(entry->bits, 0);
    initial.push_back(entry->value.ir);
  }
  auto loop = scf::WhileOp::create(builder, loc, mlir::ValueRange(initial).getTypes(), initial);
  llvm::SmallVector<mlir::Location> places(initial.size(), loc);
  auto setRegisters = [&](mlir::ValueRange values) {
    for (auto [entry, value] : llvm::zip(carried, values.drop_front()))
      entry->value.ir = value;
  };
  bool isDone = true;
  {
    mlir::OpBuilder::InsertionGuard guard(builder);
    mlir::Block *test = builder.createBlock(&loop.getBefore(), {}, loop.getResultTypes(), places);
    Tensor any{test->getArgument(0), looping.type};
    if (any.isBlock()) {
      Value words = Value::tensor(build.cast(any, Scalar::Int32));
      Value sum = build.callBuiltin(Library::Language, "reduce_or", {words});
      any = build.failed() ? Tensor() : build.toCondition(sum.getTensor());
    }
    if (!any)
      return false;
    scf::ConditionOp::create(builder, loc, any.ir, test->getArguments());
    mlir::Block *body = builder.createBlock(&loop.getAfter(), {}, loop.getResultTypes(), places);
    setRegisters(body->getArguments());
    active = {body->getArgument(0), looping.type};
    Tensor again;
    size_t outer = std::exchange(loopEnd, last);
    isDone = runRange(first + 1, last) && findCondition(program.instructions[last], again);
    loopEnd = outer;
    llvm::SmallVector<mlir::Value> results{isDone ? again.ir : mlir::Value()};
    for (Register *entry : carried)
      results.push_back(entry->value.ir);
    if (isDone)
      scf::YieldOp::create(builder, loc, results);
  }
  setRegisters(loop.getResults());
  active = outside;
  return isDone;
}

} // namespace kiln::sema

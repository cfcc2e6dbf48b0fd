// Expansion of target operations: global accesses as PTX text.
//
// An access without predicate and modifiers is an LLVM load or store, which LLVM can combine and
// move. So is a load that only its owner needs: other threads may make it, too, and of a predicate
// ptxas would make a branch. The others are one predicated instruction each, as is an addition to
// memory. The registers that a load leaves alone when its predicate is false are tied to inputs
// that hold `other`, so LLVM places the moves.

#include "compiler/Conversion/TileGPUToNVVM/NVVMLowering.h"

#include "compiler/Conversion/TargetLowering/ScalarBuilder.h"
#include "compiler/Conversion/TileGPUToNVVM/PTXText.h"
#include "compiler/Dialect/TileGPU/Transforms/OwnerLoads.h"

using namespace mlir;

namespace kiln {
namespace {

/// How a value travels: as `count` registers of `bits` bits each.
struct Words {
  unsigned count, bits; ///< bits as in memory: 8, 16, 32 or 64
  StringRef constraint; ///< of a PTX register that can hold them
  Type type;            ///< of such a register; an 8-bit word travels in 16 bits
};

Words wordsOf(Type type) {
  auto vector = dyn_cast<VectorType>(type);
  unsigned elementBits = scalarBits(vector ? vector.getElementType() : type);
  unsigned total = elementBits * (vector ? vector.getNumElements() : 1);
  unsigned bits = elementBits == 64 ? 64 : std::min(total, 32u);
  StringRef constraint = bits == 64 ? "l" : bits == 32 ? "r" : "h";
  return {total / bits, bits, constraint, IntegerType::get(type.getContext(), std::max(bits, 16u))};
}

SmallVector<Value> toWords(const ScalarBuilder &s, Value value, const Words &words) {
  Type word = IntegerType::get(value.getContext(), words.bits);
  Type whole = words.count == 1 ? word : VectorType::get(words.count, word);
  SmallVector<Value> registers = s.unpack(s.bitcast(value, whole));
  for (Value &reg : registers)
    if (reg.getType() != words.type)
      reg = LLVM::ZExtOp::create(s.builder(), s.location(), words.type, reg);
  return registers;
}

Value fromWords(const ScalarBuilder &s, ValueRange registers, const Words &words, Type type) {
  Type word = IntegerType::get(type.getContext(), words.bits);
  SmallVector<Value> narrow;
  for (Value reg : registers)
    narrow.push_back(reg.getType() == word
                         ? reg
                         : LLVM::TruncOp::create(s.builder(), s.location(), word, reg).getResult());
  return s.bitcast(s.pack(narrow), type);
}

/// ".cg", ".L1::evict_first" …; a cache operator and an eviction priority exclude each other (PTX
/// ISA, "ld" and "st").
std::string modifiers(tile::CacheModifier cache, tile::EvictionPolicy evict) {
  if (cache != tile::CacheModifier::None)
    return "." + stringifyCacheModifier(cache).str();
  if (evict != tile::EvictionPolicy::Normal)
    return ".L1::" + stringifyEvictionPolicy(evict).str();
  return "";
}

/// "{$0, $1}" or "$0", counting from `first`.
std::string registerList(unsigned first, unsigned count) {
  std::string list = registerNames(first, count);
  return count == 1 ? list : "{" + list + "}";
}

std::string typeSuffix(const Words &words) {
  std::string vector = words.count == 1 ? "" : ".v" + std::to_string(words.count);
  return vector + ".b" + std::to_string(words.bits);
}

unsigned bytesOf(const Words &words) { return words.count * words.bits / 8; }

/// The operands of what writes `value` to `ptr`, $0 being the address and $1 … the words, and of
/// its predicate.
struct WriteOperands {
  SmallVector<Value> values;
  std::string constraints, predicate; ///< "@$5 " or nothing
};

WriteOperands writeOperands(const ScalarBuilder &s, Value ptr, Value value, Value predicate,
                            const Words &words) {
  WriteOperands operands{{ptr}, "l", ""};
  for (Value word : toWords(s, value, words)) {
    operands.constraints += "," + words.constraint.str();
    operands.values.push_back(word);
  }
  if (predicate) {
    operands.predicate = "@$" + std::to_string(operands.values.size()) + " ";
    operands.constraints += ",b";
    operands.values.push_back(predicate);
  }
  return operands;
}

/// ".f32", ".noftz.f16", ".noftz.v4.bf16x2": PTX ISA, "red", of what `words` hold.
std::string reducedType(Type element, const Words &words) {
  std::string vector = words.count == 1 ? "" : ".v" + std::to_string(words.count);
  if (element.isF32())
    return vector + ".f32";
  return ".noftz" + vector + (element.isF16() ? ".f16" : ".bf16") + (words.bits == 32 ? "x2" : "");
}

} // namespace

LogicalResult expandLoadToPTX(tilegpu::GlobalLoadOp op, OpBuilder &b) {
  if (!op.getElements().empty())
    return op.emitOpError("expected no conditions of elements, which this target has no loads for");
  ScalarBuilder s(b, op.getLoc());
  Words words = wordsOf(op.getType());
  std::string modifier = modifiers(op.getCache(), op.getEvict());
  bool isAnyThreads = !op.getPredicate() || isLoadedByOwner(op);
  if (isAnyThreads && modifier.empty()) {
    Value loaded = LLVM::LoadOp::create(b, op.getLoc(), op.getType(), op.getPtr(), bytesOf(words),
                                        op.getIsVolatile());
    op.replaceAllUsesWith(loaded);
    op.erase();
    return success();
  }
  std::string text, constraints;
  for (unsigned index = 0; index < words.count; ++index)
    constraints += "=" + words.constraint.str() + ",";
  SmallVector<Value> operands{op.getPtr()};
  constraints += "l";
  if (op.getPredicate()) {
    text = "@$" + std::to_string(words.count + 1) + " ";
    constraints += ",b";
    operands.push_back(op.getPredicate());
    SmallVector<Value> other;
    if (op.getOther())
      other = toWords(s, op.getOther(), words);
    else
      other.assign(words.count, LLVM::ConstantOp::create(b, op.getLoc(), words.type,
                                                         b.getIntegerAttr(words.type, 0)));
    for (auto [index, value] : llvm::enumerate(other)) {
      constraints += "," + std::to_string(index);
      operands.push_back(value);
    }
  }
  text += op.getIsVolatile() ? "ld.volatile.global" : "ld.global" + modifier;
  text += typeSuffix(words) + " " + registerList(0, words.count) + ", [$" +
          std::to_string(words.count) + "];";
  SmallVector<Value> registers = assemble(
      b, op.getLoc(), SmallVector<Type>(words.count, words.type), operands, text, constraints);
  op.replaceAllUsesWith(fromWords(s, registers, words, op.getType()));
  op.erase();
  return success();
}

LogicalResult expandStoreToPTX(tilegpu::GlobalStoreOp op, OpBuilder &b) {
  ScalarBuilder s(b, op.getLoc());
  Words words = wordsOf(op.getValue().getType());
  std::string modifier = modifiers(op.getCache(), op.getEvict());
  if (!op.getPredicate() && modifier.empty()) {
    LLVM::StoreOp::create(b, op.getLoc(), op.getValue(), op.getPtr(), bytesOf(words));
    op.erase();
    return success();
  }
  WriteOperands operands = writeOperands(s, op.getPtr(), op.getValue(), op.getPredicate(), words);
  std::string text = operands.predicate + "st.global" + modifier + typeSuffix(words) + " [$0], " +
                     registerList(1, words.count) + ";";
  assemble(b, op.getLoc(), {}, operands.values, text, operands.constraints);
  op.erase();
  return success();
}

LogicalResult expandReduceToPTX(tilegpu::GlobalReduceOp op, const TargetInfo &target,
                                OpBuilder &b) {
  ScalarBuilder s(b, op.getLoc());
  Type type = op.getValue().getType(), element = getElementTypeOrSelf(type);
  Words words = wordsOf(type);
  if (bytesOf(words) * 8 > tilegpu::reductionBits(element, target))
    return op.emitError() << "expected an addition that " << target.name << " has, got one of "
                          << type;
  WriteOperands operands = writeOperands(s, op.getPtr(), op.getValue(), op.getPredicate(), words);
  std::string text = operands.predicate + "red.relaxed." +
                     stringifyMemoryScope(op.getScope()).str() + ".global.add" +
                     reducedType(element, words) + " [$0], " + registerList(1, words.count) + ";";
  assemble(b, op.getLoc(), {}, operands.values, text, operands.constraints);
  op.erase();
  return success();
}

} // namespace kiln

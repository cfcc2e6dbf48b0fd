// Inline PTX that does more than compute: loads, stores and atomic operations on global memory,
// fences, barriers and special registers.
//
// An instruction runs once for each element (once for a program, where all operands are scalars),
// where Triton runs it in every thread that holds a copy. What names a thread, or memory that only
// threads of one block have, has no meaning here and is refused.

#include "compiler/Sema/Ptx/Translator.h"

#include "llvm/ADT/StringSwitch.h"

#include <utility>

namespace kiln::sema {

using ast::BinaryOp;
using tile::AtomicKind;
using tile::MemoryScope;
using tile::MemorySemantic;

static MemoryScope scopeOf(const PtxInstruction &instruction, MemoryScope otherwise) {
  for (auto [name, scope] : {std::pair("cta", MemoryScope::CTA),
                             {"cluster", MemoryScope::GPU},
                             {"gpu", MemoryScope::GPU},
                             {"gl", MemoryScope::GPU},
                             {"sys", MemoryScope::System}})
    if (instruction.has(name))
      return scope;
  return otherwise;
}

/// Modifiers that say where to look or how long to keep, not what happens.
static bool isHint(llvm::StringRef modifier) {
  static constexpr llvm::StringLiteral hints[] = {
      "global", "weak", "ca", "cg", "cs", "cv", "lu", "wb",  "wt",  "nc",    "sync",   "cta",
      "gpu",    "sys",  "gl", "v2", "v4", "v8", "sc", "acq", "rel", "noftz", "cluster"};
  static constexpr llvm::StringLiteral orders[] = {"volatile", "relaxed", "acquire", "release",
                                                   "acq_rel"};
  return llvm::is_contained(hints, modifier) || llvm::is_contained(orders, modifier) ||
         modifier.starts_with("l1::") || modifier.starts_with("l2::");
}

static unsigned countOf(const PtxInstruction &instruction) {
  return instruction.has("v2") ? 2 : instruction.has("v4") ? 4 : instruction.has("v8") ? 8 : 1;
}

Tensor PtxTranslator::addressOf(const PtxOperand &operand, DType type, unsigned number) {
  Tensor address = read(operand.elements[0], 64);
  uint64_t offset = operand.value + uint64_t(number) * (type.getBits() / 8);
  if (address && offset)
    address = binary(BinaryOp::Add, address, offset);
  return address ? build.cast(address, type.getPointerTo()) : address;
}

/// The element type in memory: integers of the same width. Void for what is not supported.
static DType memoryType(const PtxInstruction &instruction) {
  llvm::StringRef last = instruction.modifiers.back();
  unsigned bits = 0;
  for (llvm::StringRef modifier : llvm::ArrayRef(instruction.modifiers).drop_back())
    if (!isHint(modifier))
      return Scalar::Void;
  if (last.drop_front().getAsInteger(10, bits))
    bits = last == "f16x2" || last == "bf16x2" ? 32 : last == "bf16" ? 16 : 0;
  bool isKnown = llvm::StringRef("busf").contains(last.front()) &&
                 (bits == 8 || bits == 16 || bits == 32 || bits == 64);
  return isKnown ? getIntType(bits, last.starts_with("s")) : DType(Scalar::Void);
}

std::optional<PtxTranslator::Access> PtxTranslator::accessOf(const PtxInstruction &instruction,
                                                             unsigned memory) {
  llvm::ArrayRef<PtxOperand> operands = instruction.operands;
  bool isComplete = operands.size() == 2 && !instruction.modifiers.empty() &&
                    operands[memory].kind == PtxOperand::Kind::Memory;
  Access access;
  if (isComplete) {
    const PtxOperand &registers = operands[1 - memory];
    bool isVector = registers.kind == PtxOperand::Kind::Vector;
    access.type = memoryType(instruction);
    access.registers = isVector ? llvm::ArrayRef(registers.elements) : llvm::ArrayRef(registers);
  }
  if (access.type.is(Scalar::Void) || access.registers.size() != countOf(instruction)) {
    refuse(instruction);
    return std::nullopt;
  }
  if (!findCondition(instruction, access.mask))
    return std::nullopt;
  return access;
}

bool PtxTranslator::load(const PtxInstruction &instruction) {
  std::optional<Access> access = accessOf(instruction, 1);
  if (!access)
    return false;
  bool isStrong = false;
  for (llvm::StringRef order : {"volatile", "relaxed", "acquire", "cv"})
    isStrong |= instruction.has(order);
  std::vector<Tensor> values;
  for (unsigned i = 0; i < access->registers.size(); ++i) {
    Tensor pointer = addressOf(instruction.operands[1], access->type, i);
    if (!pointer)
      return false;
    TensorType result = pointer.type.with(access->type);
    auto op = tile::LoadOp::create(
        build.getBuilder(), build.loc(), build.toMLIR(result), pointer.ir, access->mask.ir,
        mlir::Value(), tile::CacheModifier::None, tile::EvictionPolicy::Normal, isStrong);
    values.push_back({op.getResult(), result});
  }
  if (instruction.has("acquire"))
    tile::FenceOp::create(build.getBuilder(), build.loc(),
                          scopeOf(instruction, MemoryScope::System), /*sequential=*/false);
  // All before any is written: the address may be in a target.
  for (auto [element, value] : llvm::zip_equal(access->registers, values)) {
    Register *entry = find(element);
    if (!entry)
      return bool(refuse(instruction, "writes something that is not a declared register"));
    // A narrow number widens by its sign.
    Tensor wide = entry->bits > access->type.getBits()
                      ? build.cast(value, getIntType(entry->bits, access->type.isSigned()))
                      : value;
    if (!write(instruction, element, bitsOf(wide)))
      return false;
  }
  return true;
}

bool PtxTranslator::store(const PtxInstruction &instruction) {
  std::optional<Access> access = accessOf(instruction, 0);
  if (!access)
    return false;
  if (instruction.has("release"))
    tile::FenceOp::create(build.getBuilder(), build.loc(),
                          scopeOf(instruction, MemoryScope::System), /*sequential=*/false);
  for (auto [i, source] : llvm::enumerate(access->registers)) {
    Tensor pointer = addressOf(instruction.operands[0], access->type, i);
    Tensor value = pointer ? read(source, access->type.getBits()) : pointer;
    if (!value)
      return false;
    tile::StoreOp::create(build.getBuilder(), build.loc(), pointer.ir, value.ir, access->mask.ir,
                          tile::CacheModifier::None, tile::EvictionPolicy::Normal);
  }
  return true;
}

namespace {

struct Atomic {
  AtomicKind kind = AtomicKind::Add;
  bool isCompare = false;
  DType type = Scalar::Void;
};

/// `atom.acquire.gpu.global.add.u32`: the operation and the type that it works on.
std::optional<Atomic> readAtomic(const PtxInstruction &instruction) {
  Atomic atomic;
  std::string operation;
  for (llvm::StringRef modifier : llvm::ArrayRef(instruction.modifiers).drop_back()) {
    if (isHint(modifier))
      continue;
    if (!operation.empty())
      return std::nullopt;
    operation = modifier.str();
  }
  llvm::StringRef type = instruction.modifiers.back();
  bool isFloat = type.starts_with("f") || type.starts_with("bf");
  unsigned bits = 0;
  type.drop_while([](char c) { return !llvm::isDigit(c); }).getAsInteger(10, bits);
  bool isHalf = type == "f16" || type == "bf16";
  if (bits != 32 && bits != 64 && !isHalf)
    return std::nullopt;
  bool isSigned = type.starts_with("s");
  atomic.type = type == "f16"    ? DType(Scalar::FP16)
                : type == "bf16" ? DType(Scalar::BF16)
                : isFloat        ? DType(bits == 64 ? Scalar::FP64 : Scalar::FP32)
                                 : getIntType(bits, isSigned);
  atomic.isCompare = operation == "cas";
  auto kind = llvm::StringSwitch<std::optional<AtomicKind>>(operation)
                  .Case("add", isFloat ? AtomicKind::FAdd : AtomicKind::Add)
                  .Case("min", isFloat    ? AtomicKind::FMin
                               : isSigned ? AtomicKind::SMin
                                          : AtomicKind::UMin)
                  .Case("max", isFloat    ? AtomicKind::FMax
                               : isSigned ? AtomicKind::SMax
                                          : AtomicKind::UMax)
                  .Case("and", AtomicKind::And)
                  .Case("or", AtomicKind::Or)
                  .Case("xor", AtomicKind::Xor)
                  .Cases({"exch", "cas"}, AtomicKind::Exchange)
                  .Default(std::nullopt);
  bool isBitwise = operation == "and" || operation == "or" || operation == "xor";
  if (!kind || (isBitwise && isFloat) || (isHalf && operation != "add"))
    return std::nullopt;
  atomic.kind = *kind;
  return atomic;
}

} // namespace

bool PtxTranslator::atomic(const PtxInstruction &instruction) {
  bool hasResult = instruction.base == "atom";
  std::optional<Atomic> atomic =
      instruction.modifiers.size() < 2 ? std::nullopt : readAtomic(instruction);
  size_t place = hasResult ? 1 : 0;
  if (!atomic || instruction.operands.size() != place + (atomic->isCompare ? 3 : 2) ||
      instruction.operands[place].kind != PtxOperand::Kind::Memory)
    return bool(refuse(instruction));
  MemorySemantic semantic = instruction.has("acq_rel")   ? MemorySemantic::AcquireRelease
                            : instruction.has("acquire") ? MemorySemantic::Acquire
                            : instruction.has("release") ? MemorySemantic::Release
                                                         : MemorySemantic::Relaxed;
  MemoryScope scope = scopeOf(instruction, MemoryScope::GPU);
  Tensor mask;
  if (!findCondition(instruction, mask))
    return false;
  Tensor pointer = addressOf(instruction.operands[place], atomic->type, 0);
  Tensor value = pointer ? readAs(instruction.operands[place + 1], atomic->type) : pointer;
  Tensor other =
      value && atomic->isCompare ? readAs(instruction.operands[place + 2], atomic->type) : value;
  if (!other)
    return false;
  mlir::Type type = build.toMLIR(value.type);
  mlir::Value old =
      atomic->isCompare
          ? tile::AtomicCASOp::create(build.getBuilder(), build.loc(), type, pointer.ir, value.ir,
                                      other.ir, mask.ir, semantic, scope)
                .getResult()
          : tile::AtomicRMWOp::create(build.getBuilder(), build.loc(), type, atomic->kind,
                                      pointer.ir, value.ir, mask.ir, semantic, scope)
                .getResult();
  return !hasResult || write(instruction, instruction.operands[0], bitsOf({old, value.type}));
}

/// `fence.acq_rel.gpu`, `fence.sc.sys`, `membar.gl`, `MEMBAR.SC.GPU`.
bool PtxTranslator::fence(const PtxInstruction &instruction) {
  for (llvm::StringRef modifier : instruction.modifiers)
    if (!isHint(modifier))
      return bool(refuse(instruction));
  if (!instruction.operands.empty())
    return bool(refuse(instruction));
  bool isSequential = !instruction.has("acq_rel");
  tile::FenceOp::create(build.getBuilder(), build.loc(), scopeOf(instruction, MemoryScope::System),
                        isSequential);
  return true;
}

std::optional<bool> PtxTranslator::executeEffect(const PtxInstruction &instruction) {
  llvm::StringRef base = instruction.base;
  // Waiting is a hint; what it waits for is polled by the loop around it. Kernels launch in order.
  if (base == "nanosleep" || base == "griddepcontrol")
    return true;
  // A hint too.
  if (base == "prefetch" || base == "prefetchu" || base == "applypriority")
    return true;
  if ((base == "bar" || base == "barrier") && instruction.has("sync")) {
    tile::BarrierOp::create(build.getBuilder(), build.loc());
    return true;
  }
  if (base == "ld")
    return load(instruction);
  if (base == "st")
    return store(instruction);
  if (base == "atom" || base == "red")
    return atomic(instruction);
  if (base == "fence" || base == "membar")
    return fence(instruction);
  return std::nullopt;
}

//===-- Special registers --===//

Tensor PtxTranslator::readSpecial(llvm::StringRef name) {
  auto language = [&](llvm::StringRef function, std::vector<Value> args = {}) {
    Value result = build.callBuiltin(Library::Language, function, std::move(args));
    Tensor scalar = build.failed() ? Tensor() : build.toTensor(result);
    return scalar ? build.splat(bitsOf(scalar), shape) : scalar;
  };
  auto axis = [&] { return Value::integer(name.back() - 'x'); };
  auto [stem, component] = name.split('.');
  if (name == "%smid")
    return language("smid");
  if (name == "%globaltimer")
    return language("globaltimer");
  if (name == "%globaltimer_lo" || name == "%globaltimer_hi") {
    Tensor time = language("globaltimer");
    return time ? divide(time, 2)[name.ends_with("hi")] : time;
  }
  if (stem == "%ctaid" && !component.empty())
    return language("program_id", {axis()});
  if (stem == "%nctaid" && !component.empty())
    return language("num_programs", {axis()});
  if (name == "%ntid.x")
    return language("num_threads");
  if (name == "%ntid.y" || name == "%ntid.z" || name == "%cluster_nctarank")
    return constantBits(32, 1);
  if (name == "%tid.y" || name == "%tid.z" || name == "%cluster_ctarank")
    return constantBits(32, 0);
  build.error(DiagKind::SemaPtx,
              stem == "%tid" || name == "%laneid" || name == "%warpid"
                  ? "'" + name.str() + "' is a thread's; elements have no threads of their own"
                  : "'" + name.str() + "' is not supported");
  return {};
}

} // namespace kiln::sema

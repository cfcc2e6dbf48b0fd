#include "compiler/Expansion/AtomicInstructions/AtomicInstructions.h"
#include "llvm/ADT/STLExtras.h"

using namespace mlir;

namespace kiln {

static constexpr std::pair<LLVM::AtomicBinOp, llvm::StringLiteral> bufferIntrinsics[] = {
    {LLVM::AtomicBinOp::_and, "llvm.amdgcn.raw.ptr.buffer.atomic.and"},
    {LLVM::AtomicBinOp::_or, "llvm.amdgcn.raw.ptr.buffer.atomic.or"},
    {LLVM::AtomicBinOp::_xor, "llvm.amdgcn.raw.ptr.buffer.atomic.xor"},
    {LLVM::AtomicBinOp::add, "llvm.amdgcn.raw.ptr.buffer.atomic.add"},
    {LLVM::AtomicBinOp::fadd, "llvm.amdgcn.raw.ptr.buffer.atomic.fadd"},
    {LLVM::AtomicBinOp::max, "llvm.amdgcn.raw.ptr.buffer.atomic.smax"},
    {LLVM::AtomicBinOp::min, "llvm.amdgcn.raw.ptr.buffer.atomic.smin"},
    {LLVM::AtomicBinOp::umax, "llvm.amdgcn.raw.ptr.buffer.atomic.umax"},
    {LLVM::AtomicBinOp::umin, "llvm.amdgcn.raw.ptr.buffer.atomic.umin"},
};

LLVM::AtomicOrdering atomicOrderingOf(tile::MemorySemantic semantic) {
  switch (semantic) {
  case tile::MemorySemantic::Relaxed:
    return LLVM::AtomicOrdering::monotonic;
  case tile::MemorySemantic::Acquire:
    return LLVM::AtomicOrdering::acquire;
  case tile::MemorySemantic::Release:
    return LLVM::AtomicOrdering::release;
  case tile::MemorySemantic::AcquireRelease:
    return LLVM::AtomicOrdering::acq_rel;
  }
  llvm_unreachable("unknown memory semantic");
}

LLVM::AtomicBinOp atomicInstructionOf(tile::AtomicKind kind) {
  switch (kind) {
  case tile::AtomicKind::And:
    return LLVM::AtomicBinOp::_and;
  case tile::AtomicKind::Or:
    return LLVM::AtomicBinOp::_or;
  case tile::AtomicKind::Xor:
    return LLVM::AtomicBinOp::_xor;
  case tile::AtomicKind::Add:
    return LLVM::AtomicBinOp::add;
  case tile::AtomicKind::FAdd:
    return LLVM::AtomicBinOp::fadd;
  case tile::AtomicKind::SMax:
    return LLVM::AtomicBinOp::max;
  case tile::AtomicKind::SMin:
    return LLVM::AtomicBinOp::min;
  case tile::AtomicKind::UMax:
    return LLVM::AtomicBinOp::umax;
  case tile::AtomicKind::UMin:
    return LLVM::AtomicBinOp::umin;
  case tile::AtomicKind::FMax:
    return LLVM::AtomicBinOp::fmax;
  case tile::AtomicKind::FMin:
    return LLVM::AtomicBinOp::fmin;
  case tile::AtomicKind::Exchange:
    return LLVM::AtomicBinOp::xchg;
  }
  llvm_unreachable("unknown atomic kind");
}

llvm::StringRef bufferIntrinsicOf(LLVM::AtomicBinOp instruction) {
  return llvm::find_if(bufferIntrinsics, [&](auto &known) { return known.first == instruction; })
      ->second;
}

std::optional<LLVM::AtomicBinOp> bufferInstructionOf(llvm::StringRef intrinsic) {
  for (auto &[instruction, name] : bufferIntrinsics)
    if (name == intrinsic)
      return instruction;
  return std::nullopt;
}

std::optional<BitwiseExtreme> bitwiseExtremeOf(tile::AtomicKind kind, Type element) {
  using LLVM::AtomicBinOp;
  if (!element.isF32() && !element.isF64())
    return std::nullopt;
  if (kind == tile::AtomicKind::FMax)
    return BitwiseExtreme{AtomicBinOp::max, AtomicBinOp::umin};
  if (kind == tile::AtomicKind::FMin)
    return BitwiseExtreme{AtomicBinOp::min, AtomicBinOp::umax};
  return std::nullopt;
}

} // namespace kiln

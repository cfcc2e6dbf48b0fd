#include "compiler/Expansion/AtomicInstructions/AtomicInstructions.h"

using namespace mlir;

namespace kiln {

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

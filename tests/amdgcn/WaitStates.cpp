#include "tests/amdgcn/WaitStates.h"
#include "llvm/ADT/StringRef.h"

namespace kiln::amdgcn {
namespace {

using Kind = Instruction::Kind;

constexpr unsigned untilLanes = 2, untilAddress = 5, untilCopy = 1;

/// From a matrix instruction of so many rows to what else touches its result. Those of f32 and f64
/// take a state less than others of as many passes.
unsigned untilProduct(llvm::StringRef name) {
  unsigned ofFloats = name.contains("_32x32x") ? 10 : name.contains("_16x16x") ? 6 : 4;
  return ofFloats + !(name.ends_with("f32") || name.ends_with("f64"));
}

template <typename Visit> void forRegisters(const Operand &operand, Visit visit) {
  for (unsigned i = 0; i != operand.count; ++i)
    visit(operand.index + i);
}

std::string early(const std::string &what, uint64_t states) {
  return what + ", " + std::to_string(states) + " wait states too early";
}

} // namespace

void WaitStates::check(const Instruction &in) const {
  if (in.kind == Kind::Other || in.kind == Kind::Branch || in.kind == Kind::Nop)
    return;
  for (const Operand &operand : in.operands) {
    if (operand.isVector() && in.kind != Kind::Matrix)
      forRegisters(operand, [&](unsigned index) {
        if (product[index] > now)
          throw Fault(
              early("touches what " + producer[index]->name + " writes", product[index] - now));
      });
    if (operand.isScalar() && in.kind == Kind::Memory)
      forRegisters(operand, [&](unsigned index) {
        if (address[index] > now)
          throw Fault(
              early("reads a scalar that a vector instruction writes", address[index] - now));
      });
  }
  if (in.dpp.kind != Dpp::Kind::None && in[1].isVector() && lanes[in[1].index] > now)
    throw Fault(early("reads other lanes of what was written", lanes[in[1].index] - now));
  if (in.goesToShared && copy > now)
    throw Fault(early("reads m0", copy - now));
}

void WaitStates::note(const Instruction &in) {
  if (in.operands.empty())
    return;
  const Operand &result = in[0];
  if (in.kind == Kind::Matrix)
    forRegisters(result, [&](unsigned index) {
      product[index] = now + untilProduct(in.name);
      producer[index] = &in;
    });
  if (in.kind == Kind::Vector)
    for (size_t i = 0; i != std::min<size_t>(2, in.operands.size()); ++i) {
      // The second may be a carry.
      const Operand &written = in[i];
      if (written.isScalar() && (i == 0 || llvm::StringRef(in.name).contains("_co_")))
        forRegisters(written, [&](unsigned index) { address[index] = now + untilAddress; });
      if (written.isVector() && i == 0)
        forRegisters(written, [&](unsigned index) { lanes[index] = now + untilLanes; });
    }
  if (result.isScalar() && result.index == M0)
    copy = now + untilCopy;
}

/// Branches that are taken fetch instructions anew, which takes more than one; LLVM counts two
/// where a block ends in two of them.
static uint64_t statesOf(const Instruction &in) {
  if (in.kind == Kind::Nop)
    return uint64_t(in[0].integer) + 1;
  return in.kind == Kind::Branch ? 2 : 1;
}

void WaitStates::issue(const Instruction &in) {
  check(in);
  now += statesOf(in);
  note(in);
}

} // namespace kiln::amdgcn

#include "tests/amdgcn/WaitStates.h"

namespace kiln::amdgcn {
namespace {

constexpr unsigned untilLanes = 2, untilAddress = 5, untilCopy = 1;

bool endsWith(const std::string &name, const std::string &end) {
  return name.size() >= end.size() && name.compare(name.size() - end.size(), end.size(), end) == 0;
}

/// From a matrix instruction of so many rows to what else touches its result. Those of f32 and f64
/// take a state less than others of as many passes.
unsigned untilProduct(const std::string &name) {
  unsigned ofFloats = name.find("_32x32x") != std::string::npos   ? 10
                      : name.find("_16x16x") != std::string::npos ? 6
                                                                  : 4;
  return ofFloats + !(endsWith(name, "f32") || endsWith(name, "f64"));
}

bool isMemory(const std::string &name) {
  for (const char *prefix : {"buffer_", "global_", "flat_", "scratch_"})
    if (name.rfind(prefix, 0) == 0)
      return true;
  return false;
}

template <typename Visit> void forRegisters(const Operand &operand, Visit visit) {
  for (unsigned i = 0; i != operand.count; ++i)
    visit(operand.index + i);
}

std::string early(const std::string &what, uint64_t states) {
  return what + ", " + std::to_string(states) + " wait states too early";
}

} // namespace

/// What of it is to be kept apart from others.
Instruction::Kind Instruction::kindOf(const std::string &name) {
  if (name.rfind("v_mfma", 0) == 0 || name.rfind("v_smfmac", 0) == 0)
    return Kind::Matrix;
  if (name.rfind("v_", 0) == 0)
    return Kind::Vector;
  if (isMemory(name))
    return Kind::Memory;
  return name.rfind("ds_", 0) == 0 ? Kind::Shared : Kind::Other;
}

void WaitStates::check(const Instruction &in) const {
  if (in.kind == Instruction::Kind::Other)
    return;
  for (const Operand &operand : in.operands) {
    if (operand.isVector() && in.kind != Instruction::Kind::Matrix)
      forRegisters(operand, [&](unsigned index) {
        if (product[index] > now)
          throw Fault(
              early("touches what " + producer[index]->name + " writes", product[index] - now));
      });
    if (operand.isScalar() && in.kind == Instruction::Kind::Memory)
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
  if (in.kind == Instruction::Kind::Matrix)
    forRegisters(result, [&](unsigned index) {
      product[index] = now + untilProduct(in.name);
      producer[index] = &in;
    });
  if (in.kind == Instruction::Kind::Vector)
    for (size_t i = 0; i != std::min<size_t>(2, in.operands.size()); ++i) {
      // The second may be a carry.
      const Operand &written = in[i];
      if (written.isScalar() && (i == 0 || in.name.find("_co_") != std::string::npos))
        forRegisters(written, [&](unsigned index) { address[index] = now + untilAddress; });
      if (written.isVector() && i == 0)
        forRegisters(written, [&](unsigned index) { lanes[index] = now + untilLanes; });
    }
  if (in.kind == Instruction::Kind::Other && result.isScalar() && result.index == M0)
    copy = now + untilCopy;
}

/// Branches that are taken fetch instructions anew, which takes more than one; LLVM counts two
/// where a block ends in two of them.
static unsigned statesOf(const Instruction &in) {
  if (in.name == "s_nop")
    return unsigned(in[0].integer) + 1;
  return in.name.rfind("s_cbranch", 0) == 0 || in.name == "s_branch" ? 2 : 1;
}

void WaitStates::issue(const Instruction &in) {
  check(in);
  now += statesOf(in);
  note(in);
}

} // namespace kiln::amdgcn

// Waits for counters, each of which makes accesses in flight happen.
#include "tests/amdgcn/Operations.h"
#include "tests/amdgcn/Scalars.h"

namespace kiln::amdgcn {
namespace {

/// Of shared memory and scalar loads together: which of them the count means is only known at 0, as
/// scalar loads return in any order.
void waitForLocal(Wave &wave, unsigned count) {
  wave.inFlight.waitForShared(count);
  if (count == 0)
    wave.inFlight.waitForScalars();
}

/// "vmcnt(3)" and the like.
void waitForWord(Wave &wave, const std::string &word) {
  size_t open = word.find('(');
  if (open == std::string::npos)
    throw Fault("expected counters by name, got '" + word + "'");
  std::string name = word.substr(0, open);
  unsigned count = unsigned(std::stoul(word.substr(open + 1), nullptr, 0));
  if (name == "vmcnt")
    wave.inFlight.waitForGlobal(Counter::Load, count);
  else if (name == "lgkmcnt")
    waitForLocal(wave, count);
  else if (name != "expcnt") // of exports, which kernels do not have
    throw Fault("expected vmcnt, lgkmcnt or expcnt, got '" + word + "'");
}

void waitForWords(Wave &wave, const Instruction &in) {
  for (const Operand &operand : in.operands)
    if (!operand.word.empty() && operand.word != "&")
      waitForWord(wave, operand.word);
}

unsigned countOf(const Instruction &in, size_t operand = 0) {
  return unsigned(in[operand].integer);
}

void waitForLoads(Wave &wave, unsigned count) { wave.inFlight.waitForGlobal(Counter::Load, count); }
void waitForStores(Wave &wave, unsigned count) {
  wave.inFlight.waitForGlobal(Counter::Store, count);
}

} // namespace

void addWaits(OperationTable &table) {
  table["s_waitcnt"] = waitForWords;
  table["s_waitcnt_vscnt"] = [](Wave &wave, const Instruction &in) {
    waitForStores(wave, countOf(in, 1));
  };
  table["s_waitcnt_lgkmcnt"] = [](Wave &wave, const Instruction &in) {
    waitForLocal(wave, countOf(in, 1));
  };
  table["s_waitcnt_vmcnt"] = [](Wave &wave, const Instruction &in) {
    waitForLoads(wave, countOf(in, 1));
  };
  table["s_wait_loadcnt"] = [](Wave &wave, const Instruction &in) {
    waitForLoads(wave, countOf(in));
  };
  table["s_wait_storecnt"] = [](Wave &wave, const Instruction &in) {
    waitForStores(wave, countOf(in));
  };
  table["s_wait_dscnt"] = [](Wave &wave, const Instruction &in) {
    wave.inFlight.waitForShared(countOf(in));
  };
  table["s_wait_kmcnt"] = [](Wave &wave, const Instruction &in) {
    if (countOf(in) == 0)
      wave.inFlight.waitForScalars();
  };
  // Six bits for each of the two counters.
  table["s_wait_loadcnt_dscnt"] = [](Wave &wave, const Instruction &in) {
    waitForLoads(wave, countOf(in) >> 8 & 63);
    wave.inFlight.waitForShared(countOf(in) & 63);
  };
  table["s_wait_storecnt_dscnt"] = [](Wave &wave, const Instruction &in) {
    waitForStores(wave, countOf(in) >> 8 & 63);
    wave.inFlight.waitForShared(countOf(in) & 63);
  };
  table["s_wait_idle"] = [](Wave &wave, const Instruction &) { wave.inFlight.waitForAll(); };
  // Of accesses that kernels do not have: samples, ray tracing and exports.
  for (const char *name : {"s_wait_samplecnt", "s_wait_bvhcnt", "s_wait_expcnt"})
    table[name] = [](Wave &, const Instruction &) {};
}

} // namespace kiln::amdgcn

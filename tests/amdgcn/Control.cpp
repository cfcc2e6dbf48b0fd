// Comparisons of scalars, branches, barriers and the end.
#include "tests/amdgcn/Operations.h"
#include "tests/amdgcn/Scalars.h"

namespace kiln::amdgcn {
namespace {

template <typename T, typename Function> Operation comparison(Function function) {
  return [=](Wave &wave, const Instruction &in) {
    wave.scc = function(readScalar<T>(wave, in[0]), readScalar<T>(wave, in[1]));
  };
}

/// With a constant of 16 bits: signed or not as the operation is.
template <typename T, typename Function> Operation shortComparison(Function function) {
  return [=](Wave &wave, const Instruction &in) {
    T constant = std::is_signed<T>::value ? T(int16_t(in[1].integer)) : T(uint16_t(in[1].integer));
    wave.scc = function(readScalar<T>(wave, in[0]), constant);
  };
}

template <typename T, typename Function>
void add(OperationTable &table, const std::string &name, Function function) {
  table["s_cmp_" + name] = comparison<T>(function);
  table["s_cmpk_" + name] = shortComparison<T>(function);
}

template <typename T> void addOrdered(OperationTable &table, const std::string &type) {
  add<T>(table, "lt_" + type, [](T a, T b) { return a < b; });
  add<T>(table, "le_" + type, [](T a, T b) { return a <= b; });
  add<T>(table, "gt_" + type, [](T a, T b) { return a > b; });
  add<T>(table, "ge_" + type, [](T a, T b) { return a >= b; });
  add<T>(table, "eq_" + type, [](T a, T b) { return a == b; });
  add<T>(table, "lg_" + type, [](T a, T b) { return a != b; });
}

/// By the words that the instruction jumps over, from behind it.
void jump(Wave &wave, const Instruction &in) {
  wave.counter += uint64_t(int64_t(int16_t(in[0].integer)) * 4);
}

template <typename Function> Operation branch(Function isTaken) {
  return [=](Wave &wave, const Instruction &in) {
    if (isTaken(wave))
      jump(wave, in);
  };
}

void addBranches(OperationTable &table) {
  table["s_branch"] = jump;
  table["s_cbranch_scc0"] = branch([](Wave &wave) { return !wave.scc; });
  table["s_cbranch_scc1"] = branch([](Wave &wave) { return wave.scc; });
  table["s_cbranch_vccz"] = branch([](Wave &wave) { return wave.mask(VccLow) == 0; });
  table["s_cbranch_vccnz"] = branch([](Wave &wave) { return wave.mask(VccLow) != 0; });
  table["s_cbranch_execz"] = branch([](Wave &wave) { return wave.exec() == 0; });
  table["s_cbranch_execnz"] = branch([](Wave &wave) { return wave.exec() != 0; });
  table["s_getpc_b64"] = [](Wave &wave, const Instruction &in) {
    writeScalar<uint64_t>(wave, in[0], wave.counter);
  };
  table["s_setpc_b64"] = [](Wave &wave, const Instruction &in) {
    wave.counter = readScalar<uint64_t>(wave, in[0]);
  };
  table["s_swappc_b64"] = [](Wave &wave, const Instruction &in) {
    uint64_t target = readScalar<uint64_t>(wave, in[1]);
    writeScalar<uint64_t>(wave, in[0], wave.counter);
    wave.counter = target;
  };
  table["s_endpgm"] = [](Wave &wave, const Instruction &) {
    wave.inFlight.waitForAll();
    wave.state = Wave::State::Ended;
  };
}

void addBarriers(OperationTable &table) {
  table["s_barrier"] = [](Wave &wave, const Instruction &) {
    wave.inFlight.checkWrittenBack("a barrier");
    if (wave.surroundings.generation == Generation::Gfx9)
      wave.inFlight.performGlobal();
    ++wave.clock.arrived;
    wave.state = Wave::State::AtBarrier;
  };
  table["s_barrier_signal"] = [](Wave &wave, const Instruction &in) {
    wave.inFlight.checkWrittenBack("a barrier");
    if (in[0].integer != -1)
      throw Fault("expected the workgroup's barrier");
    if (wave.clock.arrived != wave.clock.passed)
      throw Fault("the barrier is signalled again before it was waited for");
    ++wave.clock.arrived;
  };
  table["s_barrier_wait"] = [](Wave &wave, const Instruction &in) {
    if (int16_t(in[0].integer) != -1)
      throw Fault("expected the workgroup's barrier");
    if (wave.clock.arrived == wave.clock.passed)
      throw Fault("the barrier is waited for before it was signalled");
    wave.state = Wave::State::AtBarrier;
  };
}

/// Hints, waits for hazards, which are not modelled, and caches of code and scalars, whose contents
/// no kernel changes.
void addHints(OperationTable &table) {
  for (const char *name : {"s_nop",
                           "s_delay_alu",
                           "s_clause",
                           "s_wait_alu",
                           "s_waitcnt_depctr",
                           "s_sleep",
                           "s_setprio",
                           "s_set_inst_prefetch_distance",
                           "s_inst_prefetch",
                           "s_icache_inv",
                           "s_dcache_inv",
                           "s_dcache_wb",
                           "s_gl1_inv",
                           "buffer_invl2",
                           "s_ttracedata",
                           "v_nop",
                           "s_prefetch_inst",
                           "s_prefetch_data",
                           "s_sethalt",
                           "s_sleep_var"})
    table[name] = [](Wave &, const Instruction &) {};
  table["s_sendmsg"] = [](Wave &, const Instruction &in) {
    if (in[0].word != "sendmsg(MSG_DEALLOC_VGPRS)")
      throw Fault("expected no message but MSG_DEALLOC_VGPRS");
  };
}

} // namespace

void addScalarComparisons(OperationTable &table) {
  addOrdered<int32_t>(table, "i32");
  addOrdered<uint32_t>(table, "u32");
  add<uint64_t>(table, "eq_u64", [](uint64_t a, uint64_t b) { return a == b; });
  for (const char *name : {"lg_u64", "ne_u64"})
    add<uint64_t>(table, name, [](uint64_t a, uint64_t b) { return a != b; });
  table["s_bitcmp1_b32"] =
      comparison<uint32_t>([](uint32_t a, uint32_t b) { return a >> (b & 31) & 1; });
  table["s_bitcmp0_b32"] =
      comparison<uint32_t>([](uint32_t a, uint32_t b) { return !(a >> (b & 31) & 1); });
}

void addControl(OperationTable &table) {
  addBranches(table);
  addBarriers(table);
  addHints(table);
}

} // namespace kiln::amdgcn

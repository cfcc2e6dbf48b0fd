// What a wave is told of the processor that runs it, and of the time.
#include "tests/amdgcn/Operations.h"
#include "tests/amdgcn/Scalars.h"
#include "llvm/ADT/StringRef.h"
#include <chrono>

namespace kiln::amdgcn {
namespace {

/// "hwreg(HW_REG_HW_ID, 8, 4)": of the fields that number processors all bits are set.
void getRegister(Wave &wave, const Instruction &in) {
  llvm::StringRef text = in[1].word;
  if (!text.consume_front("hwreg(") || !text.consume_back(")"))
    throw Fault("expected hwreg(name, first bit, bits)");
  auto [name, field] = text.split(',');
  unsigned first = 0, bits = 0;
  field = field.ltrim();
  bool isField = !field.consumeInteger(10, first) && field.consume_front(",") &&
                 !field.ltrim().getAsInteger(10, bits);
  if (!isField || bits > 31)
    throw Fault("expected hwreg(name, first bit, bits)");
  if (name != "HW_REG_HW_ID" && name != "HW_REG_HW_ID1" && name != "HW_REG_WAVE_HW_ID1" &&
      name != "HW_REG_XCC_ID")
    throw Fault("expected a register that numbers processors");
  writeScalar<uint32_t>(wave, in[0], (1u << bits) - 1);
}

/// The counter of 100 MHz; it comes as loads to scalar registers do.
void startTime(Wave &wave, const Instruction &in) {
  auto access = InFlight::start(in, Counter::Scalar, [](Wave &, Access &access) {
    using Ticks = std::chrono::duration<uint64_t, std::ratio<1, 100'000'000>>;
    auto now = std::chrono::steady_clock::now().time_since_epoch();
    uint64_t ticks = std::chrono::duration_cast<Ticks>(now).count();
    access.data[0][0] = uint32_t(ticks);
    access.data[1][0] = uint32_t(ticks >> 32);
  });
  access->registers = 2;
  access->target = Operand::Kind::Scalar;
  access->destination = in[0].index;
  if (!in[0].isScalar())
    throw Fault("expected scalar registers as destination");
  wave.inFlight.issue(std::move(access));
}

} // namespace

void addProcessorRegisters(OperationTable &table) {
  table["s_getreg_b32"] = getRegister;
  table["s_memrealtime"] = startTime;
  table["s_sendmsg_rtn_b64"] = [](Wave &wave, const Instruction &in) {
    if (in[1].word != "sendmsg(MSG_RTN_GET_REALTIME)")
      throw Fault("expected no message but MSG_RTN_GET_REALTIME");
    startTime(wave, in);
  };
}

} // namespace kiln::amdgcn

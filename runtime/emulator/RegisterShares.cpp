#include "runtime/emulator/RegisterShares.h"

#include "runtime/emulator/Block.h"
#include "runtime/emulator/Memory.h"

using namespace kiln::emulator;

namespace kiln::emulator {

void RegisterShares::reset(uint32_t numWarps) {
  numChanges.assign(numWarps, 0);
  groups.assign(numWarps / warpsOfGroup, {});
}

void RegisterShares::set(Thread &self, const kiln_emu_site *site, uint32_t registers) {
  auto refuse = [&](Finding finding, const std::string &message) {
    block.fail(self, site, finding, message);
  };
  const uint32_t warp = self.inWarp->number;
  if (registers < 24 || registers > 256 || registers % 8)
    refuse(Finding::Operand,
           "expected a multiple of 8 registers from 24 to 256, got " + std::to_string(registers));
  if (warp / warpsOfGroup >= groups.size())
    refuse(Finding::Operand, "expected four warps from a multiple of four on, got a block of " +
                                 std::to_string(block.numWarps()) + " warps and warp " +
                                 std::to_string(warp));
  Group &group = groups[warp / warpsOfGroup];
  if (numChanges[warp] == group.changes.size())
    group.changes.push_back({site, registers, 0});
  Change &change = group.changes[numChanges[warp]++];
  if (change.site != site || change.registers != registers)
    refuse(Finding::Divergence, "divergent warp group: another warp sets " +
                                    std::to_string(change.registers) + " registers at " +
                                    describe(*change.site));
  if (++change.warps != warpsOfGroup)
    return;
  group.registers = registers;
  uint32_t all = 0;
  for (const Group &other : groups)
    all += other.registers * threadsOfGroup;
  if (all > ofProcessor)
    refuse(Finding::Operand, "the warp groups want " + std::to_string(all) +
                                 " registers together; a processor has " +
                                 std::to_string(ofProcessor));
}

void RegisterShares::reportUnfinished() {
  for (uint32_t group = 0; group < groups.size(); ++group)
    for (const Change &change : groups[group].changes)
      if (change.warps != warpsOfGroup)
        block.report(block.warp(group * warpsOfGroup).threads[0], change.site, Finding::Divergence,
                     "expected all four warps of the group to set their registers, got " +
                         std::to_string(change.warps));
}

} // namespace kiln::emulator

KILN_SWITCHES void kiln_emu_set_max_registers(kiln_emu_thread *thread, const kiln_emu_site *site,
                                              uint32_t registers) {
  Thread &self = threadOf(thread);
  self.block->collective(self, site, ~uint64_t(0),
                         [&](Warp &) { self.block->registerShares().set(self, site, registers); });
}

// What emulated threads print, assertions that fail, and what they are told of their processor.

#include "runtime/emulator/Block.h"

using namespace kiln::emulator;

void kiln_emu_print(kiln_emu_thread *, const kiln_emu_site *, const char *format,
                    const uint64_t *values) {
  kiln_device_print(format, values);
}

void kiln_emu_fail(kiln_emu_thread *thread, const kiln_emu_site *site, const char *message) {
  Thread &self = threadOf(thread);
  self.block->fail(self, site, Finding::Assertion, message);
}

uint32_t kiln_emu_processor(kiln_emu_thread *, const kiln_emu_site *) {
  return kiln_device_processor();
}

uint64_t kiln_emu_nanoseconds(kiln_emu_thread *, const kiln_emu_site *) {
  return kiln_device_nanoseconds();
}

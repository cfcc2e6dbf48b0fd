// Accesses to memory with their checks, for instructions that consist of several. They are not
// counted: the instruction is.

#ifndef KILN_RUNTIME_EMULATOR_MEMORY_H
#define KILN_RUNTIME_EMULATOR_MEMORY_H

#include "runtime/emulator/AccessHistory.h"
#include "runtime/emulator/kiln_emu.h"
#include <string>

namespace kiln::emulator {

class Block;
struct Conflict;
struct Thread;

/// As kiln_emu_load and kiln_emu_store, with a predicate that holds.
void load(Thread &self, const kiln_emu_site *site, uint32_t space, const void *address, void *out,
          uint32_t bytes, uint32_t alignment);
void store(Thread &self, const kiln_emu_site *site, uint32_t space, void *address,
           const void *value, uint32_t bytes, uint32_t alignment);

/// Where an operation is, for reports; and who made an access, and where.
std::string describe(const kiln_emu_site &site);
std::string describe(const Moment &before);
/// ", also accessed by …": what an access to shared memory races with.
std::string describe(const Conflict &race);
/// ", also an operand of …": an asynchronous operation in flight that reads one of these bytes of
/// shared memory; "": none. Known while accesses are checked.
std::string describeReaderInFlight(const Block &block, uint32_t offset, uint32_t bytes);
/// Whether one of the bytes, of a registered allocation, is in four that hold what stands there
/// until somebody writes (kiln_emulator_set_unwritten).
bool isUnwritten(Block &block, const void *address, uint32_t bytes);
/// "4 bytes at 0x5f10".
std::string bytesAt(uint32_t bytes, const void *address);

} // namespace kiln::emulator

#endif

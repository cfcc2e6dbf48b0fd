#include "tests/amdgcn/SharedMemory.h"
#include "tests/amdgcn/Instruction.h"
#include <cstring>
#include <sstream>

namespace kiln::amdgcn {

SharedMemory::SharedMemory(uint32_t bytes, uint32_t noise) : memory(bytes), accesses(bytes) {
  for (uint8_t &byte : memory)
    byte = uint8_t((noise = noise * 1664525 + 1013904223) >> 24);
}

void SharedMemory::checkRange(uint32_t address, uint32_t bytes) const {
  if (uint64_t(address) + bytes <= memory.size())
    return;
  std::ostringstream text;
  text << "access to " << bytes << " bytes at " << address << " of shared memory, which has "
       << memory.size() << " bytes";
  throw Fault(text.str());
}

void SharedMemory::race(uint32_t address, const char *what, unsigned wave, unsigned other) const {
  std::ostringstream text;
  text << "race on shared memory: wave " << wave << " " << what << " the byte at " << address
       << ", which wave " << other << " has accessed with no barrier between";
  throw Fault(text.str());
}

void SharedMemory::load(uint32_t address, uint32_t bytes, void *to, unsigned wave,
                        BarrierClock clock) {
  checkRange(address, bytes);
  for (uint32_t i = address; i != address + bytes; ++i) {
    Accesses &one = accesses[i];
    if (one.writer != int32_t(wave) && clock.passed <= one.storeClock && one.writer >= 0)
      race(i, "loads", wave, unsigned(one.writer));
    if (clock.arrived > one.loadClock) {
      one.readers = 0;
      one.loadClock = clock.arrived;
    }
    one.readers |= 1u << wave;
  }
  std::memcpy(to, memory.data() + address, bytes);
}

void SharedMemory::store(uint32_t address, uint32_t bytes, const void *from, unsigned wave,
                         BarrierClock clock) {
  checkRange(address, bytes);
  for (uint32_t i = address; i != address + bytes; ++i) {
    Accesses &one = accesses[i];
    if (one.writer != int32_t(wave) && clock.passed <= one.storeClock && one.writer >= 0)
      race(i, "stores to", wave, unsigned(one.writer));
    uint32_t others = one.readers & ~(1u << wave);
    if (others && clock.passed <= one.loadClock)
      race(i, "stores to", wave, unsigned(__builtin_ctz(others)));
    one.writer = int32_t(wave);
    one.storeClock = clock.arrived;
  }
  std::memcpy(memory.data() + address, from, bytes);
}

uint8_t *SharedMemory::atomic(uint32_t address, uint32_t bytes) {
  checkRange(address, bytes);
  return memory.data() + address;
}

} // namespace kiln::amdgcn

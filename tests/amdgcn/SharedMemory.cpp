#include "tests/amdgcn/SharedMemory.h"
#include "tests/amdgcn/Instruction.h"
#include <algorithm>
#include <cstring>
#include <sstream>

namespace kiln::amdgcn {

SharedMemory::SharedMemory(uint32_t bytes, uint32_t noise)
    : memory((bytes + 3) / 4 * 4), accesses(memory.size() / 4) {
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

void SharedMemory::race(uint32_t dword, const char *what, unsigned wave, int32_t other) const {
  std::ostringstream text;
  text << "race on shared memory: wave " << wave << " " << what << " the dword at " << 4 * dword
       << ", which "
       << (other < 0 ? "several waves have" : "wave " + std::to_string(other) + " has")
       << " accessed with no barrier between";
  throw Fault(text.str());
}

/// Which of a dword's bytes an access touches, a bit each.
static uint8_t bytesIn(uint32_t dword, uint32_t address, uint32_t bytes) {
  uint32_t first = std::max(address, 4 * dword) - 4 * dword;
  uint32_t end = std::min(address + bytes, 4 * dword + 4) - 4 * dword;
  return uint8_t((1u << end) - (1u << first));
}

void SharedMemory::checkStores(uint32_t dword, uint8_t bytes, const char *what, unsigned wave,
                               BarrierClock clock) const {
  const Accesses &one = accesses[dword];
  if (one.writer != NoWave && one.writer != int32_t(wave) && clock.passed <= one.storeClock &&
      (one.stored & bytes))
    race(dword, what, wave, one.writer);
}

void SharedMemory::load(uint32_t address, uint32_t bytes, void *to, unsigned wave,
                        BarrierClock clock) {
  checkRange(address, bytes);
  for (uint32_t dword = address / 4; dword <= (address + bytes - 1) / 4; ++dword) {
    checkStores(dword, bytesIn(dword, address, bytes), "loads", wave, clock);
    Accesses &one = accesses[dword];
    if (clock.arrived > one.loadClock) {
      one.readers = 0;
      one.loadClock = clock.arrived;
    }
    one.readers |= uint64_t(1) << wave;
  }
  std::memcpy(to, memory.data() + address, bytes);
}

void SharedMemory::store(uint32_t address, uint32_t bytes, const void *from, unsigned wave,
                         BarrierClock clock) {
  checkRange(address, bytes);
  for (uint32_t dword = address / 4; dword <= (address + bytes - 1) / 4; ++dword) {
    uint8_t touched = bytesIn(dword, address, bytes);
    checkStores(dword, touched, "stores to", wave, clock);
    Accesses &one = accesses[dword];
    uint64_t others = one.readers & ~(uint64_t(1) << wave);
    // Reads of other bytes of the dword are not told apart, where stores are of whole dwords.
    if (others && clock.passed <= one.loadClock && touched == 0xf)
      race(dword, "stores to", wave, int32_t(__builtin_ctzll(others)));
    bool isFirst = clock.passed > one.storeClock || one.writer == NoWave;
    one.writer = isFirst || one.writer == int32_t(wave) ? int32_t(wave) : SeveralWaves;
    one.stored = isFirst ? touched : one.stored | touched;
    one.storeClock = std::max(one.storeClock, clock.arrived);
  }
  std::memcpy(memory.data() + address, from, bytes);
}

uint8_t *SharedMemory::atomic(uint32_t address, uint32_t bytes) {
  checkRange(address, bytes);
  return memory.data() + address;
}

} // namespace kiln::amdgcn

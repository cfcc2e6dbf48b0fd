// The shared memory (LDS) of a workgroup, and who has touched each byte of it.
#ifndef KILN_TESTS_AMDGCN_SHAREDMEMORY_H
#define KILN_TESTS_AMDGCN_SHAREDMEMORY_H

#include <cstdint>
#include <vector>

namespace kiln::amdgcn {

/// How far a wave has come with the workgroup's barriers: `arrived` counts those that it has
/// signalled, `passed` those that it has waited for.
struct BarrierClock {
  uint32_t arrived = 0, passed = 0;
};

class SharedMemory {
public:
  SharedMemory(uint32_t bytes, uint32_t noise);

  /// Fault where it is not all inside, or where another wave's access is not ordered with it by a
  /// barrier.
  void load(uint32_t address, uint32_t bytes, void *to, unsigned wave, BarrierClock clock);
  void store(uint32_t address, uint32_t bytes, const void *from, unsigned wave, BarrierClock clock);
  /// Without a look at other waves: atomic operations do not race with each other.
  uint8_t *atomic(uint32_t address, uint32_t bytes);
  uint32_t size() const { return uint32_t(memory.size()); }

private:
  /// Of a byte: what a wave's clock has to have passed for it to be ordered behind the last
  /// accesses.
  struct Accesses {
    uint32_t storeClock = 0, loadClock = 0, readers = 0;
    int32_t writer = -1;
  };
  void checkRange(uint32_t address, uint32_t bytes) const;
  [[noreturn]] void race(uint32_t address, const char *what, unsigned wave, unsigned other) const;

  std::vector<uint8_t> memory;
  std::vector<Accesses> accesses;
};

} // namespace kiln::amdgcn

#endif // KILN_TESTS_AMDGCN_SHAREDMEMORY_H

// Accesses to memory that a wave has issued and not waited for.
//
// The order is what the ISA guides say of each counter, and an access is carried out as late as
// they allow: loads fill their registers, and stores reach memory, when a wait says so. Which of
// these moments a load reads memory at is left to chance: when it is issued, or when it is waited
// for. A wave's loads and stores of global memory keep the program's order where they touch the
// same bytes.
#ifndef KILN_TESTS_AMDGCN_INFLIGHT_H
#define KILN_TESTS_AMDGCN_INFLIGHT_H

#include "tests/amdgcn/Instruction.h"
#include <deque>
#include <random>

namespace kiln::amdgcn {

/// What counts an access. GFX9 has one counter for loads and stores of global memory, and all
/// before GFX12 one for shared memory and scalar loads.
enum class Counter : uint8_t { Load, Store, Shared, Scalar };

/// The access of one instruction.
struct Access {
  const Instruction *instruction = nullptr;
  Counter counter = Counter::Load;
  /// Carries it out on memory, with `data` on the way.
  void (*perform)(Wave &, Access &) = nullptr;
  /// For atomic operations: what is stored, of what was there and the two operands.
  uint64_t (*combine)(uint64_t old, uint64_t value, uint64_t compared) = nullptr;
  bool isStore = false, isDone = false, isSigned = false;
  /// Of a lane's own memory.
  bool isPrivate = false;
  /// No access, but what writes a cache back.
  bool writesBack = false;
  /// A copy, whose bytes come to shared memory.
  bool fillsShared = false;
  /// By lane; of a scalar load the first.
  uint64_t active = 0;
  std::array<uint64_t, 64> addresses;
  /// Of instructions with two addresses: how much further the second is.
  uint64_t distance = 0;
  /// Bytes at each address; registers of data.
  uint32_t bytes = 0, registers = 0;
  /// Dwords that a buffer does not have, by lane a bit each: loaded as zeros, and not stored.
  std::array<uint16_t, 64> outside;
  std::array<std::array<uint32_t, 64>, 16> data;
  /// Where a load goes: nothing, vector or scalar registers. Of one of 16 bits the half of a
  /// register, whose other half stays.
  Operand::Kind target = Operand::Kind::Null;
  uint16_t destination = 0;
  Operand::Half half = Operand::Half::Whole;
  /// Of global memory, from the first byte to behind the last.
  uint64_t first = 0, end = 0;
  uint64_t issuedAt = 0;
};

class InFlight {
public:
  InFlight(Wave &wave, uint32_t seed) : wave(wave), random(seed) {}
  static std::unique_ptr<Access> start(const Instruction &instruction, Counter counter,
                                       void (*perform)(Wave &, Access &));
  void issue(std::unique_ptr<Access> access);

  /// Until no more than so many are in flight, of both counters of global memory where stores have
  /// none of their own.
  void waitForGlobal(Counter counter, unsigned count);
  /// Of shared memory all but the last `count`, as these return in order; scalar loads, which do
  /// not, only where `count` is 0 and they are meant.
  void waitForShared(unsigned count);
  void waitForScalars();
  void waitForAll();
  /// Others may see at `place` that what the wave stored is released: what writes a cache back has
  /// been waited for, or it is a Fault.
  void checkWrittenBack(const char *place) const;
  /// At a barrier of GFX9: the vector memory unit takes the accesses of a workgroup's waves in the
  /// order in which they are issued (LLVM's "User Guide for AMDGPU Backend", "Memory Model GFX942",
  /// without threadgroup split). Registers and shared memory still wait.
  void performGlobal();
  /// Nothing stays in flight for ever: what was issued before `time` reaches memory.
  void performOlder(uint64_t time);

private:
  using Queue = std::deque<std::unique_ptr<Access>>;
  void makeRoom(Counter counter);
  bool readsAtOnce(const Access &access);
  void perform(Queue &queue, size_t index);
  void complete(Queue &queue, size_t index);

  Wave &wave;
  std::minstd_rand random;
  Queue global, shared, scalar;
};

} // namespace kiln::amdgcn

#endif // KILN_TESTS_AMDGCN_INFLIGHT_H

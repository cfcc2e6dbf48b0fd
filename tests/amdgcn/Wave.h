// The state of one wave: registers, what is in flight, and where it is.
#ifndef KILN_TESTS_AMDGCN_WAVE_H
#define KILN_TESTS_AMDGCN_WAVE_H

#include "tests/amdgcn/Caches.h"
#include "tests/amdgcn/InFlight.h"
#include "tests/amdgcn/Memory.h"
#include "tests/amdgcn/SharedMemory.h"
#include "tests/amdgcn/WaitStates.h"

namespace kiln::amdgcn {

/// The generations whose instructions differ in more than their names.
enum class Generation : uint8_t { Gfx9 = 9, Gfx11 = 11, Gfx12 = 12 };

using LaneWords = std::array<uint32_t, 64>;

/// What a wave shares with the others of its launch or workgroup.
struct Surroundings {
  Generation generation = Generation::Gfx9;
  /// 8-bit floats are OCP's, not those with one zero (gfx942).
  bool hasOcpFloats = false;
  /// f32 operations take and give zeros for subnormal numbers.
  bool flushesSingles = false;
  const Allocations *allocations = nullptr;
  SharedMemory *shared = nullptr;
  Caches *caches = nullptr;
  uint32_t scratchBytes = 0; // of a lane
};

class Wave {
public:
  Wave(const Surroundings &surroundings, unsigned number, unsigned numLanes, uint32_t noise);
  Wave(const Wave &) = delete;

  enum class State : uint8_t { Runs, AtBarrier, Ended };

  // --- scalars ---
  uint32_t scalar(unsigned index) const;
  uint64_t scalarPair(unsigned index) const {
    return scalar(index) | uint64_t(scalar(index + 1)) << 32;
  }
  void setScalar(unsigned index, uint32_t value);
  void setScalarPair(unsigned index, uint64_t value) {
    setScalar(index, uint32_t(value));
    setScalar(index + 1, uint32_t(value >> 32));
  }
  /// A mask of lanes: one register of a wave of 32, two of one of 64.
  uint64_t mask(unsigned index) const { return numLanes == 64 ? scalarPair(index) : scalar(index); }
  void setMask(unsigned index, uint64_t value) {
    numLanes == 64 ? setScalarPair(index, value) : setScalar(index, uint32_t(value));
  }
  uint64_t exec() const {
    return numLanes == 64 ? scalars[ExecLow] | uint64_t(scalars[ExecLow + 1]) << 32
                          : scalars[ExecLow];
  }
  bool isActive(unsigned lane) const { return exec() >> lane & 1; }

  // --- vectors ---
  const LaneWords &vector(unsigned index, Operand::Half half = Operand::Half::Whole) const {
    checkVector(index, half);
    return vectors[index];
  }
  /// To be written to, whole or in part.
  LaneWords &vectorToWrite(unsigned index, Operand::Half half = Operand::Half::Whole) {
    checkVector(index, half);
    return vectors[index];
  }

  // --- for accesses in flight ---
  /// Marks a register as one that a load will fill, or has filled: until then nothing else may
  /// touch it but loads that are counted, and so return, in the same order.
  void markVector(unsigned index, Operand::Half half, Counter counter, int change);
  void markScalar(unsigned index, int change);
  LaneWords &vectorOfLoad(unsigned index) { return vectors[index]; }
  uint32_t &scalarOfLoad(unsigned index) { return scalars[index]; }

  /// The host's memory for `lane`'s private memory.
  uint8_t *scratch(unsigned lane) { return privateMemory.data() + lane * uint64_t(scratchBytes); }

  const Surroundings &surroundings;
  const unsigned number, numLanes;
  const uint32_t scratchBytes;
  bool scc = false;
  State state = State::Runs;
  /// The instruction that comes next, and how many were executed.
  uint64_t counter = 0, steps = 0;
  BarrierClock clock;
  InFlight inFlight;
  WaitStates waitStates;

private:
  void checkVector(unsigned index, Operand::Half half) const;

  /// Loads on the way to each half.
  struct Pending {
    uint8_t low = 0, high = 0;
    Counter counter = Counter::Load;
  };
  std::vector<LaneWords> vectors;
  std::array<uint32_t, NumScalars> scalars = {};
  std::array<Pending, NumVectors> pendingVectors = {};
  std::array<uint8_t, NumScalars> pendingScalars = {};
  std::vector<uint8_t> privateMemory;
};

} // namespace kiln::amdgcn

#endif // KILN_TESTS_AMDGCN_WAVE_H

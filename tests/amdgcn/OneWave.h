// One wave to which tests give instructions as text.
#ifndef KILN_TESTS_AMDGCN_ONEWAVE_H
#define KILN_TESTS_AMDGCN_ONEWAVE_H

#include "tests/amdgcn/Lanes.h"
#include "tests/amdgcn/Operations.h"
#include <gtest/gtest.h>

namespace kiln::amdgcn {

class OneWave : public testing::Test {
protected:
  /// A wave of 64 lanes of GFX9, or of 32 of a later generation.
  void begin(Generation generation, unsigned number = 0) {
    surroundings.generation = generation;
    surroundings.hasOcpFloats = generation != Generation::Gfx9;
    surroundings.allocations = &allocations;
    surroundings.shared = &shared;
    caches = std::make_unique<Caches>(generation == Generation::Gfx9    ? "gfx90a"
                                      : generation == Generation::Gfx11 ? "gfx1100"
                                                                        : "gfx1201");
    surroundings.caches = caches.get();
    surroundings.scratchBytes = 64;
    wave =
        std::make_unique<Wave>(surroundings, number, generation == Generation::Gfx9 ? 64 : 32, 7);
    wave->setMask(ExecLow, ~uint64_t(0));
  }
  void SetUp() override { begin(Generation::Gfx9); }

  /// Executes one instruction. What it does wrong is a Fault.
  void run(const std::string &text) {
    kept.push_back(std::make_unique<Instruction>(parseInstruction(text)));
    const Instruction &instruction = *kept.back();
    if (!instruction.problem.empty())
      throw Fault(instruction.problem);
    operations().at(instruction.name)(*wave, instruction);
  }

  /// Executes the instruction and gives what is wrong with it; "" where nothing is.
  std::string mistakeOf(const std::string &text) {
    try {
      run(text);
    } catch (const Fault &fault) {
      return fault.what();
    }
    return "";
  }

  template <typename Make> void set(unsigned vector, Make make) {
    for (unsigned lane = 0; lane != wave->numLanes; ++lane)
      wave->vectorToWrite(vector)[lane] = make(lane);
  }
  void setPointers(unsigned vector, const void *memory, unsigned stride) {
    auto address = [&](unsigned lane) {
      return reinterpret_cast<uintptr_t>(memory) + uint64_t(lane) * stride;
    };
    set(vector, [&](unsigned lane) { return uint32_t(address(lane)); });
    set(vector + 1, [&](unsigned lane) { return uint32_t(address(lane) >> 32); });
  }
  uint32_t get(unsigned vector, unsigned lane) const { return wave->vector(vector)[lane]; }
  float getFloat(unsigned vector, unsigned lane) const { return bitsAs<float>(get(vector, lane)); }

  Surroundings surroundings;
  Allocations allocations;
  SharedMemory shared{4096, 1};
  std::unique_ptr<Caches> caches;
  std::unique_ptr<Wave> wave;

private:
  /// Accesses in flight know their instructions.
  std::vector<std::unique_ptr<Instruction>> kept;
};

} // namespace kiln::amdgcn

#endif // KILN_TESTS_AMDGCN_ONEWAVE_H

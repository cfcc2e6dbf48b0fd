#include "tests/amdgcn/InFlight.h"
#include "tests/amdgcn/Wave.h"
#include <algorithm>

namespace kiln::amdgcn {
namespace {

/// From what was loaded to the registers.
void deliverToVectors(Wave &wave, const Access &access) {
  for (unsigned i = 0; i != access.registers; ++i) {
    LaneWords &words = wave.vectorOfLoad(access.destination + i);
    for (unsigned lane = 0; lane != wave.numLanes; ++lane) {
      if (!(access.active >> lane & 1))
        continue;
      uint32_t value = access.data[i][lane];
      if (access.bytes < 4 && access.isSigned)
        value = access.bytes == 1 ? uint32_t(int8_t(value)) : uint32_t(int16_t(value));
      if (access.half == Operand::Half::Low)
        value = (words[lane] & 0xffff0000) | (value & 0xffff);
      if (access.half == Operand::Half::High)
        value = (words[lane] & 0xffff) | value << 16;
      words[lane] = value;
    }
  }
}

void mark(Wave &wave, const Access &access, int change) {
  for (unsigned i = 0; i != access.registers; ++i) {
    if (access.target == Operand::Kind::Vector)
      wave.markVector(access.destination + i, access.half, access.counter, change);
    if (access.target == Operand::Kind::Scalar)
      wave.markScalar(access.destination + i, change);
  }
}

/// Whether two accesses to global memory have to stay in order.
bool areOrdered(const Access &one, const Access &other) {
  return (one.isStore || other.isStore) && one.first < other.end && other.first < one.end;
}

} // namespace

std::unique_ptr<Access> InFlight::start(const Instruction &instruction, Counter counter,
                                        void (*perform)(Wave &, Access &)) {
  // Not value-initialised, which would clear all of its data.
  std::unique_ptr<Access> access(new Access);
  access->instruction = &instruction;
  access->counter = counter;
  access->perform = perform;
  access->outside.fill(0);
  return access;
}

void InFlight::makeRoom(Counter counter) {
  // What would make a counter overflow is not issued before an older access is over (bits of the
  // counters: "S_WAITCNT"). Which of the scalar loads that is nobody knows.
  constexpr unsigned ofGlobal = 63;
  unsigned ofShared = wave.surroundings.generation == Generation::Gfx9 ? 15 : 63;
  if (counter == Counter::Shared)
    waitForShared(ofShared - 1);
  if (counter == Counter::Load || counter == Counter::Store)
    waitForGlobal(counter, ofGlobal - 1);
}

/// Of global memory. A load that a store has to come before would make the store early.
bool InFlight::readsAtOnce(const Access &access) {
  bool isLoad = access.target != Operand::Kind::Null && !access.isStore;
  if (!isLoad || access.counter == Counter::Shared || random() % 2)
    return false;
  return std::none_of(global.begin(), global.end(), [&](const auto &earlier) {
    return !earlier->isDone && areOrdered(*earlier, access);
  });
}

void InFlight::issue(std::unique_ptr<Access> access) {
  makeRoom(access->counter);
  access->issuedAt = wave.steps;
  mark(wave, *access, 1);
  Queue &queue = access->counter == Counter::Scalar   ? scalar
                 : access->counter == Counter::Shared ? shared
                                                      : global;
  bool isEarly = readsAtOnce(*access);
  queue.push_back(std::move(access));
  if (isEarly)
    perform(queue, queue.size() - 1);
}

void InFlight::perform(Queue &queue, size_t index) {
  Access &access = *queue[index];
  if (access.isDone)
    return;
  access.isDone = true;
  if (&queue == &global)
    for (size_t i = 0; i != index; ++i)
      if (!queue[i]->isDone && areOrdered(*queue[i], access))
        perform(queue, i);
  try {
    access.perform(wave, access);
  } catch (const Fault &fault) {
    throw Fault(std::string(fault.what()) + "; by " + access.instruction->text);
  }
}

void InFlight::complete(Queue &queue, size_t index) {
  perform(queue, index);
  std::unique_ptr<Access> access = std::move(queue[index]);
  queue.erase(queue.begin() + ptrdiff_t(index));
  mark(wave, *access, -1);
  if (access->target == Operand::Kind::Vector)
    deliverToVectors(wave, *access);
  if (access->target == Operand::Kind::Scalar)
    for (unsigned i = 0; i != access->registers; ++i)
      wave.scalarOfLoad(access->destination + i) = access->data[i][0];
}

void InFlight::waitForGlobal(Counter counter, unsigned count) {
  bool joint = wave.surroundings.generation == Generation::Gfx9;
  auto isCounted = [&](const Access &access) { return joint || access.counter == counter; };
  size_t left = 0;
  for (const auto &access : global)
    left += isCounted(*access);
  for (size_t i = 0; left > count;) {
    if (!isCounted(*global[i])) {
      ++i;
      continue;
    }
    complete(global, i);
    --left;
  }
}

void InFlight::waitForShared(unsigned count) {
  while (shared.size() > count)
    complete(shared, 0);
}

void InFlight::waitForScalars() {
  while (!scalar.empty())
    complete(scalar, 0);
}

void InFlight::waitForAll() {
  waitForGlobal(Counter::Load, 0);
  waitForGlobal(Counter::Store, 0);
  waitForShared(0);
  waitForScalars();
}

void InFlight::checkWrittenBack(const char *place) const {
  for (const auto &access : global)
    if (access->writesBack)
      throw Fault(access->instruction->text + " is in flight at " + place);
}

void InFlight::performGlobal() {
  for (size_t i = 0; i != global.size(); ++i)
    if (!global[i]->fillsShared)
      perform(global, i);
}

void InFlight::performOlder(uint64_t time) {
  for (Queue *queue : {&global, &shared})
    for (size_t i = 0; i != queue->size() && (*queue)[i]->issuedAt < time; ++i)
      perform(*queue, i);
}

} // namespace kiln::amdgcn

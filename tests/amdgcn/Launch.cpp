#include "tests/amdgcn/Launch.h"
#include <algorithm>
#include <cstring>
#include <deque>
#include <sstream>

namespace kiln::amdgcn {
namespace {

/// Steps after which an access that nobody waits for reaches memory all the same, so that who spins
/// on what another has stored goes on.
constexpr uint64_t longestFlight = 20000;
/// Most instructions that a wave executes before another goes on.
constexpr uint32_t longestTurn = 400;

class Random {
public:
  explicit Random(uint32_t seed) : state(seed * 2654435761u + 1) {}
  uint32_t next() {
    state ^= state << 13;
    state ^= state >> 17;
    state ^= state << 5;
    return state;
  }
  uint32_t below(uint32_t end) { return next() % end; }

private:
  uint32_t state;
};

/// hsa_kernel_dispatch_packet_t of the HSA specification, as much of it as kernels read.
struct DispatchPacket {
  uint16_t header = 2, setup = 3;
  uint16_t workgroup[3] = {};
  uint16_t reserved0 = 0;
  uint32_t grid[3] = {};
  uint32_t privateBytes = 0, groupBytes = 0;
  uint64_t kernel = 0, arguments = 0, reserved1 = 0, signal = 0;
};
static_assert(sizeof(DispatchPacket) == 64, "a packet of a queue");

struct Workgroup {
  std::array<uint32_t, 3> id;
  SharedMemory shared;
  Surroundings surroundings;
  std::vector<std::unique_ptr<Wave>> waves;
  uint32_t favourite = 0;
};

/// Which of several goes on. Now one, then another has most of the turns, so that a wave may be far
/// behind the others.
uint32_t choose(Random &random, uint32_t count, uint32_t &favourite) {
  if (random.below(16) == 0)
    favourite = random.next();
  return (random.below(4) ? favourite : random.next()) % count;
}

Generation generationOf(const std::string &processor) {
  if (processor.substr(0, 4) == "gfx9")
    return Generation::Gfx9;
  if (processor.substr(0, 5) == "gfx11")
    return Generation::Gfx11;
  if (processor.substr(0, 5) == "gfx12")
    return Generation::Gfx12;
  throw Fault("machine code of " + processor + " is not executed here");
}

class Launcher {
public:
  Launcher(const CodeObject &code, const LoadedKernel &kernel, const Allocations &allocations,
           const LaunchParameters &parameters);
  void run();

private:
  std::unique_ptr<Workgroup> makeWorkgroup(uint64_t number, Caches &caches);
  std::unique_ptr<Wave> makeWave(Workgroup &group, unsigned number);
  void setUserScalars(Wave &wave, unsigned &next);
  void setWorkgroupIds(Wave &wave, const Workgroup &group, unsigned next);
  bool releaseBarrier(Workgroup &group);
  bool advance(Workgroup &group);
  void takeTurn(Workgroup &group, Wave &wave);
  void step(Wave &wave);
  [[noreturn]] void report(const Workgroup &group, const Wave &wave, uint64_t address,
                           const char *what) const;

  const CodeObject &code;
  const LoadedKernel &kernel;
  const KernelDescriptor &descriptor;
  const LaunchParameters &parameters;
  Allocations allocations;
  Generation generation;
  Random random;
  unsigned numLanes, numThreads;
  uint64_t entry;
  std::vector<uint8_t> arguments;
  DispatchPacket packet;
};

Launcher::Launcher(const CodeObject &code, const LoadedKernel &kernel,
                   const Allocations &allocations, const LaunchParameters &parameters)
    : code(code), kernel(kernel), descriptor(kernel.descriptor), parameters(parameters),
      allocations(allocations), generation(generationOf(code.processor())), random(parameters.seed),
      numLanes(descriptor.isWave32 ? 32 : 64),
      numThreads(parameters.block[0] * parameters.block[1] * parameters.block[2]),
      arguments(parameters.arguments) {
  arguments.resize((descriptor.kernargBytes + 15) / 16 * 16);
  // Behind the code that loads them for firmware that does not.
  entry = descriptor.entry + (descriptor.preloadLength ? 256 : 0);
  for (unsigned i = 0; i != 3; ++i) {
    packet.workgroup[i] = uint16_t(parameters.block[i]);
    packet.grid[i] = parameters.grid[i] * parameters.block[i];
  }
  packet.privateBytes = descriptor.privateBytes;
  packet.groupBytes = descriptor.groupBytes + parameters.sharedBytes;
  packet.arguments = reinterpret_cast<uintptr_t>(arguments.data());
  this->allocations.add(arguments.data(), arguments.size(), false);
  this->allocations.add(&packet, sizeof packet, false);
  this->allocations.add(code.image(), code.imageBytes(), false);
}

std::unique_ptr<Workgroup> Launcher::makeWorkgroup(uint64_t number, Caches &caches) {
  const auto &grid = parameters.grid;
  auto group = std::unique_ptr<Workgroup>(
      new Workgroup{{uint32_t(number % grid[0]), uint32_t(number / grid[0] % grid[1]),
                     uint32_t(number / grid[0] / grid[1])},
                    SharedMemory(packet.groupBytes, random.next()),
                    {},
                    {},
                    random.next()});
  Surroundings &surroundings = group->surroundings;
  surroundings.generation = generation;
  surroundings.hasOcpFloats = generation != Generation::Gfx9 || code.processor() == "gfx950";
  surroundings.flushesSingles = descriptor.flushesSingles;
  surroundings.allocations = &allocations;
  surroundings.shared = &group->shared;
  surroundings.caches = &caches;
  surroundings.scratchBytes = descriptor.privateBytes;
  for (unsigned wave = 0; wave * numLanes < numThreads; ++wave)
    group->waves.push_back(makeWave(*group, wave));
  return group;
}

std::unique_ptr<Wave> Launcher::makeWave(Workgroup &group, unsigned number) {
  auto wave = std::make_unique<Wave>(group.surroundings, number, numLanes, random.next());
  wave->counter = entry;
  unsigned active = std::min(numThreads - number * numLanes, numLanes);
  wave->setMask(ExecLow, active == 64 ? ~uint64_t(0) : (uint64_t(1) << active) - 1);
  // The thread's three numbers in ten bits each; one after the other before GFX90A.
  LaneWords &ids = wave->vectorToWrite(0);
  for (unsigned lane = 0; lane != active; ++lane) {
    unsigned thread = number * numLanes + lane;
    unsigned x = thread % parameters.block[0], y = thread / parameters.block[0];
    ids[lane] = x | y % parameters.block[1] << 10 | y / parameters.block[1] << 20;
  }
  unsigned next = 0;
  setUserScalars(*wave, next);
  setWorkgroupIds(*wave, group, descriptor.numUserScalars);
  // LLVM, "User Guide for AMDGPU Backend": the number of the wave in the workgroup.
  if (generation == Generation::Gfx12)
    wave->setScalar(TrapTemporary0 + 8, number << 25);
  return wave;
}

/// In the order of the User Guide's "SGPR Register Set Up Order".
void Launcher::setUserScalars(Wave &wave, unsigned &next) {
  auto pair = [&](bool isThere, uint64_t value) {
    if (isThere) {
      wave.setScalarPair(next, value);
      next += 2;
    }
  };
  if (descriptor.hasPrivateBuffer) {
    // Swizzled by dwords of 64 lanes, whose numbers it adds. It begins with the wave's own.
    wave.setScalarPair(next, uint64_t(1) << 63);
    wave.setScalarPair(next + 2, descriptor.privateBytes * uint64_t(numLanes) |
                                     uint64_t(1 << 23 | 3 << 21 | 1 << 19) << 32);
    next += 4;
  }
  pair(descriptor.hasDispatchPointer, reinterpret_cast<uintptr_t>(&packet));
  if (descriptor.hasQueuePointer)
    throw Fault("the queue is not known here");
  pair(descriptor.hasKernargPointer, packet.arguments);
  pair(descriptor.hasDispatchId, 0);
  pair(descriptor.hasFlatScratch, 0);
  if (descriptor.hasPrivateSize)
    wave.setScalar(next++, descriptor.privateBytes);
  for (unsigned i = 0; i != descriptor.preloadLength; ++i) {
    uint32_t word = 0;
    size_t offset = 4 * (descriptor.preloadOffset + i);
    if (offset + 4 > arguments.size())
      throw Fault("more kernel arguments are preloaded than there are");
    std::memcpy(&word, arguments.data() + offset, 4);
    wave.setScalar(next++, word);
  }
  if (next > descriptor.numUserScalars)
    throw Fault("the kernel's descriptor has fewer user registers than it asks for");
}

void Launcher::setWorkgroupIds(Wave &wave, const Workgroup &group, unsigned next) {
  if (generation == Generation::Gfx12) {
    wave.setScalar(TrapTemporary0 + 9, group.id[0]);
    wave.setScalar(TrapTemporary0 + 7, group.id[1] | group.id[2] << 16);
    return;
  }
  for (unsigned i = 0; i != 3; ++i)
    if (descriptor.hasWorkgroupId[i])
      wave.setScalar(next++, group.id[i]);
  if (descriptor.hasWorkgroupInfo)
    throw Fault("the information on the workgroup is not known here");
  // Where the wave's own private memory begins.
  if (descriptor.hasPrivateBuffer && descriptor.hasPrivateSegment)
    wave.setScalar(next, 0);
}

/// All waves that have not ended have arrived: they go on.
bool Launcher::releaseBarrier(Workgroup &group) {
  bool isReleased = false;
  for (auto &wave : group.waves)
    if (wave->state == Wave::State::AtBarrier) {
      bool allArrived = std::all_of(group.waves.begin(), group.waves.end(), [&](auto &other) {
        return other->state == Wave::State::Ended || other->clock.arrived >= wave->clock.arrived;
      });
      if (allArrived) {
        wave->clock.passed = wave->clock.arrived;
        wave->state = Wave::State::Runs;
        isReleased = true;
      }
    }
  return isReleased;
}

void Launcher::report(const Workgroup &group, const Wave &wave, uint64_t address,
                      const char *what) const {
  const Instruction *instruction = code.at(address);
  std::ostringstream text;
  text << kernel.info.symbol << " (" << code.processor() << ") at " << std::hex << std::showbase
       << address - descriptor.entry << std::dec << ", workgroup (" << group.id[0] << ", "
       << group.id[1] << ", " << group.id[2] << "), wave " << wave.number << ": "
       << (instruction ? instruction->text : "no instruction") << ": " << what;
  throw Fault(text.str());
}

void Launcher::step(Wave &wave) {
  const Instruction *instruction = code.at(wave.counter);
  if (!instruction)
    throw Fault("there is no instruction here");
  wave.counter += instruction->bytes;
  ++wave.steps;
  for (const Instruction *part = instruction; part; part = part->second.get()) {
    if (!part->problem.empty())
      throw Fault(part->problem);
    if (!part->operation)
      throw Fault("unknown instruction " + part->name);
  }
  if (wave.surroundings.generation == Generation::Gfx9)
    wave.waitStates.issue(*instruction);
  if (!instruction->second)
    return instruction->operation(wave, *instruction);
  // Both halves read before either writes: the first one's result is put aside for so long.
  unsigned first = (*instruction)[0].index;
  LaneWords before = wave.vector(first);
  instruction->operation(wave, *instruction);
  LaneWords result = wave.vector(first);
  wave.vectorToWrite(first) = before;
  instruction->second->operation(wave, *instruction->second);
  wave.vectorToWrite(first) = result;
}

void Launcher::takeTurn(Workgroup &group, Wave &wave) {
  uint32_t turns = 1 + random.below(longestTurn);
  uint64_t address = wave.counter;
  try {
    for (uint32_t i = 0; i != turns && wave.state == Wave::State::Runs; ++i) {
      address = wave.counter;
      step(wave);
    }
    if (wave.steps > longestFlight)
      wave.inFlight.performOlder(wave.steps - longestFlight);
    if (wave.steps > parameters.longestRun)
      throw Fault("the wave does not end");
  } catch (const Fault &fault) {
    report(group, wave, address, fault.what());
  }
}

/// Lets a wave of the workgroup go on; false where all have ended.
bool Launcher::advance(Workgroup &group) {
  std::vector<Wave *> running;
  bool haveEnded = true;
  for (auto &wave : group.waves) {
    haveEnded &= wave->state == Wave::State::Ended;
    if (wave->state == Wave::State::Runs)
      running.push_back(wave.get());
  }
  if (haveEnded)
    return false;
  if (!running.empty())
    takeTurn(group, *running[choose(random, uint32_t(running.size()), group.favourite)]);
  if (!releaseBarrier(group) && running.empty())
    report(group, *group.waves[0], group.waves[0]->counter, "no wave can go on");
  return true;
}

/// Each place has caches that one workgroup leaves to the next.
void Launcher::run() {
  uint64_t next = 0, count = uint64_t(parameters.grid[0]) * parameters.grid[1] * parameters.grid[2];
  std::deque<Caches> caches;
  std::vector<std::unique_ptr<Workgroup>> places(
      std::min<uint64_t>(count, parameters.residentWorkgroups));
  for (auto &group : places)
    group = makeWorkgroup(next++, caches.emplace_back(code.processor()));
  uint32_t favourite = random.next();
  for (size_t numRunning = places.size(); numRunning != 0;) {
    size_t chosen = choose(random, uint32_t(places.size()), favourite);
    auto &group = places[chosen];
    if (!group || advance(*group))
      continue;
    group = next != count ? makeWorkgroup(next++, caches[chosen]) : nullptr;
    numRunning -= !group;
  }
  for (Caches &ofPlace : caches)
    ofPlace.writeBack();
}

} // namespace

void launch(const CodeObject &code, const LoadedKernel &kernel, const Allocations &allocations,
            const LaunchParameters &parameters) {
  Launcher(code, kernel, allocations, parameters).run();
}

} // namespace kiln::amdgcn

// Loads, stores and atomic operations of global, buffer and private memory.
#include "tests/amdgcn/DataTypes.h"
#include "tests/amdgcn/Lanes.h"
#include "tests/amdgcn/Operations.h"
#include "tests/amdgcn/Scalars.h"

namespace kiln::amdgcn {
namespace {

enum class Space : uint8_t { Global, Buffer, Scratch };

uint8_t *hostAddress(uint64_t address) { return reinterpret_cast<uint8_t *>(address); }

Cache &cacheOf(const Wave &wave) { return wave.surroundings.caches->ofWave(wave.number); }

/// Within the workgroup or the device, memory is as the caches have it; a lane's own is not shared.
void read(Wave &wave, const Access &access, uint64_t address, void *to, uint32_t bytes) {
  if (access.isPrivate)
    std::memcpy(to, hostAddress(address), bytes);
  else
    cacheOf(wave).load(address, to, bytes, access.instruction->scope);
}

void write(Wave &wave, const Access &access, uint64_t address, const void *from, uint32_t bytes) {
  if (access.isPrivate)
    std::memcpy(hostAddress(address), from, bytes);
  else
    cacheOf(wave).store(address, from, bytes, access.instruction->scope);
}

template <typename Function> void forActive(const Wave &wave, const Access &access, Function body) {
  for (unsigned lane = 0; lane != wave.numLanes; ++lane)
    if (access.active >> lane & 1)
      body(lane);
}

// --- when they happen ---

void load(Wave &wave, Access &access) {
  uint32_t piece = std::min<uint32_t>(access.bytes, 4);
  forActive(wave, access, [&](unsigned lane) {
    for (uint32_t i = 0; i != (access.bytes + 3) / 4; ++i) {
      access.data[i][lane] = 0;
      if (!(access.outside[lane] >> i & 1))
        read(wave, access, access.addresses[lane] + 4 * i, &access.data[i][lane], piece);
    }
  });
}

void store(Wave &wave, Access &access) {
  uint32_t piece = std::min<uint32_t>(access.bytes, 4);
  forActive(wave, access, [&](unsigned lane) {
    for (uint32_t i = 0; i != (access.bytes + 3) / 4; ++i)
      if (!(access.outside[lane] >> i & 1))
        write(wave, access, access.addresses[lane] + 4 * i, &access.data[i][lane], piece);
  });
}

/// To shared memory, lane by lane one behind the other from `distance` on.
void copyToShared(Wave &wave, Access &access) {
  load(wave, access);
  forActive(wave, access, [&](unsigned lane) {
    uint8_t bytes[16];
    for (uint32_t i = 0; i != (access.bytes + 3) / 4; ++i)
      std::memcpy(bytes + 4 * i, &access.data[i][lane], 4);
    wave.surroundings.shared->store(uint32_t(access.distance) + lane * access.bytes, access.bytes,
                                    bytes, wave.number, wave.clock);
  });
}

/// The operands of an atomic operation follow each other in the data.
void combine(Wave &wave, Access &access) {
  uint32_t words = access.bytes / 4;
  auto operand = [&](uint32_t first, unsigned lane) {
    uint64_t value = access.data[first][lane];
    return words == 2 ? value | uint64_t(access.data[first + 1][lane]) << 32 : value;
  };
  forActive(wave, access, [&](unsigned lane) {
    uint64_t old = 0;
    if (!access.outside[lane]) {
      uint8_t *address = hostAddress(access.addresses[lane]);
      cacheOf(wave).release(access.addresses[lane], access.bytes);
      std::memcpy(&old, address, access.bytes);
      uint64_t value = access.combine(old, operand(0, lane), operand(words, lane));
      std::memcpy(address, &value, access.bytes);
    }
    access.data[0][lane] = uint32_t(old);
    access.data[1][lane] = uint32_t(old >> 32);
  });
}

void writeBack(Wave &wave, Access &access) { cacheOf(wave).writeBack(access.instruction->scope); }

void nothing(Wave &, Access &) {}

// --- where they go ---

/// Operands of an address: where each space has them, from `first` on.
struct AddressOperands {
  const Operand &vector, &scalar;
};

void addressGlobal(Wave &wave, const Instruction &in, Access &access, AddressOperands operands) {
  if (operands.scalar.kind == Operand::Kind::Null) {
    const LaneWords &low = wave.vector(operands.vector.index),
                    &high = wave.vector(operands.vector.index + 1);
    for (unsigned lane = 0; lane != wave.numLanes; ++lane)
      access.addresses[lane] = (low[lane] | uint64_t(high[lane]) << 32) + uint64_t(in.offset);
    return;
  }
  uint64_t base = wave.scalarPair(operands.scalar.index) + uint64_t(in.offset);
  const LaneWords &offsets = wave.vector(operands.vector.index);
  for (unsigned lane = 0; lane != wave.numLanes; ++lane)
    access.addresses[lane] = base + offsets[lane];
}

/// `base` and what the vector adds to it are of each lane's own memory.
void addressPrivate(Wave &wave, Access &access, int64_t base, const Operand *vector) {
  for (unsigned lane = 0; lane != wave.numLanes; ++lane) {
    int64_t offset = base;
    if (vector)
      offset += wave.vector(vector->index)[lane];
    if (wave.isActive(lane) && (offset < 0 || offset + access.bytes > wave.scratchBytes))
      throw Fault("access at " + std::to_string(offset) + " of private memory, which has " +
                  std::to_string(wave.scratchBytes) + " bytes");
    access.addresses[lane] = reinterpret_cast<uintptr_t>(wave.scratch(lane)) + uint64_t(offset);
  }
}

void addressScratch(Wave &wave, const Instruction &in, Access &access, AddressOperands operands) {
  addressPrivate(wave, access, in.offset + int64_t(readScalar<uint32_t>(wave, operands.scalar)),
                 operands.vector.isVector() ? &operands.vector : nullptr);
}

/// Whether the descriptor adds the lane's number: that of private memory does, which waves of
/// GFX90A begin with.
bool addsLane(const Wave &wave, const Operand &descriptor) {
  return wave.scalar(descriptor.index + 3) >> 23 & 1;
}

/// Dwords of one offset stand together, lane by lane (ISA guides, "Swizzled Buffer Addressing").
/// The scalar offset is not swizzled, and so counts the bytes of all lanes.
void addressPrivateBuffer(Wave &wave, const Instruction &in, Access &access, const Operand &vector,
                          const Operand &scalar) {
  uint32_t ofAll = readScalar<uint32_t>(wave, scalar);
  if (ofAll % wave.numLanes != 0)
    throw Fault("expected a scalar offset of private memory that is the same in all lanes");
  addressPrivate(wave, access, in.offset + ofAll / wave.numLanes,
                 in.offsetEnable ? &vector : nullptr);
}

/// A raw buffer (ISA guides, "Range Checking"): what is beyond its number of bytes is outside,
/// dword by dword.
void addressBuffer(Wave &wave, const Instruction &in, Access &access, const Operand &vector,
                   const Operand &descriptor, const Operand &scalar) {
  uint64_t base = wave.scalarPair(descriptor.index);
  uint32_t records = wave.scalar(descriptor.index + 2);
  if (base >> 48 & 0x3fff || in.indexEnable)
    throw Fault("expected a raw buffer, got one with a stride");
  base &= 0xffffffffffff;
  uint64_t scalarOffset = readScalar<uint32_t>(wave, scalar);
  for (unsigned lane = 0; lane != wave.numLanes; ++lane) {
    uint64_t offset =
        uint64_t(in.offset) + (in.offsetEnable ? uint64_t(wave.vector(vector.index)[lane]) : 0);
    access.addresses[lane] = base + scalarOffset + offset;
    for (uint32_t i = 0; i != (access.bytes + 3) / 4; ++i)
      if (scalarOffset + offset + 4 * i + std::min<uint32_t>(access.bytes, 4) > records)
        access.outside[lane] |= uint16_t(1 << i);
  }
}

/// All of it is in allocations, but for private memory and what is outside of a buffer. Atomic
/// operations may reach behind one as loads may: those of two bytes are of the word that has them.
void checkRange(const Wave &wave, Space space, Access &access) {
  bool isStore = access.isStore && !access.combine;
  access.isPrivate = space == Space::Scratch;
  access.first = ~uint64_t(0);
  uint32_t piece = std::min<uint32_t>(access.bytes, 4);
  forActive(wave, access, [&](unsigned lane) {
    uint64_t address = access.addresses[lane];
    access.first = std::min(access.first, address);
    access.end = std::max(access.end, address + access.bytes);
    if (space == Space::Scratch)
      return;
    if (!access.outside[lane]) {
      wave.surroundings.allocations->check(address, access.bytes, isStore);
      return;
    }
    for (uint32_t i = 0; i != (access.bytes + 3) / 4; ++i)
      if (!(access.outside[lane] >> i & 1))
        wave.surroundings.allocations->check(address + 4 * i, piece, isStore);
  });
}

/// Addresses from operand `first` on: a vector's and a scalar's, `gap` operands apart; buffers have
/// a descriptor between.
void address(Wave &wave, const Instruction &in, Access &access, Space space, size_t first,
             size_t gap) {
  access.active = wave.exec();
  if (space == Space::Buffer && addsLane(wave, in[first + 1])) {
    addressPrivateBuffer(wave, in, access, in[first], in[first + 2]);
    space = Space::Scratch;
  } else if (space == Space::Buffer)
    addressBuffer(wave, in, access, in[first], in[first + 1], in[first + 2]);
  else if (space == Space::Global)
    addressGlobal(wave, in, access, {in[first], in[first + gap]});
  else
    addressScratch(wave, in, access, {in[first], in[first + gap]});
  checkRange(wave, space, access);
}

// --- instructions ---

/// M0 has where in shared memory the wave's copy begins, which on GFX950 may be behind 64 KiB.
void loadToShared(Wave &wave, const Instruction &in, Space space, uint32_t bytes) {
  auto access = InFlight::start(in, Counter::Load, copyToShared);
  access->bytes = bytes;
  access->fillsShared = true;
  address(wave, in, *access, space, 0, 1);
  access->distance = wave.scalar(M0) + uint64_t(in.offset);
  wave.inFlight.issue(std::move(access));
}

Operation loads(Space space, DataType type) {
  return [=](Wave &wave, const Instruction &in) {
    if (in.goesToShared)
      return loadToShared(wave, in, space, type.bytes);
    if (!in[0].isVector())
      throw Fault("expected vector registers as destination");
    auto access = InFlight::start(in, Counter::Load, load);
    access->bytes = type.bytes;
    access->isSigned = type.isSigned;
    access->half = in[0].half != Operand::Half::Whole ? in[0].half : type.half;
    address(wave, in, *access, space, 1, 1);
    access->target = Operand::Kind::Vector;
    access->destination = in[0].index;
    access->registers = (type.bytes + 3) / 4;
    wave.inFlight.issue(std::move(access));
  };
}

Operation stores(Space space, DataType type) {
  return [=](Wave &wave, const Instruction &in) {
    auto access = InFlight::start(in, Counter::Store, store);
    access->bytes = type.bytes;
    access->isStore = true;
    bool isBuffer = space == Space::Buffer;
    address(wave, in, *access, space, isBuffer ? 1 : 0, 2);
    takeData(wave, *access, in[isBuffer ? 0 : 1], 0, (type.bytes + 3) / 4, type.half);
    wave.inFlight.issue(std::move(access));
  };
}

Operation atomics(Space space, AtomicType type) {
  return [=](Wave &wave, const Instruction &in) {
    auto access = InFlight::start(in, in.returnsOld ? Counter::Load : Counter::Store, combine);
    wave.inFlight.checkWrittenBack("an atomic operation");
    access->bytes = type.bytes;
    access->isStore = true;
    access->combine = type.combine;
    bool isBuffer = space == Space::Buffer;
    size_t first = isBuffer ? 1 : in.returnsOld ? 1 : 0;
    address(wave, in, *access, space, first, 2);
    unsigned registers = type.bytes / 4;
    takeData(wave, *access, in[isBuffer ? 0 : first + 1], 0,
             type.compares ? 2 * registers : registers, Operand::Half::Whole);
    if (in.returnsOld) {
      access->target = Operand::Kind::Vector;
      access->destination = in[0].index;
      access->registers = registers;
    }
    wave.inFlight.issue(std::move(access));
  };
}

/// A counter counts it, though no data moves.
void issueWithoutData(Wave &wave, const Instruction &in, Counter counter,
                      void (*perform)(Wave &, Access &)) {
  auto access = InFlight::start(in, counter, perform);
  access->writesBack = perform == writeBack;
  access->active = 0;
  access->bytes = 0;
  wave.inFlight.issue(std::move(access));
}

void writesBack(Wave &wave, const Instruction &in) {
  issueWithoutData(wave, in, Counter::Store, writeBack);
}

/// Loads that come later find it done.
void invalidates(Wave &wave, const Instruction &in) {
  cacheOf(wave).invalidate(in.scope);
  if (wave.surroundings.generation == Generation::Gfx12)
    issueWithoutData(wave, in, Counter::Load, nothing);
}

} // namespace

void addGlobalMemory(OperationTable &table) {
  const std::pair<const char *, Space> spaces[] = {
      {"global_", Space::Global}, {"buffer_", Space::Buffer}, {"scratch_", Space::Scratch}};
  for (auto [name, space] : spaces) {
    std::string prefix = name;
    for (const DataType &type : loadTypes)
      for (const char *one : {type.old, type.name})
        table[prefix + "load_" + one] = loads(space, type);
    for (const DataType &type : storeTypes)
      for (const char *one : {type.old, type.name})
        table[prefix + "store_" + one] = stores(space, type);
    if (space != Space::Scratch)
      for (const AtomicType &type : atomicTypes)
        for (const char *one : {type.old, type.name})
          table[prefix + "atomic_" + one] = atomics(space, type);
  }
  for (uint32_t dwords : {1, 3, 4})
    table["global_load_lds_dword" + (dwords == 1 ? "" : "x" + std::to_string(dwords))] =
        [=](Wave &wave, const Instruction &in) {
          loadToShared(wave, in, Space::Global, 4 * dwords);
        };
  table["buffer_wbl2"] = writesBack;
  table["global_wb"] = writesBack;
  table["global_inv"] = invalidates;
  table["buffer_inv"] = invalidates;
  for (const char *name : {"buffer_gl0_inv", "buffer_wbinvl1", "buffer_wbinvl1_vol"})
    table[name] = [](Wave &wave, const Instruction &) { cacheOf(wave).drop(); };
  table["buffer_gl1_inv"] = [](Wave &wave, const Instruction &) {
    wave.surroundings.caches->ofWorkgroup().drop();
  };
}

} // namespace kiln::amdgcn

// Loads, stores and atomic operations of shared memory (LDS), and exchanges that go through it.
#include "tests/amdgcn/DataTypes.h"
#include "tests/amdgcn/Lanes.h"
#include "tests/amdgcn/Operations.h"

namespace kiln::amdgcn {
namespace {

template <typename Function> void forActive(const Wave &wave, const Access &access, Function body) {
  for (unsigned lane = 0; lane != wave.numLanes; ++lane)
    if (access.active >> lane & 1)
      body(lane);
}

// --- when they happen ---

/// The second address, if there is one, is `distance` further; 0 says that there is none.
void load(Wave &wave, Access &access) {
  uint32_t words = (access.bytes + 3) / 4, addresses = access.registers / words;
  forActive(wave, access, [&](unsigned lane) {
    for (uint32_t one = 0; one != addresses; ++one) {
      uint32_t data[4] = {};
      wave.surroundings.shared->load(uint32_t(access.addresses[lane] + one * access.distance),
                                     access.bytes, data, wave.number, wave.clock);
      for (uint32_t i = 0; i != words; ++i)
        access.data[one * words + i][lane] = data[i];
    }
  });
}

void store(Wave &wave, Access &access) {
  uint32_t words = (access.bytes + 3) / 4, addresses = access.registers / words;
  forActive(wave, access, [&](unsigned lane) {
    for (uint32_t one = 0; one != addresses; ++one) {
      uint32_t data[4];
      for (uint32_t i = 0; i != words; ++i)
        data[i] = access.data[one * words + i][lane];
      wave.surroundings.shared->store(uint32_t(access.addresses[lane] + one * access.distance),
                                      access.bytes, data, wave.number, wave.clock);
    }
  });
}

void combine(Wave &wave, Access &access) {
  uint32_t words = access.bytes / 4;
  forActive(wave, access, [&](unsigned lane) {
    uint8_t *address =
        wave.surroundings.shared->atomic(uint32_t(access.addresses[lane]), access.bytes);
    uint64_t old = 0, value = access.data[0][lane], compared = access.data[words][lane];
    if (words == 2) {
      value |= uint64_t(access.data[1][lane]) << 32;
      compared |= uint64_t(access.data[3][lane]) << 32;
    }
    std::memcpy(&old, address, access.bytes);
    uint64_t result = access.combine(old, value, compared);
    std::memcpy(address, &result, access.bytes);
    access.data[0][lane] = uint32_t(old);
    access.data[1][lane] = uint32_t(old >> 32);
  });
}

/// DS_READ_B64_TR_B16, DS_READ_B64_TR_B8: within 16 lanes the 16 x 4 halves or 16 x 8 bytes at
/// their addresses come transposed: the lanes' addresses are those of four rows of 16 halves, a
/// quarter each, or of eight rows of 16 bytes, a half each, and lane i gets the i-th of each row.
template <typename Element> void loadTransposed(Wave &wave, Access &access) {
  if (access.active != ~uint64_t(0))
    throw Fault("a transposing load while lanes are not active");
  load(wave, access);
  auto original = access.data;
  constexpr unsigned bits = 8 * sizeof(Element), ofLane = 64 / bits, lanesOfRow = 16 / ofLane;
  for (unsigned lane = 0; lane != wave.numLanes; ++lane) {
    unsigned first = lane & ~15u, column = lane & 15;
    uint64_t result = 0;
    for (unsigned row = 0; row != ofLane; ++row) {
      unsigned from = first + lanesOfRow * row + column / ofLane;
      uint64_t read = original[0][from] | uint64_t(original[1][from]) << 32;
      result |= uint64_t(Element(read >> bits * (column % ofLane))) << bits * row;
    }
    access.data[0][lane] = uint32_t(result);
    access.data[1][lane] = uint32_t(result >> 32);
  }
}

void nothing(Wave &, Access &) {}

// --- instructions ---

void address(Wave &wave, const Instruction &in, Access &access, size_t operand, int64_t offset) {
  access.active = wave.exec();
  const LaneWords &bases = wave.vector(in[operand].index);
  for (unsigned lane = 0; lane != wave.numLanes; ++lane)
    access.addresses[lane] = uint32_t(bases[lane] + uint32_t(offset));
}

void setDestination(const Instruction &in, Access &access, uint32_t registers) {
  if (!in[0].isVector())
    throw Fault("expected vector registers as destination");
  access.target = Operand::Kind::Vector;
  access.destination = in[0].index;
  access.registers = registers;
  if (in[0].half != Operand::Half::Whole)
    access.half = in[0].half;
}

Operation loads(DataType type, void (*perform)(Wave &, Access &) = load) {
  return [=](Wave &wave, const Instruction &in) {
    auto access = InFlight::start(in, Counter::Shared, perform);
    access->bytes = type.bytes;
    access->isSigned = type.isSigned;
    access->half = type.half;
    address(wave, in, *access, 1, in.offset);
    setDestination(in, *access, (type.bytes + 3) / 4);
    wave.inFlight.issue(std::move(access));
  };
}

/// Offsets in units of `unit` bytes.
Operation loadsTwo(uint32_t bytes, uint32_t unit) {
  return [=](Wave &wave, const Instruction &in) {
    auto access = InFlight::start(in, Counter::Shared, load);
    access->bytes = bytes;
    address(wave, in, *access, 1, in.offset0 * unit);
    access->distance = uint64_t((in.offset1 - in.offset0) * int64_t(unit));
    setDestination(in, *access, 2 * bytes / 4);
    wave.inFlight.issue(std::move(access));
  };
}

Operation stores(DataType type) {
  return [=](Wave &wave, const Instruction &in) {
    auto access = InFlight::start(in, Counter::Shared, store);
    access->bytes = type.bytes;
    access->isStore = true;
    access->registers = (type.bytes + 3) / 4;
    address(wave, in, *access, 0, in.offset);
    takeData(wave, *access, in[1], 0, access->registers, type.half);
    wave.inFlight.issue(std::move(access));
  };
}

Operation storesTwo(uint32_t bytes, uint32_t unit) {
  return [=](Wave &wave, const Instruction &in) {
    auto access = InFlight::start(in, Counter::Shared, store);
    access->bytes = bytes;
    access->isStore = true;
    access->registers = 2 * bytes / 4;
    address(wave, in, *access, 0, in.offset0 * unit);
    access->distance = uint64_t((in.offset1 - in.offset0) * int64_t(unit));
    takeData(wave, *access, in[1], 0, bytes / 4, Operand::Half::Whole);
    takeData(wave, *access, in[2], bytes / 4, bytes / 4, Operand::Half::Whole);
    wave.inFlight.issue(std::move(access));
  };
}

Operation atomics(AtomicType type, bool returnsOld) {
  return [=](Wave &wave, const Instruction &in) {
    auto access = InFlight::start(in, Counter::Shared, combine);
    size_t first = returnsOld ? 1 : 0;
    access->bytes = type.bytes;
    access->isStore = true;
    access->combine = type.combine;
    address(wave, in, *access, first, in.offset);
    takeData(wave, *access, in[first + 1], 0, type.bytes / 4, Operand::Half::Whole);
    if (returnsOld)
      setDestination(in, *access, type.bytes / 4);
    wave.inFlight.issue(std::move(access));
  };
}

/// What lane `lane` gets of the others: `source` says which; of lanes that are not active zeros.
template <typename Function>
void exchange(Wave &wave, const Instruction &in, const Operand &data, Function source) {
  auto access = InFlight::start(in, Counter::Shared, nothing);
  access->active = wave.exec();
  access->bytes = 4;
  const LaneWords &words = wave.vector(data.index);
  for (unsigned lane = 0; lane != wave.numLanes; ++lane) {
    unsigned from = source(lane) % wave.numLanes;
    access->data[0][lane] = wave.isActive(from) ? words[from] : 0;
  }
  setDestination(in, *access, 1);
  wave.inFlight.issue(std::move(access));
}

/// Each lane says by a byte address whose value it gets.
void permuteBackward(Wave &wave, const Instruction &in) {
  LaneWords addresses = wave.vector(in[1].index);
  exchange(wave, in, in[2],
           [&](unsigned lane) { return (addresses[lane] + uint32_t(in.offset)) / 4; });
}

/// Each lane says by a byte address who gets its value; the last of several wins.
void permuteForward(Wave &wave, const Instruction &in) {
  LaneWords addresses = wave.vector(in[1].index);
  std::array<unsigned, 64> sources;
  uint64_t isGiven = 0;
  for (unsigned lane = 0; lane != wave.numLanes; ++lane)
    if (wave.isActive(lane)) {
      unsigned to = (addresses[lane] + uint32_t(in.offset)) / 4 % wave.numLanes;
      sources[to] = lane;
      isGiven |= uint64_t(1) << to;
    }
  if (isGiven != wave.exec())
    throw Fault("not every active lane is given a value");
  exchange(wave, in, in[2], [&](unsigned lane) { return isGiven >> lane & 1 ? sources[lane] : 0; });
}

std::vector<std::string> wordsOf(const std::string &swizzle) {
  std::vector<std::string> words;
  size_t first = swizzle.find('(') + 1;
  for (size_t end; first < swizzle.size(); first = end + 1) {
    end = swizzle.find_first_of(",)", first);
    words.push_back(swizzle.substr(first, end - first));
  }
  return words;
}

/// The patterns that LLVM's "Syntax of Core AMDGPU Instructions" names for DS_SWIZZLE_B32.
unsigned swizzledLane(const std::vector<std::string> &words, unsigned lane) {
  auto number = [&](size_t i) { return unsigned(std::stoul(words.at(i))); };
  if (words[0] == "SWAP")
    return lane ^ number(1);
  if (words[0] == "REVERSE")
    return lane ^ (number(1) - 1);
  if (words[0] == "BROADCAST")
    return (lane & ~(number(1) - 1)) | number(2);
  if (words[0] == "QUAD_PERM")
    return (lane & ~3u) | number(1 + (lane & 3));
  if (words[0] != "BITMASK_PERM")
    throw Fault("expected a known swizzle, got " + words[0]);
  // "pi01p" in quotes: from bit 4 down, kept, inverted or set.
  unsigned result = lane & ~31u;
  for (unsigned bit = 0; bit != 5; ++bit) {
    char rule = words.at(1).at(5 - bit);
    unsigned own = lane >> bit & 1;
    result |= (rule == 'p' ? own : rule == 'i' ? own ^ 1 : unsigned(rule - '0')) << bit;
  }
  return result;
}

void swizzle(Wave &wave, const Instruction &in) {
  std::vector<std::string> words = wordsOf(in[2].word);
  exchange(wave, in, in[1], [&](unsigned lane) { return swizzledLane(words, lane); });
}

void addLoads(OperationTable &table) {
  constexpr Operand::Half low = Operand::Half::Low, high = Operand::Half::High;
  const DataType types[] = {{"read_u8", "load_u8", 1},
                            {"read_i8", "load_i8", 1, true},
                            {"read_u16", "load_u16", 2},
                            {"read_i16", "load_i16", 2, true},
                            {"read_b32", "load_b32", 4},
                            {"read_b64", "load_b64", 8},
                            {"read_b96", "load_b96", 12},
                            {"read_b128", "load_b128", 16},
                            {"read_u16_d16", "load_u16_d16", 2, false, low},
                            {"read_u16_d16_hi", "load_u16_d16_hi", 2, false, high},
                            {"read_u8_d16", "load_u8_d16", 1, false, low},
                            {"read_u8_d16_hi", "load_u8_d16_hi", 1, false, high},
                            {"read_i8_d16", "load_i8_d16", 1, true, low},
                            {"read_i8_d16_hi", "load_i8_d16_hi", 1, true, high}};
  for (const DataType &type : types)
    for (const char *one : {type.old, type.name})
      table[std::string("ds_") + one] = loads(type);
  table["ds_read_b64_tr_b16"] = loads({"", "", 8}, loadTransposed<uint16_t>);
  table["ds_read_b64_tr_b8"] = loads({"", "", 8}, loadTransposed<uint8_t>);
}

void addStores(OperationTable &table) {
  constexpr Operand::Half high = Operand::Half::High;
  const DataType types[] = {{"write_b8", "store_b8", 1},
                            {"write_b16", "store_b16", 2},
                            {"write_b32", "store_b32", 4},
                            {"write_b64", "store_b64", 8},
                            {"write_b96", "store_b96", 12},
                            {"write_b128", "store_b128", 16},
                            {"write_b16_d16_hi", "store_b16_d16_hi", 2, false, high},
                            {"write_b8_d16_hi", "store_b8_d16_hi", 1, false, high}};
  for (const DataType &type : types)
    for (const char *one : {type.old, type.name})
      table[std::string("ds_") + one] = stores(type);
}

} // namespace

void addSharedMemory(OperationTable &table) {
  addLoads(table);
  addStores(table);
  for (uint32_t bytes : {4, 8}) {
    std::string type = "_b" + std::to_string(8 * bytes);
    for (const char *one : {"ds_read2", "ds_load_2addr"})
      table[one + type] = loadsTwo(bytes, bytes);
    for (const char *one : {"ds_read2st64", "ds_load_2addr_stride64"})
      table[one + type] = loadsTwo(bytes, 64 * bytes);
    for (const char *one : {"ds_write2", "ds_store_2addr"})
      table[one + type] = storesTwo(bytes, bytes);
    for (const char *one : {"ds_write2st64", "ds_store_2addr_stride64"})
      table[one + type] = storesTwo(bytes, 64 * bytes);
  }
  // Operations that compare have another order of operands, and are not here.
  for (const AtomicType &type : atomicTypes)
    if (!type.compares) {
      std::string name = type.name;
      size_t last = name.rfind('_');
      table["ds_" + name] = atomics(type, false);
      table["ds_" + name.substr(0, last) + "_rtn" + name.substr(last)] = atomics(type, true);
    }
  table["ds_bpermute_b32"] = permuteBackward;
  table["ds_permute_b32"] = permuteForward;
  table["ds_swizzle_b32"] = swizzle;
}

} // namespace kiln::amdgcn

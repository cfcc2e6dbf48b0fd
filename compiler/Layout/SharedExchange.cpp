//===- SharedExchange.cpp - moving tiles through shared memory ------------===//

#include "compiler/Layout/SharedExchange.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/Support/MathExtras.h"

#include <algorithm>
#include <cassert>
#include <map>
#include <set>
#include <utility>

using namespace llvm;

namespace kiln {

//===----------------------------------------------------------------------===//
// Accesses
//===----------------------------------------------------------------------===//

/// log2 of the widest vector that `registers` (offsets of register bits) can move while no
/// thread offset in `others` reaches into it.
static unsigned vectorBits(ArrayRef<BinaryVector> registers, ArrayRef<BinaryVector> others,
                           unsigned limit) {
  BinarySpan span(registers);
  unsigned bits = 0;
  while (bits < limit && span.contains(uint64_t(1) << bits) &&
         none_of(others, [&](BinaryVector offset) { return offset >> bits & 1; }))
    ++bits;
  return bits;
}

/// The registers of each vector: cosets of the vector's own register combinations.
static void splitRegisters(SharedAccess &access, ArrayRef<BinaryVector> offsets, unsigned bits) {
  BinarySpan span(offsets);
  BinaryColumns within;
  for (unsigned bit = 0; bit < bits; ++bit)
    within.push_back(*span.solve(uint64_t(1) << bit));
  BinaryColumns across = complementWithin(within, unitVectors(offsets.size()));
  for (uint64_t part = 0; part < uint64_t(1) << across.size(); ++part) {
    uint64_t first = multiply(across, part);
    // Start at the aligned end of the vector.
    first ^= multiply(within, multiply(offsets, first) & (access.vector - 1));
    SharedAccess::Part result;
    result.offset = multiply(offsets, first);
    for (uint64_t element = 0; element < access.vector; ++element)
      result.registers.push_back(first ^ multiply(within, element));
    access.parts.push_back(std::move(result));
  }
}

SharedAccess planSharedAccess(const LinearLayout &distributed, const SharedLayout &shared,
                              unsigned elementBits, const SharedMemoryShape &memory) {
  LinearLayout offsets = distributed.invertAndCompose(shared.map)
                             .sublayout({Dim::Register, Dim::Lane, Dim::Warp}, {Dim::Offset});
  SharedAccess access;
  ArrayRef<BinaryVector> lanes = offsets.columns(Dim::Lane), warps = offsets.columns(Dim::Warp);
  access.laneOffsets.assign(lanes.begin(), lanes.end());
  access.warpOffsets.assign(warps.begin(), warps.end());
  access.freeLanes = distributed.freeBits(Dim::Lane);
  access.freeWarps = distributed.freeBits(Dim::Warp);

  BinaryColumns threads(access.laneOffsets);
  threads.append(warps.begin(), warps.end());
  unsigned limit = Log2_32(std::max(1u, memory.maxVectorBits / elementBits));
  if (shared.padInterval)
    limit = std::min({limit, unsigned(countr_zero(shared.padInterval)),
                      unsigned(countr_zero(shared.padAmount))});
  unsigned bits = vectorBits(offsets.columns(Dim::Register), threads, limit);
  access.vector = 1u << bits;
  splitRegisters(access, offsets.columns(Dim::Register), bits);
  return access;
}

/// Lanes that are served together: those whose numbers an xor of some of these makes of one
/// another's. They are neighbours, but where waves of 64 read 16 bytes a lane: then lanes 0 to 3
/// are served with 20 to 23, by 64 banks with 12 to 15 and 24 to 27 too (AMD, "Avoiding LDS Bank
/// Conflicts on AMD GPUs Using CK-Tile Framework", ROCm blogs, 2025).
static BinaryColumns lanesServed(unsigned bytes, bool isRead, unsigned laneBits,
                                 const SharedMemoryShape &memory) {
  constexpr unsigned wideBytes = 16, waveBits = 6, manyBanks = 64;
  if (isRead && bytes == wideBytes && laneBits == waveBits)
    return memory.banks == manyBanks ? BinaryColumns{1, 2, 12, 20} : BinaryColumns{1, 2, 20};
  unsigned together = std::max(1u, memory.rowBytes() / std::max(bytes, memory.bankBytes));
  BinaryColumns lanes = unitVectors(laneBits);
  lanes.truncate(std::min(laneBits, Log2_32(together)));
  return lanes;
}

/// The most words that any bank must give in one access to lane `first` and those that are served
/// with it.
static int64_t wavefrontsOfPhase(const SharedAccess &access, const SharedAccess::Part &part,
                                 uint64_t first, ArrayRef<BinaryVector> served,
                                 const SharedLayout &shared, unsigned elementBytes,
                                 const SharedMemoryShape &memory) {
  std::map<uint64_t, std::set<uint64_t>> wordsOfBank;
  for (uint64_t number = 0; number < uint64_t(1) << served.size(); ++number) {
    uint64_t lane = first ^ multiply(served, number);
    uint64_t at = shared.place(access.threadOffset(lane, 0) ^ part.offset) * elementBytes;
    uint64_t end = at + access.vector * elementBytes;
    for (uint64_t word = at / memory.bankBytes; word * memory.bankBytes < end; ++word)
      wordsOfBank[word % memory.banks].insert(word);
  }
  size_t most = 1;
  for (auto &[bank, words] : wordsOfBank)
    most = std::max(most, words.size());
  return most;
}

WavefrontCount countWavefronts(const SharedAccess &access, const SharedLayout &shared,
                               unsigned elementBits, const SharedMemoryShape &memory, bool isRead) {
  unsigned elementBytes = elementBits / 8, laneBits = access.laneOffsets.size();
  BinaryColumns served = lanesServed(access.vector * elementBytes, isRead, laneBits, memory);
  BinaryColumns starts = complementWithin(served, unitVectors(laneBits));
  int64_t phases = access.parts.size() << starts.size();
  auto count = [&](const SharedAccess::Part &part, uint64_t first) {
    return wavefrontsOfPhase(access, part, first, served, shared, elementBytes, memory);
  };
  // Without padding, parts and phases differ by a constant xor of the offset, which permutes
  // banks: all cost what the first does.
  if (!shared.padInterval)
    return {count(access.parts.front(), 0) * phases, phases};
  WavefrontCount total{0, phases};
  for (const SharedAccess::Part &part : access.parts)
    for (uint64_t number = 0; number < uint64_t(1) << starts.size(); ++number)
      total.wavefronts += count(part, multiply(starts, number));
  return total;
}

WavefrontCount countWavefronts(const SharedAccess &access, const SharedLayout &shared,
                               unsigned elementBits, const SharedMemoryShape &memory) {
  return countWavefronts(access, shared, elementBits, memory, /*isRead=*/false);
}

int64_t repackedWords(const LinearLayout &distributed, const SharedLayout &shared,
                      unsigned elementBits) {
  if (elementBits >= 32)
    return 0;
  LinearLayout offsets = distributed.invertAndCompose(shared.map)
                             .sublayout({Dim::Register, Dim::Lane, Dim::Warp}, {Dim::Offset});
  ArrayRef<BinaryVector> registers = offsets.columns(Dim::Register);
  bool isRepacked = false;
  for (unsigned bit = 0; bit < Log2_32(32 / elementBits); ++bit) {
    const BinaryVector *place = find(registers, uint64_t(1) << bit);
    isRepacked |= place != registers.end() && place != registers.begin() + bit;
  }
  return isRepacked ? divideCeil(distributed.numRegisters() * elementBits, 32) : 0;
}

/// The words that a thread copies to have those of an access side by side: of two vectors as its
/// registers have them, as from memory, half. What is put together anyway is made where it is
/// wanted.
static int64_t movedWords(const LinearLayout &source, const SharedExchange &plan,
                          unsigned elementBits) {
  LinearLayout offsets = source.invertAndCompose(plan.shared.map)
                             .sublayout({Dim::Register, Dim::Lane, Dim::Warp}, {Dim::Offset});
  ArrayRef<BinaryVector> registers = offsets.columns(Dim::Register);
  unsigned elementsOfWord = std::max(1u, 32 / elementBits), apart = 0;
  for (unsigned bit = Log2_32(elementsOfWord); bit < Log2_32(plan.store.vector); ++bit)
    apart += registers[bit] != uint64_t(1) << bit;
  int64_t words = divideCeil(source.numRegisters() * elementBits, 32);
  return words - (words >> apart);
}

int64_t SharedExchange::cost() const {
  // A wavefront moves data; an instruction that moves few still takes an issue slot.
  return storeCost.wavefronts + loadCost.wavefronts + repackedWords +
         int64_t(store.parts.size() + load.parts.size());
}

//===----------------------------------------------------------------------===//
// Choosing the shared layout
//===----------------------------------------------------------------------===//

namespace {
/// One side of an exchange: the bases of its registers and lanes.
struct Side {
  ArrayRef<BinaryVector> registers, lanes;
  bool isRead;

  /// What the lanes of one phase span, together with the bits below the access: `vector`, or
  /// `word` where the access is narrower than a bank. With `inParts` the access is as much of the
  /// vector as this side has, and a single element without.
  BinaryColumns phase(ArrayRef<BinaryVector> vector, ArrayRef<BinaryVector> word,
                      unsigned elementBits, const SharedMemoryShape &memory, bool inParts) const {
    BinarySpan own(registers);
    auto held = vector.take_while([&](BinaryVector v) { return own.contains(v); });
    if (!inParts && held.size() < vector.size())
      held = {};
    unsigned bytes = (1u << held.size()) * elementBits / 8;
    BinaryColumns result(held.size() > word.size() ? held : word);
    for (BinaryVector served : lanesServed(bytes, isRead, lanes.size(), memory))
      result.push_back(multiply(lanes, served));
    return complementWithin({}, result);
  }
};
} // namespace

/// `count` vectors that meet neither span(p) nor span(q), as far as there are so many; then such
/// as conflict least. Independent of each other, of p where possible, and always of `fixed`. With
/// `keepsFixed` no lane's offset has a bit of `fixed` for that.
static BinaryColumns segmentBasis(ArrayRef<BinaryVector> p, ArrayRef<BinaryVector> q,
                                  ArrayRef<BinaryVector> fixed, unsigned dimensions, unsigned count,
                                  bool keepsFixed) {
  BinaryColumns common = intersection(p, q);
  if (keepsFixed)
    append_range(common, complementWithin(common, fixed));
  BinaryColumns onlyP = complementWithin(common, p), onlyQ = complementWithin(common, q);
  BinaryColumns both(p);
  both.append(q.begin(), q.end());
  BinaryColumns units = unitVectors(dimensions);
  // Far bits first: segments are what changes least often.
  std::reverse(units.begin(), units.end());
  BinaryColumns candidates = complementWithin(complementWithin({}, both), units);
  for (auto [e, f] : zip(onlyP, onlyQ))
    candidates.push_back(e ^ f);
  // What has no partner first: with one of a pair its sum would be the other.
  size_t pairs = std::min(onlyP.size(), onlyQ.size());
  if (keepsFixed)
    for (BinaryColumns *rest : {&onlyP, &onlyQ})
      candidates.append(rest->begin() + pairs, rest->end());
  for (BinaryColumns *rest : {&onlyP, &onlyQ, &units})
    candidates.append(rest->begin(), rest->end());
  BinaryColumns chosen = complementWithin(fixed, candidates);
  chosen.truncate(count);
  return chosen;
}

/// The shared layout for one choice of vector, which a side that has a part of it moves `inParts`.
static SharedLayout layoutFor(const Side &store, const Side &load, ArrayRef<BinaryVector> vector,
                              const LayoutSpace &out, unsigned elementBits,
                              const SharedMemoryShape &memory, bool inParts = false) {
  unsigned dimensions = out.totalBits();
  unsigned rowBits = std::min(dimensions, Log2_32(memory.rowBytes() * 8 / elementBits));
  unsigned wordBits =
      std::min(dimensions, Log2_32(std::max(1u, memory.bankBytes * 8 / elementBits)));

  // Fill a bank's word with lanes that both sides read together, then with any lanes.
  BinaryColumns low(vector);
  BinaryColumns fill = intersection(store.lanes, load.lanes);
  fill.append(store.lanes.begin(), store.lanes.end());
  fill.append(load.lanes.begin(), load.lanes.end());
  BinaryColumns units = unitVectors(dimensions);
  fill.append(units.begin(), units.end());
  for (BinaryVector extra : complementWithin(vector, fill)) {
    if (low.size() >= wordBits)
      break;
    low.push_back(extra);
  }
  ArrayRef<BinaryVector> word = ArrayRef<BinaryVector>(low).take_front(wordBits);

  BinaryColumns segment =
      segmentBasis(store.phase(vector, word, elementBits, memory, inParts),
                   load.phase(vector, word, elementBits, memory, inParts), low, dimensions,
                   dimensions - std::max<unsigned>(rowBits, low.size()), inParts);
  // The rest of the row: the store's lanes first, so that its addresses are simple.
  BinaryColumns taken(low), wish(store.lanes);
  taken.append(segment.begin(), segment.end());
  wish.append(load.lanes.begin(), load.lanes.end());
  wish.append(units.begin(), units.end());
  BinaryColumns columns(low);
  BinaryColumns rest = complementWithin(taken, wish);
  columns.append(rest.begin(), rest.end());
  columns.append(segment.begin(), segment.end());
  LayoutSpace in({{Dim::Offset, dimensions}});
  return {LinearLayout(in, out, columns)};
}

/// The same with segment vectors as a reading thread's registers follow one another, and the others
/// behind these: words that stand side by side in registers are least far apart, and so are what
/// AMD's LDS reads by one instruction (`ds_read2_b32`).
static SharedLayout inOrderOfRegisters(const SharedLayout &shared, ArrayRef<BinaryVector> registers,
                                       unsigned rowBits) {
  ArrayRef<BinaryVector> columns = shared.map.columns(Dim::Offset),
                         segment = columns.drop_front(std::min<size_t>(rowBits, columns.size()));
  BinaryColumns ordered(columns.drop_back(segment.size()));
  copy_if(complementWithin({}, registers), std::back_inserter(ordered),
          [&](BinaryVector column) { return is_contained(segment, column); });
  copy_if(segment, std::back_inserter(ordered),
          [&](BinaryVector column) { return !is_contained(registers, column); });
  return {LinearLayout(shared.map.in(), shared.map.out(), ordered)};
}

/// How many addresses a thread computes for its accesses: a part of the offset that has bits in
/// common with those of threads is xored with them, others are constants of instructions.
static int64_t countAddresses(const SharedAccess &access) {
  BinaryVector ofThreads = 0;
  for (ArrayRef<BinaryVector> offsets : {access.laneOffsets, access.warpOffsets})
    for (BinaryVector offset : offsets)
      ofThreads |= offset;
  std::set<BinaryVector> parts;
  for (const SharedAccess::Part &part : access.parts)
    parts.insert(part.offset & ofThreads);
  return parts.size();
}

/// The first `limit` of the given vectors (they are independent).
static BinaryColumns firstOf(BinaryColumns vectors, unsigned limit) {
  if (vectors.size() > limit)
    vectors.truncate(limit);
  return vectors;
}

/// Vectors worth planning for: what both sides can move, and what one side can, with `inOrder` also
/// as its registers stand.
static SmallVector<BinaryColumns, 6> vectorCandidates(const Side &store, const Side &load,
                                                      unsigned limit, bool inOrder) {
  // Registers that are bases of both as they stand make the simplest vectors.
  BinaryColumns common;
  for (BinaryVector basis : store.registers)
    if (basis && is_contained(load.registers, basis))
      common.push_back(basis);
  BinaryColumns further = complementWithin(common, intersection(store.registers, load.registers));
  common.append(further.begin(), further.end());
  common = firstOf(complementWithin({}, common), limit);
  // None at all: single elements can always be free of conflicts.
  SmallVector<BinaryColumns, 6> result{common, {}};
  for (ArrayRef<BinaryVector> own : {store.registers, load.registers}) {
    BinaryColumns extended(common);
    BinaryColumns more = complementWithin(common, own);
    extended.append(more.begin(), more.end());
    result.push_back(firstOf(extended, limit));
    if (inOrder)
      result.push_back(firstOf(complementWithin({}, own), limit));
  }
  return result;
}

/// An exchange that is as `vector` says.
static SharedExchange planFor(const LinearLayout &source, const LinearLayout &result,
                              ArrayRef<BinaryVector> vector, unsigned elementBits,
                              const SharedMemoryShape &memory, bool inParts = false) {
  Side store{source.columns(Dim::Register), source.columns(Dim::Lane), /*isRead=*/false};
  Side load{result.columns(Dim::Register), result.columns(Dim::Lane), /*isRead=*/true};
  SharedExchange plan;
  plan.shared = layoutFor(store, load, vector, source.out(), elementBits, memory, inParts);
  plan.load = planSharedAccess(result, plan.shared, elementBits, memory);
  unsigned mostWords = inParts ? 2 : 1;
  if (memory.countsRepackedWords &&
      plan.load.vector * elementBits <= mostWords * memory.bankBytes * 8) {
    plan.shared = inOrderOfRegisters(plan.shared, load.registers,
                                     Log2_32(memory.rowBytes() * 8 / elementBits));
    plan.load = planSharedAccess(result, plan.shared, elementBits, memory);
  }
  plan.store = planSharedAccess(source, plan.shared, elementBits, memory);
  plan.storeCost = countWavefronts(plan.store, plan.shared, elementBits, memory, false);
  plan.loadCost = countWavefronts(plan.load, plan.shared, elementBits, memory, true);
  plan.bytes = plan.shared.numElements() * elementBits / 8;
  if (!memory.countsRepackedWords)
    return plan;
  int64_t ofStore = repackedWords(source, plan.shared, elementBits);
  plan.repackedWords =
      ofStore || !memory.countsMovedWords ? ofStore : movedWords(source, plan, elementBits);
  plan.repackedWords += repackedWords(result, plan.shared, elementBits);
  plan.addresses = countAddresses(plan.store) + countAddresses(plan.load);
  return plan;
}

static bool costsLess(const SharedExchange &plan, const SharedExchange &other) {
  return std::make_pair(plan.cost(), plan.addresses) <
         std::make_pair(other.cost(), other.addresses);
}

SharedExchange planSharedExchange(const LinearLayout &source, const LinearLayout &result,
                                  unsigned elementBits, const SharedMemoryShape &memory) {
  assert(source.out() == result.out() && "an exchange keeps the shape");
  Side store{source.columns(Dim::Register), source.columns(Dim::Lane), /*isRead=*/false};
  Side load{result.columns(Dim::Register), result.columns(Dim::Lane), /*isRead=*/true};
  unsigned limit = Log2_32(std::max(1u, memory.maxVectorBits / elementBits)),
           wordBits = Log2_32(std::max(1u, memory.bankBytes * 8 / elementBits));

  std::optional<SharedExchange> best;
  for (const BinaryColumns &vector :
       vectorCandidates(store, load, limit, memory.countsRepackedWords)) {
    for (bool inParts : {false, true}) {
      if (inParts && !memory.movesParts)
        continue;
      SharedExchange plan = planFor(source, result, vector, elementBits, memory, inParts);
      if (!best || costsLess(plan, *best))
        best = std::move(plan);
    }
  }
  if (!memory.countsRepackedWords)
    return *best;
  // Of wider vectors the other side's lanes may leave nothing but narrower ones, at many addresses.
  for (ArrayRef<BinaryVector> own : {store.registers, load.registers}) {
    for (unsigned bits = wordBits; bits < limit; ++bits) {
      BinaryColumns vector = firstOf(complementWithin({}, own), bits);
      SharedExchange plan = planFor(source, result, vector, elementBits, memory);
      if (plan.cost() == best->cost() && plan.addresses < best->addresses)
        best = std::move(plan);
    }
  }
  return *best;
}

std::optional<SharedLayout> planTransposedShared(const LinearLayout &source,
                                                 const LinearLayout &result, unsigned elementBits,
                                                 const SharedMemoryShape &memory) {
  constexpr unsigned laneBits = 6, bitsOfPiece = 128;
  ArrayRef<BinaryVector> lanes = result.columns(Dim::Lane),
                         registers = result.columns(Dim::Register);
  if (!isReadAcross(elementBits) || lanes.size() != laneBits ||
      registers.size() < bitsOfRowsAcross(elementBits))
    return std::nullopt;
  unsigned pieceBits = Log2_32(bitsOfPiece / elementBits);
  ArrayRef<BinaryVector> piece = lanes.take_front(pieceBits);
  if (rank(piece) != pieceBits)
    return std::nullopt;
  // Two lanes read the halves of a piece: as if one read all of it. The rows that a thread's
  // registers are from are read by lanes.
  BinaryColumns readers(lanes.slice(pieceBits, bitsOfColumnsAcross - pieceBits));
  append_range(readers, registers.take_front(bitsOfRowsAcross(elementBits)));
  append_range(readers, lanes.drop_front(bitsOfColumnsAcross));
  Side store{source.columns(Dim::Register), source.columns(Dim::Lane), /*isRead=*/false};
  Side load{piece, readers, /*isRead=*/false};
  return layoutFor(store, load, piece, source.out(), elementBits, memory);
}

} // namespace kiln
